"""What this lab's own attacks on rounding cost: models held to measured seconds, 2^30 operations to the second."""

from dataclasses import dataclass
from functools import cache
from math import e, inf, log, log2, pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from hardness.attacks.bkw_plan import PER_CELL, PER_FIELD, PER_ROW, SCORE, SIGNAL, STEPS, entropy
from hardness.attacks.bkw_plan import PER_EXAMPLE as PER_DRAWN
from hardness.attacks.lattice_model import AROUND, HERMITE, PER_NODE, SECONDS, SPARE, profile
from hardness.attacks.reduction import bounds, delta

Floats = NDArray[np.float64]

SECOND = 30.0  # log2 of the operations in a second
RANKS = (100, 120, 150, 200, 300, 450)
BLOCKS = (20, 30, 40, 60, 80, 110, 150, 200, 280, 400)
PER_EXAMPLE = 5.0  # log2 of the operations that make an example and look whether it vanishes where it should
MOST_ROWS = 1000.0  # log2
CHOSEN = (0, 4, 8, 14, 20, 32, 48, 72, 108)  # coordinates on which rows are chosen to vanish


@dataclass(frozen=True)
class Cost:
    """log2 of time, memory and samples."""

    time: float
    memory: float
    samples: float


class EstimateFailed(ArithmeticError):
    """No parameters were found at which the attack works; says nothing about hardness."""


def short_vectors(n: int, error: float, dot: bool) -> Cost:
    """The lattice attack with examples free: the best rank, block size and number of coordinates selected away.

    `error` is the error's standard deviation as a share of q. The profile has its measured floor (lattice_model.py);
    seconds of reductions are measured up to block size 40, beyond they are MATZOV's gates, and the root Hermite
    factor goes on from the measured one in proportion to the asymptotic formula. The search is not bounded, so far
    out of reach the line is an upper one. Raises `EstimateFailed` if nothing succeeds.
    """
    best = Cost(inf, inf, inf)
    for M in RANKS:
        for beta in (beta for beta in BLOCKS if beta <= M):
            # Searches get cheaper with coordinates given up, rows dearer: the best is the crossing
            low, high = 0, n - 1
            while low < high:
                b = (low + high) // 2
                costly = _trials(n - b, M, beta, error, dot) > _rows(n - b, M, b)
                low, high = (b + 1, high) if costly else (low, b)
            for b in {low, max(low - 1, 0)}:
                rows = _rows(n - b, M, b)
                time = max(_trials(n - b, M, beta, error, dot), rows)
                if time < best.time:
                    best = Cost(time, 2 * log2(n - b + M), rows - PER_EXAMPLE)
    if best.time == inf:
        raise EstimateFailed("no block size of the model decodes, whatever the selection of rows")
    return best


def _rows(left: int, M: int, b: int) -> float:
    return b + 1 + log2(SPARE * (left + M)) + PER_EXAMPLE


def _trials(left: int, M: int, beta: int, error: float, dot: bool) -> float:
    """log2 of the operations of all trials in so many coordinates."""
    # Measured up to block size 40, then as far below that as the asymptotic formula says.
    hermite = HERMITE.get(beta) or float(np.exp(log(HERMITE[40]) * log(delta(beta)) / log(delta(41))))
    logs = np.log(profile(left, M, beta, dot, hermite))
    i = np.arange(1, M + 1)
    chances, levels = _levels(M)
    nodes = np.logaddexp.reduce(
        i / 2 * (log(pi * error**2) + levels) + np.cumsum(logs) - gammaln(i / 2 + 1), axis=1
    )
    reduce = log2(SECONDS[beta] * (M / 100) ** 3) + SECOND if beta <= 40 else matzov(beta, M)
    trial = np.logaddexp2(reduce, nodes / log(2) + log2(PER_NODE) + SECOND)
    return float(np.logaddexp2((trial - np.log2(np.maximum(chances, 1e-4))).min(), log2(AROUND) + SECOND))


@cache
def _levels(M: int) -> tuple[Floats, Floats]:
    """Chances (A,) and log bounds (A, M) of the pruning's choices."""
    found = bounds(M)
    return np.array([chance for _, chance in found]), np.log(np.array([level for level, _ in found]))


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


def integer_bkw(n: int, bias: float, level: int) -> Cost:
    """Integer BKW with memory free and examples at the price of drawing them: the best number of steps, blocks of
    real length, the best grid, and the best number b of coordinates on which all rows are chosen to vanish.

    `bias` is r of theory 4.3, `level` 0 for diag and 1 for dot. As bkw_plan.py otherwise, whose plans are never much
    cheaper. Raises `EstimateFailed` if no number of steps leaves a signal.
    """
    if bias <= 0:
        raise EstimateFailed("the noise leaves no bias that a float can hold")
    found = [_bkw(max(n - b, 1), b, bias, level) for b in CHOSEN]  # one list for all n: monotone in n
    best = min(found, key=lambda cost: cost.time)
    if best.time == inf:
        raise EstimateFailed(f"no number of steps leaves a signal within 2^{MOST_ROWS:.0f} rows")
    return best


def _bkw(n: int, chosen: int, bias: float, level: int) -> Cost:
    """The same in n coordinates, on rows that vanish on `chosen` others; infinite if nothing fits."""
    T = np.arange(8, 4 * MOST_ROWS) / 4  # log2 of rows, grid cells grow with them from 2^24
    best = Cost(inf, inf, inf)
    for steps in range(STEPS + 6):
        made = sum(((T - (level + i == 0)) / entropy(level + i) for i in range(steps)), np.zeros(len(T)))
        left = np.maximum(n - made, 1.0)
        g = np.minimum(np.exp2(np.minimum(np.maximum(T, 24.0) / left, 6.0)), 64.0)
        x = pi / (2 * np.maximum(g, 2.0))
        loss = x**2 / 6 + x**4 / 60 + x**6 / 315
        signal = 2.0**steps * log(bias) + (T + 1) / 2 * log(2)
        score = signal - 2.0 ** (steps + level) * loss * left
        fits = np.flatnonzero((g >= 3) & (signal >= log(SIGNAL)) & (score >= log(SCORE)))
        if not len(fits):
            continue
        cells = (left * np.log2(g))[fits]
        rows = np.log2((steps + 1) * PER_ROW + (2 * n + 12 * left[fits]) * PER_FIELD) + T[fits]
        drawn = T[fits] + 1 + chosen
        work = np.logaddexp2(rows, drawn + log2(PER_DRAWN))
        time = np.logaddexp2(np.logaddexp2(work, cells + log2(2 * PER_CELL)), 0.0) + SECOND
        i = int(np.argmin(time))
        if time[i] < best.time:
            best = Cost(float(time[i]), max(float(T[fits][i]), float(cells[i])), float(drawn[i]))
    return best
