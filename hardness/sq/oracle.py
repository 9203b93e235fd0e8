"""The only access to a secret: oracles that answer queries, and the ledger that counts them.

An oracle is one class: what it replies, and the lower bound that is proved against it. Adversaries hide nothing and
keep all concepts that their answers allow (`live`); honest oracles hide one. `Membership` answers for chosen inputs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.errors import InputError, sanitize
from hardness.families.concepts import Concepts
from hardness.sq.bounds.floors import check_tolerance, within
from hardness.sq.bounds.parity import adversary_bounds
from hardness.sq.queries import Query

FAILURE = 1e-9


class OutOfQueries(InputError):
    """Raised when a query would exceed the ledger's budget."""


@dataclass
class Ledger:
    """Counts queries, and raises `OutOfQueries` for one beyond `budget` (None: no limit)."""

    budget: int | None = None
    queries: int = 0

    def charge(self, count: int = 1) -> None:
        if self.budget is not None and self.queries + count > self.budget:
            raise OutOfQueries(f"the budget of {self.budget} queries is spent; raise --max-queries")
        self.queries += count


def samples_for(tolerance: float) -> int:
    """Return how many samples in [-1, 1] average to the mean within the tolerance, but for chance 1e-9 (Hoeffding)."""
    return ceil(2 * log(2 / FAILURE) / tolerance**2)


def best_answer(means: NDArray[np.float64], tolerance: float) -> float:
    """Return the answer within the tolerance of the largest number of means: the middle of the lowest such interval."""
    lows, highs = np.sort(means - tolerance), np.sort(means + tolerance)
    # Sliding an answer down to the next low end loses no mean, so low ends suffice.
    inside = np.arange(1, len(lows) + 1) - np.searchsorted(highs, lows, side="left")
    low = lows[np.argmax(inside)]
    return float((low + highs[np.searchsorted(highs, low, side="left")]) / 2)


class Oracle(ABC):
    """Answers at most `budget` queries and counts them. The secret is one of the concepts `live`, drawn by `rng`."""

    name: ClassVar[str]
    adversary: ClassVar[bool] = False

    def __init__(self, live: NDArray[Any], rng: Generator, *, budget: int | None = None) -> None:
        self.live, self.ledger, self._rng = live, Ledger(budget), rng
        self._secret = live[rng.integers(len(live))]

    def answer(self, query: Query, tolerance: float) -> float:
        """Return the answer to a query at STAT(tolerance); an adversary then drops the concepts that it rules out.
        Raises `InputError`, with the query's index, if it does not fit this class, leaves [-1, 1] or exceeds the
        budget."""
        check_tolerance(tolerance)
        number, possible = self.ledger.queries, self.possible
        if not isinstance(query, Query):
            raise InputError(
                f"query {number} is {sanitize(repr(query), 60)}; a strategy yields queries of hardness.sq.queries"
            )
        if not query.peak <= 1 + 1e-12:
            raise InputError(f"query {number} reaches {query.peak:g}; queries must stay within [-1, 1]")
        means = query.means(possible)
        if np.shape(means) != (len(possible),):
            raise InputError(
                f"query {number}, a {type(query).__name__}, has no mean for each concept: it asks about another class"
            )
        self.ledger.charge()
        reply = self.reply(query, means, tolerance)
        if self.adversary:
            self.live = self.live[within(means, reply, tolerance)]
        return reply

    @property
    def possible(self) -> NDArray[Any]:
        """Return the concepts that may be the secret: all that an adversary's answers allow, else the hidden one."""
        return self.live if self.adversary else self._secret[None]

    @abstractmethod
    def reply(self, query: Query, means: NDArray[np.float64], tolerance: float) -> float:
        """Return the answer to a query, given its means under the concepts that are `possible`."""

    @classmethod
    def bound(cls, concepts: Concepts, tolerance: float, flip: float = 0.0) -> float | None:
        """Return a number of queries that every strategy needs against this oracle; None where nothing is proved.
        `flip` is the probability of a flipped label. A class derived from a built-in oracle does not inherit its proof.
        """
        if ORACLES.get(cls.name) is not cls:
            return None
        return adversary_bounds(concepts, tolerance, flip).get(cls.name)

    def is_right(self, guess: Any) -> bool:
        """Return whether `guess` is the hidden concept (for the lab's own judgement; no query)."""
        return bool(np.array_equal(guess, self._secret))


class Window(Oracle):
    """Adversary that gives the answer which most of the concepts still possible allow. Its bound: theory 2.5, 2.6."""

    name = "window"
    adversary = True

    def reply(self, query: Query, means: NDArray[np.float64], tolerance: float) -> float:
        return best_answer(means, tolerance)


class Null(Window):
    """Adversary that answers 0, as if labels told nothing, while a concept still possible allows 0; after that it
    answers as `window` does. Theory 2.5(b)."""

    name = "null"

    def reply(self, query: Query, means: NDArray[np.float64], tolerance: float) -> float:
        return 0.0 if np.any(np.abs(means) <= tolerance) else super().reply(query, means, tolerance)


class Exact(Oracle):
    """Honest oracle that answers with the mean itself."""

    name = "exact"

    def reply(self, query: Query, means: NDArray[np.float64], tolerance: float) -> float:
        return float(means[0])


class Noisy(Oracle):
    """Honest oracle that adds uniform noise within the tolerance to the mean."""

    name = "noisy"

    def reply(self, query: Query, means: NDArray[np.float64], tolerance: float) -> float:
        return float(means[0]) + tolerance * self._rng.uniform(-1, 1)


class Sampled(Oracle):
    """Honest oracle that answers with the mean of fresh samples, enough of them for the tolerance."""

    name = "sampled"

    def reply(self, query: Query, means: NDArray[np.float64], tolerance: float) -> float:
        values, odds = query.law(self._secret)
        samples = samples_for(tolerance)
        counts = self._rng.multinomial(self._rng.binomial(samples, 0.5), odds)
        return float(counts @ values / samples)


ORACLES: dict[str, type[Oracle]] = {oracle.name: oracle for oracle in (Window, Null, Exact, Sampled, Noisy)}


class Membership:
    """Answers F(X) for tokens X (k, d) of ±1 that the learner chooses; `ledger` counts the inputs (theory 2.9).

    `teacher` maps tokens (n, k, d) to outputs F(X) of that shape; k is `tokens`, d is `dim`.
    """

    def __init__(
        self,
        teacher: Callable[[NDArray[np.int8]], NDArray[np.float64]],
        tokens: int,
        dim: int,
        budget: int | None = None,
    ) -> None:
        self.shape, self.ledger, self._teacher = (tokens, dim), Ledger(budget), teacher

    def label(self, X: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the hidden layer's output (k, d) on one input X (k, d) of ±1; raise `InputError` for another X."""
        x = np.asarray(X)
        if x.shape != self.shape or not (np.abs(x) == 1).all():
            raise InputError(f"an input is {self.shape} tokens of +1 and -1, got shape {x.shape}")
        self.ledger.charge()
        return np.asarray(self._teacher(x.astype(np.int8)[None])[0])
