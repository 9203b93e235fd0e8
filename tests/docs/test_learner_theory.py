"""The structural facts of docs/learner.md, section 1, and one lemma of docs/references.md, by brute force."""

from itertools import product
from math import pi

import numpy as np
import pytest
from learner_teachers import teacher
from scipy.stats import binom

from hardness.layer import MultiHeadAttention
from learner.provable.crude import crude
from learner.provable.sculpt import least_squares_hull

Array = np.ndarray


def universe(k: int, d: int) -> Array:
    """All 2^(kd) inputs (·, k, d)."""
    return np.array(list(product([-1.0, 1.0], repeat=k * d))).reshape(-1, k, d)


def jacobian(layer: MultiHeadAttention, X: Array) -> Array:
    """∂F/∂(Θ, W), (n·k·d, 2·m·d²), by the formula of fact 1.8."""
    P = layer.patterns(X)
    Z = P @ X[:, None]
    cov = np.einsum("nmab,nbj,nbl->nmajl", P, X, X) - Z[..., :, None] * Z[..., None, :]
    by_theta = np.einsum("naj,nmalq,mqc->nacmjl", X, cov, layer.w)
    by_w = np.einsum("nmaj,ce->nacmje", Z, np.eye(layer.dim))
    rows = X.size
    return np.hstack([by_theta.reshape(rows, -1), by_w.reshape(rows, -1)])


def rank(matrix: Array) -> int:
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > 1e-10 * values[0]).sum())


@pytest.mark.parametrize(("m", "k"), [(2, 2), (3, 2), (2, 3)])
def test_a_row_in_the_simplex_betrays_agreement(m: int, k: int):
    """Fact 1.4: the misfit of any p is q B, so heads are within |misfit|/σ_min(B) of p."""
    layer, d = teacher(m, 8, 2), 8
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(200, k, d))
    P, Y, total = layer.patterns(X), layer(X), layer.w.sum(axis=0)
    p = rng.dirichlet(np.ones(k), size=200)
    misfit = Y[:, 0] - np.einsum("nb,nbj->nj", p, X) @ total
    q = (P[:, :, 0] - p[:, None])[:, :, :-1].reshape(200, -1)
    B = ((X[:, :-1] - X[:, -1:])[:, None] @ layer.w).reshape(200, -1, d)
    assert np.allclose(np.einsum("nq,nqj->nj", q, B), misfit, atol=1e-12)
    smallest = np.linalg.svd(B, compute_uv=False)[:, -1]
    distinct = (np.abs(X[:, :-1] - X[:, -1:]).sum(axis=2) > 0).all(axis=1)
    assert (smallest[distinct] > 1e-3).mean() > 0.95  # independent unless tokens are affinely dependent
    assert (smallest * np.linalg.norm(q, axis=1) <= np.linalg.norm(misfit, axis=1) + 1e-12).all()


def test_agreement_is_linear_in_theta():
    """Fact 1.4: where all heads agree, Y_a = p X ΣW and every Θ_i meets the same equations."""
    rng = np.random.default_rng(1)
    X = rng.choice([-1.0, 1.0], size=(1, 3, 5))
    x, others = X[0, 0], X[0, 1:] - X[0, :1]
    rows = (x[None, :, None] * others[:, None, :]).reshape(2, -1)
    free = np.linalg.svd(rows)[2][2:]  # what these two equations leave open
    theta = rng.normal(size=25) + rng.normal(size=(4, len(free))) @ free
    layer = MultiHeadAttention(theta.reshape(4, 5, 5), rng.normal(size=(4, 5, 5)))
    p = layer.patterns(X)[0, :, 0]
    assert np.ptp(p, axis=0).max() < 1e-12
    assert np.allclose(layer(X)[0, 0], p[0] @ X[0] @ layer.w.sum(axis=0), atol=1e-12)
    assert np.allclose(rows @ theta.T, np.log(p[0, 1:] / p[0, 0])[:, None], atol=1e-10)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_second_moments_of_the_constraint_rows(d: int):
    """Fact 1.5: eigenvalues 1 (antisymmetric, diagonal of trace 0), 3 (symmetric, no diagonal), d + 1 (identity)."""
    X = universe(2, d)
    rows = (X[:, 0, :, None] * (X[:, 0] - X[:, 1])[:, None, :]).reshape(len(X), -1)
    eigenvalues = np.linalg.eigvalsh(rows.T @ rows / len(X))
    pairs = d * (d - 1) // 2
    assert np.allclose(eigenvalues, [1.0] * (pairs + d - 1) + [3.0] * pairs + [d + 1.0], atol=1e-10)
    if d < 4:
        X = universe(3, d)
        rows = (X[:, 0, :, None] * (X[:, 1] - X[:, 2])[:, None, :]).reshape(len(X), -1)
        assert np.allclose(rows.T @ rows / len(X), 2 * np.eye(d * d), atol=1e-12)


def test_two_tokens_are_a_sum_of_hyperbolic_tangents():
    """Fact 1.6: Y_a = u ΣW + v Σ tanh(x_a Θ_i v) W_i, and a head may change signs beside a uniform head 2W."""
    X, layer = universe(2, 3), teacher(3, 3, 4)
    u, v = X.mean(axis=1), (X[:, 0] - X[:, 1]) / 2
    t = np.tanh(np.einsum("naj,mjl,nl->nam", X, layer.theta, v))
    Y = (u @ layer.w.sum(axis=0))[:, None] + np.einsum("nam,nj,mjc->nac", t, v, layer.w)
    assert np.allclose(layer(X), Y, atol=1e-13)
    flipped = MultiHeadAttention(
        np.concatenate([-layer.theta[:1], layer.theta[1:], np.zeros((1, 3, 3))]),
        np.concatenate([-layer.w[:1], layer.w[1:], 2 * layer.w[:1]]),
    )
    assert np.allclose(flipped(X), layer(X), atol=1e-13)
    X = universe(3, 2)
    three = MultiHeadAttention(teacher(1, 2, 4).theta, teacher(1, 2, 4).w)
    both = MultiHeadAttention(
        np.stack([-three.theta[0], 0 * three.theta[0]]), np.stack([-three.w[0], 2 * three.w[0]])
    )
    assert np.abs(both(X) - three(X)).max() > 0.01  # no such symmetry on three tokens


@pytest.mark.parametrize(("k", "d"), [(2, 3), (3, 3), (4, 2)])
def test_bias_of_the_crude_estimate(k: int, d: int):
    """Fact 1.7: to first order in Θ, (k−1)/k · Σ (Θ_i − (2/k) diag Θ_i) W_i, by expectation over all inputs."""
    X, layer, eps = universe(k, d), teacher(2, d, 5), 1e-5
    ends = [crude(X, MultiHeadAttention(s * eps * layer.theta, layer.w)(X)) for s in (1, 0, -1)]
    assert np.allclose(ends[1], layer.w.sum(axis=0), atol=1e-12)
    diagonal = layer.theta * np.eye(d)
    bias = (k - 1) / k * ((layer.theta - 2 / k * diagonal) @ layer.w).sum(axis=0)
    assert np.allclose((ends[0] - ends[2]) / (2 * eps), bias, atol=1e-8)
    assert np.abs(bias - (layer.theta @ layer.w).sum(axis=0)).max() > 0.05  # the plain sum is not it


def test_gradient_formula():
    """Fact 1.8 against central differences."""
    layer = teacher(2, 4, 6)
    X = np.random.default_rng(2).choice([-1.0, 1.0], size=(6, 3, 4))
    J, eps = jacobian(layer, X), 1e-6
    entries = np.concatenate([layer.theta.ravel(), layer.w.ravel()])
    for i in range(len(entries)):
        ends = []
        for sign in (1, -1):
            moved = entries.copy()
            moved[i] += sign * eps
            ends.append(MultiHeadAttention(*moved.reshape(2, 2, 4, 4))(X).ravel())
        assert np.allclose((ends[0] - ends[1]) / (2 * eps), J[:, i], atol=1e-8)


@pytest.mark.parametrize(
    ("m", "k", "d"),
    [(1, 2, 4), (3, 2, 4), (2, 3, 4), (2, 2, 5), (2, 4, 6), (3, 2, 6)],
)
def test_how_many_examples_determine_a_layer(m: int, k: int, d: int):
    """Fact 1.9: full rank of the Jacobian from n = max(2md/k, (d² + m − 1)/(k(k−1))) on, and never below."""
    layer, rng = teacher(m, d, 7), np.random.default_rng([m, k, d])
    unknowns = 2 * m * d * d
    needed = max(-(-2 * m * d // k), -(-(d * d + m - 1) // (k * (k - 1))))
    X = rng.normal(size=(needed, k, d))  # no two tokens in a special position, as ±1 tokens often are
    assert rank(jacobian(layer, X)) == unknowns
    assert rank(jacobian(layer, X[:-1])) < unknowns
    signs = rng.choice([-1.0, 1.0], size=(20, needed - 1, k, d))
    assert all(rank(jacobian(layer, x)) < unknowns for x in signs)
    assert rank(jacobian(layer, rng.choice([-1.0, 1.0], size=(4 * needed, k, d)))) == unknowns


def test_mixing_heads_hides_in_few_scores():
    """Fact 1.9: at 2d²/(k(k−1)) examples too few the kernel holds m(m−1) mixtures of patterns."""
    layer = teacher(3, 6, 8)
    # 18·2 = d² scores a head, and 18·12 = 2md² equations
    X = np.random.default_rng(5).normal(size=(18, 2, 6))
    assert rank(jacobian(layer, X)) == 2 * 3 * 36 - 3 * 2


@pytest.mark.parametrize(("m", "eta"), [(2, 0.2), (3, 0.5)])
def test_rarity_has_the_stated_constant(m: int, eta: float):
    """Fact 1.10, k = 2: P(all log-ratios within η of the first) is about c·η^(m−1)."""
    sd, count = 2.0, 400_000
    s = np.random.default_rng(6).normal(0, sd, size=(m, count))
    law = (2 * eta) ** (m - 1) * (2 * pi) ** (-(m - 1) / 2) * sd ** -(m - 1) * m**-0.5
    seen = float((np.abs(s[1:] - s[0]).max(axis=0) <= eta).mean())
    # Six standard errors (a false alarm in 1e9) and a curvature of relative size eta²/sd².
    assert abs(seen - law) < 6 * (law / count) ** 0.5 + law * (eta / sd) ** 2


def test_hull_error_and_gap_follow_from_the_tolerance():
    """Fact 1.11: off the hull by at most ε/s_m, and a gap of at least s_m·σ_min(Δ)/(2ε√(m−1))."""
    d, m, rows = 5, 3, 120
    for seed in range(20):
        rng = np.random.default_rng([7, seed])
        theta = rng.normal(size=(m, d * d))
        span = np.linalg.qr((theta[1:] - theta[0]).T)[0]
        A = rng.normal(size=(rows, d * d))
        A = A - (1 - 1e-3) * (A @ span) @ span.T
        b = A @ theta[0] + 1e-3 * rng.normal(size=rows)
        eps = max(float(np.sqrt(np.mean((A @ t - b) ** 2))) for t in theta)
        values, vectors = np.linalg.eigh(A.T @ A / rows)
        s, U = np.sqrt(values), vectors[:, : m - 1]
        pinned = np.linalg.lstsq(A - (A @ U) @ U.T, b)[0]
        off = theta - pinned
        off = off - (off @ U) @ U.T
        assert np.linalg.norm(off, axis=1).max() <= eps / s[m - 1] * (1 + 1e-9)
        spread = np.linalg.svd(theta[1:] - theta[0], compute_uv=False)[-1]
        assert s[m - 2] <= 2 * eps * (m - 1) ** 0.5 / spread * (1 + 1e-9)
        hull = least_squares_hull(A, b, m, 1.0)
        assert hull.gap == pytest.approx(s[m - 1] / s[m - 2], rel=1e-6)


def test_softmax_moves_by_at_most_half_the_range():
    """Fact 1.12: |softmax(s + δ) − softmax(s)|_1 <= (max δ − min δ)/2, and one-sparse rows err by 2(k−1)e^(−margin)."""
    rng = np.random.default_rng(8)
    s, delta = rng.normal(0, 3, size=(2, 20_000, 4))

    def softmax(v: Array) -> Array:
        e = np.exp(v - v.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True))

    moved = np.abs(softmax(s + delta) - softmax(s)).sum(axis=1)
    assert (moved <= np.ptp(delta, axis=1) / 2).all()
    top = np.sort(s, axis=1)
    sparse = 2 * (1 - softmax(s).max(axis=1))
    assert (sparse <= 2 * 3 * np.exp(top[:, -2] - top[:, -1])).all()


def least_share(n: int, t: float, confidence: float) -> float:
    """The least α, to three digits, with P(Bin(n, α) <= n/t²) <= 1 − confidence."""
    return next(a / 1000 for a in range(1, 1000) if binom.cdf(int(n / t**2), n, a / 1000) <= 1 - confidence)


@pytest.mark.parametrize("tail", [0.7, 1.5, 4.0])
def test_held_out_examples_bound_the_share_of_inputs_that_are_missed(tail: float):
    """Fact 1.13, whatever the law of the errors: here P(e > x) = x^(−tail), of finite variance or not."""
    n, t, confidence = 60, 2.5, 0.9
    errors = np.random.default_rng(9).random(size=(20_000, n)) ** (-1 / tail)
    threshold = t * np.sqrt((errors**2).mean(axis=1))
    assert ((errors > threshold[:, None]).mean(axis=1) <= 1 / t**2).all()
    missed = np.minimum(threshold**-tail, 1.0)  # share of all inputs beyond it
    broken = (missed > least_share(n, t, confidence)).mean()
    assert broken <= 1 - confidence + 5 * (confidence * (1 - confidence) / len(errors)) ** 0.5


def test_vstat_answers_move_by_the_root_of_a_third():
    """references A4 and theory 2.4: |a − p| > max(1/t, √(a(1−a)/t)) implies |a − p| > √(min(p, 1−p)/(3t))."""
    a, p = np.meshgrid(np.linspace(0, 1, 801), np.linspace(0, 1, 801))
    for t in (1.0, 3.0, 10.0, 100.0, 1e4):
        gone = np.abs(a - p) > np.maximum(1 / t, np.sqrt(a * (1 - a) / t))
        assert (np.abs(a - p) > np.sqrt(np.minimum(p, 1 - p) / (3 * t)))[gone].all()
