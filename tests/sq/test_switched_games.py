"""Games with a switch on: off they are today's, on they lie inside both bounds (theory 2.9)."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts, RoundingConcepts
from hardness.sq.bounds.switches import chain_bound, chain_enough
from hardness.sq.game import play
from hardness.sq.oracle import Window
from hardness.sq.queries import LevelTable, SignBatch, SpanFunction, Table
from hardness.sq.switched import Biased, play_biased, play_nested


def queries(rng, n):
    sets = np.array([3, 9, 24], np.uint64)
    yield SignBatch(sets[:1], np.array([-1]))
    yield SignBatch(sets, np.array([1, -1, 1]))
    yield SpanFunction(int(sets[0]), np.array([3, 6], np.uint64), rng.uniform(-1, 1, 4))
    yield Table(rng.uniform(-1, 1, 2**n))


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_means_of_biased_queries_by_summation(mu):
    n, rng = 5, np.random.default_rng(0)
    words = np.arange(2**n, dtype=np.uint64)
    minus = np.bitwise_count(words)
    law = ((1 + mu) / 2) ** (n - minus) * ((1 - mu) / 2) ** minus
    for query in queries(rng, n):
        chi = 1 - 2 * (np.bitwise_count(words[:, None] & words) & 1).astype(int)
        exact = (law * query.values_at(words)) @ chi / 2
        assert Biased(query, n, mu).means(words) == pytest.approx(exact, abs=1e-12)
        if mu == 0:
            assert query.means(words) == pytest.approx(exact, abs=1e-12)


def test_sample_means_are_means():
    """Fixed seeds; five standard deviations: a false alarm in fewer than 10^-4 of seeds."""
    rng = np.random.default_rng(1)
    levels = RoundingConcepts(3, 4, 3, "dot")
    asked = [
        (replace(q, flip=eta), np.arange(0, 32, 3, dtype=np.uint64))
        for q, eta in zip(queries(rng, 5), (0, 0.1, 0, 0.2), strict=True)
    ]
    asked.append((LevelTable(levels, rng.uniform(-1, 1, (len(levels.public()[0]), 3))), levels.elements()[[3, 37]]))
    for query, secrets in asked:
        for secret, mean in zip(secrets, query.means(secrets), strict=True):
            assert abs(query.sample_mean(secret, 40_000, rng) - mean) < 5 / 200


@pytest.mark.parametrize("strategy", ["characters", "sign-batch", "low-degree"])
def test_without_bias_a_game_is_today_s(strategy):
    concepts = ParityConcepts(10, 3)
    plain = play(concepts, strategy, "window", 0.06, seed=3)
    found = play_biased(concepts, strategy, 0.06, 0.0, seed=3)
    assert (found.status, found.queries, found.remaining) == (plain.status, plain.queries, plain.remaining)
    assert found.needed == plain.bound


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.3, 0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize("strategy", ["characters", "products", "sign-batch"])
def test_biased_games_lie_inside_both_bounds(mu, strategy):
    for n, s, tau in ((9, 3, 0.03), (10, 4, 0.02)):
        found = play_biased(ParityConcepts(n, s), strategy, tau, mu, seed=1, max_queries=2000)
        if found.status != "solved":
            continue
        assert found.queries >= found.needed
        if strategy == "products":
            assert found.queries <= found.suffice


def test_every_bias_with_a_gap_is_solved_by_products():
    for mu in (0.0, 0.2, 0.4, 0.6, 0.8):
        found = play_biased(ParityConcepts(9, 4), "products", 0.01, mu)
        assert found.status == "solved"
    assert play_biased(ParityConcepts(9, 4), "products", 0.01, 0.6).queries <= 9


def chains(n, blocks):
    """Every chain as the masks of its blocks, (count, L)."""
    if not blocks:
        return [()]
    return [
        (sum(1 << i for i in chosen), *rest)
        for chosen in combinations(n, blocks[0])
        for rest in chains([i for i in n if i not in chosen], blocks[1:])
    ]


class BlockCharacter:
    """y_i y_(i-1) χ_T on the informative half: mean 1/2 where B_i = T."""

    peak = 1.0

    def __init__(self, block, mask):
        self.block, self.mask = block, mask

    def means(self, elements):
        return np.where(elements[:, self.block] == self.mask, 0.5, 0.0)


@pytest.mark.parametrize(("n", "blocks"), [(5, (1, 1, 1)), (6, (2, 1)), (6, (2, 2)), (5, (3,))])
def test_a_game_on_chains_is_the_sum_of_its_blocks(n, blocks):
    """The window on the explicit class of chains, block by block, against the sum of plain games."""
    door = Window(np.array(chains(list(range(n)), blocks)), np.random.default_rng(0))
    for i, g in enumerate(blocks):
        for chosen in combinations(range(n), g):
            if len(np.unique(door.live[:, i])) == 1:
                break
            mask = sum(1 << j for j in chosen)
            if (door.live[:, i] == mask).any():
                door.answer(BlockCharacter(i, mask), 0.1)
    assert len(door.live) == 1
    assert door.ledger.queries == play_nested(n, blocks, "characters", 0.1).queries == chain_enough(n, blocks, 0.1)


def test_nested_games_lie_inside_both_bounds():
    for g, n, tau in ((1, 20, 0.1), (2, 20, 0.1), (3, 20, 0.05), (3, 14, 0.2)):
        for strategy in ("characters", "sign-batch"):
            found = play_nested(n, (g,) * (6 // g), strategy, tau, seed=1)
            assert found.status == "solved"
            assert chain_bound(n, (g,) * (6 // g), tau) == found.needed <= found.queries <= found.suffice


def test_one_block_is_today_s_game():
    for strategy in ("characters", "sign-batch"):
        plain = play(ParityConcepts(16, 4), strategy, "window", 0.1, seed=5)
        assert play_nested(16, (4,), strategy, 0.1, seed=5).queries == plain.queries


def test_what_is_refused():
    with pytest.raises(InputError, match="strategy"):
        play_biased(ParityConcepts(9, 3), "product", 0.1, 0.5)
    with pytest.raises(InputError, match="2\\^22"):
        play_biased(ParityConcepts(60, 6), "products", 0.1, 0.5)
