"""How much tolerance a strategy needs, and queries against tolerance between the bounds (theory 3.3)."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log2

from hardness.concepts import ParityConcepts
from hardness.sq.dimension import window_bound
from hardness.sq.game import GameResult, play


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

    def works(tolerance: float) -> bool:
        return play(concepts, strategy, oracle, tolerance, seed=seed, max_queries=max_queries).solved

    if not works(smallest):
        return ToleranceNeed(None, floor)
    low, high = smallest, 0.5
    while high / low > 1 + precision:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if works(middle) else (low, middle)
    return ToleranceNeed(low, floor)


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


def entropy_floor(concepts: int, tolerance: float) -> float:
    """log2 N over the bits of an answer: what even an exact oracle that rounds to multiples of 2 tau needs.

    Means lie in [-1/2, 1/2] (P(z_0 != 0) = 1/2), so an answer is one of 2 floor(1/(4 tau) + 1/2) + 1 values. Far below
    the adversaries' bounds: it is the oracle's adversity, not the entropy, that costs queries.

    >>> round(entropy_floor(1001, 0.05), 2)
    2.88
    """
    return log2(concepts) / log2(2 * int(1 / (4 * tolerance) + 0.5) + 1)
