"""Each phase against what is known of a teacher: certificates, refinement, net."""

from itertools import product

import numpy as np
import pytest
from learner_teachers import examples, teacher

from hardness.layer import MultiHeadAttention
from learner.provable import crude, net, refine, sculpt
from learner.provable.pipeline import canonical
from learner.varpro import attend


def test_canonical_keeps_one_of_each_pair_and_its_label():
    layer = teacher(2, 4, 0)
    X = np.array(list(product([-1.0, 1.0], repeat=8))).reshape(-1, 2, 4)
    x, y = canonical(np.concatenate([X, X]), np.concatenate([layer(X), layer(X)]))
    assert len(x) == 2**7
    assert (x[:, 0, 0] == 1).all()
    assert np.allclose(y, layer(x), atol=1e-14)


@pytest.mark.parametrize("estimator", [crude.ols, crude.debiased])
@pytest.mark.parametrize(("m", "k"), [(1, 2), (3, 2), (2, 3)])
def test_uniform_heads_show_their_sum_exactly(estimator: object, m: int, k: int):
    """With Θ = 0 there is no bias: least squares are exact."""
    layer = MultiHeadAttention(np.zeros((m, 6, 6)), teacher(m, 6, 1).w)
    X, Y = examples(layer, 4000, k, 1)
    w = estimator(X, Y)
    assert np.linalg.norm(w - layer.w.sum(axis=0)) < 1e-6 * np.linalg.norm(layer.w.sum(axis=0))


@pytest.mark.parametrize(("m", "k"), [(2, 2), (3, 2), (2, 3)])
def test_debiasing_beats_the_crude_estimate(m: int, k: int):
    """learner 2, phase 1: relative error about .04-.08 against .16-.25."""
    layer = teacher(m, 8, 2)
    X, Y = canonical(*examples(layer, 20_000, k, 2))
    total = layer.w.sum(axis=0)
    errors = [np.linalg.norm(f(X, Y) - total) / np.linalg.norm(total) for f in (crude.crude, crude.debiased)]
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.12


@pytest.mark.parametrize("k", [2, 3, 4])
def test_one_head_certifies_every_interior_row(k: int):
    layer = teacher(1, 8, 3, tau=1)
    X, Y = examples(layer, 2000, k, 3)
    p, eta = sculpt.certify(X, Y, layer.w[0])
    truth = layer.patterns(X)[:, 0].reshape(-1, k)
    certified = np.isfinite(eta)
    assert eta[certified].max() < 1e-9
    assert np.abs(p.reshape(-1, k) - truth)[certified].max() < 1e-9
    distinct = (np.abs(X[:, :, None] - X[:, None]).sum(axis=3) + 99 * np.eye(k)).min(axis=(1, 2)) > 0
    interior = np.repeat(distinct, k) & (truth.min(axis=1) > sculpt.LEAST_WEIGHT)
    # Rows whose tokens are distinct but affinely dependent after W may be rejected as ill-conditioned.
    assert certified[interior].mean() > 0.95


def exact_hull(layer: MultiHeadAttention) -> sculpt.Hull:
    difference = (layer.theta[1:] - layer.theta[0]).reshape(layer.heads - 1, layer.dim**2)
    basis = np.linalg.qr(difference.T)[0].T
    base = layer.theta[0].ravel()
    base = base - basis.T @ (basis @ base)
    d = layer.dim
    return sculpt.Hull(base.reshape(d, d), basis.reshape(-1, d, d), np.ones(d * d), d * d, 9.0)


def test_net_jacobian_matches_finite_differences():
    layer = teacher(3, 5, 11)
    X, Y = examples(layer, 60, 3, 11)
    problem = net._Coordinates(X, Y, exact_hull(layer))
    c = np.random.default_rng(0).normal(size=(3, 2))
    here = problem.evaluate(c)
    J = problem.jacobian(here)
    Q = np.linalg.qr(here.Z)[0]
    for column, index in enumerate(np.ndindex(3, 2)):
        step = np.zeros_like(c)
        step[index] = 1e-6
        ahead, behind = (problem.evaluate(c + s * step).Z for s in (1, -1))
        expected = (ahead - behind) / 2e-6 @ here.w
        expected -= Q @ (Q.T @ expected)
        assert np.allclose(J[:, column], expected.ravel(), atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("k", [2, 3])
def test_disagreement_is_how_far_attended_tokens_move_along_the_hull(k: int):
    X, _ = examples(teacher(3, 8, 12), 50, k, 12)
    hull = exact_hull(teacher(3, 8, 12))
    steps = [attend(X, hull.theta + s * 1e-6 * hull.directions)[1] for s in (1, -1)]
    moved = ((steps[0] - steps[1]) / 2e-6).reshape(50 * k, -1)
    assert refine.disagreement(X, hull) == pytest.approx((moved**2).sum(axis=1), rel=1e-5, abs=1e-9)
