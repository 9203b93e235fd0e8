from itertools import pairwise
from math import comb, log2

import pytest

from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds import head_budget
from hardness.sq.bounds.head_budget import head_limited_parity
from hardness.sq.game import play


def need(concepts: ParityConcepts, strategy: str, queries: int = 1500, precision: float = 0.01) -> float:
    """The largest tolerance in [1e-6, 1/2] at which a strategy identifies within so many queries, or 0."""

    def works(tolerance: float) -> bool:
        return play(concepts, strategy, "window", tolerance, max_queries=queries).solved

    low, high = 1e-6, 0.5
    while high / low > 1 + precision:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if works(middle) else (low, middle)
    return low if works(low) else 0.0


def test_gradients_need_smaller_tolerances_with_s() -> None:
    """Theory 3.3: a factor about 3 per unit of s, down to the floor."""
    needs = [need(ParityConcepts(10, s), "gradient", queries=1000, precision=0.2) for s in (1, 2, 3)]
    assert needs == sorted(needs, reverse=True)
    assert needs[0] > 0.5 * 2**-5
    assert needs[2] > 0


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
