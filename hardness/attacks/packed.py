"""Equations as packed rows: 2^24 of them, public vectors and labels, in well under a gigabyte (kernels/bkw.py).

They come from a file, or, in studies, from a stream without end: an oracle that makes the examples of an instance, as
rows and levels. It is what an examples file would hold, less the floats.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Public
from hardness.attacks.equations import Equations, hidden
from hardness.gadgets.coefficients import Gadget, public_vectors
from hardness.gadgets.modular import preimages
from hardness.instance import Instance
from hardness.kernels import bkw as kernels_bkw
from hardness.tokens import TokenStream, Words, unpack

ALL = 2**62  # examples of a stream: as many as it takes
CHUNK = 1 << 18

Integers = NDArray[np.int64]
Phases = NDArray[np.uint32]


@dataclass(frozen=True)
class Packed:
    """Rows of n = `left` small integers and a phase: words (N, W) uint64, phases (N,) uint32, 2^32 to the turn.

    A coordinate is a sum of 2^`level` half signs: a bit of a diag row is level 0, a ternary coordinate of a dot row,
    or of a difference of two diag rows, is level 1, and each further difference adds one.
    """

    words: Words
    phases: Phases
    left: int
    level: int

    def __len__(self) -> int:
        return len(self.phases)

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.left, self.width, self.centre

    @property
    def width(self) -> int:
        return self.level + 1

    @property
    def centre(self) -> int:
        return 1 << self.level - 1 if self.level else 0

    def first(self, count: int) -> "Packed":
        """Return a view of the first rows."""
        return replace(self, words=self.words[:count], phases=self.phases[:count])

    def copy(self) -> "Packed":
        """Return a copy, so that the rows it is a view of can be freed."""
        return replace(self, words=self.words.copy(), phases=self.phases.copy())


def words_for(left: int, level: int) -> int:
    """Return the 64-bit words that hold a row of `left` coordinates."""
    return -(-left // (64 // (level + 1)))


def turns(level: NDArray[np.int64], q: int, p: int) -> Phases:
    """Return the angle (N,) of the centre of a level's residues, 2^32 to the turn."""
    centre = preimages(q, p)[0]
    return np.rint(centre / q * 2.0**32).astype(np.uint32)[level]


def pack(equations: Equations) -> Packed:
    """Return the equations as packed rows of level 0 where all public vectors are bits, else of level 1."""
    level = int((equations.a < 0).any())
    phases = turns(equations.level, equations.q, equations.p)
    return Packed(packed_words(equations.a, level), phases, equations.n, level)


def packed_words(a: NDArray[np.int8], level: int) -> Words:
    """Return public vectors a (N, n) as words (N, W)."""
    words = np.empty((len(a), words_for(a.shape[1], level)), dtype=np.uint64)
    kernels_bkw.pack_rows(a, level + 1, level, words)
    return words


@dataclass(frozen=True)
class Stream:
    """Equations of a rounding instance from sampling seed `seed`. The instance is the oracle's own, like its secret."""

    instance: Instance = field(repr=False)
    seed: int

    @property
    def public(self) -> Public:
        """Return the public parameters of the examples."""
        return self.instance.public(self.seed)

    @property
    def n(self) -> int:
        return self.instance.family.dim - 1

    @property
    def level(self) -> int:
        """Return 0 where public vectors are bits, 1 where they are ternary."""
        return int(self._teacher.kind == "dot")

    def equations(self, start: int, count: int, vanish: int = 0, limit: int = ALL) -> Equations:
        """Return `count` informative equations from example `start` on whose last `vanish` coordinates are 0, or those
        among the next `limit` examples.
        """
        parts = [
            (self._vectors(tokens), levels)
            for _, tokens, levels in self._selected(start, count, vanish, limit)
        ]
        a, level = (np.concatenate(part) for part in zip(*parts, strict=True))
        return hidden(self.public).rows(a, level)

    def rows(self, start: int, count: int, vanish: int = 0) -> tuple[Packed, int]:
        """Return `count` such rows, packed, without those coordinates, and the number of the example after the last."""
        left, q, p = self.n - vanish, int(self.public["modulus"]), int(self.public["levels"])
        words, phases, at = list[Words](), list[Phases](), start
        for end, tokens, levels in self._selected(start, count, vanish, ALL):
            at = end
            words.append(packed_words(np.ascontiguousarray(self._vectors(tokens)[:, :left]), self.level))
            phases.append(turns(levels, q, p))
        return Packed(np.concatenate(words), np.concatenate(phases), left, self.level), at

    @property
    def _teacher(self) -> Gadget:
        assert isinstance(self.instance.teacher, Gadget)
        return self.instance.teacher

    def _selected(
        self, start: int, count: int, vanish: int, limit: int
    ) -> Iterator[tuple[int, Words, Integers]]:
        """Yield a chunk's end, tokens (N, 2, words) and levels (N,), until there are `count`."""
        noise = self.instance.family.noise
        stream, end = TokenStream(self.seed, 2, self.instance.family.dim), start + limit
        mask, chosen = _mask(self.instance.family.dim, vanish), np.empty(CHUNK, np.int64)
        while count > 0 and start < end:
            tokens = stream.packed(start, CHUNK)
            kept = chosen[: kernels_bkw.chosen(tokens, mask, chosen)]
            t = self._teacher.levels(tokens[kept])
            if noise:
                from scipy.special import ndtri

                drawn = ndtri(self.instance.noise(CHUNK, self.seed, start)[kept])
                t = t + np.rint(noise * drawn).astype(np.int64)
            start += CHUNK
            levels = np.rint(self._teacher.value(t) - self._teacher.offset).astype(np.int64)[:count]
            yield start, tokens[kept[:count]], levels
            count -= len(levels)

    def _vectors(self, tokens: Words) -> NDArray[np.int8]:
        """Return public vectors (N, n) of examples."""
        return public_vectors(unpack(tokens, self.instance.family.dim), self._teacher.kind)


def _mask(dim: int, vanish: int) -> Words:
    """Return the gate's bit and those of the last `vanish` coordinates, as words."""
    bits = 1 | ((1 << vanish) - 1) << (dim - vanish)
    return np.array([bits >> 64 * i & 2**64 - 1 for i in range(-(-dim // 64))], dtype=np.uint64)
