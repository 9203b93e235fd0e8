"""The parts of the lottery's prediction (theory 2.10), against enumeration and simulation."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from learner.studies.exponential_in_m import lottery

N = 8
SIGNS = 1 - 2 * (np.arange(2**N)[:, None] >> np.arange(N) & 1)


def heads(count: int, seed: int = 0):
    return lottery.equilibrium(np.random.default_rng(seed), count, N, scale=0.5)


def slopes(t, b):
    """Return tanh' of heads on all signs, (heads, 2^n)."""
    return 1 / np.cosh(b[:, None] + t @ SIGNS.T) ** 2


@pytest.mark.parametrize("size", range(N + 1))
def test_coefficients_are_those_of_all_signs(size):
    t, b = heads(40)
    by_hand = (slopes(t, b) * SIGNS[:, :size].prod(axis=1)).mean(axis=1)
    assert lottery.coefficients(t, b, size) == pytest.approx(by_hand, abs=1e-13)


def test_mean_squares_are_those_of_all_signs_also_far_beyond_the_threshold():
    t, b = heads(40)
    b[:3] = 9, -12, 15
    assert lottery.mean_squares(t, b) == pytest.approx((slopes(t, b) ** 2).mean(axis=1), abs=1e-13)


def test_mean_strength_over_sets_is_the_weight_of_their_degree():
    """Parseval: E rho_T² over T of size k is W_k/C(n, k), and all W_k add up to 1 in units of E g²."""
    t, b = heads(5)
    squares, weights = (slopes(t, b) ** 2).mean(axis=1), np.zeros((5, N + 1))
    for size in range(N + 1):
        for T in combinations(range(N), size):
            ordered = np.concatenate([t[:, T], np.delete(t, T, axis=1)], axis=1)
            weights[:, size] += lottery.coefficients(ordered, b, size) ** 2 / squares
    assert weights.sum(axis=1) == pytest.approx(1, abs=1e-10)


def test_likely_sets_are_drawn_with_the_stated_probabilities():
    """60,000 draws for one head, 28 sets: chi-square below its 1 - 1e-6 quantile, 80.6."""
    draws, size = 60_000, 2
    t = np.random.default_rng(1).laplace(0, 0.5, N)
    ordered, ratios = lottery.likely_sets(np.random.default_rng(2), np.tile(t, (draws, 1)), size)
    first = np.sort(np.argmax(np.isclose(ordered[:, :size, None], t), axis=2), axis=1)
    a, chi = np.tanh(t) ** 2, 0.0
    total = sum(a[i] * a[j] for i, j in combinations(range(N), 2))
    for i, j in combinations(range(N), 2):
        here = (first == (i, j)).all(axis=1)
        chance = a[i] * a[j] / total
        chi += (here.sum() - draws * chance) ** 2 / (draws * chance)
        assert ratios[here] == pytest.approx(1 / (comb(N, 2) * chance), rel=1e-9)
    assert chi < 80.6


def test_the_tail_is_that_of_uniform_sets():
    """Weighted draws against all sets of 150 other heads: within 4.5 standard errors, a false alarm in 1.5e5."""
    s, x = 5, 1e-3
    t, b = heads(150, seed=3)
    squares = lottery.mean_squares(t, b)
    per_head = np.zeros(150)
    for T in combinations(range(N), s - 1):
        ordered = np.concatenate([t[:, T], np.delete(t, T, axis=1)], axis=1)
        per_head += lottery.coefficients(ordered, b, s - 1) ** 2 / squares > x
    exact, error = per_head.mean() / comb(N, s - 1), per_head.std() / comb(N, s - 1) / 150**0.5
    drawn, ratios = lottery.strengths(np.random.default_rng(4), N, s, 0.5, 8_000)
    tail = np.where(drawn > x, ratios, 0)
    assert abs(tail.mean() - exact) < 4.5 * (error**2 + tail.var() / 8_000) ** 0.5


def test_markov_bounds_the_prediction_at_every_batch():
    """x N P(rho² > x) <= N E rho², up to 4.5 standard errors of either side."""
    n, s = 11, 4
    squares, ratios = lottery.strengths(np.random.default_rng(5), n, s, 0.5, 4_000)
    means = comb(n, s) * squares * ratios
    for batch in (2, 64):
        value, error = lottery.prediction(np.random.default_rng(6), n, s, 0.03, batch, 0.03, heads=1_500)
        assert 0 < value < means.mean() + 4.5 * (means.std() / 4_000**0.5 + error)


def test_a_walk_with_a_soft_threshold_has_the_predicted_law():
    """Steps of random sign and size `rate` with soft threshold rate·l1: mean |t| is l, rms √2 l, within 5 %."""
    rate, l1, rng = 0.05, 0.05, np.random.default_rng(7)
    t = np.zeros(8_000)
    for _ in range(6_000):  # 7 relaxation times 2/l1²
        t += rate * (1 - 2 * rng.integers(0, 2, len(t)))
        t = np.sign(t) * np.maximum(np.abs(t) - rate * l1, 0)
    scale = lottery.scale(rate, l1)
    assert np.abs(t).mean() == pytest.approx(scale, rel=0.05)
    assert (t**2).mean() ** 0.5 == pytest.approx(2**0.5 * scale, rel=0.05)
