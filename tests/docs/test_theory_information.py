"""Theorem H of theory 2.10, and where it breaks: exact information of Gaussian gradients on all sets of one size."""

from itertools import combinations

import numpy as np
import pytest

from learner.studies.exponential_in_m import lottery


def information(n, s, t, b, c, own_noise):
    """Return Σ_S δᵀC⁺δ for C = Σ₀ + own_noise·diag(Σ₀), and the w of the heads: one example, no flips."""
    v = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    tanh = np.tanh(b[:, None] + t @ v.T)
    slope = 1 - tanh**2
    by_weight = slope[:, None] * np.vstack([np.ones(2**n), v.T])
    entries = np.concatenate([c[:, None, None] * by_weight, tanh[:, None]], axis=1).reshape(-1, 2**n)
    a = (c @ tanh) * entries
    null = (np.cov(a, bias=True) + entries @ entries.T / 2**n).reshape(len(entries), -1)
    diagonal = np.diag(null)
    sets = np.array([v[:, S].prod(axis=1) for S in combinations(range(n), s)])
    delta = entries @ sets.T / 2**n / np.sqrt(diagonal)[:, None]
    noise = null / np.sqrt(np.outer(diagonal, diagonal)) + own_noise * np.eye(len(entries))
    squared_shares = (entries @ sets.T / 2**n) ** 2 / (entries**2).mean(axis=1)[:, None]
    return float(
        (delta * (np.linalg.pinv(noise, rcond=1e-13, hermitian=True) @ delta)).sum()
    ), squared_shares.sum(axis=1).reshape(len(b), -1).sum(axis=1)


def weight(values, v, k):
    """Return W_k of a function on all signs."""
    return sum((values * v[:, T].prod(axis=1)).mean() ** 2 for T in combinations(range(v.shape[1]), k))


def test_w_of_a_head_is_the_formula_of_theorem_h():
    n, s = 7, 3
    t, b = lottery.equilibrium(np.random.default_rng(0), 3, n, 0.5)
    _, w = information(n, s, t, b, np.full(3, 0.1), 1.0)
    v = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    for head in range(3):
        tanh = np.tanh(b[head] + v @ t[head])
        g = 1 - tanh**2
        by_degree = (n - s + 1) * weight(g, v, s - 1) + weight(g, v, s) + (s + 1) * weight(g, v, s + 1)
        formula = by_degree / (g**2).mean() + weight(tanh, v, s) / (tanh**2).mean()
        assert w[head] == pytest.approx(formula, rel=1e-9)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("own_noise", [0.03, 1.0])
def test_theorem_h_bounds_the_information_of_heads_with_noise_of_their_own(seed, own_noise):
    """Random heads, nearly equal ones among them, at outputs that are not small."""
    t, b = lottery.equilibrium(np.random.default_rng(seed), 5, 8, 0.5)
    t[1], b[1] = t[0] + 0.01, b[0]
    total, w = information(8, 4, t, b, np.random.default_rng(seed).standard_normal(5), own_noise)
    assert 0 < total <= w.sum() / own_noise


@pytest.mark.parametrize(("beta", "w_sum"), [(2, 4.60), (1, 0.785), (0.5, 0.0544), (0.25, 0.00099)])
def test_a_block_of_equal_heads_keeps_its_information_as_w_falls(beta, w_sum):
    n, s = 9, 4
    t = np.zeros((s, n))
    t[:, : s - 1] = beta / 2
    block = (t, beta * np.array([1.5, 0.5, -0.5, -1.5]), np.full(s, 1e-4))
    total, w = information(n, s, *block, own_noise=0.0)
    assert total == pytest.approx(n - s + 1, rel=2e-3)
    assert w.sum() == pytest.approx(w_sum, rel=0.02)
    assert information(n, s, *block, own_noise=1.0)[0] <= w.sum()


@pytest.mark.parametrize("noise", [10, 200, 5_000])
def test_theorem_h_for_real_batches_bounds_the_exact_integral(noise):
    """Σ_S ∫ ⟨χ_S, k_odd⟩²/φ over all messages of one example, from exponentials of inner products of gradients."""
    n, s = 6, 3
    t, b = lottery.equilibrium(np.random.default_rng(2), 3, n, 0.5)
    c = np.array([0.3, -0.5, 0.2])
    v = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    tanh = np.tanh(b[:, None] + t @ v.T)
    by_weight = (1 - tanh**2)[:, None] * np.vstack([np.ones(2**n), v.T])
    entries = np.concatenate([c[:, None, None] * by_weight, tanh[:, None]], axis=1).reshape(-1, 2**n)
    scale = np.sqrt(noise * (entries**2).mean(axis=1))[:, None]
    middle = ((c @ tanh) * entries).mean(axis=1)[:, None]
    up, down = (((c @ tanh - y) * entries - middle) / scale for y in (1, -1))
    kernel = (
        sum(
            sign * np.exp(x.T @ z)
            for x, z, sign in ((up, up, 1), (down, down, 1), (up, down, -1), (down, up, -1))
        )
        / 4
    )
    sets = np.array([v[:, S].prod(axis=1) for S in combinations(range(n), s)])
    exact = float(((sets @ kernel) * sets).sum() / 4**n)
    radius = max(float((x**2).sum(axis=0).max()) for x in (up, down))
    _, w = information(n, s, t, b, c, 1.0)
    proved = (w.sum() + len(entries) * ((1 + radius) * np.exp(radius) - 1)) / noise
    assert 0 < exact <= proved
    if noise == 5_000:  # the first term is what is left
        assert exact == pytest.approx(w.sum() / noise, rel=0.1)
