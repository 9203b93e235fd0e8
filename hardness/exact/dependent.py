"""What a query surely loses of any parities, however dependent they are: an upper bound on V (theorem C).

Of k parities M are drawn with random signs. The query is the sum of their characters, scaled and cut at +-1/2. Over the
signs, the mean at a drawn set is on average what it is for independent ones; it varies only through dependencies of
four or more of the M, which are rare among many sets. So for some draw nearly all means pass the tolerance, and no
answer keeps both a set that was driven up and one that was driven down.
"""

from fractions import Fraction
from functools import cache
from math import comb, exp, inf, isqrt, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.sq.bounds.batches import independent_lost
from hardness.sq.bounds.floors import decimal

GROWTH = 1.05  # of the sums that are looked at
LIVE_GROWTH = 1.1  # of the numbers of live sets
# Where a sum is cut: of 1/(2 tau), beyond which no mean would pass the tolerance
CUTS = np.linspace(0.04, 0.96, 24)
MOST = 2**80  # live sets, beyond all classes
SAFE = 1e-9  # floating point errs by far less


def cut_moments(count: int, cuts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return E[s f(Z)] and E[f(Z)^2] for a sum Z of `count` fair signs, s one of them, f(z) = z/(2L) cut at +-1/2.
    Both are arrays over the L in `cuts`. Where no Z has 0 < |Z| < L, f is half the sign of z."""
    z = np.arange(count % 2, int(cuts.max()) + 3, 2)  # not negative, and one above all cuts
    plus = (z + count) // 2
    chance = middle(count) * np.cumprod(np.concatenate([[1.0], (count - plus[:-1]) / (plus[:-1] + 1)]))
    both = chance * np.where(z == 0, 1, 2)
    inside = np.searchsorted(z, cuts, side="right")
    square = np.concatenate([[0.0], np.cumsum(z**2 * both)])[inside]  # E[Z^2; |Z| <= L]
    beyond = 2 * plus[inside] * chance[inside]  # E[|Z|; |Z| > L]
    outside = 1 - np.concatenate([[0.0], np.cumsum(both)])[inside]
    return (square + cuts * beyond) / (2 * cuts * count), (square + cuts**2 * outside) / (4 * cuts**2)


def middle(count: int) -> float:
    """Return the probability, to 15 digits, that a sum of `count` fair signs is 0 (even count) or 1 (odd count)."""
    half = (count + 1) // 2  # C(2h, h)/4^h, also of 2h - 1
    if half <= 500:
        return float(comb(2 * half, half) / 4**half)
    return exp(-1 / (8 * half) + 1 / (192 * half**3)) / sqrt(pi * half)


@cache
def dependent_losses(tolerance: float) -> tuple[tuple[int, int], ...]:
    """Return pairs (live, lost), growing: of any `live` or more parities a query surely rules out `lost` (theorem C).

    The query is a sum of M of their characters with random signs, scaled and cut. Its means under these M sets have the
    expectation nu in size and a variance D, so at most the share D/(D + (nu - tau)^2) of them is not above the
    tolerance tau. No answer allows both a set with mean above tau and one below -tau: the smaller side is lost. Of J
    sets on both sides some shift of the characters' argument has (J - sqrt J)/2 or more on the smaller one. With as
    many + as - signs, M/2 less the sets on neither side are lost.
    """
    count, past, spread, crowd = _plans(tolerance)
    losses, live, most = [], 2, 0
    while live < MOST and int(count.max(initial=0)) // 2 > most:  # what is lost of independent parities
        variance = spread / np.maximum(count, float(live) - count + 1)
        driven = np.ceil(count * past**2 / (past**2 + variance) * (1 - SAFE))
        any_signs = np.ceil((driven - np.floor(np.sqrt(driven))) / 2)
        even_signs = count / 2 - np.floor(crowd * count * variance / past**2 * (1 + SAFE))
        lost = int(np.where(count <= live, np.maximum(any_signs, even_signs), 0).max())
        if lost > most:
            most = lost
            losses.append((live, most))
        live = max(live + 1, int(live * LIVE_GROWTH))
    return tuple(losses)


def _plans(tolerance: float) -> NDArray[np.float64]:
    """Return the queries that `dependent_losses` tries, sums of M characters cut at some size, as columns of a table.
    The four rows are M; the query's mean under one of the M sets, less the tolerance; its mean square less M times that
    mean's square; and 2^M / C(M, M/2), by which draws with as many + as - signs are rarer (infinite for odd M)."""
    last = 1 / (2 * pi * tolerance**2)  # sums of more signs do not reach the tolerance on average
    row = [2.0, *(2 * GROWTH**i for i in range(1, int(log(max(last, 2) / 2) / log(GROWTH)) + 1))]
    # Even numbers about the largest sum: the last of them that passes the tolerance loses as much as is possible.
    even = 2 * (isqrt(int(last) ** 2) // 2)
    counts = {max(2, round(x)) + odd for x in row for odd in (0, 1)} | set(
        range(max(2, even - 6), even + 6, 2)
    )
    columns = []
    for count in sorted(counts):
        cuts = np.concatenate([[2.0 - count % 2], CUTS / (2 * tolerance)])
        cuts = cuts[cuts >= 1]
        mean, size = cut_moments(count, cuts)
        past, crowd = mean * (1 - SAFE) - tolerance, inf if count % 2 else 1 / middle(count)
        spread = size - count * mean**2 + SAFE
        rows = np.full(len(past), count), past, spread, np.full(len(past), crowd)
        columns.append(np.array(rows)[:, past > 0])
    return np.concatenate(columns, axis=1)


def certain_queries(concepts: int, tolerance: float | Fraction) -> int:
    """Return a number of queries that surely suffices to identify one of this many parities, whatever they are.
    It is an upper bound on V, the fewest such queries. Any k parities span at least log2 k affine dimensions, so
    ceil(log2 k) + 1 of them are affinely independent, and a query on 2e of these surely rules out e, up to E (theorem
    A, `independent_lost`). Queries on many dependent ones also rule out up to E as k grows (`dependent_losses`). V does
    not fall with k, so ruling out more does no harm. Raises `InputError` from tolerance 1/4 on."""
    tau = decimal(tolerance)
    largest = min(independent_lost(tau), ((concepts - 1).bit_length() + 1) // 2)
    live_for = {lost: live for live, lost in dependent_losses(float(tau))}
    for lost in range(1, largest + 1):
        live_for[lost] = min(live_for.get(lost, concepts + 2), max(2 ** (2 * lost - 2) + 1, 2))
    live, queries = concepts, 0
    for lost, count in sorted(live_for.items(), reverse=True):
        if live >= count:
            steps = -(-(live - count + 1) // lost)
            live, queries = live - steps * lost, queries + steps
    return queries
