"""Both bounds of every switch by brute force (theory 2.9)."""

from itertools import combinations, product
from math import comb, factorial, inf, nextafter, prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.sq.bounds.parity import top_eigenvalue, window_bound
from learner.studies.switches.bounds import (
    bias_gap,
    bias_interval,
    biased_bound,
    biased_enough,
    chain_bound,
    chain_enough,
)


def sets_of(n, s):
    return np.array([sum(1 << i for i in chosen) for chosen in combinations(range(n), s)])


@pytest.mark.parametrize("n", range(2, 10))
def test_lambda_is_the_top_eigenvalue_of_the_gram_matrix(n):
    for s, mu in product(range(1, n), (0.0, 0.1, 0.37, 0.5, 0.9, 1.0)):
        sets = sets_of(n, s)
        gram = np.power(mu, np.bitwise_count(np.bitwise_xor.outer(sets, sets)).astype(float))
        off = np.eye(len(sets)) - 1 / len(sets)
        assert top_eigenvalue(n, s, mu) == pytest.approx(
            np.linalg.eigvalsh(off @ gram @ off)[-1], rel=1e-9, abs=1e-9
        )


@given(st.integers(2, 40), st.data(), st.floats(0.001, 0.5))
def test_switches_that_are_off_change_no_bit(n, data, tau):
    s = data.draw(st.integers(1, n))
    assert chain_bound(n, (s,), tau) == biased_bound(n, s, tau, 0.0) == window_bound(comb(n, s), tau)
    assert (
        chain_enough(n, (s,), tau)
        == biased_enough(n, s, tau, 0.0)
        == (comb(n, s) - 1 if tau < 0.25 else None)
    )


@given(st.integers(1, 10), st.data(), st.floats(1e-4, 0.2))
def test_interval_ends_where_the_gap_is_four_tau_to_the_last_bit(s, data, tau):
    k = data.draw(st.integers(1, s))
    interval = bias_interval(s, tau, k)
    peak = sqrt((s - k) / (s - k + 2))
    if interval is None:
        assert max(bias_gap(s, mu, k) for mu in (*np.linspace(0, 1, 1001), peak)) <= 4 * tau
        return
    low, high = interval
    assert low <= peak <= high
    assert bias_gap(s, low, k) > 4 * tau < bias_gap(s, high, k)
    assert low == 0 or bias_gap(s, nextafter(low, -inf), k) <= 4 * tau
    assert bias_gap(s, nextafter(high, inf), k) <= 4 * tau


def test_products_of_k_bits_show_the_sets_inside():
    """Every mean of y χ_T, |T| = k: μ^(s-k) at T inside S, at most μ^(s-k+2) elsewhere."""
    for n, s, k, mu in ((7, 3, 1, 0.6), (7, 3, 2, 0.4), (8, 4, 2, 0.5), (6, 3, 3, 0.2)):
        means = np.power(
            mu, np.bitwise_count(np.bitwise_xor.outer(sets_of(n, s), sets_of(n, k))).astype(float)
        )
        inside = (sets_of(n, k)[None] & ~sets_of(n, s)[:, None]) == 0
        assert means[inside].min() - means[~inside].max() == pytest.approx(bias_gap(s, mu, k))
    assert biased_enough(8, 6, 0.05, 0.99) is None


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 4), st.floats(0.001, 0.24))
def test_supervision_never_needs_more_than_suffices(g, count, rest, tau):
    blocks, n = (g,) * count, g * count + rest
    enough = chain_enough(n, blocks, tau)
    assert chain_bound(n, blocks, tau) <= enough
    chains = factorial(n) // (factorial(rest) * prod(map(factorial, blocks)))
    assert 2**enough >= chains  # two answers a query must tell all chains apart


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_means_of_biased_characters_by_summation(mu):
    words = np.arange(2**5, dtype=np.uint64)
    minus = np.bitwise_count(words)
    law = ((1 + mu) / 2) ** (5 - minus) * ((1 - mu) / 2) ** minus
    chi = 1 - 2 * (np.bitwise_count(words[:, None] & words) & 1).astype(int)
    for mask in (3, 9, 24):
        distance = np.bitwise_count(words ^ np.uint64(mask)).astype(float)
        assert mu**distance == pytest.approx((law * chi[mask]) @ chi, abs=1e-12)
