"""Theorem C: what a query surely loses of any parities; the bound on V, the strategy, and both at scale."""

from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.sq.at_scale.dependent import dependent_adversary
from hardness.sq.dependent import cut_off, dependent_loss, dependent_losses
from hardness.sq.exact import certain_losses, certain_queries, exact_floor, most_lost
from hardness.sq.game import cost, play
from hardness.sq.oracle import best_answer
from hardness.sq.queries import Table
from hardness.sq.strategies.dependent import cut_sum
from hardness.sq.tolerance import within


@settings(max_examples=60)
@given(count=st.integers(1, 200), cut=st.fractions(0, 20, max_denominator=20))
def test_what_is_cut_off_is_the_binomial_sum(count: int, cut: Fraction) -> None:
    tail = sum(comb(count, h) * max(abs(2 * h - count) - cut, Fraction(0)) ** 2 for h in range(count + 1))
    assert cut_off(count, np.array([float(cut)]))[0] == pytest.approx(
        float(tail / 2**count), rel=1e-9, abs=1e-9 * count
    )


def test_what_is_cut_off_of_a_million_signs_is_the_normal_law_s() -> None:
    from scipy.stats import norm

    x = np.array([0.5, 1.65, 3.0])
    normal = 2 * ((1 + x**2) * norm.sf(x) - x * norm.pdf(x))
    assert cut_off(10**6, 1000 * x) / 10**6 == pytest.approx(normal, rel=2e-3)


def lost(means: np.ndarray, tau: float) -> int:
    return int(np.sum(~within(means, best_answer(means, np.full(len(means), tau)), tau)))


def some_sets(kind: str, n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Sets of very different dependencies: spread over all, a flat, a ball, a flat and what is far from it."""
    every = np.arange(1 << n, dtype=np.uint64)
    if kind == "random":
        return rng.choice(every, count, replace=False)
    if kind == "flat":
        return every[:count]
    if kind == "ball":
        return every[np.argsort(np.bitwise_count(every), kind="stable")][:count]
    return np.concatenate([every[: count // 2], rng.choice(every[1 << (n - 1) :], count - count // 2, replace=False)])


@pytest.mark.parametrize("kind", ["random", "flat", "ball", "half a flat"])
def test_every_live_set_loses_what_is_promised(kind: str) -> None:
    """Some signs of a few draws keep the promise of theorem C against the best answer, on each kind of sets."""
    rng = np.random.default_rng(5)
    for tau, count in ((0.03, 44), (0.02, 60), (0.01, 256), (0.005, 400)):
        promised, _ = dependent_loss(count, tau)
        live = some_sets(kind, 9, count, rng)
        assert promised >= count / 4
        queries = (Table(cut_sum(live, count, 9, tau, rng)) for _ in range(12))
        assert max(lost(query.means(live), tau) for query in queries) >= promised


def test_the_promise_holds_for_the_signs_on_average() -> None:
    """The proof's own inequality: over all signs, means at most tau are B at most in the mean, exactly."""
    sets, tau, cut = [1, 2, 3, 4, 5, 6, 7], Fraction(1, 10), Fraction(2)
    signs = np.array([[1 - 2 * (bin(s & x).count("1") & 1) for x in range(8)] for s in sets])
    few = []
    for code in range(2**7):
        sigma = np.array([1 - 2 * (code >> i & 1) for i in range(7)])
        b = [max(min(Fraction(int(z)), cut), -cut) / (2 * cut) for z in sigma @ signs]
        means = [
            sum(v * int(x) for v, x in zip(b, row, strict=True)) / 8 * int(s)
            for row, s in zip(signs, sigma, strict=True)
        ]
        few.append(sum(mean <= tau for mean in means))
    tail = Fraction(sum(comb(7, h) * max(abs(2 * h - 7) - cut, Fraction(0)) ** 2 for h in range(8)), 2**7)
    assert Fraction(sum(few), 2**7) <= tail / (1 - 2 * tau * cut) ** 2
    assert 0 < Fraction(sum(few), 2**7) < 7


def test_losses_rise_and_stay_below_lemma_l() -> None:
    for tau in (0.05, 0.03, 0.01, 2.0**-8):
        losses = dependent_losses(tau)
        assert all(m < more and e < further for (m, e), (more, further) in pairwise(losses))
        assert all(2 * e <= m for m, e in losses)
        assert losses[-1][1] < most_lost(tau)
    assert dependent_losses(2.0**-12)[-1][1] > 0.0148 * 2**24
    assert dependent_losses(0.2) == ()


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 10**9), exponent=st.floats(2.1, 9))
def test_v_is_known_up_to_a_factor_nine(size: int, exponent: float) -> None:
    """Whatever the class: what surely suffices is at most nine times the floor, and twenty queries."""
    tau = round(2.0**-exponent, 5)
    floor, suffices = exact_floor(size, tau), certain_queries(size, tau)
    assert floor <= suffices
    assert exponent < 7 or suffices <= 9 * floor + 20


def test_certain_losses_are_a_game() -> None:
    for size, tau in ((8008, 0.01), (495, 0.02), (2, 0.1), (1, 0.1), (10**12, 0.004)):
        live = size
        for steps, one in certain_losses(size, tau):
            assert min(steps, one) > 0
            assert live >= 2 * one
            live -= steps * one
        assert live == 1


@pytest.mark.parametrize(("n", "s", "tau"), [(10, 4, 0.03), (11, 3, 0.01), (12, 6, 0.01), (9, 3, 0.15), (10, 5, 0.002)])
def test_the_plain_game_needs_no_more_than_is_promised(n: int, s: int, tau: float) -> None:
    concepts = ParityConcepts(n, s)
    for oracle in ("window", "null"):
        result = play(concepts, "dependent", oracle, tau, seed=1)
        promised = dependent_adversary(concepts, tau, 10**9)
        assert (result.status, promised.remaining) == ("solved", 1)
        assert result.queries <= promised.queries == certain_queries(concepts.size, tau)
    assert exact_floor(concepts.size, tau) <= play(concepts, "dependent", "window", tau, seed=1).queries


def test_at_sixty_three_bits() -> None:
    """C(63, 8) at 2^-10: 248 million queries with independent sets, a quarter of a million with dependent ones."""
    concepts = ParityConcepts(63, 8)
    result = play(concepts, "dependent", "window", 2**-10)
    assert (result.status, result.queries) == ("solved", certain_queries(concepts.size, 2**-10))
    assert result.queries < 9 * result.exact_floor < 300_000
    assert cost(concepts, "dependent", "window", 2**-10).seconds == 0
    spent = play(concepts, "dependent", "window", 2**-10, max_queries=1000)
    assert (spent.status, spent.queries) == ("budget", 1000)
    assert concepts.size - spent.remaining == 1000 * dependent_losses(2**-10)[-1][1]
    assert play(concepts, "dependent", "window", 0.25, max_queries=9).status == "budget"
    with pytest.raises(InputError, match="at most 24"):
        play(ParityConcepts(30, 2), "dependent", "exact", 0.01)
