"""The only door to a secret: oracles that answer queries, and the ledger that counts them."""

from dataclasses import dataclass
from math import ceil, inf, isfinite, log

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.errors import InputError, unknown
from hardness.sq.queries import Query

MODES = ("window", "null", "exact", "sampled", "noisy")
ADVERSARIES = ("window", "null")
FAILURE = 1e-9


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

    exact, noisy (uniform within the tolerance) and sampled (fresh samples, enough for STAT(tau) or a given
    number that promises nothing) hide one `secret` mask; window and null are adversaries over the sets still
    `live` (uint64 masks, narrowed after each answer). `InputError` for a query outside [-1, 1], with its
    index.
    """

    def __init__(
        self,
        mode: str,
        live: NDArray[np.uint64],
        rng: Generator,
        *,
        budget: int | None = None,
        samples: int | None = None,
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
