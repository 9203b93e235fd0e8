"""Cost models of lattice reduction: what block size β costs, and what it buys (references B2)."""

from collections.abc import Callable
from itertools import pairwise
from math import e, log, log2, pi

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

# log2 of a δ below the asymptotic formula's range, from experiments with BKZ (interpolated between these).
SMALL = ((2, 1.02190), (5, 1.01862), (10, 1.01616), (15, 1.01485), (20, 1.01420), (25, 1.01342), (28, 1.01331),
         (40, 1.01295))  # fmt: skip


def delta(beta: float) -> float:
    """Root Hermite factor δ(β) of BKZ-β: a table up to 40, ((β/(2πe)) (πβ)^{1/β})^{1/(2(β-1))} beyond.

    >>> round(delta(406), 6)
    1.003941
    """
    if beta > 40:
        return float((beta / (2 * pi * e) * (pi * beta) ** (1 / beta)) ** (1 / (2 * (beta - 1))))
    for (low, at_low), (high, at_high) in pairwise(SMALL):
        if beta <= high:
            return at_low + (at_high - at_low) * (max(beta, low) - low) / (high - low)
    raise ValueError(f"block size {beta} below 2")


def adps16(beta: float, d: Numbers) -> Numbers:
    """Core-SVP: log2 cost .292 β, one sieve call, no polynomial factor (ADPS16), whatever the dimensions d.

    >>> round(float(adps16(406, np.float64(998))), 1)
    118.6
    """
    return 0.292 * beta + 0 * d


def matzov(beta: float, d: Numbers) -> Numbers:
    """log2 gates of BKZ-β in dimensions d, re-fitted list-decoding sieve (MATZOV): LLL + C²(d-β) 2^{aβ'+b}.

    β' = β - β ln(4/3)/ln(β/(2πe)) is the dimension after dimensions for free, C = 1/(1-2^-a) the price of progressive
    sieving. Below β = 20 LLL alone is counted.

    >>> round(float(matzov(406, np.float64(998))), 2)
    143.77
    """
    lll = 3 * np.log2(d)
    if beta < 20:
        return lll
    a, b = 0.296135, 20.387886
    # Dimensions for free are an asymptotic gain: at small β the formula promises more than there are.
    free = min(beta * log(4 / 3) / log(beta / (2 * pi * e)), beta / 4)
    C = 1 / (1 - 2**-a)
    sieve = 2 * log2(C) + np.log2(np.maximum(d - beta, 1)) + a * (beta - free) + b
    return np.asarray(np.logaddexp2(lll, sieve))


MODELS: dict[str, Callable[[float, Numbers], Numbers]] = {"ADPS16": adps16, "MATZOV": matzov}
