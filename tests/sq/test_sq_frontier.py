from itertools import pairwise
from math import comb, log2

import pytest

from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds import head_budget
from hardness.sq.bounds.correlations import head_limited_parity
from hardness.sq.bounds.parity import entropy_floor
from hardness.sq.frontier import (
    frontier,
    oblivious_means,
    replay,
    size_floor,
    tolerance_need,
)
from hardness.sq.game import play
from hardness.sq.strategies.parity import OBLIVIOUS


@pytest.mark.parametrize(("s", "batch"), [(2, 0.110), (4, 0.056)])
def test_tolerance_needs_of_theory_3_3(s: int, batch: float) -> None:
    """n = 14, at most 1500 queries: single characters work up to 1/4; batches of the size tau allows, as well."""
    concepts = ParityConcepts(14, s)
    assert tolerance_need(concepts, "characters").tolerance == pytest.approx(0.25, rel=0.02)
    need = tolerance_need(concepts, "sign-batch")
    assert need.meaningful
    assert need.tolerance is not None
    assert need.tolerance > batch  # there K was held at 15
    assert tolerance_need(concepts, "low-degree").tolerance is None


def test_gradients_need_smaller_tolerances_with_s() -> None:
    """Theory 3.3: a factor about 3 per unit of s, down to the floor."""
    needs = [tolerance_need(ParityConcepts(10, s), "gradient", max_queries=1000, precision=0.2) for s in (1, 2, 3)]
    values = [need.tolerance for need in needs]
    assert None not in values
    assert values == sorted(values, key=lambda value: -(value or 0))
    assert needs[0].meaningful
    assert needs[0].floor == size_floor(10)


@pytest.mark.parametrize("strategy", OBLIVIOUS)
@pytest.mark.parametrize("oracle", ["window", "null"])
def test_replayed_queries_are_the_played_ones(strategy: str, oracle: str) -> None:
    """The means of an oblivious strategy, kept and judged at many tolerances, end as the game itself does."""
    concepts, queries = ParityConcepts(9, 2), 300
    means = oblivious_means(concepts, strategy, queries, seed=5)
    for tolerance in (0.2, 0.06, 0.02, 0.005):
        played = play(concepts, strategy, oracle, tolerance, seed=5, max_queries=queries)
        assert replay(means, oracle, tolerance) == played.solved


def test_the_frontier_lies_between_its_bounds() -> None:
    for s in (2, 3, 4):
        points = frontier(ParityConcepts(20, s), "sign-batch", (0.05, 0.1, 0.15, 0.2))
        assert all(p.bound <= p.result.queries <= p.exhaustive and p.result.solved for p in points)
        assert all(entropy_floor(p.exhaustive + 1, p.tolerance) <= p.result.queries for p in points)


def test_the_exact_oracle_stays_above_the_entropy() -> None:
    concepts = ParityConcepts(12, 3)
    for seed in range(3):
        result = play(concepts, "sign-batch", "grid", 0.05, seed=seed)
        assert result.entropy == entropy_floor(concepts.size, 0.05) <= result.queries


def test_adaptive_beats_sign_batch_where_bent_blocks_fit() -> None:
    """tau just below 2^-r/2: a fresh bent block loses 6 of 16, more than a batch of 9 (theory 2.5e has no such end)."""
    concepts = ParityConcepts(12, 4)
    batch, adaptive = (play(concepts, strategy, "window", 0.124) for strategy in ("sign-batch", "adaptive"))
    assert batch.solved
    assert adaptive.solved
    assert adaptive.queries < batch.queries


def test_head_budgets() -> None:
    for m in (2, 4, 8, 16):
        exact = head_budget.exact_parity(m, 64, 0.05)
        truncated = head_budget.truncated_parity(m, 64, 0.05)
        assert exact.log2_queries == pytest.approx(log2(8 * 0.0025 * (comb(63, m) - 1)))
        assert truncated.log2_queries >= exact.log2_queries
        if truncated.size > m:
            error, _ = head_limited_parity(truncated.size, m)
            assert head_budget.error_mass(truncated.size, m) == float(error) / 4 < 0.05
    sizes = [head_budget.rounding(m, 0.05).size for m in (16, 32, 64, 128)]
    assert all(3.5 < b / a < 8 for a, b in pairwise(sizes))  # towards m^2


def test_an_oblivious_strategy_asks_as_long_as_it_is_asked_for() -> None:
    """At n = 14 it asks 14 queries a student: it must not take 100 students for as many that told nothing."""
    assert oblivious_means(ParityConcepts(14, 1), "mlp-gradient", 1500, seed=0).shape == (1500, 14)
