"""Linear attention by regression: identities, exact ranks, recovery, heads, and what the certificates promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.families.parity import Parity
from hardness.instance import Instance
from learner.linear import (
    LinearAttention,
    attention,
    certificate,
    feature_count,
    features,
    kernel,
    parameters,
    weights,
)


def signs(n, d, rng, k=2):
    return rng.choice([-1.0, 1.0], size=(n, k, d))


def hidden(n, d, s, rng):
    """Tokens and z_0 χ_S for |S| = s: the label of theory 1.1 without offsets."""
    X = signs(n, d, rng)
    support = 1 + rng.permutation(d - 1)[:s]
    return X, (X[:, 0, 0] - X[:, 1, 0]) / 2 * np.prod(X[:, 0, support] * X[:, 1, support], axis=1)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32))
def test_a_layer_is_linear_in_cubic_features(d, k, heads, outputs, seed):
    rng = np.random.default_rng(seed)
    V, Q, X = rng.normal(size=(heads, outputs, d)), rng.normal(size=(heads, d, d)), rng.normal(size=(7, k, d))
    out, p = attention(V, Q, X), parameters(V, Q)
    explicit = sum(v @ X[0].T @ (X[0] @ q @ X[0, -1]) for v, q in zip(V, Q, strict=True))
    assert np.allclose(out[0], explicit, rtol=1e-12, atol=1e-12)
    assert p.shape == (outputs, feature_count(d))
    assert np.abs(features(X) @ p.T - out).max() < 1e-12 * max(1, np.abs(out).max())


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32))
def test_the_kernel_is_that_of_weighted_features(d, k, seed):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(6, k, d)), rng.normal(size=(5, 3, d))
    primal = (features(X) * weights(d)) @ (features(Z) * weights(d)).T
    assert np.abs(kernel(X, -1, Z, -1) - primal).max() < 1e-12 * max(1, np.abs(primal).max())


@pytest.mark.parametrize(("d", "rank", "both"), [(4, 28, 56), (6, 96, 192), (8, 232, 464)])
def test_ranks_on_signs(d, rank, both):
    X = signs(3 * feature_count(d), d, np.random.default_rng(0))
    assert rank == feature_count(d) - (d * d - d)
    assert both == d**3 - d * d + 2 * d
    seen = certificate(features(X))
    assert (seen.rank, seen.lam_min, seen.identifiable) == (rank, 0.0, False)
    assert certificate(np.concatenate([features(X, 0), features(X, 1)], axis=1)).rank == both
    assert LinearAttention(random_state=0).fit(X, X[:, 0, 0]).rank_ == both
    # More tokens change nothing: |z_j|² stays constant.
    assert certificate(features(signs(3 * feature_count(d), d, np.random.default_rng(1), k=5))).rank == rank


def test_recovery_switches_on_at_full_rank():
    rng = np.random.default_rng(0)
    V, Q = rng.normal(size=(1, 1, 8)), rng.normal(size=(1, 8, 8))
    p = parameters(V, Q)
    for n, recovered in ((200, False), (400, True)):
        X = rng.normal(size=(n, 20, 8))
        model = LinearAttention(query=-1, random_state=0).fit(X, attention(V, Q, X))
        assert model.rank_ == min(n, feature_count(8)) == certificate(features(X)).rank
        assert certificate(features(X)).identifiable == recovered
        assert (np.abs(model.p_ - p).max() < 1e-13) == recovered
        fresh = rng.normal(size=(100, 3, 8))  # another length
        assert (np.abs(model.predict(fresh) - attention(V, Q, fresh)).max() < 1e-9) == recovered
        assert model.certify(fresh).all() == recovered


def test_parameters_agree_between_primal_and_dual():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 4, 5)), rng.normal(size=(30, 2))
    primal, dual = LinearAttention(query=-1).fit(X, y), LinearAttention(query=-1)
    dual.fit(X[:12], y[:12])  # 75 features > 4 · 12 examples: by kernel
    assert dual.components_[0].support is not None
    for model in (primal, dual):
        assert np.allclose(features(X) @ model.p_.T, model.predict(X), atol=1e-9)
    assert np.allclose(dual.predict(X[:12]), y[:12], atol=1e-8)


@pytest.mark.parametrize(("d", "n"), [(8, 512), pytest.param(12, 2048, marks=pytest.mark.slow)])
def test_two_queries_solve_a_parity_of_one(d, n):
    instance = Instance.generate(Parity(dim=d, heads=2, gadget="dot"), seed=1)  # |S| = 1
    train, fresh = instance.examples(n, 1), instance.examples(500, 2)
    model = LinearAttention(random_state=0).fit(train.X, train.Y)
    assert model.rank_ == d**3 - d * d + 2 * d
    assert model.score(fresh.X, fresh.Y) > 1 - 1e-12
    assert model.report_.status == "solved"
    assert model.certify(fresh.X).all()


def test_certified_predictions_are_right():
    X, y = hidden(3350, 8, 1, np.random.default_rng(0))
    counts = []
    for n in (350, 470, 700):
        model = LinearAttention(random_state=0).fit(X[:n], y[:n])
        sure = model.certify(X[700:])
        counts.append(sure.mean())
        assert np.abs(model.predict(X[700:])[sure] - y[700:][sure]).max(initial=0) < 1e-7
    assert counts[0] < 0.5
    assert counts[-1] == 1.0
    assert np.abs(model.residual(X[:10])).max() < 1e-12
