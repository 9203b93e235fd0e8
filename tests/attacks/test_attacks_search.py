"""Searches find planted secrets and say so when they cannot."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from attack_examples import centred, examples, support, support_secret

from hardness.attacks.equations import extract
from hardness.attacks.gaussian import check_plan
from hardness.attacks.kernels_search import subsets, walsh
from hardness.attacks.search import collide, collision_plan, search


@pytest.mark.parametrize(("n", "h"), [(5, 0), (5, 1), (7, 3), (6, 6)])
def test_subsets_are_itertools_combinations(n, h):
    assert subsets(n, h, comb(n, h)).tolist() == [list(c) for c in combinations(range(n), h)]


def test_walsh_is_the_definition():
    f = np.random.default_rng(0).normal(size=64)
    sign = np.array([[(-1.0) ** (i & j).bit_count() for i in range(64)] for j in range(64)])
    transformed = f.copy()
    walsh(transformed)
    assert np.allclose(transformed, sign @ f)


@pytest.mark.parametrize("gadget", ["diag", "dot"])
@pytest.mark.parametrize(("n", "s"), [(12, 1), (20, 3), (63, 6), (100, 4)])
def test_low_weight_parity(n, s, gadget):
    w = support_secret(n, s, np.random.default_rng(n))
    outcome = search(*examples(w, 2, 2, count=2000, seed=s, gadget=gadget))
    assert (outcome.status, outcome.secret) == ("solved", support(w))


@pytest.mark.parametrize(("n", "s", "flip"), [(40, 4, 0.1), (63, 5, 0.15), (90, 4, 0.2)])
def test_low_weight_noisy_parity(n, s, flip):
    w = support_secret(n, s, np.random.default_rng(n))
    outcome = search(*examples(w, 2, 2, count=8000, seed=s, flip=flip))
    assert (outcome.status, outcome.secret) == ("solved", support(w))
    assert outcome.detail["method"] == "meet in the middle"


@pytest.mark.parametrize(("n", "flip", "count"), [(31, 0.25, 100_000), (48, 0.1, 200_000), (63, 0.1, 200_000)])
def test_dense_noisy_parity_falls_to_collisions(n, flip, count):
    w = support_secret(n, n // 2, np.random.default_rng(n))
    outcome = search(*examples(w, 2, 2, count=count, seed=n, flip=flip))
    assert (outcome.status, outcome.secret) == ("solved", support(w))
    assert outcome.detail["method"] == "collisions"


def test_collisions_need_a_signal():
    assert collision_plan(63, 1 << 16, 0.1) is not None
    assert collision_plan(63, 1 << 16, 0.4) is None
    assert collision_plan(64, 1 << 16, 0.1) is None


@pytest.mark.parametrize(
    ("n", "q", "p", "weight"),
    [
        (24, 97, 97, 2),
        (24, 97, 8, 2),
        (16, 17, 4, 3),
        (12, 17, 2, 2),
        (5, 17, 4, None),
        (4, 17, 17, None),
        (9, 8, 3, 4),
    ],
)
@pytest.mark.parametrize("gadget", ["diag", "dot"])
def test_sparse_and_small_rounding(n, q, p, weight, gadget):
    rng = np.random.default_rng([n, q])
    w = rng.integers(0, q, n)
    if weight is not None:
        w = np.zeros(n, dtype=np.int64)
        w[rng.permutation(n)[:weight]] = rng.integers(1, q, weight)
    data = examples(w, q, p, count=6000, seed=1, gadget=gadget, weight=weight)
    outcome = search(*data)
    assert outcome.status == "solved"
    # Coarse levels on few inputs leave several secrets that no example tells apart: the answer is one of them.
    answer = np.array(outcome.secret["w"])
    assert outcome.secret == centred(w, q) or extract(*data).agreement(answer) == 1


def test_refusals_say_why():
    dense = search(*examples(np.random.default_rng(0).integers(0, 97, 32), 97, 4, count=500, seed=0))
    assert dense.status == "refused"
    assert "half secrets" in dense.detail["reason"]
    w = support_secret(63, 20, np.random.default_rng(0))
    assert search(*examples(w, 2, 2, count=1000, seed=0)).status == "refused"
    assert search(*examples(w, 2, 2, count=50, seed=0)).status == "refused"


def test_collide_agrees_with_the_plan():
    w = support_secret(30, 11, np.random.default_rng(4))
    equations = extract(*examples(w, 2, 2, count=40000, seed=2, flip=0.2))
    held_out, _ = check_plan(0.2, 2.0**60)
    plan = collision_plan(30, len(equations) - held_out, 0.2)
    found, detail = collide(equations, held_out, plan)
    assert (found == w).all()
    assert detail["steps"] == plan[0]
