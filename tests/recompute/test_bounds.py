"""The constants of docs/answer.md that are proved, from first principles: nothing of the lab."""

from fractions import Fraction
from math import floor, pi, sqrt

import numpy as np
import pytest
from theorem_b import floor as queries_floor
from theorem_b import independent, lost, separation

TOLERANCES = [
    Fraction(*pair) for pair in ((24, 100), (1, 5), (1, 6), (1, 8), (1, 10), (1, 20), (1, 50), (1, 200))
]


def test_more_than_8_tau_squared_times_n_minus_1():
    """No query loses 1/(8τ²) sets or more (theorem B); 8 is approached as τ falls, and from 1/4 on none is lost."""
    of_losses = [1 / float(e * separation(e) ** 2) for e in (1, 2, 3, 4, 10, 100, 10**4, 10**6)]
    assert of_losses == sorted(of_losses, reverse=True)
    assert of_losses[-1] == pytest.approx(8, rel=1e-5)
    assert separation(1) == Fraction(1, 4)
    for tau in TOLERANCES:
        assert lost(tau) < 1 / (8 * tau**2)
        assert all(queries_floor(sets, tau) > 8 * tau**2 * (sets - 1) for sets in (2, 3, 10, 1000))
        assert queries_floor(1, tau) == 0


def test_the_first_bound_is_tight_up_to_half_of_pi():
    """Of independent sets a query loses 1/(4πτ²), which is 8 / 4π = 2/π of what the bound allows."""
    e = 2000
    assert 1 / (e * float(independent(e)) ** 2 * pi) == pytest.approx(4, rel=1e-3)
    assert 4 * pi / 8 == pytest.approx(pi / 2)
    assert lost(Fraction(1, 5)) == 1
    assert all(queries_floor(sets, Fraction(1, 5)) == sets - 1 for sets in (4, 100, 4845))


def test_an_output_correlates_with_at_most_one_over_gamma_squared_sets():
    """A bent function has correlation ±γ with each of 2^r = 1/γ² characters: with half of them γ."""
    for r in (2, 4, 6, 8):
        x, y = np.divmod(np.arange(2**r), 2 ** (r // 2))
        bent = 1 - 2.0 * (np.bitwise_count(x & y) & 1)
        characters = 1 - 2 * (np.bitwise_count(np.arange(2**r)[:, None] & np.arange(2**r)) & 1).astype(float)
        gamma = 2.0 ** (-r / 2)
        reached = int(np.sum(characters @ bent / 2**r >= gamma))
        assert 1 / gamma**2 / 2 < reached <= 1 / gamma**2


def test_a_learner_of_one_bit_needs_467_thousandths_of_n():
    """(1 − √(1 − P))² of N at P = .9, rounded down (2.10)."""
    assert floor(1000 * (1 - sqrt(0.1)) ** 2) / 1000 == 0.467


def test_twice_the_bits_determine_a_parity():
    """The expectation is 2 Σ 1/(1 − 2^−j), j = 1..d−1: 2(d − 1) + 3.2 at most."""
    for dim in (8, 16, 32, 64):
        expected = 2 * sum(1 / (1 - 0.5**j) for j in range(1, dim))
        assert 2 * (dim - 1) < expected < 2 * (dim - 1) + 3.22
