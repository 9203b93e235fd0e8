"""The floor of theorem B (theory 2.7), written once more from its statement: nothing of the lab is imported."""

from fractions import Fraction
from functools import cache
from math import comb, isqrt, log2

# How far apart a query can drive e pairs of parities, where that is known.
KNOWN = {1: Fraction(1, 4), 2: Fraction(3, 16), 3: Fraction(1, 6), 4: Fraction(5, 32), 5: Fraction(13, 96)}


def separation(e: int) -> Fraction:
    """T(e): at most E|Z|/(4e), Z an even integer of second moment 2e: the chord of the root between even squares."""
    if e in KNOWN:
        return KNOWN[e]
    low = 2 * (isqrt(2 * e) // 2)
    high = low + 2
    chord = Fraction(low * (high**2 - 2 * e) + high * (2 * e - low**2), high**2 - low**2)
    return min(KNOWN[5], chord / (4 * e))


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
    """Queries that every deterministic learner needs which must be certain of one of so many parities."""
    most, queries, live = lost(tau), 0, sets
    while live > 2 * most + 2:
        away = max(1, (live - 2 * most - 2) // most)
        live, queries = live - away * most, queries + away
    while live > 1:
        low, high = (live - most if live >= 2 * most + 2 else 1), live
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if chains_fit(live, middle, tau) else (middle + 1, high)
        live, queries = low, queries + 1
    return queries


def chains_fit(live: int, kept: int, tau: Fraction) -> bool:
    """Lemma L: so many chains of means more than 2 tau apart, as even in length as they can be, in a sum of 1/4."""
    short, longer = divmod(live, kept)
    total = (kept - longer) * short * (short**2 - 1) + longer * (short + 1) * ((short + 1) ** 2 - 1)
    return total * tau * tau / 3 < Fraction(1, 4)


def answers_floor(sets: int, tau: float) -> float:
    """Queries that it takes to name one of so many sets: an answer is one of so many multiples of 2 tau."""
    return log2(sets) / log2(2 * int(1 / (4 * tau) + 0.5) + 1)


def independent(e: int) -> Fraction:
    """T(e) of affinely independent parities."""
    return Fraction(comb(2 * e, e), 2 ** (2 * e + 1))


def surely_enough(sets: int, tau: Fraction) -> int:
    """Queries that identify whatever a valid oracle answers: each on as many independent sets as there surely are."""
    queries, live = 0, sets
    while live > 1:
        e = 1
        while e + 1 <= ((live - 1).bit_length() + 1) // 2 and independent(e + 1) > tau:
            e += 1
        live, queries = max(1, live - e), queries + 1
    return queries
