"""The process that holds the instance and answers a `Stream` (stream.py): rows and levels go out, nothing else."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.packed import turns, words_for
from hardness.gadgets.coefficients import Gadget, public_vectors
from hardness.instance import Instance
from hardness.kernels import bkw as kernels_bkw
from hardness.tokens import TokenStream, Words, unpack

CHUNK = 1 << 18


@dataclass(frozen=True)
class Sampler:
    """Rows of an instance's examples from its sampling seed on."""

    instance: Instance
    seed: int

    def selected(self, start: int, vanish: int) -> Iterator[tuple[int, Words, NDArray[np.int64]]]:
        """Chunk by chunk, the informative examples whose last `vanish` coordinates are 0: the index after the chunk,
        tokens (N, 2, words) and levels (N,).
        """
        family, teacher = self.instance.family, self.instance.teacher
        assert isinstance(teacher, Gadget)
        noise = float(getattr(family, "noise", 0.0))
        stream = TokenStream(self.seed, 2, family.dim)
        mask, found = _mask(family.dim, vanish), np.empty(CHUNK, np.int64)
        while True:
            tokens = stream.packed(start, CHUNK)
            kept = found[: kernels_bkw.chosen(tokens, mask, found)]
            tokens = tokens[kept]
            t = teacher.levels(tokens)
            if noise:
                from scipy.special import ndtri

                t = t + np.rint(noise * ndtri(self.instance.noise(CHUNK, self.seed, start)[kept])).astype(np.int64)
            start += CHUNK
            yield start, tokens, np.rint(teacher.value(t) - teacher.offset).astype(np.int64)

    def vectors(self, tokens: Words) -> NDArray[np.int8]:
        """Public vectors (N, n) of examples."""
        assert isinstance(self.instance.teacher, Gadget)
        return public_vectors(unpack(tokens, self.instance.family.dim), self.instance.teacher.kind)

    def packed(self, tokens: Words, vanish: int) -> Words:
        """The same as packed rows (packed.py), without their last `vanish` coordinates."""
        assert isinstance(self.instance.teacher, Gadget)
        n = self.instance.family.dim - 1 - vanish
        if self.instance.teacher.kind == "dot":
            words = np.empty((len(tokens), words_for(n, 1)), dtype=np.uint64)
            kernels_bkw.pack_rows(np.ascontiguousarray(self.vectors(tokens)[:, :n]), 2, 1, words)
            return words
        bits = tokens[:, 0] ^ tokens[:, 1]  # the coordinates follow the gate's bit
        words = bits >> np.uint64(1)
        words[:, :-1] |= bits[:, 1:] << np.uint64(63)
        return words[:, : words_for(n, 0)]


def _mask(dim: int, vanish: int) -> Words:
    """The gate's bit and those of the last `vanish` coordinates, as words."""
    bits = 1 | ((1 << vanish) - 1) << (dim - vanish)
    return np.array([bits >> 64 * i & 2**64 - 1 for i in range(-(-dim // 64))], dtype=np.uint64)


def serve(pipe: Any) -> None:
    """Answer requests until the other end is gone: (name, start, count, vanish, most examples)."""
    sampler = Sampler(*pipe.recv())
    q, p = (int(sampler.instance.parameters[name]) for name in ("modulus", "levels"))
    begin = time.process_time()
    pipe.send(sampler.instance.public(sampler.seed))
    while True:
        name, start, count, vanish, most = pipe.recv()
        if name == "seconds":
            pipe.send(time.process_time() - begin)
            continue
        done, end = 0, start + most
        for at, tokens, level in sampler.selected(start, vanish):
            take = min(count - done, len(level))
            if take:
                first = sampler.vectors(tokens[:take]) if name == "vectors" else sampler.packed(tokens[:take], vanish)
                second = level[:take] if name == "vectors" else turns(level[:take], q, p)
                pipe.send((take, at))
                pipe.send_bytes(np.ascontiguousarray(first).data.cast("B"))
                pipe.send_bytes(np.ascontiguousarray(second).data.cast("B"))
            done += take
            if done == count or at >= end:
                pipe.send((0, at))
                break


if __name__ == "__main__":
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        serve(Connection(int(sys.argv[1])))
