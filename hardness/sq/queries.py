"""Queries: functions phi(X, F(X)) with values in [-1, 1], and their means under every concept.

For the parity family phi = y h(v) 1{z_0 != 0} with y = chi_S(v): S-independent parts of a query carry nothing
(theory 2.5a), and half of the inputs, z_0 = 0, carry no information on S.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.kernels.walsh import walsh_hadamard


class OutOfRange(InputError):
    """A query takes a value outside [-1, 1]."""

    def __init__(self, peak: float) -> None:
        super().__init__(f"a query reaches {peak:g}; queries must stay within [-1, 1]")
        self.peak = peak


class Query(Protocol):
    """What an oracle asks of a query: its range, its mean under every concept, and a fresh sample mean."""

    @property
    def peak(self) -> float:
        """Largest |phi|."""

    def means(self, elements: NDArray[Any]) -> NDArray[np.float64]:
        """E_S phi for every concept given (masks (count,), or secrets (count, n)), less what all share."""

    @property
    def half_width(self) -> float:
        """Certified half-width of the interval around each mean; 0 where means are exact."""

    def sample_mean(self, secret: Any, samples: int, rng: Generator) -> float:
        """Mean of phi over fresh samples (X, F(X)) of the layer that hides `secret`."""


def bit_products(words: NDArray[np.uint64], mask: np.uint64) -> NDArray[np.int8]:
    """chi_mask of every word: +-1 int8.

    >>> bit_products(np.array([0, 1, 3], np.uint64), np.uint64(1)).tolist()
    [1, -1, -1]
    """
    odd: NDArray[np.int8] = (np.bitwise_count(words & mask) & 1).astype(np.int8)
    return 1 - 2 * odd


@dataclass(frozen=True)
class SignBatch:
    """phi = y sign(sum_i eps_i chi_{S_i}(v)) 1{z_0 != 0}; one set is a single character. K must be odd (no
    ties).

    `flip` is the probability that the sign of y is flipped (theory 1.2b): every mean shrinks by 1 - 2 flip.

    >>> SignBatch(np.array([3], np.uint64), np.array([1])).means(np.array([3, 5], np.uint64)).tolist()
    [0.5, 0.0]
    """

    sets: NDArray[np.uint64]
    signs: NDArray[np.int_]
    flip: float = 0.0

    half_width: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if len(self.sets) % 2 == 0 or len(self.sets) != len(self.signs):
            raise InputError(f"a sign batch needs an odd number of sets and as many signs, got {len(self.sets)}")

    @property
    def peak(self) -> float:
        return 1.0

    def signs_at(self, words: NDArray[np.uint64]) -> NDArray[np.int8]:
        total = np.zeros(len(words), np.int32)
        for mask, sign in zip(self.sets, self.signs, strict=True):
            total += int(sign) * bit_products(words, mask)
        return np.sign(total).astype(np.int8)

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Exact: h depends only on the span of its sets, so a transform over the span (rank <= 24) gives all.

        A batch of more independent sets has the majority's coefficients instead.
        """
        if len(self.sets) == 1:
            return np.where(elements == self.sets[0], self.signs[0] * (0.5 - self.flip), 0.0)
        basis, inside, coordinates = span_coordinates(self.sets, elements)
        rank, out = len(basis), np.zeros(len(elements))
        if rank == len(self.sets):
            out[inside] = self._majority(coordinates[inside])
        elif rank > 24:
            raise InputError(f"a sign batch of rank {rank} > 24 with dependent sets has no exact means here")
        else:
            # The batch as a function on the cube of its own basis: signed characters there, one transform to its
            # values, the sign, and one transform back.
            table = np.zeros(1 << rank, np.int32)
            own = span_coordinates(self.sets, self.sets)[2]
            np.add.at(table, own, self.signs.astype(np.int32))
            walsh_hadamard(table)
            table = np.sign(table).astype(np.int32)
            walsh_hadamard(table)
            out[inside] = table[coordinates[inside]] / 2 ** (rank + 1)
        return out * (1 - 2 * self.flip)

    def _majority(self, combination: NDArray[np.int64]) -> NDArray[np.float64]:
        """Coefficients of a majority of K bits on the given subsets of its bits (bit i: set i), halved."""
        size = len(self.sets)
        half = (size - 1) // 2
        top = comb(size - 1, half) / 2.0**size
        # Of a majority of K bits the coefficient at j of them is 0 for even j; for odd j it alternates in sign, and its
        # size is the top one times C((K-1)/2, (j-1)/2)/C(K-1, j-1) (O'Donnell, Analysis of Boolean Functions, 5.3).
        by_degree = [0.0] * (size + 1)
        for j in range(1, size + 1, 2):
            sign = -1 if j % 4 == 3 else 1
            by_degree[j] = sign * top * (comb(half, (j - 1) // 2) / comb(size - 1, j - 1))
        flips = sum((1 << i for i, sign in enumerate(self.signs) if sign < 0), 0)
        sign = 1 - 2.0 * (np.bitwise_count(combination & flips) & 1)
        out: NDArray[np.float64] = np.asarray(by_degree)[np.bitwise_count(combination)] * sign
        return out

    def sample_mean(self, secret: np.uint64, samples: int, rng: Generator) -> float:
        words = rng.integers(0, 2**64, samples, np.uint64, endpoint=False)
        informative = rng.integers(0, 2, samples, np.int8)
        label = bit_products(words, secret) * _kept(self.flip, samples, rng)
        return float(np.mean(label * self.signs_at(words) * informative))


def character(mask: int) -> SignBatch:
    """The single character chi_mask y: mean 1/2 on its own set, 0 elsewhere."""
    return SignBatch(np.array([mask], np.uint64), np.array([1]))


@dataclass(frozen=True)
class SpanFunction:
    """phi = y chi_base(v) f(t(v)) 1{z_0 != 0}: any f, float (2^r,), of r parities t_j(v) = 1{chi_{g_j}(v) =
    -1}.

    For independent generators g_j its mean on the set base + sum_j c_j g_j is half the coefficient of f at c,
    and 0 on every other set.

    >>> query = SpanFunction(1, np.array([3, 6], np.uint64), np.array([1.0, 1.0, 1.0, -1.0]))
    >>> query.means(np.array([1, 2, 7, 4, 8], np.uint64)).tolist()
    [0.25, 0.25, 0.25, -0.25, 0.0]
    """

    base: int
    generators: NDArray[np.uint64]
    values: NDArray[np.float64]
    flip: float = 0.0

    half_width: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if len(span_coordinates(self.generators, self.generators)[0]) != len(self.generators):
            raise InputError("the generators of a span query must be independent over GF(2)")

    @property
    def peak(self) -> float:
        return float(np.max(np.abs(self.values)))

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        # E y chi_base f under S is the coefficient of f at S xor base, if that lies in the generators' span; else 0.
        _, inside, coordinates = span_coordinates(self.generators, elements ^ np.uint64(self.base))
        spectrum = self.values.astype(np.float64)
        walsh_hadamard(spectrum)
        scale = (1 - 2 * self.flip) / (2 * len(spectrum))
        return np.where(inside, spectrum[np.where(inside, coordinates, 0)] * scale, 0.0)

    def sample_mean(self, secret: np.uint64, samples: int, rng: Generator) -> float:
        words = rng.integers(0, 2**64, samples, np.uint64, endpoint=False)
        cell = sum((bit_products(words, g) < 0).astype(np.int64) << j for j, g in enumerate(self.generators))
        label = bit_products(words, secret ^ np.uint64(self.base)) * _kept(self.flip, samples, rng)
        return float(np.mean(label * self.values[cell] * rng.integers(0, 2, samples, np.int8)))


def reduced(vector: int, code: int, rows: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """What is left of a vector over GF(2) after the rows of a basis, and the `code` of what was added to it.

    Rows are (vector, code) in the order in which they were found: each has a lowest bit that no later one has.

    >>> reduced(0b111, 0, [(0b011, 1), (0b100, 2)])
    (0, 3)
    """
    for row, its_code in rows:
        if vector & row & -row:
            vector, code = vector ^ row, code ^ its_code
    return vector, code


def span_coordinates(
    sets: NDArray[np.uint64], elements: NDArray[np.uint64]
) -> tuple[list[int], NDArray[np.bool_], NDArray[np.int64]]:
    """A basis out of `sets` (indices), which elements it spans, and their coordinates in it (bit i: i-th)."""
    basis: list[int] = []
    rows: list[tuple[int, int]] = []
    for index, mask in enumerate(int(m) for m in sets):
        left, code = reduced(mask, 1 << len(basis), rows)
        if left:
            rows.append((left, code))
            basis.append(index)
    # Of many elements few lie in the span of few coordinates, and only those are reduced.
    outside = ~np.bitwise_or.reduce(sets, initial=np.uint64(0))
    near = np.flatnonzero((elements & outside) == 0)
    rest, codes = elements[near], np.zeros(len(near), np.uint64)
    for vector, code in rows:
        hit = (rest & np.uint64(vector & -vector)) != 0
        rest[hit] ^= np.uint64(vector)
        codes[hit] ^= np.uint64(code)
    inside, coordinates = np.zeros(len(elements), np.bool_), np.zeros(len(elements), np.int64)
    inside[near], coordinates[near] = rest == 0, codes.astype(np.int64)
    return basis, inside, coordinates


@dataclass(frozen=True)
class Table:
    """phi = y b(v) 1{z_0 != 0} for any table b, float (2^n,), n <= 24; the general correlational query.

    >>> Table(np.array([1.0, -1.0, 1.0, -1.0])).means(np.array([1, 2], np.uint64)).tolist()
    [0.5, 0.0]
    """

    values: NDArray[np.float64]
    flip: float = 0.0

    half_width: ClassVar[float] = 0.0

    @property
    def peak(self) -> float:
        return float(np.max(np.abs(self.values)))

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        spectrum = self.values.astype(np.float64)
        walsh_hadamard(spectrum)
        return np.asarray(spectrum[elements.astype(np.int64)] * ((1 - 2 * self.flip) / (2 * len(spectrum))))

    def sample_mean(self, secret: np.uint64, samples: int, rng: Generator) -> float:
        words = rng.integers(0, len(self.values), samples, np.uint64)
        informative = rng.integers(0, 2, samples, np.int8)
        label = bit_products(words, secret) * _kept(self.flip, samples, rng)
        return float(np.mean(label * self.values[words.astype(np.int64)] * informative))


def _kept(flip: float, samples: int, rng: Generator) -> NDArray[np.int8]:
    """-1 where a label is flipped, else 1."""
    return np.where(rng.random(samples) < flip, np.int8(-1), np.int8(1)) if flip else np.ones(samples, np.int8)
