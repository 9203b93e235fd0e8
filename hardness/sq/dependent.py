"""What a query surely loses of any parities, however dependent they are (theory 2.7, theorem C).

Of M parities take the sum Z of their characters with random signs, cut it at +-L and ask the half of Z/L. At every
input Z is a sum of M fair signs, whatever the dependencies: so for some signs what was cut off is small, and by
Bessel's inequality nearly all M means are about 1/(2L) in size. Where that is above the tolerance, no answer keeps both
a set that was driven up and one that was driven down.
"""

from functools import cache
from math import ceil, inf, isqrt, lgamma, log

import numpy as np
from numpy.typing import NDArray

GROWTH = 1.05  # of the numbers of sets that are looked at
CUTS = np.linspace(0.02, 0.98, 49)  # 2 tau L
SAFE = 1 + 1e-6  # floating point errs by far less
FULL = 0.06  # of more than so many sets, over the squared tolerance, no more are lost


def cut_off(count: int, cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """E max(|S| - L, 0)^2 for a sum S of so many fair signs, at every L >= 0: partial sums of binomials telescope.

    >>> cut_off(3, np.array([0.0, 1.0, 2.0])).round(6).tolist()
    [3.0, 1.0, 0.25]
    """
    first = np.floor((cuts + count) / 2).astype(np.int64) + 1  # so many plus signs are more than L
    log_chance = [
        lgamma(count + 1) - lgamma(a + 1) - lgamma(count - a + 1) - count * log(2) if a <= count else -inf
        for a in first.tolist()
    ]
    mean = first * np.exp(log_chance)  # E[S; S > L]
    square = (2 * first - count) * mean + count * _at_least(first, count - 1)  # E[S^2; S > L]
    return np.asarray(np.maximum(2 * (square - 2 * cuts * mean + cuts**2 * _at_least(first, count)), 0.0))


def _at_least(first: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """The chance of so many heads or more of `count` coins."""
    from scipy.special import bdtrc

    return np.where(first <= count, bdtrc(np.minimum(first, count + 1) - 1, max(count, 1), 0.5), 0.0)


def dependent_loss(count: int, tolerance: float) -> tuple[int, float]:
    """So many of any `count` parities some query loses, whatever the answer (theorem C), and where its sum is cut.

    At most B = E max(|S| - L, 0)^2/(1 - 2 tau L)^2 of the means are at most tau in size; the signs of the G others
    change with the query's argument, so that the smaller side has (G - sqrt(G))/2 at some. L is the best of `CUTS`.

    >>> [dependent_loss(m, 0.01)[0] for m in (10, 100, 440)], dependent_loss(738_000, 2**-12)[0]
    ([4, 45, 141], 248613)
    """
    cuts = CUTS / (2 * tolerance)
    few = count - SAFE * cut_off(count, cuts) / (1 - CUTS) ** 2
    good = max(ceil(few.max()), 0)
    return (good - isqrt(good) + 1) // 2, float(cuts[few.argmax()])


@cache
def dependent_losses(tolerance: float) -> tuple[tuple[int, int], ...]:
    """(M, loss): of M or more parities so many are lost; both rise. `dependent_loss` on a row of numbers of sets.

    >>> dependent_losses(0.05)
    ((2, 1), (5, 2), (7, 3), (10, 4), (12, 5))
    """
    found, count = [(1, 0)], 2
    while count <= FULL / tolerance**2:
        loss, _ = dependent_loss(count, tolerance)
        if loss > found[-1][1]:
            found.append((count, loss))
        count = max(count + 1, ceil(count * GROWTH))
    return tuple(found[1:])
