"""Equations as packed rows: 2^24 of them, public vectors and labels, in well under a gigabyte (kernels/bkw.py).

They come from a file, or, in studies, from a stream without end: an oracle that makes the examples of an instance, as
rows and levels. It is what an examples file would hold, less the floats.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.equations import Equations, hidden
from hardness.gadgets.coefficients import Gadget, public_vectors
from hardness.gadgets.modular import preimages
from hardness.instance import Instance
from hardness.kernels import bkw as kernels_bkw
from hardness.tokens import TokenStream, Words, unpack

ALL = 2**62  # examples of a stream: as many as it takes
CHUNK = 1 << 18

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


def words_for(left: int, level: int) -> int:
    """Return the 64-bit words that hold a row of `left` coordinates."""
    return -(-left // (64 // (level + 1)))


def pack(equations: Equations, level: int | None = None, left: int | None = None) -> Packed:
    """Return the first `left` coordinates, or all, of equations as rows of `level`: 0 for bits, 1 for ternary vectors.

    The phase is the angle of the centre of a level's residues.
    """
    level = int((equations.a < 0).any()) if level is None else level
    a = np.ascontiguousarray(equations.a[:, :left])
    words = np.empty((len(a), words_for(a.shape[1], level)), dtype=np.uint64)
    kernels_bkw.pack_rows(a, level + 1, level, words)
    turns = preimages(equations.q, equations.p)[0] / equations.q * 2.0**32
    phases = np.rint(turns).astype(np.uint32)[equations.level]
    return Packed(words, phases, a.shape[1], level)


@dataclass(frozen=True)
class Stream:
    """Equations of a rounding instance, with no noise in its labels, from sampling seed `seed`: the oracle's own."""

    instance: Instance = field(repr=False)
    seed: int

    @property
    def n(self) -> int:
        return self.instance.family.dim - 1

    def equations(self, start: int, count: int, vanish: int = 0, limit: int = ALL) -> Equations:
        """Return `count` informative equations from example `start` on whose last `vanish` coordinates are 0, or those
        among the next `limit` examples.
        """
        parts = [some for _, some in self._chosen(start, count, vanish, limit)]
        a, level = (np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "level"))
        return replace(parts[0], a=a, level=level)

    def rows(self, start: int, count: int, vanish: int = 0) -> tuple[Packed, int]:
        """Return `count` such rows, packed, without those coordinates, and the number of the example after the last."""
        level, left = int(self._teacher.kind == "dot"), self.n - vanish
        chosen = ((end, pack(some, level, left)) for end, some in self._chosen(start, count, vanish, ALL))
        ends, parts = zip(*chosen, strict=True)
        words, phases = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("words", "phases")
        )
        return Packed(words, phases, left, level), ends[-1]

    @property
    def _teacher(self) -> Gadget:
        assert isinstance(self.instance.teacher, Gadget)
        return self.instance.teacher

    def _chosen(self, start: int, count: int, vanish: int, limit: int) -> Iterator[tuple[int, Equations]]:
        """Yield a chunk's end and its equations, until there are `count`."""
        dim, teacher, end = self.n + 1, self._teacher, start + limit
        known, stream = hidden(self.instance.public(self.seed)), TokenStream(self.seed, 2, dim)
        words, masked = (
            range(-(-dim // 64)),
            1 | ((1 << vanish) - 1) << (dim - vanish),
        )  # gate, last coordinates
        mask, gate = (
            np.array([bits >> 64 * i & 2**64 - 1 for i in words], dtype=np.uint64) for bits in (masked, 1)
        )
        while count > 0 and start < end:
            tokens = stream.packed(start, CHUNK)
            kept = tokens[((tokens[:, 0] ^ tokens[:, 1]) & mask == gate).all(axis=1)][:count]
            start += CHUNK
            count -= len(kept)
            level = np.rint(teacher.value(teacher.levels(kept)) - teacher.offset).astype(np.int64)
            yield start, known.rows(public_vectors(unpack(kept, dim), teacher.kind), level)
