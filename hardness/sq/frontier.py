"""How much tolerance a strategy needs, and queries against tolerance between the bounds (theory 3.3)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.parity import window_bound
from hardness.sq.game import GameResult, play
from hardness.sq.oracle import ORACLES, best_answer
from hardness.sq.strategies.parity import OBLIVIOUS, STRATEGIES
from hardness.sq.tolerance import within


@dataclass(frozen=True)
class ToleranceNeed:
    """Largest tolerance at which a strategy still identifies; `floor` is the finite-size one of `size_floor`.

    `tolerance` is None if the strategy fails even at the smallest tolerance tried. A need below the floor means
    nothing (`meaningful`): there any function, a random one too, tells the concepts apart.
    """

    tolerance: float | None
    floor: float

    @property
    def meaningful(self) -> bool:
        return self.tolerance is not None and self.tolerance > self.floor


def size_floor(n: int) -> float:
    """0.5 * 2^(-n/2): the typical |a_S| of a random +-1 query on n bits.

    >>> size_floor(14)
    0.00390625
    """
    return float(0.5 * 2.0 ** (-n / 2))


def tolerance_need(
    concepts: ParityConcepts,
    strategy: str,
    oracle: str = "window",
    *,
    max_queries: int = 1500,
    seed: int = 0,
    smallest: float = 1e-6,
    precision: float = 0.01,
) -> ToleranceNeed:
    """Bisect on log tau in [smallest, 1/2] for the largest tolerance identified within `max_queries`.

    Success need not be monotone in tau at the last few per cent; the answer is a tolerance that was seen to work.

    >>> need = tolerance_need(ParityConcepts(8, 2), "characters")
    >>> need.tolerance is not None and 0.24 < need.tolerance < 0.25
    True
    """
    floor = size_floor(concepts.n)
    asked = (
        oblivious_means(concepts, strategy, max_queries, seed)
        if strategy in OBLIVIOUS and ORACLES[oracle].adversary
        else None
    )

    def works(tolerance: float) -> bool:
        if asked is not None:
            return replay(asked, oracle, tolerance)
        return play(concepts, strategy, oracle, tolerance, seed=seed, max_queries=max_queries).solved

    if not works(smallest):
        return ToleranceNeed(None, floor)
    low, high = smallest, 0.5
    while high / low > 1 + precision:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if works(middle) else (low, middle)
    return ToleranceNeed(low, floor)


def oblivious_means(concepts: ParityConcepts, strategy: str, queries: int, seed: int) -> NDArray[np.float32]:
    """Means (queries, N) of what a strategy of `OBLIVIOUS` asks, the same queries as `play` with that seed.

    float32: the last bits of a mean decide no game, and a bisection asks them at every tolerance.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])
    live = concepts.masks()
    steps = STRATEGIES[strategy](concepts, live, 1.0, rng)
    out, query = np.empty((queries, concepts.size), np.float32), next(steps)
    for i in range(queries):
        out[i] = query.means(live)
        # As if every answer told something: an oblivious strategy only looks, after every n or 2n queries, whether
        # the number of live sets has changed since; N - 1 divides neither.
        query = steps.send(live[: 1 + i % (concepts.size - 1)])
    return out


def replay(means: NDArray[np.float32], oracle: str, tolerance: float) -> bool:
    """Do queries with these means (queries, N), asked in order, leave one concept against the adversary?"""
    live = np.arange(means.shape[1])
    for row in means:
        if len(live) == 1:
            break
        values = row[live].astype(np.float64)
        null = oracle == "null" and bool(np.any(np.abs(values) <= tolerance))
        reply = 0.0 if null else best_answer(values, np.full(len(live), tolerance))
        live = live[within(values, reply, tolerance)]
    return len(live) == 1


@dataclass(frozen=True)
class Point:
    """One measured point of the frontier between the proven `bound` and the exhaustive N - 1."""

    tolerance: float
    bound: float
    exhaustive: int
    result: GameResult


def frontier(concepts: ParityConcepts, strategy: str, tolerances: Iterable[float], *, seed: int = 0) -> list[Point]:
    """Queries of `strategy` against the window adversary at each tolerance.

    >>> points = frontier(ParityConcepts(14, 4), "sign-batch", (0.05, 0.1))
    >>> [point.bound <= point.result.queries <= point.exhaustive for point in points]
    [True, True]
    """
    exhaustive = concepts.size - 1
    return [
        Point(
            tau,
            window_bound(concepts.size, tau),
            exhaustive,
            play(concepts, strategy, "window", tau, seed=seed, max_queries=2 * exhaustive + 64),
        )
        for tau in tolerances
    ]
