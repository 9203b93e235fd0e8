"""How many concepts a query can lose at most, and what follows for whole games: theory 2.7, in rationals.

V is the least number of queries that surely leaves one parity of a class, whatever a valid oracle answers (the
hardest oracle); G the least number against the greedy best-window oracle. Every floor here is a floor of both, for
deterministic learners that must be certain. A tolerance is read as its decimal: 0.1 is 1/10.
"""

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, comb, exp, isqrt, pi, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.sq.dependent import dependent_losses
from hardness.sq.separation import Separation, separate

IDENTIFIABLE = Fraction(1, 4)  # at this tolerance no query tells two parities apart
FIVE = Fraction(13, 96)  # T(5), by computer: `checker/t_of_five.py`; the proof by hand gives 11/80
KNOWN = 12  # up to this e queries are known that reach the upper bound of T(e)
# e: the least size s of sets of which V/N is known to tend to 1/e. For e = 1, 2 every class of parities will do
# (theorem C, corollary i); beyond, the stored query that reaches T(e) is one on s-partite sets (theorem D).
LIMIT_SIZES = (
    {1: 1, 2: 1} | dict.fromkeys(range(3, 7), 2) | {7: 3, 8: 3} | dict.fromkeys(range(9, KNOWN + 1), 4)
)
MOST_STATES = 120_000


def decimal(tolerance: float | Fraction) -> Fraction:
    """A tolerance as the fraction its decimal says.

    >>> decimal(0.1)
    Fraction(1, 10)
    """
    return tolerance if isinstance(tolerance, Fraction) else Fraction(str(float(tolerance)))


def strict_floor(concepts: int, tolerance: float | Fraction) -> int:
    """Queries that lemma L demands: ceil((N - 1)/(ceil(1/(8 tau^2)) - 1)) for tau < 1/4. Source: theory 2.7.

    Lemma L: if the best window keeps w = k - e of k concepts, the sorted means satisfy a_(j+w) - a_(j) > 2 tau. Split
    the indices mod w into w chains; a chain of r means with gaps above 2 tau has a sum of squares about its mean of at
    least tau^2 r (r^2 - 1)/3 >= 2 tau^2 (r - 1), strictly for r > 1. The sum over chains is at most sum a_S^2 <= 1/4 by
    Parseval, so e < 1/(8 tau^2), strictly, and e is an integer.

    >>> strict_floor(8008, 0.1), strict_floor(4845, 0.2)
    (668, 1615)
    """
    tau = _identifying(tolerance)
    return ceil(Fraction(concepts - 1, ceil(1 / (8 * tau**2)) - 1))


def _identifying(tolerance: float | Fraction) -> Fraction:
    tau = decimal(tolerance)
    if not 0 < tau < IDENTIFIABLE:
        raise InputError(
            f"no floor exists at tolerance {float(tau):g}: parities are told apart in (0, 1/4) only"
        )
    return tau


def independent_apart(e: int) -> Fraction:
    """T_ind(e) = C(2e, e)/2^(2e+1): a query loses e of 2e or more independent parities iff tau is below (theorem A).

    >>> [str(independent_apart(e)) for e in (1, 2, 3, 4)]
    ['1/4', '3/16', '5/32', '35/256']
    """
    return Fraction(comb(2 * e, e), 2 ** (2 * e + 1))


def least_distance(c: int) -> int:
    """eta(c): E(|Z| - c)^2 is at least this for every balanced signed sum Z of distinct characters (theorem B).

    Z is even and Z = 0 at the origin. Binary digits of Z/2 are polynomials over F_2 of degree 1, 2, 4 in the input,
    and a polynomial of degree r that is not 0 holds on at least 2^-r of the cube. So Z is not c mod 4, 8 or 16 often
    enough, where c is 2 mod 4, 4 mod 8 or 8 mod 16.

    >>> [least_distance(c) for c in (1, 2, 4, 6, 8, 16)]
    [1, 2, 4, 2, 4, 0]
    """
    return 1 if c % 2 else {1: 2, 2: 4, 4: 4}.get((c & -c) // 2, 0)


def max_separation(e: int) -> Fraction:
    """Upper bound on T(e): no query at this tolerance or above loses e of 2e or more parities (theorem B, theory 2.7).

    e pairs come apart by E|Z|/2 in all, and 2c|Z| = Z^2 + c^2 - (|Z| - c)^2 for every c: so T(e) is at most
    (2e + c^2 - eta(c))/(8ce), at c = 2 and 4 (e + 1)/(8e) and (e + 6)/(16e). For e = 5 it is `FIVE`.

    >>> [str(max_separation(e)) for e in (1, 2, 3, 4, 5, 6, 8, 30)]
    ['1/4', '3/16', '1/6', '5/32', '13/96', '1/8', '7/64', '1/16']
    """
    near = isqrt(2 * e)
    bound = min(
        Fraction(2 * e + c * c - least_distance(c), 8 * c * e) for c in range(max(1, near - 2), near + 5)
    )
    return min(bound, FIVE) if e >= 5 else bound


def most_lost(tolerance: float | Fraction) -> int:
    """e* = max{e: T(e) > tau} by the upper bounds of T: no query loses more of 2e* + 2 or more parities.

    >>> [most_lost(tau) for tau in (0.2, 0.16, 0.1, 0.05)]
    [1, 3, 9, 48]
    """
    tau = _identifying(tolerance)
    return _last(lambda e: max_separation(e) > tau)


def asymptotic_ratio(size: int, tolerance: float | Fraction) -> Fraction | None:
    """1/e*, to which V/N tends as n grows, N = C(n, s) and s = `size` fixed; None where that is not proved.

    The floor is theorem B's, the strategy theorem D's (theory 2.7). For [13/96, 11/80) it rests on the computer's proof
    of T(5). None too from tolerance 1/4 on, where V is infinite.

    >>> [str(asymptotic_ratio(s, 0.1)) for s in (3, 4)], [str(asymptotic_ratio(4, tau)) for tau in (0.2, 0.14, 0.09)]
    (['None', '1/9'], ['1', '1/4', 'None'])
    """
    tau = decimal(tolerance)
    if tau >= IDENTIFIABLE:
        return None
    lost = most_lost(tau)
    return Fraction(1, lost) if size >= LIMIT_SIZES.get(lost, size + 1) else None


def success_queries(concepts: int, success: float | Fraction, tolerance: float | Fraction) -> tuple[int, int]:
    """R_P between two bounds: queries of a randomised learner that names a uniform parity with probability `success`
    against every valid oracle (theory 2.7). Raises `InputError` at tolerance 1/4 and above.

    A query takes at most e* concepts from the window, so that P N - 1 of them take (P N - 1)/e*, where (1 - P) N >= e*;
    without that condition lemma L's number stands for e*. On the other side a learner draws P N of the concepts and
    asks what is certain to identify one of these.

    >>> success_queries(4845, 0.9, 0.16), success_queries(4845, 1, 0.16)
    ((1454, 2181), (1615, 2423))
    """
    tau, share = _identifying(tolerance), decimal(success)
    if not 0 < share <= 1:
        raise InputError(f"a probability of success is in (0, 1], got {float(share):g}")
    lost, aim = most_lost(tau), share * concepts
    if share == 1:
        low = exact_floor(concepts, tau)
    else:
        taken = lost if concepts - aim >= lost else ceil(1 / (8 * tau**2)) - 1
        low = max(0, ceil((aim - 1) / taken))
    return low, certain_queries(ceil(aim), tau) if aim > 1 else 0


def independent_lost(tolerance: float | Fraction) -> int:
    """E = max{e: T_ind(e) > tau}: the most a query loses of 2E or more independent parities (theorem A).

    >>> [independent_lost(tau) for tau in (0.2, 0.16, 0.1, 0.05)]
    [1, 2, 7, 31]
    """
    tau = _identifying(tolerance)
    # Beyond e = 2000 by Stirling's series, whose next term is below 1e-17; neighbours differ by 1/(2e).
    return _last(
        lambda e: (
            independent_apart(e) > tau
            if e <= 2000
            else exp(-1 / (8 * e) + 1 / (192 * e**3)) / (2 * sqrt(pi * e)) > float(tau)
        )
    )


def _last(holds: Callable[[int], bool]) -> int:
    """Largest e with holds(e); it holds at 1 and falls once."""
    high = 2
    while holds(high):
        high *= 2
    return bisect_left(range(high), True, lo=high // 2, key=lambda e: not holds(e)) - 1


def exact_floor(concepts: int, tolerance: float | Fraction) -> int:
    """Theorem B's floor f of V and of G, for every class of so many parities, as one recursion (theory 2.7).

    f(1) = 0 and f(k) = 1 + f(w), w the least size that theory allows a query to leave of k: at least k - e* (of
    2e* + 2 or more), and such that w round-robin chains of the k means, gaps above 2 tau, fit into sum a_S^2 <= 1/4:
    the sum of r(r^2 - 1) over their lengths is below 3/(4 tau^2) (lemma L). Raises `InputError` where nothing is
    identifiable (tolerance 1/4 and above).

    >>> [exact_floor(4845, tau) for tau in (0.2, 0.16)], [exact_floor(8008, tau) for tau in (0.12, 0.1, 0.05)]
    ([4844, 1615], [1336, 891, 169])
    """
    tau = decimal(tolerance)
    if concepts == 1:
        return 0
    lost, live, queries = most_lost(tau), concepts, 0
    if live > 2 * lost + 2:
        queries = -(-(live - 2 * lost - 2) // lost)
        live -= queries * lost
    while live > 1:
        kept = live - lost if live >= 2 * lost + 2 else 1
        live = bisect_left(range(live), True, lo=kept, key=lambda w: _fits(live, w, tau))
        queries += 1
    return queries


def _fits(live: int, kept: int, tau: Fraction) -> bool:
    """Have `kept` round-robin chains of `live` means, gaps above 2 tau, room in a sum of squares of 1/4 (lemma L)?"""
    length, longer = divmod(live, kept)
    total = longer * (length + 1) * ((length + 1) ** 2 - 1) + (kept - longer) * length * (length**2 - 1)
    return total < 3 / (4 * tau**2)


def independent_value(concepts: int, tolerance: float | Fraction) -> int:
    """V of so many affinely independent parities, exactly: theorem A, and a symmetric linear program at the end.

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


def certain_queries(concepts: int, tolerance: float | Fraction) -> int:
    """Queries that surely identify, whatever a valid oracle answers: an upper bound on V of every class of that size.

    Two kinds of queries lose so many of any k parities to every answer. Any k span at least log2 k affine dimensions,
    so ceil(log2 k) + 1 of them are affinely independent, and the query of theorem A on 2e <= 2E of these loses e: all
    that it drives up, or all that it drives down. A cut sum of many dependent ones loses up to E as k grows (theorem C,
    `dependent_losses`). V does not fall with k, so that losing more does no harm. Raises `InputError` at tolerance 1/4
    and above.

    >>> certain_queries(4845, 0.16), certain_queries(8008, 0.1), certain_queries(8008, 0.01)
    (2423, 1296, 45)
    """
    tau = decimal(tolerance)
    largest = min(independent_lost(tau), ((concepts - 1).bit_length() + 1) // 2)
    live_for = {loss.lost: loss.live for loss in dependent_losses(float(tau))}
    for lost in range(1, largest + 1):
        count = max(2 ** (2 * lost - 2) + 1, 2)
        live_for[lost] = min(live_for.get(lost, count), count)
    live, queries = concepts, 0
    for lost, count in sorted(live_for.items(), reverse=True):
        if live >= count:
            steps = -(-(live - count + 1) // lost)
            live, queries = live - steps * lost, queries + steps
    return queries


@cache
def end_game(tau: Fraction, largest: int | None = None) -> tuple[int, ...]:
    """The largest class of independent parities, up to 2E + 1 and `largest`, that 0, 1, 2, ... queries identify.

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
    """Can a query on independent parities leave no answer with more than `kept` of them? With its proof.

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
    if not _fits(concepts, kept, tau):
        return Separation(2 * tau, weights=())
    forms, chances = _levels(concepts, kept)
    return separate(forms, chances, 2 * tau)


def _levels(concepts: int, kept: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Gaps (gaps, states) of the levels of |a|, and the states' chances, of `independent_separation`."""
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
