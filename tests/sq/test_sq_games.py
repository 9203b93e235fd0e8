"""Games against theory 2.5 and 3.1: the theorem's constants, the measured counts, and both ways to play."""

from math import comb, log2
from typing import Any

import numpy as np
import pytest
from committed import rows
from window import window_loss

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts, RoundingConcepts
from hardness.sq.bounds import parity as dimension
from hardness.sq.bounds.batches import batch_modes, batch_size
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.game import GameResult, play, strategy_of
from hardness.sq.queries import SignBatch, SpanFunction, Table, bit_products, character, span_coordinates
from hardness.studies.needs import STUDY


def plain_game(concepts: ParityConcepts, strategy: str, tau: float, **more: Any) -> GameResult:
    """Play against the window query by query: a plug-in is never played at scale."""
    asked = strategy_of(concepts, strategy)
    return play(concepts, lambda *given: asked(*given), "window", tau, **more)


def test_means_of_batches_agree_with_the_transform_of_their_values():
    """Of independent sets, by the majority's coefficients, and of dependent ones."""
    rng = np.random.default_rng(5)
    n, words = 10, np.arange(1 << 10, dtype=np.uint64)
    batches = [SignBatch(np.array([1, 2, 3, 4, 7], np.uint64), np.array([1, -1, 1, 1, -1]))]
    for size in (1, 3, 5, 9):
        sets = [(1 << i) ^ ((1 << i) - 1 & int(rng.integers(1 << n))) for i in range(size)]
        batches.append(SignBatch(np.array(sets, np.uint64), rng.choice([-1, 1], size)))
    for batch in batches:
        votes = [sign * bit_products(words, mask) for mask, sign in zip(batch.sets, batch.signs, strict=True)]
        dense = Table(np.sign(np.sum(votes, axis=0)).astype(float))
        assert np.allclose(batch.means(words), dense.means(words), atol=1e-15)


@pytest.mark.parametrize(("n", "s"), [(15, 5), (18, 3), (23, 2), (24, 3), (30, 3)])
@pytest.mark.parametrize("tau", [0.06, 0.1, 0.16, 0.22])
def test_independent_batches_are_what_the_adversary_answers(n: int, s: int, tau: float):
    """The kernel's loss of a batch equals the exact best window over every live set's exact mean."""
    concepts = ParityConcepts(n, s)
    live, rng, modes = concepts.masks(), np.random.default_rng(n), batch_modes(tau, n)
    for size in np.flatnonzero(modes):
        for count in (concepts.size, 40):
            some = rng.choice(live, min(count, concepts.size), replace=False)
            sets = some[span_coordinates(some[:4096], some[:1])[0][:size]]  # the first that are independent
            if len(sets) < size or (size >= 3 and int(np.bitwise_xor.reduce(sets)).bit_count() == s):
                continue
            means = SignBatch(sets, np.where(np.arange(size) < size // 2, -1, 1)).means(some)
            assert np.sum(np.abs(means) > tau) == size  # what the null adversary loses
            kept = max(len(some) - size, (size + 1) // 2)
            assert window_loss(means, tau) == (size // 2 if modes[size] == 1 else len(some) - kept)


@pytest.mark.parametrize(("n", "s", "tau"), [(9, 3, 0.08), (16, 3, 0.1), (24, 2, 0.07)])
def test_scale_agrees_with_the_plain_game(n: int, s: int, tau: float):
    """Batches are drawn in another order, so counts may differ a little; both are exact and above the bound."""
    concepts = ParityConcepts(n, s)
    plain, fast = plain_game(concepts, "sign-batch", tau, seed=4), play(concepts, "sign-batch", "window", tau)
    assert plain.solved
    assert fast.solved
    assert abs(plain.queries - fast.queries) <= 4 + 0.1 * plain.queries
    assert min(plain.queries, fast.queries) >= dimension.window_bound(concepts.size, tau)


def test_a_game_at_scale_is_the_committed_one():
    wanted = {"solver_strategy": "sign-batch", "solver_tolerance": "0.0625", "params_heads": "4"}
    (row,) = rows("needs", params_dim="24", **wanted)
    (task,) = (task for task in STUDY.tasks(False) if task.identity == row["identity"])
    assert STUDY.trial(task, 0, 600.0).cost == int(row["cost"])


@pytest.mark.parametrize(("tau", "ends"), [(0.24, True), (0.25, False)])
def test_single_characters_fail_at_a_quarter(tau: float, ends: bool):
    """Pitfall 1: the window adversary stops characters at 1/4, the null one only at 1/2."""
    concepts = ParityConcepts(10, 2)
    for strategy in ("characters", "sign-batch"):
        assert play(concepts, strategy, "window", tau).solved == ends
    assert play(concepts, "characters", "null", tau).solved
    assert play(concepts, "characters", "null", 0.5).status == "stuck"


@pytest.mark.parametrize("oracle", ["exact", "noisy", "sampled"])
@pytest.mark.parametrize("strategy", ["characters", "random", "sign-batch"])
def test_honest_oracles_are_solved(oracle: str, strategy: str):
    result = play(ParityConcepts(9, 2), strategy, oracle, 0.11, seed=1)
    assert (result.status, result.bound, result.ratio) == ("solved", None, None)


@pytest.mark.parametrize(("n", "s", "tau"), [(63, 3, 0.05), (15, 6, 0.1), (16, 4, 0.1)])
def test_window_games_reach_the_floor_of_their_strategy(n: int, s: int, tau: float):
    """(N - 1)/floor(K/2) of theory 2.5e and about log2 K halvings at the end; never below the bound.

    Fifteen sets of even size of fifteen bits are never independent; a batch of thirteen would lose one set less.
    """
    result = play(ParityConcepts(n, s), "sign-batch", "window", tau)
    assert result.solved
    assert result.ratio is not None
    assert result.ratio >= 1
    size = batch_size(tau)
    assert result.queries <= (comb(n, s) - 1) / (size // 2) + log2(size) + 1


@pytest.mark.parametrize("strategy", ["sign-batch", "characters", "bent", "gradient", "flat"])
def test_no_strategy_is_below_theorem_b(strategy: str):
    rng, solved = np.random.default_rng(8), 0
    for _ in range(8):
        n = int(rng.integers(3, 9))
        concepts, tau = ParityConcepts(n, int(rng.integers(1, n))), round(float(rng.uniform(0.03, 0.24)), 3)
        game = plain_game(concepts, strategy, tau, seed=int(rng.integers(2**32)), max_queries=400)
        assert game.remaining > 1 or game.queries >= exact_floor(concepts.size, tau)
        solved += game.solved
    assert solved > 2


def test_low_degree_has_exactly_no_information():
    """Every mean of every monomial below degree s is exactly 0, so at no tolerance > 0 is anything ruled out."""
    for n, s in ((10, 2), (10, 3), (9, 5)):
        concepts = ParityConcepts(n, s)
        monomials = [mask for j in range(1, s) for mask in ParityConcepts(n, j).masks().tolist()]
        assert not any(character(mask).means(concepts.masks()).any() for mask in monomials)
        result = play(concepts, "low-degree", "window", 1e-9)
        assert (result.status, result.remaining, result.queries) == ("stuck", concepts.size, len(monomials))


def test_bent_values_of_theory_3_1():
    """n=8, s=4: 16 values of .125 (10 +, 6 -); tau = .1249 loses 6, .12501 none; and whole blocks fall below 1/16."""
    table = np.kron([1.0, 1.0, 1.0, -1.0], [1.0, 1.0, 1.0, -1.0])
    query = SpanFunction(0b01010101, np.array([3 << j for j in (0, 2, 4, 6)], np.uint64), table)
    means = query.means(ParityConcepts(8, 4).masks())
    assert sorted(means[means != 0].tolist()) == [-0.125] * 6 + [0.125] * 10
    for tau, lost in ((0.1249, 6), (0.12501, 0)):
        assert window_loss(means, tau) == lost
    result = play(ParityConcepts(8, 4), "bent", "window", 0.0624)
    assert result.solved
    assert result.queries == 1 + 12 + 5  # a block of 16, twelve of 4, six single sets but for the last


@pytest.mark.parametrize("strategy", ["sign-batch", "random", "characters"])
def test_rounding_games_are_above_the_bound(strategy: str):
    for shape, tau in (((4, 5, 2), 0.03), ((3, 5, 3), 0.05), ((3, 5, 2, "dot"), 0.05)):
        for oracle in ("window", "null"):
            result = play(RoundingConcepts(*shape), strategy, oracle, tau, max_queries=400)
            assert result.bound is not None
            assert result.queries >= result.bound or not result.solved
    for oracle in ("exact", "noisy", "sampled"):
        assert play(RoundingConcepts(4, 5, 2), strategy, oracle, 0.02, seed=0).solved


def test_flips_are_a_larger_tolerance():
    """Theory 1.2b: q >= 8 tau^2 (N-1)/(1-2 eta)^2; the same game at tau/(1-2 eta), and the referee agrees."""
    concepts = ParityConcepts(12, 3)
    flipped = play(concepts, "sign-batch", "window", 0.06, flip=0.2, seed=1)
    assert flipped.queries == play(concepts, "sign-batch", "window", 0.1, seed=1).queries
    assert flipped.bound == pytest.approx(dimension.window_bound(concepts.size, 0.1))
    assert play(ParityConcepts(9, 2), "sign-batch", "sampled", 0.1, flip=0.2, seed=3).solved
    with pytest.raises(InputError, match="no sign to flip"):
        play(RoundingConcepts(3, 5, 2), "sign-batch", "window", 0.06, flip=0.1)


def test_what_is_no_game_is_refused():
    with pytest.raises(InputError, match=r"needs about .* GiB, .* are free"):
        play(ParityConcepts(64, 16), "sign-batch", "window", 0.05)
    with pytest.raises(InputError, match="concept by concept"):
        play(ParityConcepts(63, 6), "bent", "window", 0.05)
    for bad in (0.0, 2.0, float("nan")):
        with pytest.raises(InputError, match="tolerance"):
            play(ParityConcepts(6, 2), "characters", "window", bad)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (lambda *_: iter([3]), "query 0 is 3"),
        (lambda *_: iter([character(3)]), "query 0, a SignBatch"),
        (lambda *_: 1 / 0, r"test_sq_games.py:\d+ \(ZeroDivisionError"),
    ],
)
def test_a_strategy_that_asks_no_query_of_the_class_is_refused_in_one_line(strategy: Any, words: str):
    with pytest.raises(InputError, match=words):
        play(RoundingConcepts(3, 5, 2), strategy)
