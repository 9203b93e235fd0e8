"""Equations as packed rows: 2^24 of them, public vectors and labels, in well under a gigabyte (kernels_bkw.py)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.equations import Equations
from hardness.gadgets.modular import preimages
from hardness.kernels import bkw as kernels_bkw

Words = NDArray[np.uint64]
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
    def width(self) -> int:
        return self.level + 1

    @property
    def centre(self) -> int:
        return 1 << self.level - 1 if self.level else 0

    def first(self, count: int) -> "Packed":
        """The first rows; a view."""
        return replace(self, words=self.words[:count], phases=self.phases[:count])

    def copy(self) -> "Packed":
        """Rows of their own, so that those this is a view of can be let go."""
        return replace(self, words=self.words.copy(), phases=self.phases.copy())


def words_for(left: int, level: int) -> int:
    """64-bit words that hold a row of `left` coordinates."""
    return -(-left // (64 // (level + 1)))


def turns(level: NDArray[np.int64], q: int, p: int) -> Phases:
    """The angle (N,) of the centre of a level's residues, 2^32 to the turn.

    >>> (turns(np.array([0, 1]), 97, 2) / 2**32).round(3).tolist()
    [0.247, 0.747]
    """
    centre = preimages(q, p)[0]
    return np.rint(centre / q * 2.0**32).astype(np.uint32)[level]


def pack(equations: Equations) -> Packed:
    """The equations as packed rows of level 0 where all public vectors are bits, else of level 1.

    >>> rows = pack(Equations(np.array([[1, 0, 1]], np.int8), np.array([1]), 97, 2))
    >>> rows.words.tolist(), rows.level
    ([[5]], 0)
    """
    level = int((equations.a < 0).any())
    words = np.empty((len(equations), words_for(equations.n, level)), dtype=np.uint64)
    kernels_bkw.pack_rows(equations.a, level + 1, level, words)
    return Packed(words, turns(equations.level, equations.q, equations.p), equations.n, level)
