"""Theorem C: what a query surely loses of any parities; the bound on V, the strategy, and both at scale."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.exact.dependent import certain_queries, cut_moments
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.batches import independent_lost
from hardness.sq.bounds.floors import exact_floor


@settings(max_examples=60)
@given(count=st.integers(2, 200), cut=st.fractions(1, 20, max_denominator=20))
def test_moments_of_a_cut_sum_are_binomial_sums(count: int, cut: Fraction):
    law = [(Fraction(comb(count, h), 2**count), Fraction(2 * h - count)) for h in range(count + 1)]
    f = [max(min(z, cut), -cut) / (2 * cut) for _, z in law]
    driven = sum(p * z * y for (p, z), y in zip(law, f, strict=True)) / count
    size = sum(p * y * y for (p, _), y in zip(law, f, strict=True))
    moments = cut_moments(count, np.array([float(cut)]))
    assert [float(x[0]) for x in moments] == pytest.approx([float(driven), float(size)], rel=1e-12)


@pytest.mark.parametrize(("count", "cut"), [(2, 2), (4, 2), (4, 3), (5, 1), (6, 2), (7, 2), (7, 3)])
def test_the_promise_holds_for_all_draws_on_average(count: int, cut: int):
    """The proof's inequalities: mean, variance and what is not driven, over all sums of this many of seven sets.

    These are the sets of three coordinates that are not empty, as dependent as can be. All numbers are exact in floats
    but for thirds and sevenths.
    """
    tau, eps = 1 / 12, 1e-12
    characters = 1.0 - 2 * (np.bitwise_count(np.arange(1, 8)[:, None] & np.arange(8)) & 1)
    signs = np.array(list(product((-1.0, 1.0), repeat=count)))  # (2^count, count)
    draws = []
    for sets in combinations(range(7), count):
        b = np.clip(signs @ characters[list(sets)], -cut, cut) / (2 * cut)
        draws.append(
            signs * (b @ characters[list(sets)].T) / 8
        )  # how far each set is driven to its sign's side
    driven = np.array(draws)
    totals = signs.sum(axis=1)
    f = np.clip(totals, -cut, cut) / (2 * cut)
    nu, size = float(np.mean(totals * f)) / count, float(np.mean(f**2))
    variance = (size - count * nu**2) / max(count, 7 - count + 1)
    assert driven.mean() == pytest.approx(nu, rel=1e-12)
    assert nu > tau
    assert np.mean((driven - nu) ** 2) <= variance + eps
    assert np.mean(driven <= tau + eps) <= variance / (variance + (nu - tau) ** 2) + eps
    if count % 2 == 0:
        crowd = 2**count / comb(count, count // 2)
        assert np.mean(driven[:, totals == 0] <= tau + eps) <= crowd * variance / (nu - tau) ** 2 + eps


def test_v_of_large_classes_is_known_up_to_half_of_pi():
    """A class of this many parities takes no more than independent ones, which take pi/2 times lemma L's bound."""
    for tau, factor in ((0.05, 1.03), (2.0**-7, 1.02)):
        suffices = certain_queries(2**50, tau)
        assert suffices <= factor * 2**50 / independent_lost(tau)
        assert suffices <= 1.03 * np.pi / 2 * 8 * tau**2 * 2**50


def test_at_sixty_three_bits():
    """C(63, 8) at 2^-10: 248 million queries with independent sets, 53 thousand with dependent ones."""
    size = ParityConcepts(63, 8).size
    assert certain_queries(size, 2**-10) == 53026 < 1.8 * exact_floor(size, 2**-10)
