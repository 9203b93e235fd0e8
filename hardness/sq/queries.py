"""Queries: functions phi(X, F(X)) with values in [-1, 1], and their means under every concept (theory 2.5a)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ListedConcepts, RoundingConcepts
from hardness.gadgets import modular
from hardness.kernels.walsh import walsh_hadamard

Values = NDArray[np.float64]
Masks = NDArray[np.uint64]
WIDEST = 24  # dimensions of the span of a sign batch of dependent sets


class Query(ABC):
    """A function phi of an example, with values in [-1, 1], that an oracle averages.
    It is 0 on the half of the inputs on which the two tokens agree in coordinate 0."""

    values: Values

    @property
    def peak(self) -> float:
        """Return the largest absolute value of the query's function phi."""
        return float(np.max(np.abs(self.values)))

    @abstractmethod
    def means(self, elements: NDArray[Any]) -> Values:
        """Return the query's mean under each concept, masks (count,) or secrets (count, n), up to a shared constant."""

    @abstractmethod
    def law(self, secret: Any) -> tuple[Values, Values]:
        """Return the query's values and their probabilities under the concept `secret`.
        Only inputs whose tokens differ in coordinate 0 count; on the others the query is 0."""


def bit_products(words: Masks, mask: np.uint64) -> NDArray[np.int8]:
    """Return (-1)^|w & mask|, the parity of the bits of w in `mask`, for every word w: +-1 int8."""
    odd: NDArray[np.int8] = (np.bitwise_count(words & mask) & 1).astype(np.int8)
    return 1 - 2 * odd


@dataclass(frozen=True)
class SignBatch(Query):
    """The query y sign(sum_i eps_i chi_{S_i}(v)) on parities: label y, an odd number of `sets` S_i, `signs` eps_i.

    >>> SignBatch(np.array([3], np.uint64), np.array([1])).means(np.array([3, 5], np.uint64)).tolist()
    [0.5, 0.0]
    """

    sets: Masks
    signs: NDArray[np.int_]

    @property
    def peak(self) -> float:
        return 1.0

    def means(self, elements: Masks) -> Values:
        """Return the exact mean of this majority of signed parities under each parity, given as masks (count,)."""
        if len(self.sets) == 1:
            return np.where(elements == self.sets[0], self.signs[0] / 2, 0.0)
        basis, inside, coordinates = span_coordinates(self.sets, elements)
        rank, out = len(basis), np.zeros(len(elements))
        if rank == len(self.sets):
            out[inside] = self._majority(coordinates[inside])
        elif rank > WIDEST:
            raise InputError(f"a sign batch of rank {rank} > 24 with dependent sets has no exact means here")
        else:
            # On the cube of the batch's own basis: signed characters, a transform, the sign, a transform back.
            table = np.zeros(1 << rank, np.int32)
            codes = span_coordinates(self.sets, self.sets)[2]
            np.add.at(table, codes, self.signs.astype(np.int32))
            walsh_hadamard(table)
            table = np.sign(table).astype(np.int32)
            walsh_hadamard(table)
            out[inside] = table[coordinates[inside]] / 2 ** (rank + 1)
        return out

    def _majority(self, combination: NDArray[np.int64]) -> Values:
        """Return half the Fourier coefficients of a majority of K independent signs, some negated, at subsets of them.
        Bit i of an entry of `combination` says that sign i is in the subset. At j signs: 0 for even j; for odd j the
        size is C((K-1)/2, (j-1)/2)/C(K-1, j-1) times that at one sign, with alternating sign (O'Donnell, Analysis of
        Boolean Functions, 5.3)."""
        size = len(self.sets)
        half = (size - 1) // 2
        top = comb(size - 1, half) / 2.0**size
        by_degree = np.zeros(size + 1)
        for j in range(1, size + 1, 2):
            sign = -1 if j % 4 == 3 else 1
            by_degree[j] = sign * top * (comb(half, (j - 1) // 2) / comb(size - 1, j - 1))
        flips = sum((1 << i for i, sign in enumerate(self.signs) if sign < 0), 0)
        sign = 1 - 2.0 * (np.bitwise_count(combination & flips) & 1)
        return np.asarray(by_degree[np.bitwise_count(combination)] * sign)

    def law(self, secret: np.uint64) -> tuple[Values, Values]:
        mean = 2 * self.means(np.array([secret]))[0]
        return np.array([1.0, -1.0]), np.array([1 + mean, 1 - mean]) / 2


def character(mask: int) -> SignBatch:
    """Return the query label times parity of the set `mask`: its mean is 1/2 under that parity, 0 under all others."""
    return SignBatch(np.array([mask], np.uint64), np.array([1]))


@dataclass(frozen=True)
class SpanFunction(Query):
    """The query y chi_base(v) f(t(v)) on parities: any f, float (2^r,), of r parities t_j(v) = 1{chi_{g_j}(v) = -1}.

    y is the label, f are the `values`, g_j the `generators`. If these are independent, the mean under the set base +
    sum_j c_j g_j is half the Fourier coefficient of f at c, and 0 under every other set.

    >>> query = SpanFunction(1, np.array([3, 6], np.uint64), np.array([1.0, 1.0, 1.0, -1.0]))
    >>> query.means(np.array([1, 2, 7, 4, 8], np.uint64)).tolist()
    [0.25, 0.25, 0.25, -0.25, 0.0]
    """

    base: int
    generators: Masks
    values: Values

    def means(self, elements: Masks) -> Values:
        _, inside, coordinates = span_coordinates(self.generators, elements ^ np.uint64(self.base))
        spectrum = self.values.astype(np.float64)
        walsh_hadamard(spectrum)
        scale = 1 / (2 * len(spectrum))
        return np.where(inside, spectrum[np.where(inside, coordinates, 0)] * scale, 0.0)

    def law(self, secret: np.uint64) -> tuple[Values, Values]:
        _, inside, place = span_coordinates(self.generators, np.array([secret ^ np.uint64(self.base)]))
        size = len(self.values)
        if inside[0]:
            states = np.arange(size, dtype=np.uint64)
            return self.values * bit_products(states, np.uint64(place[0])), np.full(size, 1 / size)
        return np.concatenate([self.values, -self.values]), np.full(2 * size, 0.5 / size)


@dataclass(frozen=True)
class Table(Query):
    """The query y h(v) on parities, label y, `values` h (2^n,) by words whose bit j says that v_j = -1; n <= 24.

    >>> Table(np.array([1.0, -1.0, 1.0, -1.0])).means(np.array([1, 2], np.uint64)).tolist()
    [0.5, 0.0]
    """

    values: Values

    def means(self, elements: Masks) -> Values:
        words = np.arange(len(self.values), dtype=np.uint64)
        if len(elements) == 1:  # faster than all coefficients
            return np.array([self.values @ bit_products(words, elements[0])]) / (2 * len(words))
        spectrum = self.values.astype(np.float64)
        walsh_hadamard(spectrum)
        return np.asarray(spectrum[elements.astype(np.int64)] / (2 * len(words)))

    def law(self, secret: np.uint64) -> tuple[Values, Values]:
        words = np.arange(len(self.values), dtype=np.uint64)
        return self.values * bit_products(words, secret), np.full(len(words), 1 / len(words))


def reduced(vector: int, code: int, rows: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return what a GF(2) vector leaves after reduction by a basis, and `code` plus the codes of the rows used.
    Vectors are bits of integers; rows are (vector, code) as they were found: the lowest bit of each is in no later one.
    """
    for row, its_code in rows:
        if vector & row & -row:
            vector, code = vector ^ row, code ^ its_code
    return vector, code


def span_coordinates(sets: Masks, elements: Masks) -> tuple[list[int], NDArray[np.bool_], NDArray[np.int64]]:
    """Return a basis over GF(2) out of `sets` (indices), which `elements` (count,) it spans, and their coordinates.
    Bit i of an element's coordinates stands for the i-th set of the basis; they are 0 outside the span."""
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
class LevelTable(Query):
    """The query b(u, level) on the rounding family, where tokens differ in coordinate 0: `values` b (U, p) by u, level.
    Its mean under the secret w, with level f_w(u) at the public vector u, is 1/2 sum_u P(u) b(u, f_w(u)) (theory 2.6),
    less that of a uniform residue."""

    concepts: RoundingConcepts
    values: Values

    @cached_property
    def centred(self) -> Values:
        """Return the query's table `values`, each row less its mean over the rounded levels of a uniform residue mod q.
        Rows are the U public vectors, columns the p levels."""
        return self.values - (self.values @ modular.shares(self.concepts.q, self.concepts.p))[:, None]

    def means(self, elements: NDArray[Any]) -> Values:
        from hardness.kernels.games import table_means

        weighted = self.centred * (self.concepts.public()[1] / 2)[:, None]
        out = np.empty(len(elements))
        table_means(self.concepts.label_table, elements @ self.concepts.powers, weighted, out)
        return out

    def law(self, secret: NDArray[np.int16]) -> tuple[Values, Values]:
        labels, odds = self.concepts.labels(secret[None])[0], self.concepts.public()[1]
        return self.centred[np.arange(len(labels)), labels], odds


@dataclass(frozen=True)
class LabelTable(Query):
    """The query b(v) y on a listed class, where tokens differ in coordinate 0: y is the label, `values` b by input v.
    Its mean under the concept f_S is half the average of b(v) f_S(v)."""

    concepts: ListedConcepts
    values: Values

    def means(self, elements: NDArray[Any]) -> Values:
        return np.asarray(self.concepts.table[elements] @ self.values / (2 * self.values.size))

    def law(self, secret: Any) -> tuple[Values, Values]:
        return self.values * self.concepts.table[int(secret)], np.full(self.values.size, 1 / self.values.size)
