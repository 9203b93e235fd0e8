"""The Fourier gap of a head against sums over all inputs, one at a time, and against the gradient itself."""

from itertools import combinations, product
from math import comb, tanh

import numpy as np
import pytest

from hardness.errors import InputError
from learner import diagonal_network as network
from learner import fourier_gap


def coefficient(theta, members):
    """E[g χ_T] with g = tanh'(θ_0 + Σ_j θ_j u_j), term by term."""
    total = 0.0
    for bits in product((0, 1), repeat=len(theta) - 1):
        level = theta[0] + sum(weight * bit for weight, bit in zip(theta[1:], bits, strict=True))
        total += (1 - tanh(level) ** 2) * (-1) ** sum(bits[j - 1] for j in members)
    return total / 2 ** (len(theta) - 1)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_spectrum_is_the_sum_over_all_inputs(n):
    theta = np.random.default_rng(n).normal(0, 2, n + 1)
    coefficients = fourier_gap.spectrum(theta)
    for size in range(n + 1):
        sets = list(combinations(range(1, n + 1), size))
        right = [coefficient(theta, members) for members in sets]
        assert [coefficients[sum(1 << j - 1 for j in members)] for members in sets] == pytest.approx(
            right, abs=1e-14
        )
        assert fourier_gap.level_weights(coefficients)[size] == pytest.approx(
            sum(x * x for x in right), abs=1e-14
        )


def test_gap_of_heads_by_its_definition():
    weights, support = network.starting(np.random.default_rng(1), 3, 6, 4.0), [1, 3, 5]
    right = []
    for theta in weights[:-1].T:
        signal = np.mean([coefficient(theta, set(support) - {j}) ** 2 for j in support])
        slopes = [1 - tanh(theta @ (1, *bits)) ** 2 for bits in product((0, 1), repeat=5)]
        right.append(2 * np.mean(np.square(slopes)) / signal)
    assert fourier_gap.head_gaps(weights, support) == pytest.approx(right, rel=1e-10)
    assert fourier_gap.examples_of_unit_signal(weights, support) == pytest.approx(min(right), rel=1e-10)


def test_the_population_gradient_differs_by_these_coefficients():
    """E[χ_S g u_j] = (ĝ(S) - ĝ(S xor {j}))/2, which is what the gradient by θ_ij has of the label."""
    weights, support = network.starting(np.random.default_rng(2), 2, 6, 2.0), [2, 3, 5]
    u = np.array([(1, *bits) for bits in product((0, 1), repeat=5)], dtype=float)
    label = (-1.0) ** u[:, support].sum(axis=1)
    _, with_label = network.gradients(weights, u, label)
    _, without = network.gradients(weights, u, 0 * label)
    by_label = (without - with_label).mean(axis=0)
    for i, theta in enumerate(weights[:-1].T):
        coefficients, whole = fourier_gap.spectrum(theta), sum(1 << j - 1 for j in support)
        for j in range(1, 6):
            right = weights[-1, i] * (coefficients[whole] - coefficients[whole ^ 1 << j - 1]) / 2
            assert by_label[j, i] == pytest.approx(right, abs=1e-14)


def test_steep_starts_see_more_and_sets_of_any_place_are_alike():
    gaps = [fourier_gap.at_the_start(11, 4, 16, r, 9, np.random.default_rng(0)) for r in (1.0, 4.0)]
    assert gaps[0] > 10 * gaps[1]
    mean = fourier_gap.mean_over_heads(11, 4, 4.0, 200, np.random.default_rng(0))
    assert gaps[1] < mean < 1000 * comb(10, 3)


def test_too_many_coordinates_are_refused():
    with pytest.raises(InputError, match="at most 20"):
        fourier_gap.spectrum(np.zeros(22))
