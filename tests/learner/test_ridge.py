"""Ridge regression on random features, and on monomials of low degree."""

from itertools import combinations

import numpy as np
import pytest

from learner.regression import LowDegree, RandomFeatureAttention


@pytest.mark.parametrize("keys", ["all", "others"])
def test_features_are_what_the_formula_says(keys):
    X = np.random.default_rng(0).normal(size=(11, 4, 3))
    model = RandomFeatureAttention(5, keys=keys, bias=2.0, random_state=0).fit(X, X[:, 0, 0])
    x = np.concatenate([X / model.token_norm_, np.ones((11, 4, 1))], axis=2)
    attended = x if keys == "all" else x[:, 1:]
    scores = np.einsum("nd,mde,nie->nmi", x[:, 0], model.heads_, attended)
    weights = np.maximum(scores, 0) / attended.shape[1]
    blocks = np.concatenate(list(model.blocks(X)), axis=1)
    assert np.abs(blocks - (weights @ attended).reshape(11, -1)).max() < 1e-5


def test_primal_and_dual_agree():
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(60, 3, 4)), rng.normal(size=(20, 3, 4))
    y = X[:, 1, 0] ** 2
    for heads in (13, 11):  # 65 features: dual; 55: primal
        model = RandomFeatureAttention(heads, alpha=1e-2, random_state=0).fit(X, y)
        known, new = (np.concatenate(list(model.blocks(v)), axis=1).astype(float) for v in (X, fresh))
        ridge = 1e-2 * np.trace(known @ known.T) / 60
        primal = np.linalg.solve(known.T @ known + ridge * np.eye(5 * heads), known.T @ (y - y.mean()))
        assert np.allclose(model.predict(fresh), new @ primal + y.mean(), atol=1e-4)


def table_of(X, degree):
    flat = X.reshape(len(X), -1)
    sets = [list(c) for j in range(degree + 1) for c in combinations(range(flat.shape[1]), j)]
    return np.stack([np.prod(flat[:, c], axis=1) for c in sets], axis=1)


@pytest.mark.parametrize(("n", "alpha"), [(150, 1e-2), (40, 1e-3), (400, 1e-5)])
def test_it_is_ridge_regression_on_monomials(n, alpha):
    rng = np.random.default_rng(n)
    X, fresh = rng.choice([-1.0, 1.0], size=(n, 2, 4)), rng.choice([-1.0, 1.0], size=(50, 2, 4))
    Y = rng.normal(size=X.shape)
    H, new = table_of(X, 3), table_of(fresh, 3)
    right = Y.reshape(n, -1)
    wanted = new @ np.linalg.solve(H.T @ H + alpha * H.shape[1] * np.eye(H.shape[1]), H.T @ right)
    predicted = LowDegree(3, alpha=alpha, random_state=0).fit(X, Y).predict(fresh)
    assert np.abs(predicted.reshape(50, -1) - wanted).max() < 1e-6 * max(1, np.abs(wanted).max())
