"""What the lattice attack costs before it reduces anything: the profile with its floor, rank, nodes, seconds.

The orthogonal lattice of short public vectors has vectors of Zᴺ in it, so its reduced basis does not fall
geometrically to the end: b*_i = max(f, b_1 δ^(-2i)), f = 1.05 √((n + M)/M), with the volume fixed by
Σ ln b*_i = n ln(√(n + M)/2) for binary and n ln √((n + M)/2) for ternary rows. Measured; theory 4.3.

`forecast` and `streamed` say what this machine will do: ranks and block sizes that the attack uses, searches of at most
2^28.5 nodes. `unbounded` has neither bound, so that it grows on where nothing runs. All price trials by `log2_seconds`.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import e, exp, inf, log, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.cost import (
    EXAMPLE_SECONDS,
    LOG2_OPERATIONS_A_SECOND,
    UNREACHED,
    EstimateFailed,
    Log2Cost,
)
from hardness.attacks.pruning import LEAST_CHANCE, Pruning, log2_reduction_nodes, pruning
from hardness.attacks.reduction import delta

Floats = NDArray[np.float64]

HERMITE = {20: 1.0125, 30: 1.0122, 40: 1.0117}
SECONDS = {20: 0.30, 30: 0.45, 40: 1.6}  # of a reduction in rank 100; it grows with the cube of the rank
MEASURED = max(SECONDS)  # block size up to which both are measured
PER_NODE, AROUND = 4e-8, 1.5  # seconds of a search node, and of what is done once
RANKS = tuple(range(100, 160, 10))
RANKS_UNBOUNDED = (100, 120, 150, 200, 300, 450)
BLOCKS_UNBOUNDED = (20, 30, 40, 60, 80, 110, 150, 200, 280, 400)
SPARE = 1.5  # rows there must be for each that a trial draws


@dataclass(frozen=True)
class Forecast:
    """The cheapest way: coordinates `left`, rank M, block size, log2 of nodes a trial, chance, seconds in all."""

    left: int
    rank: int
    block_size: int
    log2_nodes: float
    chance: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.left} coordinates, rank {self.rank}, block size {self.block_size}: a trial searches "
            f"2^{self.log2_nodes:.1f} nodes and succeeds with {self.chance:.2g}, 2^{log2(self.seconds):.1f} s in all"
        )


def hermite(beta: int) -> float:
    """Root Hermite factor δ of block size β: measured, and beyond that as far below as the asymptotic formula says.

    >>> hermite(40), round(hermite(60), 4)
    (1.0117, 1.0107)
    """
    if beta <= MEASURED:
        return HERMITE[beta]
    return exp(log(HERMITE[MEASURED]) * log(delta(beta)) / log(delta(MEASURED + 1)))


@cache
def log_profile(n: int, M: int, beta: int, dot: bool) -> tuple[float, ...]:
    """ln b*_i (M,) of the Gram-Schmidt vectors of a β-reduced basis of the orthogonal lattice of n + M rows.

    >>> logs = np.array(log_profile(36, 120, 30, False))
    >>> bool(np.isclose(logs.sum(), 36 * np.log(np.sqrt(156) / 2))), round(float(np.exp(logs[0] - logs[1])), 4)
    (True, 1.0245)
    """
    volume = n * log(sqrt(n + M) / (sqrt(2) if dot else 2))
    floor = log(1.05 * sqrt((n + M) / M))
    if volume <= M * floor:  # so few coordinates that the basis is as good as orthogonal
        return (volume / M,) * M
    fall = 2 * log(hermite(beta)) * np.arange(M)
    for k in range(M, 0, -1):  # the first k above the floor
        first = (volume - (M - k) * floor + fall[:k].sum()) / k
        if first - fall[k - 1] >= floor:
            break
    return tuple(np.maximum(floor, first - fall))


def log2_reduction_seconds(beta: int, M: int) -> float:
    """log2 of the seconds of a reduction in rank M: measured up to block size 40, MATZOV's gates beyond."""
    if beta <= MEASURED:
        return log2(SECONDS[beta]) + 3 * log2(M / 100)
    return matzov(beta, M) - LOG2_OPERATIONS_A_SECOND


def matzov(beta: float, d: float) -> float:
    """log2 gates of BKZ-β in dimension d, re-fitted list-decoding sieve (MATZOV): LLL + C²(d-β) 2^{aβ'+b}.

    β' = β - β ln(4/3)/ln(β/(2πe)) is the dimension after dimensions for free, C = 1/(1-2^-a) the price of progressive
    sieving.

    >>> round(matzov(406, 998), 2)
    143.77
    """
    a, b = 0.296135, 20.387886
    # Dimensions for free are an asymptotic gain: at small β the formula promises more than there are.
    free = min(beta * log(4 / 3) / log(beta / (2 * pi * e)), beta / 4)
    C = 1 / (1 - 2**-a)
    sieve = 2 * log2(C) + log2(max(d - beta, 1)) + a * (beta - free) + b
    return float(np.logaddexp2(3 * log2(d), sieve))


def log2_seconds(search: Pruning, beta: int, M: int) -> float:
    """log2 of the seconds until a trial succeeds: each reduces with block size β in rank M, and searches."""
    trial = np.logaddexp2(log2_reduction_seconds(beta, M), log2(PER_NODE) + search.log2_nodes)
    return float(trial) - log2(max(search.chance, LEAST_CHANCE))


def forecast(n: int, rows: float, error: float, dot: bool) -> Forecast:
    """The cheapest of all ranks and block sizes for n coordinates, `rows` rows, error sd `error` as a share of q.

    Rows to spare buy coordinates: those that vanish on b of them, a share 2^-b of all, form a problem in n - b.
    """
    ways = (_forecast(left_of(n, rows, M), error, dot, M, beta) for M in RANKS for beta in HERMITE)
    return min(ways, key=lambda way: way.seconds)


@cache
def _forecast(left: int, error: float, dot: bool, M: int, beta: int) -> Forecast:
    """In so many coordinates, with the bounds that the attack itself will choose."""
    search = pruning(np.array(log_profile(left, M, beta, dot)), error, log2_reduction_nodes(beta, M))
    seconds = AROUND + 2.0 ** min(log2_seconds(search, beta, M), 900.0)
    return Forecast(left, M, beta, search.log2_nodes, search.chance, seconds)


def streamed(n: int, error: float, dot: bool) -> Forecast:
    """The same where examples come from a stream: n - `left` coordinates are bought by `drawn` examples.

    >>> few, free = forecast(44, 40_000, 0.144, False), streamed(44, 0.144, False)
    >>> free.left < few.left - 4, free.seconds < few.seconds / 100
    (True, True)
    """
    cheapest: Forecast | None = None
    for b in range(n - 3):
        for M in RANKS:
            drawing = drawn(b, n - b, M) * EXAMPLE_SECONDS
            if cheapest is not None and drawing > cheapest.seconds:
                continue
            for beta in HERMITE:
                way = _forecast(n - b, error, dot, M, beta)
                if cheapest is None or way.seconds + drawing < cheapest.seconds:
                    cheapest = replace(way, seconds=way.seconds + drawing)
    assert cheapest is not None  # n is at least 4
    return cheapest


def drawn(b: int, left: int, M: int) -> int:
    """Examples, half of them informative, among which enough vanish on b coordinates for trials in rank M."""
    return (1 << b) * round(2 * SPARE) * (left + M)  # an integer: at large b no float holds it


def left_of(n: int, rows: float, M: int) -> int:
    """n' = n - log2(rows/(1.5 (n' + M))): the coordinates left when spare rows have bought what they can."""
    left = n
    while left > 4 and rows * 2.0 ** (left - 1 - n) >= SPARE * (left - 1 + M):
        left -= 1
    return left


def unbounded(n: int, error: float, dot: bool) -> Log2Cost:
    """The attack with examples at the price of drawing them: the best rank, block size and coordinates given up.

    `error` is the error's standard deviation as a share of q. Beyond what is measured (`hermite`,
    `log2_reduction_seconds`) and with searches of any size, so that far out of reach the line is an upper one. Raises
    `EstimateFailed` if nothing succeeds.

    >>> bounded = streamed(40, 0.144, False).seconds
    >>> unbounded(40, 0.144, False).time < log2(bounded) + LOG2_OPERATIONS_A_SECOND + 0.5
    True
    """
    pairs = [(M, beta) for M in RANKS_UNBOUNDED for beta in BLOCKS_UNBOUNDED if beta <= M]
    cheapest = min((_at_crossing(n, M, beta, error, dot) for M, beta in pairs), key=lambda cost: cost.time)
    if not cheapest.time < inf:
        raise EstimateFailed("no block size of the model decodes, whatever the selection of rows")
    return cheapest


def _at_crossing(n: int, M: int, beta: int, error: float, dot: bool) -> Log2Cost:
    """Trials get cheaper with coordinates given up and rows costlier: the larger of both is least where they are equal.

    The larger of both, within one bit of their sum, is monotone in n; the sum at a crossing need not be.
    """
    low, high = 0, n - 1
    while low < high:
        b = (low + high) // 2
        costly = _log2_trials(n - b, M, beta, error, dot) > _log2_drawing(n - b, M, b)
        low, high = (b + 1, high) if costly else (low, b)
    cheapest = UNREACHED
    for b in {low, max(low - 1, 0)}:
        seconds = max(_log2_trials(n - b, M, beta, error, dot), _log2_drawing(n - b, M, b))
        time = seconds + LOG2_OPERATIONS_A_SECOND
        if time < cheapest.time:
            cheapest = Log2Cost(time, 2 * log2(n - b + M), log2(drawn(b, n - b, M)))
    return cheapest


def _log2_drawing(left: int, M: int, b: int) -> float:
    """log2 of the seconds that the examples of trials take."""
    return log2(drawn(b, left, M)) + log2(EXAMPLE_SECONDS)


def _log2_trials(left: int, M: int, beta: int, error: float, dot: bool) -> float:
    """log2 of the seconds of all trials in so many coordinates, at the bounds that make them fewest."""
    spent = log2_reduction_seconds(beta, M) - log2(PER_NODE)
    search = pruning(np.array(log_profile(left, M, beta, dot)), error, spent, inf)
    return float(np.logaddexp2(log2_seconds(search, beta, M), log2(AROUND)))
