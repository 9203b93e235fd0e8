"""What a query surely loses of any parities, however dependent they are: an upper bound on V (theorem C).

Of k parities draw M with random signs, and let Z be the sum of their characters. The query is Z, scaled and cut at
+-1/2. Over the signs, the mean at a set that was drawn is on average what it is for independent ones; it varies through
dependencies of four or more of the M sets only, and these are rare among many sets. So for some draw nearly all means
pass the tolerance, and no answer keeps both a set that was driven up and one that was driven down.
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

    Sums over |Z| <= L; what is beyond telescopes. With L at most the least |Z| > 0, f is half the sign.
    """
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
    """Return the chance that a sum of this many fair signs is 0, or 1 for an odd number, to fifteen digits."""
    half = (count + 1) // 2  # C(2h, h)/4^h, also of 2h - 1
    if half <= 500:
        return float(comb(2 * half, half) / 4**half)
    return exp(-1 / (8 * half) + 1 / (192 * half**3)) / sqrt(pi * half)


@cache
def dependent_losses(tolerance: float) -> tuple[tuple[int, int], ...]:
    """Return pairs (live, lost) with more and more live sets, up to what a query loses of independent ones (theorem C).

    With mean nu and variance D of the means at the M sets, at most the share D/(D + (nu - tau)^2) of them is not
    driven in the mean over all draws; the smaller side of J driven ones has (J - sqrt J)/2 at some argument. Of even
    signs M/2 less those that are not driven are lost. Sums M, cuts and numbers of live sets are on rows.
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
    """Return every sum that is looked at, a column each: size M, how far means pass tau, E f^2 - M nu^2, and
    2^M / C(M, M/2), by which even signs are rarer; infinite for odd M."""
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
    """Return queries that surely identify, whatever a valid oracle answers: an upper bound on V of every such class.

    Two kinds of queries lose this many of any k parities to every answer. Any k span at least log2 k affine dimensions,
    so ceil(log2 k) + 1 of them are affinely independent, and the query of theorem A on 2e <= 2E of these loses e: all
    that it drives up, or all that it drives down. A cut sum of many dependent ones loses up to E as k grows (theorem C,
    `dependent_losses`). V does not fall with k, so that losing more does no harm. Raises `InputError` at tolerance 1/4
    and above.
    """
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
