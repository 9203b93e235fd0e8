"""Regression on all monomials of low degree: the learner that knows nothing but degree, and its price.

Its number of monomials is the null model of every plot of hardness: what "only high degree" would cost. A family is
called hard here only for what exceeds that count.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.estimates.low_degree import monomials
from hardness.errors import InputError
from hardness.kernels.walsh import walsh_hadamard
from hardness.tokens import pack
from learner.base import Array
from learner.ridge import GRID, RidgeLearner, refuse_beyond, row_blocks

CUBE = 18  # bits: the largest cube on which transforms beat Gram matrices


def parity_block(dim: int, size: int) -> int:
    """Monomials alike, for a learner that treats coordinates alike, to half of a parity label: C(d,s)·C(d,s+1).

    >>> [parity_block(8, s) for s in (1, 2, 3)]
    [224, 1568, 3920]
    """
    return comb(dim, size) * comb(dim, size + 1)


class LowDegree(RidgeLearner):
    """Ridge regression on all monomials of degree at most `degree` in the k·d signs of the tokens.

    `solver` `kernel` uses that monomials sum to a function of the Hamming distance; `cube` iterates with fast
    Walsh–Hadamard transforms over all 2^(kd) inputs, for more examples than a Gram matrix holds; `auto` picks.
    Y (n, k, d) is learned entry by entry. The rest is `RidgeLearner`'s; tokens must be ±1.

    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(300, 2, 4))
    >>> Y = X[:, 0, 0] * X[:, 0, 1] * X[:, 1, 1]
    >>> [bool(LowDegree(3, alpha=1e-9, solver=s).fit(X, Y).score(X, Y) > 1 - 1e-6) for s in ("kernel", "cube")]
    [True, True]
    """

    centred = False  # the constant is a monomial

    def __init__(
        self,
        degree: int = 3,
        *,
        alpha: float | tuple[float, ...] = GRID,
        solver: str = "auto",
        memory_gb: float = 5.0,
        random_state: int | None = None,
    ) -> None:
        super().__init__(alpha, memory_gb, random_state)
        self.degree = degree
        self.solver = solver

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """About what the kernel solver costs: all distances, and the factors.

        >>> round(LowDegree(3).multiply_adds(1000, 2, 12) / 1e9, 2)
        2.02
        """
        return float(examples) ** 2 * tokens * dim + self._solving(examples)

    def _rows(self, x: Array) -> Array:
        return x  # no symmetry is assumed, so every entry of Y has monomials of its own

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        if self.degree < 0:
            raise InputError(f"degree must be at least 0, got {self.degree}")
        if self.solver not in ("auto", "kernel", "cube"):
            raise InputError(f"solver must be auto, kernel or cube, got {self.solver!r}")
        bits = X.shape[1] * X.shape[2]
        self._bits, self._by_distance = bits, krawtchouk_sums(bits, self.degree)
        return None

    def gram(self, X: Array, Z: Array) -> Array:
        x, z = (np.asarray(v, dtype=np.float32).reshape(len(v), -1) for v in (X, Z))
        gram = np.empty((len(x), len(z)))
        for rows in row_blocks(len(x), len(z)):
            distance = ((x.shape[1] - x[rows] @ z.T) / 2).astype(np.intp)
            np.take(self._by_distance, distance, out=gram[rows])
        return gram

    def _solve(self, rows: Array, targets: Array, each: int, rng: np.random.Generator) -> None:
        if not (np.abs(rows) == 1).all():
            raise InputError("X must hold only +1 and -1: monomials are those of signs")
        n, bits = len(rows), rows.shape[1] * rows.shape[2]
        self._start(rows, rng)
        if self.solver == "kernel" or (self.solver == "auto" and (bits > CUBE or n <= 4096)):
            super()._solve(rows, targets.reshape(n, -1), 1, rng)
            return
        if bits > 26:
            raise InputError(f"solver='cube' is for at most 26 bits, got {bits}: use solver='kernel'")
        targets, vertex = targets.reshape(n, -1), vertices(rows)
        tables = targets.shape[1] * (2 + np.size(self.alpha))
        refuse_beyond(self.memory_gb, 8e-9 * (6 + tables) * 2**bits, f"transforms of {bits} bits")
        self.n_features_ = monomials(bits, self.degree)
        self.table_ = self._choose(
            targets,
            1,
            lambda alpha, part, right: self._cube(vertex[part], right, alpha),
            lambda table, part: np.asarray(table[vertex[part]]),
        )

    def _cube(self, vertex: NDArray[np.intp], targets: Array, alpha: float) -> Array:
        """The fitted function at every vertex, (2^bits, outputs), by conjugate gradients on the coefficients."""
        bits = int(self._bits)
        low = degrees(bits) <= self.degree
        count = np.bincount(vertex, minlength=1 << bits).astype(np.float64)
        ridge = alpha * monomials(bits, self.degree)

        def project(f: Array) -> Array:
            walsh_hadamard(f)
            f *= low
            return f

        table = np.zeros((1 << bits, targets.shape[1]))
        for column, y in zip(table.T, targets.T, strict=True):
            residual = project(np.bincount(vertex, y, minlength=1 << bits).astype(np.float64))
            c, direction, power = np.zeros_like(residual), residual.copy(), float(residual @ residual)
            goal = 1e-24 * power
            for _ in range(2000):
                if power <= goal or power == 0:
                    break
                value = direction.copy()
                walsh_hadamard(value)
                image = project(value * count) + ridge * direction
                step = power / float(direction @ image)
                c += step * direction
                residual -= step * image
                power, before = float(residual @ residual), power
                direction = residual + (power / before) * direction
            walsh_hadamard(c)
            column[:] = c
        return table

    def _predict(self, rows: Array) -> Array:
        if hasattr(self, "table_"):
            return np.asarray(self.table_[vertices(rows)])
        return super()._predict(rows)


def krawtchouk_sums(bits: int, degree: int) -> Array:
    """Σ of x_T z_T over all sets |T| <= degree, as a function of the Hamming distance 0..bits of x and z.

    >>> krawtchouk_sums(3, 1)
    array([ 4.,  2.,  0., -2.])
    """
    return np.array(
        [
            float(sum((-1) ** i * comb(h, i) * comb(bits - h, j - i) for j in range(degree + 1) for i in range(j + 1)))
            for h in range(bits + 1)
        ]
    )


def degrees(bits: int) -> NDArray[np.intp]:
    """Number of set bits of 0 .. 2^bits - 1.

    >>> degrees(2)
    array([0, 1, 1, 2])
    """
    counts = np.zeros(1, dtype=np.intp)
    for _ in range(bits):
        counts = np.concatenate([counts, counts + 1])
    return counts


def vertices(X: Array) -> NDArray[np.intp]:
    """The vertex of the cube of each example: bit b set iff sign b, tokens end to end, is -1."""
    return pack(np.asarray(X).reshape(len(X), -1))[:, 0].astype(np.intp)
