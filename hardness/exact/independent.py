"""Affinely independent parities: what a query loses of them and V, exactly (theorem A of theory 2.7).

Linear programs settle the end game, where fewer than 2E + 2 parities are left.
"""

from bisect import bisect_left
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, exp, pi, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.exact.separation import Separation, separate
from hardness.sq.bounds.floors import chains_fit, decimal, identifying, last

MOST_STATES = 120_000


def independent_apart(e: int) -> Fraction:
    """Return T_ind(e) = C(2e, e)/2^(2e+1): below it a query loses e of 2e or more independent parities (theorem A).

    >>> [str(independent_apart(e)) for e in (1, 2, 3, 4)]
    ['1/4', '3/16', '5/32', '35/256']
    """
    return Fraction(comb(2 * e, e), 2 ** (2 * e + 1))


def independent_lost(tolerance: float | Fraction) -> int:
    """Return E = max{e: T_ind(e) > tau}, the most a query loses of 2E or more independent parities (theorem A).

    >>> [independent_lost(tau) for tau in (0.2, 0.16, 0.1, 0.05)]
    [1, 2, 7, 31]
    """
    tau = identifying(tolerance)
    # Beyond e = 2000 by Stirling's series, whose next term is below 1e-17; neighbours differ by 1/(2e).
    return last(
        lambda e: (
            independent_apart(e) > tau
            if e <= 2000
            else exp(-1 / (8 * e) + 1 / (192 * e**3)) / (2 * sqrt(pi * e)) > float(tau)
        )
    )


def independent_value(concepts: int, tolerance: float | Fraction) -> int:
    """Return V of so many affinely independent parities: theorem A, and a symmetric linear program at the end.

    While k >= 2E + 2 a query loses E (`independent_lost`) and no more. Below, the largest class that q queries
    identify follows from the largest that q - 1 do (`end_game`). Raises `InputError` at tolerance 1/4 and above, and
    where the end game is too large (tolerances below about 0.02).

    >>> independent_value(1001, 0.2), independent_value(8008, 0.1), independent_value(40, 0.05)
    (1000, 1145, 4)
    """
    tau = decimal(tolerance)
    if concepts == 1:
        return 0
    lost, jumps = independent_lost(tau), 0
    if concepts > 2 * lost + 1:
        jumps = -(-(concepts - 2 * lost - 1) // lost)
    left = concepts - jumps * lost
    return jumps + bisect_left(end_game(tau, left), left)


@cache
def end_game(tau: Fraction, largest: int | None = None) -> tuple[int, ...]:
    """Return the largest class of independent parities, up to 2E + 1 and `largest`, that 0, 1, 2, ... queries identify.

    >>> end_game(Fraction(1, 10)), end_game(Fraction(1, 50), 5)
    ((1, 3, 7, 14, 15), (1, 5))
    """
    target, reached = 2 * independent_lost(tau) + 1, [1]
    target = target if largest is None else min(target, largest)
    while reached[-1] < target:
        kept = reached[-1]
        worse = range(kept + 1, target + 1)
        reached.append(
            kept + bisect_left(worse, True, key=lambda k: not independent_separation(k, kept, tau).possible)
        )
    return tuple(reached)


@cache
def independent_separation(concepts: int, kept: int, tau: Fraction) -> Separation:
    """Decide with proof whether a query on independent parities leaves no answer with more than `kept` of them.

    Sorted means must satisfy a_(j+w) - a_(j) > 2 tau. Independent characters are independent fair signs, so the class
    has every permutation and every change of signs as a symmetry, and the average of a solution over those that keep
    the chains j, j + w, j + 2w, ... is one: chains of one length look alike and are odd about their middle. What is
    left are levels of |a|, a chain's positions from its end to its middle, and the query depends on the sums of the
    characters of each level only. Raises `InputError` where these take too many values.
    """
    if kept * 2 >= concepts:
        e = concepts - kept
        possible = independent_apart(e) > tau
        gap = 2 * independent_apart(e)
        return Separation(gap, query=()) if possible else Separation(gap, weights=(Fraction(1, e),) * e)
    if not chains_fit(concepts, kept, tau):
        return Separation(2 * tau, weights=())
    forms, chances = _levels(concepts, kept)
    return separate(forms, chances, 2 * tau)


def _levels(concepts: int, kept: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the gaps (gaps, states) of the levels of |a|, and the states' chances, of `independent_separation`."""
    length, longer = divmod(concepts, kept)
    chains = [
        (size, number)
        for size, number in ((length + 1, longer), (length, kept - longer))
        if number and size > 1
    ]
    sizes = [2 * number for size, number in chains for _ in range(size // 2)]
    if prod(size + 1 for size in sizes) > MOST_STATES:
        raise InputError(
            f"whether one query leaves {kept} of {concepts} independent parities is a linear program of more than "
            f"{MOST_STATES} states; raise the tolerance or lower the number of parities"
        )
    # A query may be taken odd: of a state and its negative one is kept, with both their chances.
    states = [s for s in product(*(range(-n, n + 1, 2) for n in sizes)) if s > tuple(-x for x in s)]
    total = 2 ** (sum(sizes) - 1)
    chances = [
        Fraction(prod(comb(n, (n - x) // 2) for n, x in zip(sizes, s, strict=True)), total) for s in states
    ]
    means = [[Fraction(s[i], n) for s in states] for i, n in enumerate(sizes)]
    gaps, first = [], 0
    for size, _ in chains:
        last = first + size // 2 - 1
        gaps += [[a - b for a, b in zip(means[i], means[i + 1], strict=True)] for i in range(first, last)]
        gaps.append([a * (2 if size % 2 == 0 else 1) for a in means[last]])
        first = last + 1
    return np.array(gaps, object), np.array(chances, object)
