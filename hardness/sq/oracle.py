"""The only door to a secret: queries, the oracles that answer them, and the ledger that counts.

A query is phi(X, F(X)) with values in [-1, 1]; its mean under concept S is what a STAT(tau) oracle answers within
tau. Here phi = y h(v) 1{z_0 != 0} with y = chi_S(v): S-independent parts of a query carry nothing (theory 2.5a).
"""

from dataclasses import dataclass
from math import ceil, inf, isfinite, log
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.errors import InputError, unknown

MODES = ("window", "null", "exact", "sampled", "noisy")
ADVERSARIES = ("window", "null")
FAILURE = 1e-9


class Query(Protocol):
    """What an oracle asks of a query: its range, its mean under every concept, and a fresh sample mean."""

    @property
    def peak(self) -> float:
        """Largest |phi|."""

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        """E_S phi for the sets S given as masks (count,), exact to rounding."""

    def sample_mean(self, secret: np.uint64, samples: int, rng: Generator) -> float:
        """Mean of phi over fresh samples (X, F(X)) of the layer that hides `secret`."""


def bit_products(words: NDArray[np.uint64], mask: np.uint64) -> NDArray[np.int8]:
    """chi_mask of every word: +-1 int8.

    >>> bit_products(np.array([0, 1, 3], np.uint64), np.uint64(1)).tolist()
    [1, -1, -1]
    """
    return (1 - 2 * (np.bitwise_count(words & mask) & 1).astype(np.int8)).astype(np.int8)


@dataclass(frozen=True)
class SignBatch:
    """phi = y sign(sum_i eps_i chi_{S_i}(v)) 1{z_0 != 0}; one set is a single character. K must be odd (no ties).

    >>> SignBatch(np.array([3], np.uint64), np.array([1])).means(np.array([3, 5], np.uint64)).tolist()
    [0.5, 0.0]
    """

    sets: NDArray[np.uint64]
    signs: NDArray[np.int_]

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
        basis, inside, coordinates = _span_coordinates(self.sets, elements)
        rank, out = len(basis), np.zeros(len(elements))
        if rank == len(self.sets):
            out[inside] = self._majority(coordinates[inside])
        elif rank > 24:
            raise InputError(f"a sign batch of rank {rank} > 24 with dependent sets has no exact means here")
        else:
            from hardness import kernels

            table = np.zeros(1 << rank, np.int32)
            own = _span_coordinates(self.sets, self.sets)[2]
            np.add.at(table, own, self.signs.astype(np.int32))
            kernels.walsh_hadamard(table)
            table = np.sign(table).astype(np.int32)
            kernels.walsh_hadamard(table)
            out[inside] = table[coordinates[inside]] / 2 ** (rank + 1)
        return out

    def _majority(self, combination: NDArray[np.int64]) -> NDArray[np.float64]:
        """Coefficients of a majority of K bits on the given subsets of its bits (bit i: set i), halved."""
        from math import comb

        size = len(self.sets)
        half = (size - 1) // 2
        top = comb(size - 1, half) / 2.0**size
        by_degree = [0.0] * (size + 1)
        for j in range(1, size + 1, 2):
            sign = -1 if j % 4 == 3 else 1
            by_degree[j] = sign * top * (comb(half, (j - 1) // 2) / comb(size - 1, j - 1))
        flips = sum((1 << i for i, sign in enumerate(self.signs) if sign < 0), 0)
        sign = 1 - 2.0 * (np.bitwise_count(combination & flips) & 1)
        return np.asarray(by_degree)[np.bitwise_count(combination)] * sign

    def sample_mean(self, secret: np.uint64, samples: int, rng: Generator) -> float:
        words = rng.integers(0, 2**64, samples, np.uint64, endpoint=False)
        informative = rng.integers(0, 2, samples, np.int8)
        return float(np.sum(bit_products(words, secret) * self.signs_at(words) * informative, dtype=int)) / samples


def character(mask: int) -> SignBatch:
    """The single character chi_mask y: mean 1/2 on its own set, 0 elsewhere."""
    return SignBatch(np.array([mask], np.uint64), np.array([1]))


def _span_coordinates(
    sets: NDArray[np.uint64], elements: NDArray[np.uint64]
) -> tuple[list[int], NDArray[np.bool_], NDArray[np.int64]]:
    """A basis out of `sets` (their indices), which elements it spans, and their coordinates in it (bit i: i-th)."""
    basis: list[int] = []
    reduced: list[tuple[int, int, int]] = []
    for index, mask in enumerate(int(m) for m in sets):
        code = 1 << len(basis)
        for vector, pivot, its_code in reduced:
            if mask & pivot:
                mask ^= vector
                code ^= its_code
        if mask:
            reduced.append((mask, mask & -mask, code))
            basis.append(index)
    rest = elements.copy()
    coordinates = np.zeros(len(elements), np.uint64)
    for vector, pivot, code in reduced:
        hit = (rest & np.uint64(pivot)) != 0
        rest[hit] ^= np.uint64(vector)
        coordinates[hit] ^= np.uint64(code)
    return basis, rest == 0, coordinates.astype(np.int64)


@dataclass(frozen=True)
class Table:
    """phi = y b(v) 1{z_0 != 0} for any table b, float (2^n,), n <= 24; the general correlational query.

    >>> Table(np.array([1.0, -1.0, 1.0, -1.0])).means(np.array([1, 2], np.uint64)).tolist()
    [0.5, 0.0]
    """

    values: NDArray[np.float64]

    @property
    def peak(self) -> float:
        return float(np.max(np.abs(self.values)))

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        from hardness import kernels

        spectrum = self.values.astype(np.float64)
        kernels.walsh_hadamard(spectrum)
        return np.asarray(spectrum[elements.astype(np.int64)] / (2 * len(spectrum)))

    def sample_mean(self, secret: np.uint64, samples: int, rng: Generator) -> float:
        words = rng.integers(0, len(self.values), samples, np.uint64)
        informative = rng.integers(0, 2, samples, np.int8)
        return float(np.mean(bit_products(words, secret) * self.values[words.astype(np.int64)] * informative))


class OutOfQueries(InputError):
    """The ledger's budget is spent."""


@dataclass
class Ledger:
    """Counts queries and the smallest tolerance asked for; refuses beyond the budget.

    >>> ledger = Ledger(budget=1)
    >>> ledger.charge(0.1); ledger.queries, ledger.smallest_tolerance
    (1, 0.1)
    >>> ledger.charge(0.1)
    Traceback (most recent call last):
    ...
    hardness.sq.oracle.OutOfQueries: the budget of 1 queries is spent; raise --max-queries
    """

    budget: int | None = None
    queries: int = 0
    smallest_tolerance: float = inf

    def charge(self, tolerance: float, count: int = 1) -> None:
        if self.budget is not None and self.queries + count > self.budget:
            raise OutOfQueries(f"the budget of {self.budget} queries is spent; raise --max-queries")
        self.queries += count
        self.smallest_tolerance = min(self.smallest_tolerance, tolerance)


def check_tolerance(tolerance: float) -> float:
    """A tolerance in (0, 1], or `InputError`."""
    if not (isfinite(tolerance) and 0 < tolerance <= 1):
        raise InputError(f"tolerance must be in (0, 1], got {tolerance}")
    return tolerance


def samples_for(tolerance: float) -> int:
    """Fresh samples whose mean is within the tolerance but for probability 1e-9 (Hoeffding on [-1, 1]).

    >>> samples_for(0.05)
    17134
    """
    return ceil(2 * log(2 / FAILURE) / tolerance**2)


def best_window(means: NDArray[np.float64], tolerance: float) -> float:
    """Centre of the closed window of length 2 tau that holds most means; exact, the lowest of equals.

    >>> best_window(np.array([0.0, 0.0, 0.5, -0.5]), 0.1)
    0.1
    """
    ordered = np.sort(means)
    # Slid up until its low end is a value, a window holds no less: so values as low ends suffice.
    inside = np.searchsorted(ordered, ordered + 2 * tolerance, side="right") - np.arange(len(ordered))
    return float(ordered[np.argmax(inside)] + tolerance)


class Oracle:
    """Answers queries in one of `MODES` and keeps the ledger.

    exact, noisy (uniform within the tolerance) and sampled (fresh samples, enough for STAT(tau) or a given number
    that promises nothing) hide one `secret` mask; window and null are adversaries over the sets still `live`
    (uint64 masks, narrowed after each answer). `InputError` for a query outside [-1, 1], with its index.
    """

    def __init__(
        self, mode: str, live: NDArray[np.uint64], rng: Generator, *, budget: int | None = None, samples: int | None = None
    ) -> None:
        if mode not in MODES:
            raise unknown("oracle", mode, MODES)
        self.mode, self.live, self.samples = mode, live, samples
        self.ledger = Ledger(budget)
        self._rng = rng
        self._secret = np.uint64(live[rng.integers(len(live))])

    def answer(self, query: Query, tolerance: float) -> float:
        """The answer to `query` at STAT(tolerance); adversaries then drop the sets it rules out."""
        check_tolerance(tolerance)
        if not query.peak <= 1 + 1e-12:
            raise InputError(f"query {self.ledger.queries} reaches {query.peak}; queries must stay within [-1, 1]")
        self.ledger.charge(tolerance)
        if self.mode in ADVERSARIES:
            means = query.means(self.live)
            reply = 0.0
            if self.mode == "window" or not np.any(np.abs(means) <= tolerance):
                reply = best_window(means, tolerance)
            self.live = self.live[within(means, reply, tolerance)]
            return reply
        if self.mode == "sampled":
            return query.sample_mean(self._secret, self.samples or samples_for(tolerance), self._rng)
        mean = float(query.means(np.array([self._secret]))[0])
        return mean + (tolerance * self._rng.uniform(-1, 1) if self.mode == "noisy" else 0.0)

    def is_right(self, guess: np.uint64) -> bool:
        """Judge an identification of the hidden set (the lab's judgement, not a query)."""
        return bool(guess == self._secret)


def within(means: NDArray[np.float64], reply: float, tolerance: float) -> NDArray[np.bool_]:
    """Which means an answer at this tolerance allows; the slack is rounding of the last bits."""
    return np.abs(means - reply) <= tolerance * (1 + 1e-12) + 1e-15
