"""Queries that surely identify a hidden parity (theorem C, theory 2.7), written once more: nothing of the lab."""

from bisect import bisect_right
from fractions import Fraction
from math import comb, pi

import numpy as np
from numpy.typing import NDArray
from theorem_b import independent


def cut_sums(tau: float, largest: int) -> NDArray[np.float64]:
    """Sums of M signs, cut at ±Λ, whose means pass τ, on the lab's rows of M and Λ (theorem C, theory 2.7).

    M is at most `largest`. A column each: M, by how much the mean ν passes, E f² - Mν², and 2^M/C(M, M/2) of even M.
    """
    last = 1 / (2 * pi * tau**2)
    steps = [round(2 * 1.05**i) for i in range(200) if 2 * 1.05**i <= max(last, 2)]
    middle = 2 * (int(last) // 2)
    counts = {count + odd for count in steps for odd in (0, 1)} | {*range(max(2, middle - 6), middle + 6, 2)}
    columns = []
    for count in sorted(count for count in counts if count <= largest):
        cuts = np.array([2.0 - count % 2, *(np.linspace(0.04, 0.96, 24) / (2 * tau))])
        z = np.arange(-count, count + 1, 2)
        chance = np.array([comb(count, i) / 2**count for i in range(count + 1)])
        f = np.clip(z / (2 * cuts[cuts >= 1, None]), -0.5, 0.5)
        mean, square = (f * z) @ chance / count, f**2 @ chance
        rarer = 0.0 if count % 2 else 1 / chance[count // 2]
        columns += [
            (count, nu - tau, e - count * nu**2, rarer)
            for nu, e in zip(mean, square, strict=True)
            if nu > tau
        ]
    return np.array(columns).T


def surely_lost(sums: NDArray[np.float64], live: int) -> int:
    """What some query loses of this many parities, however dependent, by theorem C."""
    count, past, spread, rarer = sums[:, sums[0] <= live]
    variance = np.maximum(spread, 0) / np.maximum(count, live - count + 1)
    driven = np.ceil(count * past**2 / (past**2 + variance) - 1e-9)
    of_any_signs = np.ceil((driven - np.floor(np.sqrt(driven))) / 2)
    of_even_signs = count / 2 - np.floor(rarer * count * variance / past**2 + 1e-9)
    return int(max(of_any_signs.max(), of_even_signs[rarer > 0].max()))


def surely_enough(sets: int, tau: float) -> int:
    """Queries that leave one of this many parities, by sums of dependent ones or queries on independent ones."""
    sums, size, exact, reach = cut_sums(tau, sets), 2, Fraction(str(tau)), 1
    sizes, losses = [1], [0]  # of the lab's sizes, what a query on this many or fewer loses
    while size <= sets:
        sizes.append(size)
        losses.append(max(losses[-1], surely_lost(sums, size)))
        size = max(size + 1, int(1.1 * size))
    while 2 * reach <= sets.bit_length() and independent(reach + 1) > exact:
        reach += 1
    live, queries = sets, 0
    while live > 1:
        of_independent = max(1, min(reach, ((live - 1).bit_length() + 1) // 2))
        live -= max(of_independent, losses[bisect_right(sizes, live) - 1])
        queries += 1
    return queries
