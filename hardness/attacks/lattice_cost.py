"""The price of the lattice attack: profile of a reduced basis, pruned search, seconds until a trial succeeds.

The orthogonal lattice of short public vectors contains vectors of Z^N, so its reduced basis does not fall geometrically
to the end: b*_i = max(f, b_1 δ^(-2i)) with f = 1.05 √((n + M)/M). The volume is fixed: Σ ln b*_i = n ln(√(n + M)/2) for
binary rows and n ln √((n + M)/2) for ternary rows (measured; theory 4.3).

`forecast` says what this machine runs: measured ranks and block sizes, searches of at most 2^28.5 nodes. `price` has
neither limit and serves estimates. Both price trials by `log2_trials`.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import e, exp, inf, log, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, gammaln

from hardness.attacks.cost import EXAMPLE_SECONDS, LOG2_OPERATIONS_A_SECOND, EstimateFailed, Log2Cost

Floats = NDArray[np.float64]

HERMITE = {20: 1.0125, 30: 1.0122, 40: 1.0117}  # root Hermite factor by block size, measured
# Of a reduction in rank 100, measured; they grow with the cube of the rank.
SECONDS = {20: 0.30, 30: 0.45, 40: 1.6}
MEASURED = max(SECONDS)
PER_NODE, AROUND = 4e-8, 1.5  # seconds a search node; seconds of what is done once
RANKS = tuple(range(100, 160, 10))
SPARE = 1.5  # rows needed for each row that a trial draws
QUANTILES = np.array([0.98, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
MOST_NODES = 28.5  # log2 of the nodes of one search: about fifteen seconds
SLACK = 0.05  # log2 of what a trial may take longer for fewer examples
LEAST_CHANCE = 1e-4  # no search is priced as if it succeeded less often
ESTIMATED_RANKS = (100, 120, 150, 200, 300, 450)
ESTIMATED_BLOCKS = (20, 30, 40, 60, 80, 110, 150, 200, 280, 400)


@dataclass(frozen=True)
class Pruning:
    """A pruned lattice search: bounds (M,) on partial squared norms, chance, log2 of nodes and of nodes per success."""

    bounds: Floats
    chance: float
    log2_nodes: float
    log2_price: float


@dataclass(frozen=True)
class Forecast:
    """A plan of the lattice attack: `left` unknowns, rank, block size, a trial's nodes and chance, seconds in all."""

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


def delta(beta: float) -> float:
    """Return δ(β) = ((β/(2πe)) (πβ)^{1/β})^{1/(2(β-1))}, the root Hermite factor of BKZ-β, β > 40 (references B2).

    >>> round(delta(406), 6)
    1.003941
    """
    return float((beta / (2 * pi * e) * (pi * beta) ** (1 / beta)) ** (1 / (2 * (beta - 1))))


def hermite(beta: int) -> float:
    """Return the root Hermite factor δ of block size β: measured up to 40, then falling like the asymptotic formula."""
    if beta <= MEASURED:
        return HERMITE[beta]
    return exp(log(HERMITE[MEASURED]) * log(delta(beta)) / log(delta(MEASURED + 1)))


def log_profile(n: int, M: int, beta: int, dot: bool) -> Floats:
    """Return ln Gram-Schmidt lengths (M,) of a BKZ-β basis of {c: cU = 0}, U (n + M, n) ternary if `dot`, else bits."""
    volume = n * log(sqrt(n + M) / (sqrt(2) if dot else 2))
    floor = log(1.05 * sqrt((n + M) / M))
    if volume <= M * floor:  # so few coordinates that the basis is nearly orthogonal
        return np.full(M, volume / M)
    fall = 2 * log(hermite(beta))  # from one length to the next
    for k in range(M, 0, -1):  # the first k vectors lie above the floor
        first = (volume - (M - k) * floor) / k + fall * (k - 1) / 2
        if first - fall * (k - 1) >= floor:
            break
    return np.asarray(np.maximum(floor, first - fall * np.arange(M)))


@cache
def _quantiles(M: int) -> tuple[Floats, Floats]:
    """Return bounds (A, M) on the squared norm of the first i of M normals, and chances (A,) that all M bounds hold."""
    i = np.arange(1, M + 1)
    alpha = np.maximum(QUANTILES[:, None], np.where(i == M, 0.999, 0))
    levels = 2 * gammaincinv(i / 2, alpha)
    # A fixed stream: these chances are a numerical integral.
    norms = np.cumsum(np.random.default_rng(0).standard_normal((4000, M)) ** 2, axis=1)
    return levels, np.array([(norms <= level).all(axis=1).mean() for level in levels])


def pruning(log_lengths: Floats, sd: float, log2_spent: float, limit: float = MOST_NODES) -> Pruning:
    """Return the cheapest pruned search for an error of deviation `sd` in a basis with ln Gram-Schmidt lengths (M,).

    Cheapest is the least number of search nodes a success (Gaussian heuristic) when a reduction worth 2^`log2_spent`
    nodes precedes every search. If no search has at most 2^`limit` nodes, the one with the fewest is returned.
    """
    levels, chances = _quantiles(len(log_lengths))
    i = np.arange(1, len(log_lengths) + 1)
    density = np.cumsum(log_lengths) - gammaln(i / 2 + 1)
    nodes = np.logaddexp.reduce(i / 2 * np.log(pi * sd**2 * levels) + density, axis=1) / log(2)
    price = np.logaddexp2(log2_spent, nodes) - np.log2(np.maximum(chances, LEAST_CHANCE))
    few = nodes <= limit
    k = int(np.argmin(np.where(few, price, inf) if few.any() else nodes))
    return Pruning(sd**2 * levels[k], float(chances[k]), float(nodes[k]), float(price[k]))


def log2_reduction_nodes(beta: int, M: int) -> float:
    """Return log2 of the search nodes that take as long as BKZ-β in rank M, at a rate fixed for all machines."""
    in_rank_100 = 2.5e7 * {2: 0.3, 20: 0.6, 30: 1.0, 35: 1.3, 40: 5.0}[beta]
    return log2(in_rank_100) + 3 * log2(M / 100)


def log2_reduction_seconds(beta: int, M: int) -> float:
    """Return log2 of the seconds of BKZ-β in rank M: measured up to β = 40, beyond from gates of a sieve (`matzov`)."""
    if beta <= MEASURED:
        return log2(SECONDS[beta]) + 3 * log2(M / 100)
    return matzov(beta, M) - LOG2_OPERATIONS_A_SECOND


def matzov(beta: float, d: float) -> float:
    """Return log2 of the gates of BKZ-β in dimension d by MATZOV's refitted sieve: d³ for LLL + C² (d-β) 2^{aβ'+b}.

    β' = β - β ln(4/3)/ln(β/(2πe)) (dimensions for free), C = 1/(1-2^-a) (progressive sieving); a and b are fitted.

    >>> round(matzov(406, 998), 2)
    143.77
    """
    a, b = 0.296135, 20.387886
    # Dimensions for free are an asymptotic gain: at small β the formula promises too many.
    free = min(beta * log(4 / 3) / log(beta / (2 * pi * e)), beta / 4)
    C = 1 / (1 - 2**-a)
    sieve = 2 * log2(C) + log2(max(d - beta, 1)) + a * (beta - free) + b
    return float(np.logaddexp2(3 * log2(d), sieve))


@cache
def log2_trials(
    left: int, error: float, dot: bool, M: int, beta: int, limit: float = MOST_NODES
) -> tuple[Pruning, float]:
    """Return the pruned search of a trial on `left` coordinates, and log2 of the seconds expected until one succeeds.

    A trial reduces a lattice of rank M with block size β and searches at most 2^`limit` nodes for errors of deviation
    `error` · q. Rows are ternary if `dot`. A finite `limit` gives the search that the attack itself chooses.
    """
    reduction = log2_reduction_seconds(beta, M)
    spent = reduction - log2(PER_NODE) if limit == inf else log2_reduction_nodes(beta, M)
    search = pruning(log_profile(left, M, beta, dot), error, spent, limit)
    trial = np.logaddexp2(reduction, log2(PER_NODE) + search.log2_nodes)
    return search, float(trial) - log2(max(search.chance, LEAST_CHANCE))


def drawn(b: int, left: int, M: int) -> int:
    """Return how many examples hold enough rows that are 0 on b coordinates, for trials in rank M on `left` others."""
    return (1 << b) * round(2 * SPARE) * (left + M)  # an integer: at large b no float holds it


def forecast(n: int, rows: float, error: float, dot: bool) -> Forecast:
    """Return the cheapest plan of the lattice attack on n coordinates, with errors of standard deviation `error` · q.

    There are `rows` equations, ternary if `dot`. With some to spare, trials use only those that are 0 on b coordinates,
    and solve for n - b. If `rows` is infinite they come from a stream, and drawing them takes time.
    """
    cheapest = Forecast(n, 0, 0, inf, 0.0, inf)
    for b, M in product(range(max(n - 3, 1)), RANKS):
        examples = drawn(b, n - b, M)
        drawing = examples * EXAMPLE_SECONDS if rows == inf else 0.0
        if (b and examples > 2 * rows) or drawing > cheapest.seconds:
            continue
        for beta in HERMITE:
            search, trials = log2_trials(n - b, error, dot, M, beta)
            seconds = AROUND + 2.0 ** min(trials, 900.0) + drawing
            if seconds < cheapest.seconds:
                cheapest = Forecast(n - b, M, beta, search.log2_nodes, search.chance, seconds)
    return cheapest


def price(n: int, error: float, dot: bool) -> Log2Cost:
    """Return the cost of the lattice attack on a stream, for any n; `error` is the errors' deviation as a share of q.

    Reductions are extrapolated and searches may have any size, so that far out of reach the figure is an upper bound.
    If trials use only rows that are 0 on b coordinates, they cost less and drawing rows costs more: time is the larger
    of the two for the best b. Memory and examples are those of the plan with the fewest examples that takes at most
    2^0.05 times as long. Rows are ternary if `dot`. Raises `EstimateFailed` if nothing succeeds.
    """
    least, plans = inf, []
    for M, beta in product(ESTIMATED_RANKS, ESTIMATED_BLOCKS):
        if beta > M:
            continue

        def log2_seconds(b: int, M: int = M, beta: int = beta) -> tuple[float, float]:
            """Return log2 of seconds, of all trials (rank M, block size β) and of drawing rows 0 on b coordinates."""
            trials = log2_trials(n - b, error, dot, M, beta, inf)[1]
            drawing = log2(drawn(b, n - b, M)) + log2(EXAMPLE_SECONDS)
            return float(np.logaddexp2(trials, log2(AROUND))), drawing

        crossing = bisect_left(range(n - 1), 0.0, key=lambda b: log2_seconds(b)[1] - log2_seconds(b)[0])
        for b in {crossing, max(crossing - 1, 0)}:
            time = max(log2_seconds(b))
            enough = bisect_left(range(b), -time - SLACK, key=lambda fewer: -log2_seconds(fewer)[0])
            least = min(least, time)
            for c in (b, enough):
                plans.append((max(log2_seconds(c)), log2(drawn(c, n - c, M)), 2 * log2(n - c + M)))
    if not least < inf:
        raise EstimateFailed("no block size of the model decodes, whatever the selection of rows")
    _, examples, memory = min((plan for plan in plans if plan[0] <= least + SLACK), key=lambda plan: plan[1])
    return Log2Cost(least + LOG2_OPERATIONS_A_SECOND, memory, examples)
