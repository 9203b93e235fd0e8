"""Searches find planted secrets and say so when they cannot."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from hardness.attacks.search import collision_plan
from hardness.kernels.search import subsets


@pytest.mark.parametrize(("n", "h"), [(5, 0), (5, 1), (7, 3), (6, 6)])
def test_subsets_are_itertools_combinations(n, h):
    assert subsets(n, h, comb(n, h)).tolist() == [list(c) for c in combinations(range(n), h)]


def test_plans_need_a_signal_rows_for_its_union_bound_and_a_transform_that_the_budget_allows():
    assert [collision_plan(n, 1 << 16, eta) is None for n, eta in ((63, 0.1), (63, 0.4), (64, 0.1))] == [0, 1, 1]
    steps, _, cost = collision_plan(26, 1 << 22, 0.1)
    assert (steps, cost > 2**30) == (0, True)
    assert collision_plan(26, 1 << 22, 0.1, budget=2**30)[0] == 1
    assert collision_plan(26, 1 << 22, 0.1, budget=2**20) is None
    for n, eta in ((20, 0.3), (24, 0.45), (26, 0.45)):
        need = 8 * (n * np.log(2) + 5) / (1 - 2 * eta) ** 2
        enough, few = (collision_plan(n, int(share * need), eta) for share in (1.01, 0.99))
        assert enough[0] == 0
        assert few is None or few[0] > 0
