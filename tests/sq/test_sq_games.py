"""Games against theory 2.5 and 3.1: the theorem's constants, the measured counts, and both ways to play."""

from math import comb
from typing import Any

import numpy as np
import pytest
from committed import rows
from window import window_loss

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts, RoundingConcepts
from hardness.sq.bounds import parity as dimension
from hardness.sq.bounds.batches import batch_modes, batch_queries, batch_size
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.game import GameResult, play, strategy_of
from hardness.sq.oracle import ORACLES, Exact
from hardness.sq.queries import (
    Query,
    SignBatch,
    SpanFunction,
    Table,
    bit_products,
    character,
    span_coordinates,
)
from hardness.studies.needs import STUDY


def plain_game(concepts: ParityConcepts, strategy: str, tau: float, **more: Any) -> GameResult:
    """Play against the window query by query: a plug-in is never played at scale."""
    asked = strategy_of(concepts, strategy)
    return play(concepts, lambda *given: asked(*given), "window", tau, **more)


def values(batch: SignBatch, words: np.ndarray) -> np.ndarray:
    """What a batch is at every word, up to the factor y."""
    return np.sign(
        sum(
            sign * bit_products(words, mask).astype(int)
            for mask, sign in zip(batch.sets, batch.signs, strict=True)
        )
    )


def test_means_of_batches_agree_with_the_transform_of_their_values() -> None:
    """Of independent sets, by the majority's coefficients, and of dependent ones."""
    rng = np.random.default_rng(5)
    n, words = 10, np.arange(1 << 10, dtype=np.uint64)
    batches = [SignBatch(np.array([1, 2, 3, 4, 7], np.uint64), np.array([1, -1, 1, 1, -1]))]
    for size in (1, 3, 5, 9):
        sets = [(1 << i) ^ ((1 << i) - 1 & int(rng.integers(1 << n))) for i in range(size)]
        batches.append(SignBatch(np.array(sets, np.uint64), rng.choice([-1, 1], size)))
    for batch in batches:
        dense = Table(values(batch, words).astype(float))
        assert np.allclose(batch.means(words), dense.means(words), atol=1e-15)


@pytest.mark.parametrize(
    ("n", "s", "tau", "measured", "bound"),
    [
        (14, 4, 0.1, 148, 80.0),
        (16, 3, 0.1, 84, 44.7),
        (16, 4, 0.1, 264, 145.5),
        (16, 6, 0.1, 1149, 641),
        (16, 4, 0.05, 67, 36.4),
        (16, 6, 0.05, 273, 160),
        (18, 5, 0.05, 292, 171),
        (14, 4, 0.2, 1000, 320),
    ],
)
def test_counts_of_theory_3_1(n: int, s: int, tau: float, measured: int, bound: float) -> None:
    result = play(ParityConcepts(n, s), "sign-batch", "window", tau)
    assert result.solved
    assert result.bound == pytest.approx(bound, rel=2e-3)
    # No more than the prototype needed, whose batches shrank to half of the live sets too early.
    assert 0.98 * (batch_queries(comb(n, s), tau) or 0) - 2 <= result.queries
    assert result.queries <= measured + max(4, 0.03 * measured)


@pytest.mark.parametrize(("n", "s"), [(15, 5), (18, 3), (23, 2), (24, 3), (30, 3)])
@pytest.mark.parametrize("tau", [0.06, 0.1, 0.16, 0.22])
def test_independent_batches_are_what_the_adversary_answers(n: int, s: int, tau: float) -> None:
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


@pytest.mark.parametrize(
    ("n", "s", "tau"), [(9, 3, 0.08), (12, 2, 0.1), (16, 3, 0.1), (20, 3, 0.12), (24, 2, 0.07)]
)
def test_scale_agrees_with_the_plain_game(n: int, s: int, tau: float) -> None:
    """Batches are drawn in another order, so counts may differ a little; both are exact and above the bound."""
    concepts = ParityConcepts(n, s)
    plain, fast = plain_game(concepts, "sign-batch", tau, seed=4), play(concepts, "sign-batch", "window", tau)
    assert plain.solved
    assert fast.solved
    assert abs(plain.queries - fast.queries) <= 4 + 0.1 * plain.queries
    assert min(plain.queries, fast.queries) >= dimension.window_bound(concepts.size, tau)


@pytest.mark.parametrize(("heads", "tau"), [(2, 0.0442), (3, 0.0221), (4, 0.0625)])
def test_games_at_scale_are_the_committed_ones(heads: int, tau: float) -> None:
    wanted = {"solver_strategy": "sign-batch", "solver_tolerance": str(tau), "params_heads": str(heads)}
    (row,) = rows("needs", params_dim="24", **wanted)
    (task,) = (task for task in STUDY.tasks(False) if task.identity == row["identity"])
    assert STUDY.trial(task, 0, 600.0).cost == int(row["cost"])


@pytest.mark.parametrize(("tau", "ends"), [(0.24, True), (0.25, False)])
def test_single_characters_fail_at_a_quarter(tau: float, ends: bool) -> None:
    """Pitfall 1: the window adversary stops characters at 1/4, the null one only at 1/2."""
    concepts = ParityConcepts(10, 2)
    for strategy in ("characters", "sign-batch"):
        assert play(concepts, strategy, "window", tau).solved == ends
    assert play(concepts, "characters", "null", tau).solved
    assert play(concepts, "characters", "null", 0.5).status == "stuck"


@pytest.mark.parametrize("oracle", ["exact", "noisy", "sampled"])
@pytest.mark.parametrize("strategy", ["characters", "random", "sign-batch"])
def test_honest_oracles_are_solved(oracle: str, strategy: str) -> None:
    for seed in range(4):
        result = play(ParityConcepts(9, 2), strategy, oracle, 0.11, seed=seed)
        assert result.solved
        assert (result.bound, result.ratio) == (None, None)


def test_honest_exhaustive_needs_half_the_class() -> None:
    """Theory 3.4: the mean of q/((N+1)/2) is 1 (400 places; 5 sd of a uniform position)."""
    concepts = ParityConcepts(9, 3)
    results = [play(concepts, "characters", "noisy", 0.05, seed=seed) for seed in range(400)]
    assert all(result.solved for result in results)
    mean = np.mean([result.queries for result in results]) / ((concepts.size + 1) / 2)
    assert abs(mean - 1) < 5 * (1 / 3 / 400) ** 0.5


@pytest.mark.parametrize(
    ("n", "s", "tau"), [(63, 3, 0.05), (38, 3, 0.05), (15, 4, 0.1), (15, 6, 0.1), (16, 4, 0.1)]
)
def test_window_games_reach_the_floor_of_their_strategy(n: int, s: int, tau: float) -> None:
    """(N - 1)/floor(K/2) of theory 2.5e, up to six percent; never below the bound.

    Near N = 8000 at tau = .03 the end game alone costs five: halvings that no batch can save (`batch_queries`). Fifteen
    sets of even size of fifteen bits are never independent; a batch of thirteen would lose one set less.
    """
    result = play(ParityConcepts(n, s), "sign-batch", "window", tau)
    assert result.solved
    assert result.ratio is not None
    assert result.ratio >= 1
    floor, ideal = (comb(n, s) - 1) / (batch_size(tau) // 2), batch_queries(comb(n, s), tau) or 0
    assert result.queries <= (max(1.06 * floor, 1.04 * ideal) if n > 16 else ideal + 3)


def random_game(rng: np.random.Generator) -> None:
    """A game of random queries of every kind; the adversary's eliminations and the count obey 2.5 and theorem B."""
    n = int(rng.integers(4, 9))
    concepts, tau = ParityConcepts(n, int(rng.integers(1, n))), round(float(rng.uniform(0.02, 0.24)), 3)
    mode, words = ("window", "null")[rng.integers(2)], np.arange(1 << n, dtype=np.uint64)
    oracle = ORACLES[mode](concepts.masks(), rng)
    per_query = 1 / (8 * tau**2) if mode == "window" else 1 / (4 * tau**2)
    while len(live := oracle.live) > 1 and oracle.ledger.queries < 100:
        size = min(31, int(rng.integers(0, len(live) + 1) // 2 * 2 + 1))
        query: Query = (batch := SignBatch(rng.choice(live, size), rng.choice([-1, 1], size)))
        if rng.random() < 0.3:
            query = Table(np.clip(3 * values(batch, words) * rng.random(1 << n), -1, 1))
        assert np.sum(query.means(words) ** 2) <= 0.25 + 1e-12  # Parseval
        oracle.answer(query, tau)
        assert 0 <= len(live) - len(oracle.live) <= per_query
    if len(oracle.live) == 1:
        least = exact_floor if mode == "window" else dimension.null_bound
        assert oracle.ledger.queries >= least(concepts.size, tau) - 1e-9


@pytest.mark.parametrize("games", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_games_obey_the_theorems(games: int) -> None:
    rng = np.random.default_rng(games)
    for _ in range(games):
        random_game(rng)


@pytest.mark.parametrize("games", [8, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("strategy", ["sign-batch", "characters", "bent", "gradient", "flat"])
def test_no_strategy_is_below_theorem_b(strategy: str, games: int) -> None:
    rng, solved = np.random.default_rng(games), 0
    for _ in range(games):
        n = int(rng.integers(3, 9))
        concepts, tau = ParityConcepts(n, int(rng.integers(1, n))), round(float(rng.uniform(0.03, 0.24)), 3)
        game = plain_game(concepts, strategy, tau, seed=int(rng.integers(2**32)), max_queries=400)
        assert game.remaining > 1 or game.queries >= exact_floor(concepts.size, tau)
        solved += game.solved
    assert solved > games / 4


def test_low_degree_has_exactly_no_information() -> None:
    """Every mean of every monomial below degree s is exactly 0, so at no tolerance > 0 is anything ruled out."""
    for n, s in ((10, 2), (10, 3), (9, 5)):
        concepts = ParityConcepts(n, s)
        monomials = [mask for j in range(1, s) for mask in ParityConcepts(n, j).masks().tolist()]
        assert not any(character(mask).means(concepts.masks()).any() for mask in monomials)
        result = play(concepts, "low-degree", "window", 1e-9)
        assert (result.status, result.remaining, result.queries) == ("stuck", concepts.size, len(monomials))


def test_bent_values_of_theory_3_1() -> None:
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
def test_rounding_games_are_above_the_bound(strategy: str) -> None:
    for shape, tau in (((4, 5, 2), 0.03), ((3, 5, 3), 0.05), ((3, 5, 2, "dot"), 0.05)):
        for oracle in ("window", "null"):
            result = play(RoundingConcepts(*shape), strategy, oracle, tau, max_queries=400)
            assert result.bound is not None
            assert result.queries >= result.bound or not result.solved
    for oracle in ("exact", "noisy", "sampled"):
        assert play(RoundingConcepts(4, 5, 2), strategy, oracle, 0.02, seed=0).solved


def test_flips_are_a_larger_tolerance() -> None:
    """Theory 1.2b: q >= 8 tau^2 (N-1)/(1-2 eta)^2; the same game at tau/(1-2 eta), and the referee agrees."""
    concepts = ParityConcepts(12, 3)
    flipped = play(concepts, "sign-batch", "window", 0.06, flip=0.2, seed=1)
    assert flipped.queries == play(concepts, "sign-batch", "window", 0.1, seed=1).queries
    assert flipped.bound == pytest.approx(dimension.window_bound(concepts.size, 0.1))
    plain = plain_game(concepts, "sign-batch", 0.06, seed=1, flip=0.2)
    assert plain.solved
    assert abs(plain.queries - flipped.queries) <= 4 + 0.1 * plain.queries
    assert play(ParityConcepts(9, 2), "sign-batch", "sampled", 0.1, flip=0.2, seed=3).solved
    with pytest.raises(InputError, match="no sign to flip"):
        play(RoundingConcepts(3, 5, 2), "sign-batch", "window", 0.06, flip=0.1)


def test_what_is_no_game_is_refused() -> None:
    with pytest.raises(InputError, match=r"needs about .* GiB, .* are free"):
        play(ParityConcepts(64, 16), "sign-batch", "window", 0.05)
    with pytest.raises(InputError, match="concept by concept"):
        play(ParityConcepts(63, 6), "bent", "window", 0.05)
    oracle = Exact(ParityConcepts(6, 2).masks(), np.random.default_rng(0))
    for bad in (0.0, 2.0, float("nan")):
        with pytest.raises(InputError, match="tolerance"):
            play(ParityConcepts(6, 2), "characters", "window", bad)
        with pytest.raises(InputError, match="tolerance"):
            oracle.answer(character(3), bad)
    with pytest.raises(InputError, match="odd"):
        SignBatch(np.array([1, 2], np.uint64), np.array([1, 1]))
