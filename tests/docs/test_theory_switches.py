"""What makes it easy again: docs/theory.md 2.9, by brute force and by bounds that tests/sq/test_switches.py holds."""

from itertools import combinations
from math import comb, log2

import numpy as np
import pytest
from theory_page import SECTIONS, characters

from hardness.attacks.estimates.low_degree import low_degree_rows
from hardness.sq.bounds.switches import bias_interval, biased_bound, top_eigenvalue


def test_johnson_eigenvalues():
    for n, s in ((4, 2), (5, 3), (6, 5), (8, 3), (8, 4)):
        sets = [sum(1 << i for i in chosen) for chosen in combinations(range(n), s)]
        distance = np.bitwise_count(np.bitwise_xor.outer(sets, sets))
        for mu in (0.0, 0.2, 0.5, 0.9):
            found = np.linalg.eigvalsh(mu**distance - np.mean(mu**distance))
            johnson = [
                sum(
                    mu ** (2 * i) * (-1) ** t * comb(j, t) * comb(s - j, i - t) * comb(n - s - j, i - t)
                    for i in range(s + 1)
                    for t in range(min(i, j) + 1)
                )
                for j in range(1, min(s, n - s) + 1)
            ]
            assert max(johnson) == johnson[0] == pytest.approx(top_eigenvalue(n, s, mu))
            wanted = sorted(x for j, x in enumerate(johnson, 1) for _ in range(comb(n, j) - comb(n, j - 1)))
            assert np.allclose(sorted(found)[1:] if min(wanted) > 0 else found[1:], wanted, atol=1e-9)


def test_bias_thresholds_and_bounds():
    s, n = 6, 63
    for tau, shown in ((0.005, [0.482, 0.989]), (0.02, [0.685, 0.946])):
        assert [round(end, 3) for end in bias_interval(s, tau)] == shown
        assert str(shown) in SECTIONS["2.9"]
    bounds = [log2(biased_bound(n, s, 0.005, mu)) for mu in (0, 0.1, 0.2, 0.3)]
    assert ", ".join(f"{x:.1f}" for x in bounds) in SECTIONS["2.9"]


def test_low_degree_advantage():
    n, s, M, eta = 4, 2, 3, 0.1
    sets = [sum(1 << i for i in chosen) for chosen in combinations(range(n), s)]
    signs = characters(sets, n) * (1 - 2 * eta)
    # Likelihood ratio at every (v_1..v_M, y_1..y_M), and its Fourier weight by degree.
    rows = np.concatenate([1 + signs, 1 - signs], axis=1)
    ratio = sum(np.multiply.outer(np.multiply.outer(x, x), x) for x in rows).ravel() / len(sets)
    width, hat = 1, ratio.copy()
    while width < hat.size:
        hat = hat.reshape(-1, 2, width)
        hat = np.stack([hat[:, 0] + hat[:, 1], hat[:, 0] - hat[:, 1]], axis=1).ravel()
        width *= 2
    weight = np.bincount(np.bitwise_count(np.arange(hat.size)), (hat / hat.size) ** 2)
    for D in range(1, (s + 1) * M + 1):
        stated = sum(comb(M, t) * (1 - 2 * eta) ** (2 * t) for t in range(1, D // (s + 1) + 1)) / comb(n, s)
        assert weight[1 : D + 1].sum() == pytest.approx(stated, abs=1e-12)
    assert low_degree_rows(n, s, eta) * (1 - 2 * eta) ** 2 / comb(n, s) == pytest.approx(1)
