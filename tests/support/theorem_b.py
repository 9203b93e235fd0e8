"""The floor of theorem B (theory 2.7), written once more from its statement: nothing of the lab is imported."""

from fractions import Fraction
from functools import cache
from math import comb, isqrt, log2

FIVE = Fraction(13, 96)  # T(5), by computer


def distance(c: int) -> int:
    """zeta(c): a balanced signed sum of characters keeps at least this mean square distance of its size from c."""
    return 1 if c % 2 else 2 if c % 4 == 2 else 4 if c % 16 else 0


def separation(e: int) -> Fraction:
    """T(e), or what is proved of it from above: (2e + c^2 - zeta(c))/(8ce) for every c."""
    middle = isqrt(2 * e)
    bound = min(
        Fraction(2 * e + c * c - distance(c), 8 * c * e) for c in range(max(1, middle - 4), middle + 6)
    )
    return min(bound, FIVE) if e >= 5 else bound


@cache
def lost(tau: Fraction) -> int:
    """The most sets that a query can lose of many: the largest e with T(e) > tau."""
    e, step = 1, 1
    while separation(e + step) > tau:
        e, step = e + step, 2 * step
    while step:  # T falls, so that the last e is found by halves
        e, step = (e + step if separation(e + step) > tau else e), step // 2
    return e


@cache
def floor(sets: int, tau: Fraction) -> int:
    """Queries that every deterministic learner needs which must be certain of one of this many parities."""
    loss, queries, live = lost(tau), 0, sets
    while live > 2 * loss + 2:
        away = max(1, (live - 2 * loss - 2) // loss)
        live, queries = live - away * loss, queries + away
    while live > 1:
        low, high = (live - loss if live >= 2 * loss + 2 else 1), live
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if chains_fit(live, middle, tau) else (middle + 1, high)
        live, queries = low, queries + 1
    return queries


def chains_fit(live: int, kept: int, tau: Fraction) -> bool:
    """Lemma L: this many chains of means more than 2 tau apart, as even in length as they can be, in a sum of 1/4."""
    short, longer = divmod(live, kept)
    total = (kept - longer) * short * (short**2 - 1) + longer * (short + 1) * ((short + 1) ** 2 - 1)
    return total * tau * tau / 3 < Fraction(1, 4)


def answers_floor(sets: int, tau: float) -> float:
    """Queries that it takes to name one of this many sets: an answer is one of this many multiples of 2 tau."""
    return log2(sets) / log2(2 * int(1 / (4 * tau) + 0.5) + 1)


def independent(e: int) -> Fraction:
    """T(e) of affinely independent parities."""
    return Fraction(comb(2 * e, e), 2 ** (2 * e + 1))
