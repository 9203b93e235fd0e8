"""The only door to a secret: oracles that answer queries, and the ledger that counts them."""

from dataclasses import dataclass
from math import ceil, inf, isfinite, log
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.errors import InputError, unknown
from hardness.sq.queries import OutOfRange, Query

MODES = ("window", "null", "exact", "sampled", "noisy", "grid")
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


@dataclass(frozen=True)
class Vstat:
    """The tolerance of VSTAT(t): max(1/t, sqrt(p(1-p)/t)) for queries in [0, 1], p their mean.

    A query here has values in [-1, 1]; it stands for (1 + phi)/2, so tolerances double. Definition: Feldman,
    Grigorescu, Reyzin, Vempala, Xiao, JACM 64(2), 2017.

    >>> [float(x) for x in Vstat(100).around(np.array([0.0, 1.0]))]
    [0.1, 0.02]
    """

    t: float

    def around(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        p = (1 + np.clip(means, -1, 1)) / 2
        return 2 * np.maximum(1 / self.t, np.sqrt(p * (1 - p) / self.t))


Tolerance = float | Vstat


def tolerances(tolerance: Tolerance, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far an answer may lie from each mean."""
    return tolerance.around(means) if isinstance(tolerance, Vstat) else np.full(len(means), tolerance)


def best_answer(means: NDArray[np.float64], radii: NDArray[np.float64]) -> float:
    """The answer within its radius of the most means: exact, over all answers; the lowest best stretch's
    middle.

    >>> best_answer(np.array([0.0, 0.0, 0.5, -0.5]), np.full(4, 0.1))
    0.0
    """
    lows, highs = np.sort(means - radii), np.sort(means + radii)
    # Sliding an answer down to the next low end loses no mean, so low ends suffice.
    inside = np.arange(1, len(lows) + 1) - np.searchsorted(highs, lows, side="left")
    low = lows[np.argmax(inside)]
    return float((low + highs[np.searchsorted(highs, low, side="left")]) / 2)


class Oracle:
    """Answers queries in one of `MODES` and keeps the ledger.

    Honest modes hide one secret out of `live`: exact, noisy (uniform within the tolerance), grid (rounded to
    multiples of twice the tolerance) and sampled (fresh samples: enough for STAT(tau), or `samples` of them,
    which promise nothing). Adversaries know only the concepts still `live`, narrowed after each answer:
    window keeps the most, null answers what no label influences while any live concept allows it. Raises
    `InputError` for a query outside [-1, 1], with its index, or known less exactly than the tolerance asks.
    """

    def __init__(
        self,
        mode: str,
        live: NDArray[Any],
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
        self._secret = live[rng.integers(len(live))]

    def answer(self, query: Query, tolerance: Tolerance) -> float:
        """The answer at STAT(tau) or VSTAT(t); adversaries then drop the concepts it rules out."""
        smallest = 2 / tolerance.t if isinstance(tolerance, Vstat) else check_tolerance(tolerance)
        adversary = self.mode in ADVERSARIES
        try:
            if not query.peak <= 1 + 1e-12:
                raise OutOfRange(query.peak)
            means = query.means(self.live if adversary else self._secret[None])
        except OutOfRange as error:
            raise InputError(
                f"query {self.ledger.queries} reaches {error.peak:g}; queries must stay within [-1, 1]"
            ) from error
        radii = tolerances(tolerance, means)
        if query.half_width > radii.min():
            raise InputError(
                f"query {self.ledger.queries} is known to within {query.half_width:.2g} only, more than the "
                f"tolerance {radii.min():.2g}; use more samples for its mean or a smaller dim"
            )
        self.ledger.charge(smallest)
        if not adversary:
            return self._honest(query, float(means[0]), float(radii[0]))
        # An answer is chosen to be surely right for what it keeps; what it surely rules out is dropped.
        sure = radii - query.half_width
        null = self.mode == "null" and bool(np.any(np.abs(means) <= sure))
        reply = 0.0 if null else best_answer(means, sure)
        self.live = self.live[within(means, reply, tolerance, query.half_width)]
        return reply

    def _honest(self, query: Query, mean: float, radius: float) -> float:
        room = radius - query.half_width
        if self.mode == "noisy":
            return mean + room * self._rng.uniform(-1, 1)
        if self.mode == "grid":
            return 2 * room * round(mean / (2 * room)) if room else mean
        if self.mode == "sampled":
            return query.sample_mean(self._secret, self.samples or samples_for(radius), self._rng)
        return mean

    def one_sample(self, query: Query) -> float:
        """1-STAT: the value of phi on one fresh example. Honest modes only; counts as a query, promises nothing."""
        if self.mode in ADVERSARIES:
            raise InputError("1-STAT has no adversary here: its answer is a sample, not an estimate")
        self.ledger.charge(inf)
        return query.sample_mean(self._secret, 1, self._rng)

    def is_right(self, guess: Any) -> bool:
        """Judge an identification of the hidden concept (the lab's judgement, not a query)."""
        return bool(np.array_equal(guess, self._secret))


def within(
    means: NDArray[np.float64], reply: float, tolerance: Tolerance, half_width: float = 0.0
) -> NDArray[np.bool_]:
    """Which means an answer at this tolerance allows; the slack is rounding of the last bits."""
    radii = (tolerances(tolerance, means) + half_width) * (1 + 1e-12) + 1e-15
    return np.asarray(np.abs(means - reply) <= radii)
