"""Arbitrary queries phi(X, Y), and the tables that stand for them on the rounding family."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.families.concepts import RoundingConcepts
from hardness.gadgets import modular
from hardness.sq.queries import OutOfRange
from hardness.tokens import unpack

ENUMERABLE = 16
FAILURE = 1e-9
BATCH = 1 << 14

Phi = Callable[[NDArray[np.int8], NDArray[np.float64]], NDArray[np.float64]]
Layer = Callable[[NDArray[np.int8]], NDArray[np.float64]]


@dataclass(frozen=True)
class Function:
    """phi(X (n, 2, d), Y (n, 2, d)) -> (n,) for any family: `layer_of(element)` gives the closed-form labels.

    Means are exact by enumeration of all 2^(2d) inputs while 2d <= 16. Beyond, they come from `samples`
    inputs, common to all concepts, and `half_width` is Hoeffding's interval at failure probability 1e-9 for
    each mean.

    >>> from hardness.families.parity import Parity
    >>> parity = Parity(dim=5, heads=3)
    >>> support = lambda mask: 1 + np.flatnonzero([mask >> j & 1 for j in range(4)])
    >>> layer_of = lambda mask: parity.realize({"support": support(mask)})
    >>> informative = lambda X: X[:, 0, 0] != X[:, 1, 0]
    >>> phi = lambda X, Y: informative(X) * X[:, 0, 0] * np.sign(Y[:, 0, 0]) * X[:, :, 1:4].prod(axis=(1, 2))
    >>> Function(phi, layer_of, dim=5).means(np.array([7, 11])).round(12).tolist()
    [0.5, 0.0]
    """

    phi: Phi
    layer_of: Callable[[Any], Layer]
    dim: int
    samples: int = 1 << 16
    seed: int = 0

    peak: ClassVar[float] = 0.0  # every value is checked instead

    @property
    def half_width(self) -> float:
        return 0.0 if 2 * self.dim <= ENUMERABLE else sqrt(2 * log(2 / FAILURE) / self.samples)

    def _inputs(self) -> Iterator[NDArray[np.int8]]:
        if 2 * self.dim <= ENUMERABLE:
            index = np.arange(1 << 2 * self.dim, dtype=np.uint64)
            low = np.uint64((1 << self.dim) - 1)
            yield unpack(np.stack([index & low, index >> np.uint64(self.dim)], axis=1)[:, :, None], self.dim)
            return
        rng = np.random.default_rng(self.seed)
        for start in range(0, self.samples, BATCH):
            yield _uniform(min(BATCH, self.samples - start), self.dim, rng)

    def means(self, elements: NDArray[Any]) -> NDArray[np.float64]:
        totals, count = np.zeros(len(elements)), 0
        for X in self._inputs():
            count += len(X)
            totals += [float(np.sum(self._checked(X, element))) for element in elements]
        return totals / count

    def _checked(self, X: NDArray[np.int8], element: Any) -> NDArray[np.float64]:
        values = self.phi(X, self.layer_of(element)(X))
        peak = float(np.max(np.abs(values)))
        if not peak <= 1 + 1e-12:
            raise OutOfRange(peak)
        return values

    def sample_mean(self, secret: Any, samples: int, rng: Generator) -> float:
        total = 0.0
        for start in range(0, samples, BATCH):
            total += float(np.sum(self._checked(_uniform(min(BATCH, samples - start), self.dim, rng), secret)))
        return total / samples


def _uniform(count: int, dim: int, rng: Generator) -> NDArray[np.int8]:
    return (2 * rng.integers(0, 2, (count, 2, dim), np.int8) - 1).astype(np.int8)


@dataclass(frozen=True)
class LevelTable:
    """phi = b(u, level) 1{z_0 != 0} on the rounding family: a table b (U, p) over public vectors and levels.

    Its mean under w is 1/2 sum_u P(u) b(u, f_w(u)) (theory 2.6), less what a uniform residue would give, so
    that the null answer is 0.

    >>> concepts = RoundingConcepts(1, 2, 2)
    >>> LevelTable(concepts, np.array([[0.0, 0.0], [1.0, -1.0]])).means(concepts.elements()).tolist()
    [0.25, -0.25]
    """

    concepts: RoundingConcepts
    table: NDArray[np.float64]

    half_width: ClassVar[float] = 0.0

    @cached_property
    def centred(self) -> NDArray[np.float64]:
        """b less its mean over a uniform residue, (U, p)."""
        return self.table - (self.table @ modular.shares(self.concepts.q, self.concepts.p))[:, None]

    @property
    def peak(self) -> float:
        return float(np.max(np.abs(self.table)))

    def means(self, elements: NDArray[Any]) -> NDArray[np.float64]:
        from hardness.kernels import games as kernels

        weighted = self.centred * (self.concepts.public()[1] / 2)[:, None]
        out = np.empty(len(elements))
        kernels.table_means(self.concepts.label_table, elements @ self.concepts.powers, weighted, out)
        return out

    def sample_mean(self, secret: NDArray[np.int16], samples: int, rng: Generator) -> float:
        vectors, odds = self.concepts.public()
        drawn = rng.choice(len(vectors), samples, p=odds)
        labels = self.concepts.labels(secret[None])[0][drawn]
        return float(np.mean(self.centred[drawn, labels] * rng.integers(0, 2, samples)))
