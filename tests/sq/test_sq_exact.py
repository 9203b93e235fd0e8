"""Theory 2.7: what a query can lose at most, V of independent and of small classes, floors; proofs in rationals."""

import re
from fractions import Fraction
from math import ceil, comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theory_page import table

from hardness.errors import InputError
from hardness.exact.dependent import certain_queries
from hardness.exact.independent import (
    end_game,
    independent_value,
    separable,
    separate,
)
from hardness.exact.small_games import SmallGames, value
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.batches import batch_size, independent_apart, independent_lost
from hardness.sq.bounds.floors import (
    asymptotic_ratio,
    decimal,
    exact_floor,
    most_lost,
    strict_floor,
)

TOLERANCES = (0.24, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05)


def test_the_table_of_independent_classes():
    for size, *cells in table("2.7", "k"):
        for tau, cell in zip(TOLERANCES, cells, strict=True):
            bound = ceil(8 * decimal(tau) ** 2 * (int(size) - 1))
            assert f"{independent_value(int(size), tau)}/{bound}" == cell
    assert [independent_value(8008, tau) for tau in (0.12, 0.1, 0.05)] == [1603, 1145, 261]


def independent(size: int) -> list[int]:
    return [0] + [1 << i for i in range(size - 1)]


@pytest.mark.parametrize("largest", [6, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tau", TOLERANCES)
def test_search_agrees_with_the_recursion_on_independent_classes(tau: float, largest: int):
    """Branch and bound knows nothing of theorem A."""
    games = SmallGames(tau, theorem=False)
    for size in range(1, largest + 1):
        assert games.value(independent(size)) == independent_value(size, tau)


def test_the_separation_proves_what_it_says():
    """Random forms: what the query or the weights give is on the right side."""
    rng, chances = np.random.default_rng(2), np.array([Fraction(1, 8)] * 8)
    for _ in range(40):
        forms, threshold = rng.integers(-2, 3, (3, 8)).astype(object), Fraction(int(rng.integers(1, 8)), 16)
        query, weights = separate(forms, chances, threshold)
        if query is not None:
            assert max(abs(b) for b in query) <= Fraction(1, 2)
            assert min(forms @ np.array(query)) / 8 > threshold
        else:
            assert sum(weights) == 1
            assert min(weights) >= 0
            assert sum(abs(np.array(weights) @ forms)) / 16 <= threshold


def test_windows_are_closed():
    """At tau = T(e) exactly nothing is lost; just below, e."""
    for e in (1, 2, 3, 4):
        tau = independent_apart(e)
        assert independent_lost(tau) == e - 1 if e > 1 else tau == Fraction(1, 4)
        assert independent_lost(tau - Fraction(1, 10**9)) == e
        if 1 < e < 4:
            assert SmallGames(tau, theorem=False).value(independent(2 * e)) == independent_value(2 * e, tau)
    assert separate(np.array([[0, 2, -2, 0]]), np.array([Fraction(1, 4)] * 4), Fraction(1, 2))[0] is None


@settings(max_examples=150)
@given(st.integers(2, 40), st.sampled_from([0.24, 0.2, 0.16, 0.12, 0.1, 0.08, 0.06]))
def test_floors_are_below_what_is_exact(size: int, tau: float):
    """strict <= exact_floor where both count whole classes; exact_floor <= V of independent <= certain queries."""
    assert exact_floor(size, tau) <= independent_value(size, tau) <= certain_queries(size, tau) <= size - 1
    assert independent_value(size, tau) <= independent_value(size + 1, tau)
    assert 1 <= independent_lost(tau) <= most_lost(tau) <= ceil(1 / (8 * decimal(tau) ** 2)) - 1


def test_values_of_the_floors():
    for name, tau, lost, floor, bound in table("2.7", "class"):
        size = comb(*map(int, re.findall(r"\d+", name)[:2]))
        assert exact_floor(size, float(tau)) == int(floor.split()[0])
        assert (most_lost(float(tau)), int(8 * decimal(tau) ** 2 * (size - 1))) == (int(lost), int(bound))
    assert strict_floor(8008, 0.1) == ceil(8007 / 12)
    for tau in (0.1875, 0.2, 0.24):
        assert all(exact_floor(size, tau) == size - 1 for size in (3, 10, 4845))  # N - 1 exactly, every class
    for bound in (exact_floor, strict_floor, independent_value, certain_queries):
        with pytest.raises(InputError, match="told apart"):
            bound(10, 0.25)
    for tau in (0.009, 0.0077, 0.0063, 0.005):
        lost = independent_lost(tau)
        assert batch_size(tau) == 2 * lost + 1
        assert independent_apart(lost) > decimal(tau) >= independent_apart(lost + 1)


def test_the_limit_is_that_of_theorem_d():
    for lost, interval, _, smallest in table("2.7", "e⋆"):
        low, high = map(Fraction, re.findall(r"\d+/\d+", interval))
        for tau in (low, (low + high) / 2, high - Fraction(1, 10**9)):
            assert asymptotic_ratio(int(smallest), tau) == asymptotic_ratio(40, tau) == Fraction(1, int(lost))
            assert asymptotic_ratio(int(smallest) - 1, tau) is None or int(smallest) == 1
    assert asymptotic_ratio(40, Fraction(19, 208) - Fraction(1, 10**9)) is None
    assert asymptotic_ratio(4, 0.25) is None is asymptotic_ratio(4, 0.7)


def test_end_games_are_increasing_and_proved():
    assert end_game(decimal(0.05)) == (1, 5, 17, 38, 63)
    for kept, size in ((1, 5), (5, 17), (17, 38)):
        assert [separable(k, kept, decimal(0.05)) for k in (size, size + 1)] == [True, False]
    with pytest.raises(InputError, match="states"):
        independent_value(100, 0.001)


def test_values_of_classes():
    """Dependent classes need more than independent ones, or less."""
    plane, fano = SmallGames(0.15), SmallGames(0.12)
    assert (plane.value((0, 1, 2, 3)), independent_value(4, 0.15)) == (3, 2)
    assert (fano.value(range(1, 8)), independent_value(7, 0.12)) == (2, 3)
    queries = [value(ParityConcepts(4, 2), tau)[1] for tau in (0.2, 0.15, 0.12, 0.1, 0.05)]
    assert queries == [5, 3, 2, 2, 2]
    assert [value(ParityConcepts(n, s), 0.2)[0] for n, s in ((1001, 1), (20, 4))] == [1000, 4844]
    assert value(ParityConcepts(5, 2), 0.1, seconds=0.0) == (2, 5)  # out of time


@pytest.mark.slow
def test_the_pairs_of_five():
    """C(5, 2), ten sets: V at .16, .12, .1, .08, .05; independent ten need 4, 3, 3, 2, 2 at .15 and the last four."""
    values = [value(ParityConcepts(5, 2), tau, 300)[1] for tau in (0.16, 0.12, 0.1, 0.08, 0.05)]
    assert values == [4, 3, 3, 2, 2]
