"""Fresh equations without end, for studies: an oracle that makes the examples of an instance, as rows and levels.

It is what an examples file would hold, less the floats: an attack is handed the oracle, whose public part is `public`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Public
from hardness.attacks.equations import Equations, sparsity
from hardness.attacks.packed import Packed, turns, words_for
from hardness.gadgets.coefficients import Gadget, public_vectors
from hardness.instance import Instance
from hardness.kernels import bkw as kernels_bkw
from hardness.tokens import TokenStream, Words, unpack

ALL = 2**62  # examples: as many as it takes
CHUNK = 1 << 18

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Stream:
    """Equations of a rounding instance from sampling seed `seed`. The instance is the oracle's own, like its secret.

    >>> from hardness.families.rounding import Rounding
    >>> stream = Stream(Instance.generate(Rounding(9, 17, 2), seed=0), seed=1)
    >>> stream.equations(0, 5).a.shape, len(stream.rows(0, 7)[0])
    ((5, 8), 7)
    """

    instance: Instance = field(repr=False)
    seed: int

    @property
    def public(self) -> Public:
        """What stands beside the examples."""
        return self.instance.public(self.seed)

    @property
    def n(self) -> int:
        return self.instance.family.dim - 1

    @property
    def level(self) -> int:
        """0 where public vectors are bits, 1 where they are ternary."""
        return int(self._teacher.kind == "dot")

    def equations(self, start: int, count: int, vanish: int = 0, most: int = ALL) -> Equations:
        """`count` informative equations from example `start` on whose last `vanish` coordinates are 0, or those among
        the next `most` examples.
        """
        a, level, made = np.empty((count, self.n), np.int8), np.empty(count, np.int64), 0
        for _, tokens, levels in self._selected(start, count, vanish, most):
            a[made : made + len(levels)], level[made : made + len(levels)] = self._vectors(tokens), levels
            made += len(levels)
        known = self.public
        return Equations(
            a[:made], level[:made], int(known["modulus"]), int(known["levels"]), sparsity=sparsity(known),
            noise=float(known["noise"]), heads=None if known["exact"] else known["heads"],
        )  # fmt: skip

    def rows(self, start: int, count: int, vanish: int = 0) -> tuple[Packed, int]:
        """`count` such rows, packed, without those coordinates, and the number of the example after the last."""
        left, made, at = self.n - vanish, 0, start
        q, p = int(self.public["modulus"]), int(self.public["levels"])
        words, phases = np.empty((count, words_for(left, self.level)), np.uint64), np.empty(count, np.uint32)
        for after, tokens, levels in self._selected(start, count, vanish, ALL):
            at, part = after, slice(made, made + len(levels))
            words[part], phases[part] = self._packed(tokens, vanish), turns(levels, q, p)
            made += len(levels)
        return Packed(words, phases, left, self.level), at

    @property
    def _teacher(self) -> Gadget:
        assert isinstance(self.instance.teacher, Gadget)
        return self.instance.teacher

    def _selected(self, start: int, count: int, vanish: int, most: int) -> Iterator[tuple[int, Words, Integers]]:
        """Chunk by chunk, until there are `count`: the index after the chunk, tokens (N, 2, words) and levels (N,)."""
        noise = float(getattr(self.instance.family, "noise", 0.0))
        stream, end = TokenStream(self.seed, 2, self.instance.family.dim), start + most
        mask, found = _mask(self.instance.family.dim, vanish), np.empty(CHUNK, np.int64)
        while count > 0 and start < end:
            tokens = stream.packed(start, CHUNK)
            kept = found[: kernels_bkw.chosen(tokens, mask, found)]
            t = self._teacher.levels(tokens[kept])
            if noise:
                from scipy.special import ndtri

                t = t + np.rint(noise * ndtri(self.instance.noise(CHUNK, self.seed, start)[kept])).astype(np.int64)
            start += CHUNK
            levels = np.rint(self._teacher.value(t) - self._teacher.offset).astype(np.int64)[:count]
            yield start, tokens[kept[:count]], levels
            count -= len(levels)

    def _vectors(self, tokens: Words) -> NDArray[np.int8]:
        """Public vectors (N, n) of examples."""
        return public_vectors(unpack(tokens, self.instance.family.dim), self._teacher.kind)

    def _packed(self, tokens: Words, vanish: int) -> Words:
        """The same as packed rows (packed.py), without their last `vanish` coordinates."""
        n = self.n - vanish
        if self.level:
            words = np.empty((len(tokens), words_for(n, 1)), dtype=np.uint64)
            kernels_bkw.pack_rows(np.ascontiguousarray(self._vectors(tokens)[:, :n]), 2, 1, words)
            return words
        bits = tokens[:, 0] ^ tokens[:, 1]  # the coordinates follow the gate's bit
        words = bits >> np.uint64(1)
        words[:, :-1] |= bits[:, 1:] << np.uint64(63)
        return words[:, : words_for(n, 0)]


def _mask(dim: int, vanish: int) -> Words:
    """The gate's bit and those of the last `vanish` coordinates, as words."""
    bits = 1 | ((1 << vanish) - 1) << (dim - vanish)
    return np.array([bits >> 64 * i & 2**64 - 1 for i in range(-(-dim // 64))], dtype=np.uint64)
