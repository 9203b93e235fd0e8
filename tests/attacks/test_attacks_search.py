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


def test_collisions_need_a_signal():
    assert collision_plan(63, 1 << 16, 0.1) is not None
    assert collision_plan(63, 1 << 16, 0.4) is None
    assert collision_plan(64, 1 << 16, 0.1) is None


def test_transforms_are_as_large_as_the_budget_allows():
    steps, _, cost = collision_plan(26, 1 << 22, 0.1)
    assert (steps, cost > 2**30) == (0, True)
    assert collision_plan(26, 1 << 22, 0.1, budget=2**30)[0] == 1
    assert collision_plan(26, 1 << 22, 0.1, budget=2**20) is None


def test_rows_of_a_plan_are_those_of_its_union_bound():
    for n, eta in ((20, 0.3), (24, 0.45), (26, 0.45)):
        need = 8 * (n * np.log(2) + 5) / (1 - 2 * eta) ** 2
        assert collision_plan(n, int(1.01 * need), eta)[0] == 0
        assert collision_plan(n, int(0.99 * need), eta) is None or collision_plan(n, int(0.99 * need), eta)[0] > 0
