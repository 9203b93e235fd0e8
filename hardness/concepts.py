"""Concept classes: what statistical-query theory needs of a family: size, enumeration, correlations."""

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, unknown


@dataclass(frozen=True)
class ParityConcepts:
    """The parities chi_S of s out of n bits, in colex order of S (theory.md 2.5).

    A set is a mask with bit j set iff coordinate j is in S (bit 0 is the layer's coordinate 1). Masks are
    Python integers, so `rank` and `unrank` work for every n; arrays of masks are uint64 and need n <= 64.
    Raises `InputError` unless 1 <= s <= n.

    >>> class_ = ParityConcepts(5, 2)
    >>> class_.size, class_.masks(0, 4).tolist(), class_.rank(0b11000), class_.unrank(9) == 0b11000
    (10, [3, 5, 6, 9], 9, True)
    """

    n: int
    s: int

    def __post_init__(self) -> None:
        if not 1 <= self.s <= self.n:
            raise InputError(f"a parity of {self.s} out of {self.n} bits does not exist; need 1 <= s <= n")

    @classmethod
    def of_layer(cls, dim: int, heads: int, gadget: str = "diag") -> "ParityConcepts":
        """The class of the parity family: n = dim - 1 and s = heads (diag) or heads/2 (dot), theory 1.1.

        >>> ParityConcepts.of_layer(17, 4).size, ParityConcepts.of_layer(17, 4, "dot").size
        (1820, 120)
        """
        if gadget not in ("diag", "dot"):
            raise unknown("gadget", gadget, ("diag", "dot"))
        if heads < 2:
            raise InputError(f"heads must be at least 2, got {heads}")
        if gadget == "dot" and heads % 2:
            raise InputError(f"the dot gadget needs an even number of heads (two a coordinate), got {heads}")
        s = heads if gadget == "diag" else heads // 2
        if s > dim - 1:
            raise InputError(f"{heads} heads hide {s} coordinates but dim {dim} has {dim - 1}; lower --heads")
        return cls(dim - 1, s)

    @cached_property
    def size(self) -> int:
        """N = C(n, s)."""
        return comb(self.n, self.s)

    @property
    def label(self) -> str:
        return f"parity of {self.s} out of {self.n} bits"

    def rank(self, mask: int) -> int:
        """Colex rank of a set: sum of C(position, order), the combinatorial number system."""
        positions = [j for j in range(self.n) if mask >> j & 1]
        if len(positions) != self.s or mask >> self.n:
            raise InputError(f"mask {mask:#x} is not a set of {self.s} coordinates below {self.n}")
        return sum(comb(position, order) for order, position in enumerate(positions, 1))

    def unrank(self, rank: int) -> int:
        """The set of a colex rank in 0..N-1."""
        if not 0 <= rank < self.size:
            raise InputError(f"rank {rank} is outside 0..{self.size - 1}")
        mask, position = 0, self.n
        for order in range(self.s, 0, -1):
            position -= 1
            while comb(position, order) > rank:
                position -= 1
            mask |= 1 << position
            rank -= comb(position, order)
        return mask

    def masks(self, start: int = 0, count: int | None = None) -> NDArray[np.uint64]:
        """The sets of ranks start .. start+count-1 (to the end if no count), uint64."""
        from hardness import kernels

        if self.n > 64:
            raise InputError(f"arrays of sets need n <= 64, got n={self.n}; use rank and unrank")
        count = self.size - start if count is None else count
        out = np.empty(count, np.uint64)
        if count:
            kernels.enumerate_masks(np.uint64(self.unrank(start)), out)
        return out

    def correlations(self, rank: int) -> NDArray[np.float64]:
        """Correlation of concept `rank` with every concept, <D_S/D-1, D_S'/D-1> = delta/2 (theory 2.4).

        The 1/2 is P(z_0 != 0): half of the inputs carry no information on S.

        >>> ParityConcepts(4, 2).correlations(1).tolist()
        [0.0, 0.5, 0.0, 0.0, 0.0, 0.0]
        """
        out = np.zeros(self.size)
        out[rank] = 0.5
        return out
