"""Queries on biased products (theory 2.9): any query on parities, its means where every v_j has mean μ."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.queries import SignBatch, SpanFunction, Table, bit_products

TABLE_BITS = 20  # bits whose tables of 2^n values are made

Correlational = SignBatch | SpanFunction | Table  # y h(v) on z_0 != 0


@dataclass(frozen=True)
class Biased:
    """A `query` y h(v) 1{z_0 != 0} on n bits of bias μ: its mean under S is (1 - 2 flip) E_μ[h χ_S]/2.

    A single character has μ^|S⊕T|/2, for any n; all others by a transform over the cube, n <= 20.

    >>> query = Biased(SignBatch(np.array([3], np.uint64), np.array([1])), n=3, mu=0.5)
    >>> query.means(np.array([3, 5, 1], np.uint64)).tolist()
    [0.5, 0.125, 0.25]
    """

    query: Correlational
    n: int
    mu: float

    @property
    def peak(self) -> float:
        return self.query.peak

    @property
    def half_width(self) -> float:
        return 0.0

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        kept = 0.5 - self.query.flip
        if isinstance(self.query, SignBatch) and len(self.query.sets) == 1:
            distance = np.bitwise_count(elements ^ self.query.sets[0]).astype(np.float64)
            return np.asarray(float(self.query.signs[0]) * kept * self.mu**distance)
        if self.n > TABLE_BITS:
            raise InputError(f"biased queries are tables of 2^n values; n={self.n} > {TABLE_BITS}: lower --dim")
        # E_mu[h chi_S] is the sum over v of P_mu(v) h(v) chi_S(v): the transform, unscaled, of h times the density.
        words = np.arange(1 << self.n, dtype=np.uint64)
        minus = np.bitwise_count(words).astype(np.float64)
        spectrum = values_of(self.query, words) * ((1 + self.mu) / 2) ** (self.n - minus) * ((1 - self.mu) / 2) ** minus
        walsh_hadamard(spectrum)
        return np.asarray(spectrum[elements.astype(np.int64)] * kept)

    def sample_mean(self, secret: Any, samples: int, rng: Generator) -> float:
        minus = rng.random((samples, self.n)) < (1 - self.mu) / 2
        words = minus @ (np.uint64(1) << np.arange(self.n, dtype=np.uint64))
        kept = np.where(rng.random(samples) < self.query.flip, -1, 1) * rng.integers(0, 2, samples)
        return float(np.mean(kept * bit_products(words, secret) * values_of(self.query, words)))


def values_of(query: Correlational, words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """h(v) of a query y h(v) at sign vectors v, as words whose bit j is set iff v_j = -1.

    >>> values_of(Table(np.array([1.0, 0.5, 0.0, -1.0])), np.array([3, 1], np.uint64)).tolist()
    [-1.0, 0.5]
    """
    match query:
        case SignBatch():
            return query.signs_at(words).astype(np.float64)
        case SpanFunction():
            cell = np.zeros(len(words), np.int64)
            for j, generator in enumerate(query.generators):
                cell |= (bit_products(words, generator) < 0).astype(np.int64) << j
            return np.asarray(bit_products(words, np.uint64(query.base)) * query.values[cell])
        case Table():
            return query.values[words.astype(np.int64)]
