"""Low-degree regression: a kernel that sums all monomials, or all of them made, and a price that is their number."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.attacks.estimates.low_degree import monomials
from hardness.families.parity import Parity
from hardness.instance import Instance
from learner import low_degree
from learner.low_degree import LowDegree, krawtchouk_sums


def table_of(X, degree):
    flat = X.reshape(len(X), -1)
    sets = [list(c) for j in range(degree + 1) for c in combinations(range(flat.shape[1]), j)]
    return np.stack([np.prod(flat[:, c], axis=1) for c in sets], axis=1)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 9), st.integers(0, 2**32))
def test_kernel_is_the_sum_of_monomials(d, degree, seed):
    X = np.random.default_rng(seed).choice([-1.0, 1.0], size=(9, 2, d))
    H = table_of(X, min(degree, 2 * d))
    assert H.shape[1] == monomials(2 * d, degree)
    distance = (H[:, :1] * 0 + np.sum(X[:, None] != X[None], axis=(2, 3))).astype(int)
    assert np.array_equal(krawtchouk_sums(2 * d, degree)[distance], H @ H.T)


@pytest.mark.parametrize(("n", "alpha"), [(150, 1e-2), (40, 1e-3), (400, 1e-5)])
@pytest.mark.parametrize("many", [0, 4096])
def test_it_is_ridge_regression_on_monomials(many, n, alpha, monkeypatch):
    monkeypatch.setattr(low_degree, "MANY", many)
    rng = np.random.default_rng(n)
    X, fresh = rng.choice([-1.0, 1.0], size=(n, 2, 4)), rng.choice([-1.0, 1.0], size=(50, 2, 4))
    Y = rng.normal(size=X.shape)
    H, new = table_of(X, 3), table_of(fresh, 3)
    right = Y.reshape(n, -1)
    wanted = new @ np.linalg.solve(H.T @ H + alpha * H.shape[1] * np.eye(H.shape[1]), H.T @ right)
    said = LowDegree(3, alpha=alpha, random_state=0).fit(X, Y).predict(fresh)
    assert np.abs(said.reshape(50, -1) - wanted).max() < 1e-6 * max(1, np.abs(wanted).max())


def test_degree_of_a_parity_is_what_it_costs():
    size = 1
    instance = Instance.generate(Parity(dim=6, heads=2, gadget="dot"), seed=2)
    train, fresh = instance.examples(800, 1), instance.examples(500, 2)
    count = monomials(12, 2 * size + 1)
    assert count == 299
    learned = {D: LowDegree(D, alpha=1e-9, random_state=0).fit(train.X, train.Y) for D in (2, 3)}
    offset = LowDegree(1, alpha=1e-9, random_state=0).fit(train.X, train.Y).score(fresh.X, fresh.Y)
    assert learned[3].score(fresh.X, fresh.Y) > 1 - 1e-10
    assert learned[3].report_.status == "solved"
    # Everything but the parity itself is linear; degree 2 adds nothing but variance.
    assert learned[2].score(fresh.X, fresh.Y) < offset + 0.01
    few = LowDegree(3, alpha=1e-9, random_state=0).fit(train.X[:200], train.Y[:200])
    assert few.score(fresh.X, fresh.Y) < 0.99


def test_counts():
    assert [monomials(2 * d, 3) for d in (8, 10, 12)] == [697, 1351, 2325]
    assert monomials(5, 9) == 32


@pytest.mark.slow
def test_degree_five_snaps_to_exact_beyond_its_count():
    instance = Instance.generate(Parity(dim=8, heads=2), seed=1)  # |S| = 2
    train, fresh = instance.examples(9000, 5), instance.examples(1000, 6)
    assert monomials(16, 5) == 6885
    assert LowDegree(5, alpha=1e-7, random_state=0).fit(train.X, train.Y).score(fresh.X, fresh.Y) > 1 - 1e-9
