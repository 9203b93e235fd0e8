"""What docs/theory.md states of the concepts that a query can lose (2.7) and of what makes it easy again (2.9)."""

import re
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, comb, log2

import numpy as np
import pytest
from theory_page import SECTIONS, characters

from hardness.attacks.estimates.low_degree import low_degree_rows
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.bounds.switches import bias_interval, biased_bound, top_eigenvalue


def kept(x, tau):
    x = np.sort(x)
    return int((np.searchsorted(x, x + 2 * tau, side="right") - np.arange(len(x))).max())


def cubes(k, w):
    """Σ r(r² − 1) over the w round-robin chains of k."""
    length, longer = divmod(k, w)
    return longer * length * (length + 1) * (length + 2) + (w - longer) * (length - 1) * length * (length + 1)


def test_lemma_L():
    rng = np.random.default_rng(5)
    for _ in range(3000):
        k, tau = int(rng.integers(1, 12)), rng.uniform(0.01, 1)
        x = rng.choice([rng.normal(size=k), rng.integers(-3, 4, k) * 2.0001 * tau])
        w = kept(x, tau)
        total = np.sum((x - x.mean()) ** 2)
        assert total >= tau**2 / 3 * cubes(k, w) * (1 - 1e-9)
        assert cubes(k, w) / 3 >= 2 * (k - w)
        assert k == w or total > 2 * tau**2 * (k - w)


def test_dependent_classes_go_both_ways():
    plane = characters([0, 1, 2, 3], 2)
    assert np.abs(plane[0] + plane[1] - plane[2] - plane[3]).mean() / 8 == 1 / 8
    means = characters(range(1, 8), 3) @ np.sign(characters([1, 2, 4], 3).sum(axis=0)) / 16
    assert means.tolist() == [0.25, 0.25, 0, 0.25, 0, 0, -0.25]
    assert kept(means, 0.12) == 3


def largest_sum(e):
    """max E|Z|, Z = Σ±χ over 2e distinct parities and balanced signs, and the number of classes tried.

    On the way: E(|Z| - c)² >= ζ(c) for all of them.
    """
    signs = np.array([[1 if i in chosen else -1 for i in range(2 * e)] for chosen in combinations(range(2 * e), e)])
    tried, top = 0, Fraction(0)
    for r in range(1, 2 * e):
        start = [0, *(1 << i for i in range(r))]
        for rest in combinations([x for x in range(2**r) if x not in start], 2 * e - 1 - r):
            tried += 1
            sizes = np.abs(signs[: len(signs) // 2] @ characters([*start, *rest], r))
            assert all(((sizes - c) ** 2).mean(axis=1).min() >= zeta(c) for c in range(1, 10))
            top = max(top, Fraction(int(sizes.sum(axis=1).max()), 2**r))
    return tried, top


@pytest.mark.parametrize(
    ("e", "tried", "T"),
    [
        (1, 1, "1/4"),
        (2, 2, "3/16"),
        (3, 18, "1/6"),
        (4, 549, "5/32"),
        pytest.param(5, 52060, "11/80", marks=pytest.mark.slow),
    ],
)
def test_theorem_B_from_above(e, tried, T):
    assert largest_sum(e) == (tried, Fraction(T) * 4 * e)
    assert T in SECTIONS["2.7"]
    assert min(bounds(e)) == Fraction(T)


# (2^r values of D·b', D; sets + and -, matched in order)


def zeta(c):
    return 1 if c % 2 else 0 if c % 16 == 0 else 2 if c % 4 == 2 else 4


def bounds(e):
    """(2e + c^2 - zeta(c))/(8ce) for every c that can matter."""
    return [Fraction(2 * e + c * c - zeta(c), 8 * c * e) for c in range(1, 60)]


@cache
def T_upper(e):
    return min(*bounds(e), Fraction(13, 96)) if e >= 5 else min(bounds(e))


def test_values_of_T():
    said = re.sub(r"\s+", " ", SECTIONS["2.7"])
    values = re.search(r"T\(1\), …, T\(4\) = ([^T]*), T\(6\), …, T\(12\) = ([^w]*), while 13/96 ≤ T\(5\) ≤ 11/80", said)
    few, more = ([Fraction(x) for x in found.split(", ")] for found in values.groups())
    assert few == [T_upper(e) for e in range(1, 5)]
    assert more == [T_upper(e) for e in range(6, 13)]
    for c, bound in ((2, lambda e: (e + 1, 8 * e)), (4, lambda e: (e + 6, 16 * e)), (8, lambda e: (e + 30, 32 * e))):
        assert all(bounds(e)[c - 1] == Fraction(*bound(e)) for e in range(1, 99))
    for tau in (Fraction(1, 5), Fraction(1, 10), Fraction(1, 20), Fraction(3, 100)):
        most = min(ceil((c * c - zeta(c)) / (8 * c * tau - 2)) for c in range(1, 200) if 4 * c * tau > 1) - 1
        assert T_upper(most) > tau >= T_upper(most + 1)


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
    walsh_hadamard(ratio)
    weight = np.bincount(np.bitwise_count(np.arange(ratio.size)), (ratio / ratio.size) ** 2)
    for D in range(1, (s + 1) * M + 1):
        stated = sum(comb(M, t) * (1 - 2 * eta) ** (2 * t) for t in range(1, D // (s + 1) + 1)) / comb(n, s)
        assert weight[1 : D + 1].sum() == pytest.approx(stated, abs=1e-12)
    assert low_degree_rows(n, s, eta) * (1 - 2 * eta) ** 2 / comb(n, s) == pytest.approx(1)
