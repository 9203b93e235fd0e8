"""Regression on all monomials of low degree: the learner that knows nothing but degree, and its price.

Its number of monomials is the null model of every plot of hardness: what "only high degree" would cost. A family is
called hard here only for what exceeds that count.
"""

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.estimates.low_degree import monomials
from hardness.io.fields import whole
from learner.base import Array, signs
from learner.ridge import GRID, RidgeLearner, row_blocks

MANY = 4096  # examples beyond which fewer monomials are made one by one
BLOCK_SETS = 256  # monomials made at a time


class LowDegree(RidgeLearner):
    """Ridge regression on all monomials of degree at most `degree` in the k·d signs of the tokens.

    Their inner products are a function of the Hamming distance of two inputs, so up to `MANY` examples, and where there
    are more monomials than examples, none of them is made. Y (n, k, d) is learned entry by entry. The rest is
    `RidgeLearner`'s; tokens must be ±1.

    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(300, 2, 4))
    >>> Y = X[:, 0, 0] * X[:, 0, 1] * X[:, 1, 1]
    >>> LowDegree(3, alpha=1e-9).fit(X, Y).score(X, Y) > 1 - 1e-6
    True
    """

    centred = False  # the constant is a monomial

    def __init__(
        self,
        degree: int = 3,
        *,
        alpha: float | tuple[float, ...] = GRID,
        random_state: int | None = None,
    ) -> None:
        super().__init__(alpha, random_state)
        self.degree = degree

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """About what the kernel costs: all distances, and the factors.

        >>> round(LowDegree(3).multiply_adds(1000, 2, 12) / 1e9, 2)
        2.02
        """
        return float(examples) ** 2 * tokens * dim + self._solving(examples)

    def _rows(self, x: Array) -> Array:
        return x  # no symmetry is assumed, so every entry of Y has monomials of its own

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        whole("degree", self.degree, 0)
        signs(X)  # monomials are those of signs
        bits = X.shape[1] * X.shape[2]
        self._by_distance = krawtchouk_sums(bits, self.degree)
        size = monomials(bits, self.degree)
        return size if len(X) > MANY and len(X) > size else None

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = np.asarray(X, dtype=np.float32).reshape(len(X), -1)
        for size in range(self.degree + 1):
            sets = list(combinations(range(x.shape[1]), size))
            for start in range(0, len(sets), BLOCK_SETS):
                yield x[:, np.array(sets[start : start + BLOCK_SETS], dtype=np.intp)].prod(axis=2)

    def gram(self, X: Array, Z: Array) -> Array:
        x, z = (np.asarray(v, dtype=np.float32).reshape(len(v), -1) for v in (X, Z))
        gram = np.empty((len(x), len(z)))
        for rows in row_blocks(len(x), len(z)):
            distance = ((x.shape[1] - x[rows] @ z.T) / 2).astype(np.intp)
            np.take(self._by_distance, distance, out=gram[rows])
        return gram

    def _solve(self, rows: Array, targets: Array, group: int, rng: np.random.Generator) -> None:
        super()._solve(rows, targets.reshape(len(rows), -1), 1, rng)


def krawtchouk_sums(bits: int, degree: int) -> Array:
    """Σ of x_T z_T over all sets |T| <= degree, as a function of the Hamming distance 0..bits of x and z.

    >>> krawtchouk_sums(3, 1)
    array([ 4.,  2.,  0., -2.])
    """
    return np.array(
        [
            float(
                sum(
                    (-1) ** i * comb(h, i) * comb(bits - h, j - i)
                    for j in range(degree + 1)
                    for i in range(j + 1)
                )
            )
            for h in range(bits + 1)
        ]
    )
