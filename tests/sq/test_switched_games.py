"""Games with a switch on: off they are today's, on they lie inside both bounds (theory 2.9)."""

from itertools import combinations

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.sq.game import play
from hardness.sq.oracle import Window
from hardness.sq.queries import character
from hardness.sq.switched import Biased, play_biased, play_nested


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_means_of_biased_characters_by_summation(mu):
    words = np.arange(2**5, dtype=np.uint64)
    minus = np.bitwise_count(words)
    law = ((1 + mu) / 2) ** (5 - minus) * ((1 - mu) / 2) ** minus
    chi = 1 - 2 * (np.bitwise_count(words[:, None] & words) & 1).astype(int)
    for mask in (3, 9, 24):
        assert Biased(character(mask), mu).means(words) == pytest.approx((law * chi[mask]) @ chi / 2, abs=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.3, 0.5, 0.65, 0.8, 0.95])
def test_biased_games_lie_inside_both_bounds(mu):
    """A gap is enough to be solved; without bias the game is that of single characters."""
    for n, s, tau in ((9, 3, 0.03), (10, 4, 0.02), (9, 4, 0.01)):
        found = play_biased(ParityConcepts(n, s), tau, mu)
        assert found.status == "solved" or found.suffice is None
        assert found.status != "solved" or found.needed <= found.queries <= found.suffice
        if mu == 0:
            plain = play(ParityConcepts(n, s), "characters", "window", tau)
            assert (found.queries, found.remaining, found.needed) == (plain.queries, plain.remaining, plain.bound)
    with pytest.raises(InputError, match="2\\^22"):
        play_biased(ParityConcepts(60, 6), 0.1, mu)


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
    oracle = Window(np.array(chains(list(range(n)), blocks)), np.random.default_rng(0))
    for i, g in enumerate(blocks):
        for chosen in combinations(range(n), g):
            if len(np.unique(oracle.live[:, i])) == 1:
                break
            mask = sum(1 << j for j in chosen)
            if (oracle.live[:, i] == mask).any():
                oracle.answer(BlockCharacter(i, mask), 0.1)
    found = play_nested(n, blocks, "characters", 0.1)
    assert len(oracle.live) == 1
    assert oracle.ledger.queries == found.queries == found.suffice


@pytest.mark.parametrize("strategy", ["characters", "sign-batch"])
def test_nested_games_lie_inside_both_bounds(strategy):
    for g, n, tau in ((1, 20, 0.1), (2, 20, 0.1), (3, 20, 0.05), (3, 14, 0.2)):
        found = play_nested(n, (g,) * (6 // g), strategy, tau, seed=1)
        assert found.status == "solved"
        assert found.needed <= found.queries <= found.suffice
    plain = play(ParityConcepts(16, 4), strategy, "window", 0.1, seed=5)
    assert play_nested(16, (4,), strategy, 0.1, seed=5).queries == plain.queries
