"""Floors of the queries that identify a parity for sure, in integers: lemma L and theorem B (theory 2.7).

V is the least number of queries that surely leaves one parity, whatever a valid oracle answers; G that against the
greedy window. Every floor here is a floor of both. A tolerance is read as its decimal: 0.1 is 1/10.
"""

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.io.fields import number

SMALLEST_TOLERANCE = 1e-60  # its fourth power and one over it are floats
IDENTIFIABLE = Fraction(1, 4)  # at this tolerance no query tells two parities apart
FIVE = Fraction(13, 96)  # T(5), by computer: `checker/t_of_five.py`; the proof by hand gives 11/80
LARGEST_E = 12  # up to this e queries are known that reach the upper bound of T(e)
# e: the least size s of sets of which V/N is known to tend to 1/e. For e = 1, 2 every class of parities will do
# (theorem C, corollary i); beyond, the stored query that reaches T(e) is one on s-partite sets (theorem D).
LIMIT_SIZES = (
    {1: 1, 2: 1} | dict.fromkeys(range(3, 7), 2) | {7: 3, 8: 3} | dict.fromkeys(range(9, LARGEST_E + 1), 4)
)


def decimal(tolerance: float | Fraction) -> Fraction:
    """Return a tolerance as an exact fraction, that of the decimal it is written as: 0.1 is 1/10."""
    return tolerance if isinstance(tolerance, Fraction) else Fraction(str(float(tolerance)))


def identifying(tolerance: float | Fraction) -> Fraction:
    """Return a tolerance in (0, 1/4), where parities are told apart, as a fraction; raise `InputError` elsewhere."""
    tau = decimal(tolerance)
    if not 0 < tau < IDENTIFIABLE:
        raise InputError(
            f"no floor exists at tolerance {float(tau):g}: parities are told apart in (0, 1/4) only"
        )
    return tau


def strict_floor(concepts: int, tolerance: float | Fraction) -> int:
    """Return lemma L's lower bound on the queries that surely identify one of N = `concepts` parities (theory 2.7).

    It is ceil((N - 1)/(ceil(1/(8 tau^2)) - 1)), tau < 1/4 being the tolerance. Proof: let every answer to a query rule
    out e of k parities or more. Sort the query's means under the k: means k - e places apart then differ by more than 2
    tau. By Parseval the squares of all means sum to at most 1/4. Both together give e < 1/(8 tau^2).

    >>> strict_floor(8008, 0.1), strict_floor(4845, 0.2)
    (668, 1615)
    """
    tau = identifying(tolerance)
    return ceil(Fraction(concepts - 1, ceil(1 / (8 * tau**2)) - 1))


def least_distance(c: int) -> int:
    """Return a lower bound eta(c) on E(|Z| - c)^2, for any sum Z of some parities less as many others (theorem B).
    Z is even. Binary digits of Z/2 are polynomials over F_2 of degree 1, 2, 4, and one of degree r that is not 0 holds
    on at least 2^-r of the inputs: so Z is not c mod 4, 8 or 16 often enough."""
    return 1 if c % 2 else {1: 2, 2: 4, 4: 4}.get((c & -c) // 2, 0)


def max_separation(e: int) -> Fraction:
    """Return an upper bound on T(e), the tolerance from which on no query surely rules out e of 2e or more parities.
    By theorem B, T(e) <= (2e + c^2 - eta(c))/(8ce) for every c (eta: `least_distance`); from e = 5 on, T(e) <= 13/96.
    """
    near = isqrt(2 * e)
    bound = min(
        Fraction(2 * e + c * c - least_distance(c), 8 * c * e) for c in range(max(1, near - 2), near + 5)
    )
    return min(bound, FIVE) if e >= 5 else bound


def most_lost(tolerance: float | Fraction) -> int:
    """Return e* such that no query surely rules out more than e* of 2e* + 2 or more parities (`max_separation`).
    Raises `InputError` for a tolerance outside (0, 1/4)."""
    tau = identifying(tolerance)
    return last(lambda e: max_separation(e) > tau)


def last(holds: Callable[[int], bool]) -> int:
    """Return the largest e for which holds(e) is true; it must be true at 1 and false from some e on."""
    high = 2
    while holds(high):
        high *= 2
    return bisect_left(range(high), True, lo=high // 2, key=lambda e: not holds(e)) - 1


def asymptotic_ratio(size: int, tolerance: float | Fraction) -> Fraction | None:
    """Return the limit, as n grows, of V/C(n, s), V the fewest queries that surely identify a parity of s of n bits.
    It is 1/e* (e*: `most_lost`), or None where that is not proved. s is `size`, C(n, s) the number of parities. Theorem
    B is the lower bound, theorem D the strategy (theory 2.7)."""
    tau = decimal(tolerance)
    if tau >= IDENTIFIABLE:
        return None
    lost = most_lost(tau)
    return Fraction(1, lost) if size >= LIMIT_SIZES.get(lost, size + 1) else None


def exact_floor(concepts: int, tolerance: float | Fraction) -> int:
    """Return theorem B's lower bound on the queries that surely identify one of this many parities (theory 2.7).

    It holds for every class of parities, also against the oracle `window`. It adds up queries, each of which leaves as
    few parities as is not excluded: of k >= 2e* + 2 at least k - e* (e*: `most_lost`), and of any number no fewer than
    `chains_fit` allows. Raises `InputError` from tolerance 1/4 on.

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
        live = bisect_left(range(live), True, lo=kept, key=lambda w: chains_fit(live, w, tau))
        queries += 1
    return queries


def chains_fit(live: int, kept: int, tau: Fraction) -> bool:
    """Return whether Parseval allows a query whose answers, within `tau`, all leave `kept` or fewer of `live` parities.
    Its means, sorted, lie over 2 tau above the mean `kept` places before, and their squares must sum to 1/4 at most."""
    length, longer = divmod(live, kept)
    total = longer * (length + 1) * ((length + 1) ** 2 - 1) + (kept - longer) * length * (length**2 - 1)
    return total < 3 / (4 * tau**2)


def check_tolerance(tolerance: float) -> float:
    """Return a tolerance from 1e-60 to 1; raise `InputError` for another."""
    number("tolerance", tolerance, f"[{SMALLEST_TOLERANCE:g}, 1]")
    return tolerance


def identifiable(concepts: int, tolerance: float | Fraction) -> bool:
    """Return whether one of this many parities can be identified: from tolerance 1/4 on only a single one can."""
    return concepts == 1 or decimal(tolerance) < IDENTIFIABLE


def within(means: NDArray[np.float64], reply: float, tolerance: float) -> NDArray[np.bool_]:
    """Return which means (count,) lie within the tolerance of the answer `reply`, up to rounding of the last bits."""
    return np.asarray(np.abs(means - reply) <= tolerance * (1 + 1e-12) + 1e-15)
