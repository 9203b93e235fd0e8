"""Theorem C: what a query surely loses of any parities; the bound on V, the strategy, and both at scale."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from window import window_loss

from hardness.errors import InputError
from hardness.exact.dependent import (
    Loss,
    certain_queries,
    cut_moments,
    cut_sum,
    dependent_losses,
)
from hardness.exact.independent import independent_lost
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.game import play
from hardness.sq.queries import tabulated


@settings(max_examples=60)
@given(count=st.integers(2, 200), cut=st.fractions(1, 20, max_denominator=20))
def test_moments_of_a_cut_sum_are_binomial_sums(count: int, cut: Fraction) -> None:
    law = [(Fraction(comb(count, h), 2**count), Fraction(2 * h - count)) for h in range(count + 1)]
    f = [max(min(z, cut), -cut) / (2 * cut) for _, z in law]
    driven = sum(p * z * y for (p, z), y in zip(law, f, strict=True)) / count
    size = sum(p * y * y for (p, _), y in zip(law, f, strict=True))
    moments = cut_moments(count, np.array([float(cut)]))
    assert [float(x[0]) for x in moments] == pytest.approx([float(driven), float(size)], rel=1e-12)


def some_sets(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Sets of nine bits of very different dependencies."""
    every = np.arange(512, dtype=np.uint64)
    if kind == "flat":
        return every[:count]
    if kind == "ball":
        return every[np.argsort(np.bitwise_count(every), kind="stable")][:count]
    return rng.choice(every, count, replace=False)


def plan_of(live: int, tau: float) -> Loss:
    return [loss for loss in dependent_losses(tau) if loss.live <= live][-1]


@pytest.mark.parametrize("kind", ["random", "flat", "ball"])
def test_every_live_set_loses_what_is_promised(kind: str) -> None:
    """Some signs of a few draws keep the promise of theorem C against the best answer, on each kind of sets."""
    rng = np.random.default_rng(5)
    for tau, count in ((0.03, 44), (0.02, 60), (0.01, 256), (0.005, 400), (0.08, 512), (0.05, 512)):
        plan = plan_of(count, tau)
        live = some_sets(kind, count, rng)
        assert plan.lost >= min(count / 4, independent_lost(tau) / 3)
        queries = (tabulated(cut_sum(live, plan, 9, tau, rng)) for _ in range(12))
        assert max(window_loss(query.means(live), tau) for query in queries) >= plan.lost


EVERY = [1, 2, 3, 4, 5, 6, 7]  # the sets of three coordinates that are not empty: as dependent as can be


def means_of(sets: list[int], signs: tuple[int, ...], cut: Fraction) -> list[Fraction]:
    """How far each set is driven to the side of its sign."""
    characters = [[1 - 2 * ((s & x).bit_count() & 1) for x in range(8)] for s in sets]
    b = [
        max(min(Fraction(sum(s * c[x] for s, c in zip(signs, characters, strict=True))), cut), -cut)
        / (2 * cut)
        for x in range(8)
    ]
    return [
        s * sum(v * c for v, c in zip(b, row, strict=True)) / 8
        for s, row in zip(signs, characters, strict=True)
    ]


def law_of(count: int, cut: Fraction) -> tuple[Fraction, Fraction]:
    """nu and E f^2, exactly."""
    totals = [sum(signs) for signs in product((-1, 1), repeat=count)]
    f = [max(min(Fraction(z), cut), -cut) / (2 * cut) for z in totals]
    driven = sum(z * y for z, y in zip(totals, f, strict=True)) / count / len(f)
    return driven, sum(y * y for y in f) / len(f)


@pytest.mark.parametrize(("count", "cut"), [(2, 2), (4, 2), (4, 3), (5, 1), (6, 2), (7, 2), (7, 3)])
def test_the_promise_holds_for_all_draws_on_average(count: int, cut: int) -> None:
    """The proof's inequalities, exactly: mean, variance and what is not driven, over all sums of this many of seven."""
    tau, draws = Fraction(1, 12), []
    for sets in combinations(EVERY, count):
        for signs in product((-1, 1), repeat=count):
            draws += [(a, sum(signs) == 0) for a in means_of(list(sets), signs, Fraction(cut))]
    nu, size = law_of(count, Fraction(cut))
    variance = (size - count * nu**2) / max(count, 7 - count + 1)
    assert sum(a for a, _ in draws) / len(draws) == nu > tau
    assert sum((a - nu) ** 2 for a, _ in draws) / len(draws) <= variance
    assert Fraction(sum(a <= tau for a, _ in draws), len(draws)) <= variance / (variance + (nu - tau) ** 2)
    even = [a for a, same in draws if same]
    if even:
        crowd = Fraction(2**count, comb(count, count // 2))
        assert Fraction(sum(a <= tau for a in even), len(even)) <= crowd * variance / (nu - tau) ** 2


def test_v_of_large_classes_is_known_up_to_half_of_pi() -> None:
    """A class of this many parities takes no more than independent ones, which take pi/2 times lemma L's bound."""
    for tau, factor in ((0.05, 1.03), (2.0**-7, 1.02)):
        suffices = certain_queries(2**50, tau)
        assert suffices <= factor * 2**50 / independent_lost(tau)
        assert suffices <= 1.03 * np.pi / 2 * 8 * tau**2 * 2**50


@pytest.mark.parametrize(
    ("n", "s", "tau"), [(10, 4, 0.03), (11, 3, 0.01), (12, 6, 0.01), (9, 3, 0.15), (10, 5, 0.002)]
)
def test_the_plain_game_needs_no_more_than_is_promised(n: int, s: int, tau: float) -> None:
    concepts = ParityConcepts(n, s)
    for oracle in ("window", "null"):
        result = play(concepts, "dependent", oracle, tau, seed=1)
        assert result.solved
        assert result.queries <= certain_queries(concepts.size, tau)
    assert exact_floor(concepts.size, tau) <= play(concepts, "dependent", "window", tau, seed=1).queries


def test_at_sixty_three_bits() -> None:
    """C(63, 8) at 2^-10: 248 million queries with independent sets, 53 thousand with dependent ones."""
    size = ParityConcepts(63, 8).size
    assert certain_queries(size, 2**-10) == 53026 < 1.8 * exact_floor(size, 2**-10)
    with pytest.raises(InputError, match="at most 24"):
        play(ParityConcepts(30, 2), "dependent", "window", 0.01)
