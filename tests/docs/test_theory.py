"""What docs/theory.md states in numbers and formulas, by brute force (2.2: code that test_sq_bounds.py holds)."""

import re
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from math import comb, cos, erfc, exp, log, pi, prod, sinh
from pathlib import Path

import numpy as np
import pytest
from head_limited import head_limited_parity
from theorem_b import distance, separation
from theory_page import ROOT, SECTIONS, characters, near, table

from hardness.gadgets import sharp
from hardness.kernels.walsh import walsh_hadamard


def test_every_citation_resolves():
    """Every "theory 1.2" of code and docs is a section of docs/theory.md."""
    rooms = ("hardness", "learner", "tests", "benchmarks")
    files = [
        *(f for room in rooms for f in (ROOT / room).rglob("*.py")),
        *ROOT.glob("docs/*.md"),
        ROOT / "README.md",
    ]
    text = "\n".join(f.read_text() for f in files if f.resolve() != Path(__file__).resolve())
    citations = re.findall(r"theory(?:\.md)?,? (\d\.\d+b?)(?:\(?([a-f])\)?(?![a-z]))?", text)
    assert len(citations) > 20
    for number, part in citations:
        assert number in SECTIONS, number
        assert not part or f"**({part})" in SECTIONS[number], (number, part)


# 1.2, 1.3


def parity_coefficients(s, r):
    """Exact (c, A) of the diag parity of s bits, by elimination over the rationals: not the closed form."""
    y, a = (
        [Fraction(r) ** (2 * i) for i in range(s + 1)],
        [Fraction(r) ** (2 * i - 1) for i in range(1, s + 1)],
    )
    rows = [[(u - v) / (u + v) for v in a] + [Fraction(-1)] for u in y]
    *c, A = sharp.solved(rows, [(-1) ** k for k in range(s + 1)])
    return c, A


def test_coefficients_and_their_table():
    for row, r in zip(table("1.3", "r (β)"), (2, 3, 8, 55), strict=True):
        beta, shown = 2 * log(r), [cell.split(", ") for cell in row]
        assert shown[0][0] == f"{r} ({beta:.3f})"
        for text, s in zip(shown[1][:3], (2, 4, 8), strict=True):
            c, _ = parity_coefficients(s, r)
            assert near(text, max(abs(float(x)) for x in c))
            assert sum(c) == 0  # corollary 2, s even
        assert near(shown[2][0], sum(abs(float(x)) for x in c))
        assert max(x.bit_length() for z in c for x in (z.numerator, z.denominator)) == int(shown[4][0])
        for text, m in zip(shown[3], (8, 32), strict=True):
            matrix = np.tanh(beta / 2 * (np.arange(m + 1)[:, None] - np.arange(1, m + 1) + 0.5))
            condition = np.linalg.cond(np.hstack([matrix, -np.ones((m + 1, 1))]))
            assert near(text, condition)
        series = 4 * pi / beta * sum((-1) ** i / sinh(pi**2 * (2 * i + 1) / beta) for i in range(40))
        assert any(near(x, 1 / series) for x in re.findall(r"\d+\.\d{4,5}\b", SECTIONS["1.3"]))
        assert abs(abs(float(c[3])) * series - 1) < (0.2 if r == 2 else 0.03)
    assert parity_coefficients(3, 8)[1] == 0  # corollary 2, s odd


def test_corollary_3_square_systems_are_singular_only_as_said():
    rng = np.random.default_rng(0)
    for m in (2, 3, 4, 5):
        for balanced in (False, True):
            t, b = np.arange(m) + 0.0, rng.normal(size=m)
            b += (t.sum() - b.sum() + (0 if balanced else 1)) / m
            value = np.linalg.det(np.tanh((t[:, None] - b) / 2))
            assert (abs(value) < 1e-12) == (balanced and m % 2 == 1)


# 1.4


def test_levels_within_the_reach_of_heads_are_right():
    rng = np.random.default_rng(1)
    for _ in range(300):
        p = int(rng.integers(2, 7))
        q, M, mean = int(rng.integers(p, 40)), int(rng.integers(2, 15)), rng.integers(-100, 100) / 2
        firsts = 1 + p * np.arange(-200, 200)
        middle = (-(-firsts * q // p) + -(-(firsts + M - 1) * q // p) - 1) / 2
        b = -(-(firsts[np.argmin(abs(middle - mean))] + np.arange(M)) * q // p) - 0.5
        t = np.arange(-400, 400)
        wrong = np.searchsorted(b, t) % p != t % q * p // q
        assert np.all(abs(t - mean)[wrong] >= (M + 1 - p) * q / (2 * p) - 0.5 + 1 / p)


def test_saturation_error():
    rng = np.random.default_rng(2)
    for beta in (1.0, 4.0, 20.0):
        b, c, t = np.sort(rng.permutation(30)[:9]) + 0.5, rng.normal(size=9), np.arange(-5, 36)
        steps = (np.tanh(beta / 2 * (t[:, None] - b)) - np.sign(t[:, None] - b)) @ c
        assert abs(steps).max() <= 4 * abs(c).max() * exp(-beta / 2) / (1 - exp(-beta))


# 2.1 to 2.3


def test_means_of_the_characteristic_function():
    for q in (3, 5, 7, 8):
        size = [abs(cos(pi * v / q)) for v in range(q)]
        assert np.mean(np.square(size)) == pytest.approx(1 / 2)
        assert np.mean(np.square(size) ** 2) == pytest.approx(3 / 8)
        assert not q % 2 or prod(size) ** (1 / q) == pytest.approx(2 ** (1 / q) / 2)


def test_head_limited_parities():
    for s, m, *shown in table("2.2", "s"):
        s, m = int(s), int(m)
        error, hat = head_limited_parity(s, m)
        assert sum(comb(s, j) * x**2 for j, x in enumerate(hat)) == 1
        largest = max(abs(x) for x in hat[1:s])
        assert largest <= error / 2 <= 4 * exp(-(m**2) / (2 * s))
        assert [
            float(shown[0].replace("−", "-")),
            float(shown[1].split()[0].replace("−", "-")),
        ] == pytest.approx([float(error), float(largest)], rel=0.04)
        assert near(shown[2], float(hat[s]))
        assert int(re.search(r"\((\d+)\)", shown[1])[1]) == next(
            j for j in range(1, s) if abs(hat[j]) == largest
        )


# 2.5


def majority(K):
    return Fraction(comb(K - 1, K // 2), 2**K)


def test_the_price_of_any_live_set():
    """2.7, theorem C as the tolerance goes to 0: what is lost of κ/τ² sets, by the best M = μ/τ² and Λ = x √M."""
    x, mu = np.linspace(0.01, 3, 300)[:, None], np.linspace(0.01, 0.159, 300)
    density, tail = np.exp(-(x**2) / 2) / (2 * pi) ** 0.5, np.vectorize(erfc)(x / 2**0.5) / 2
    inside = 1 - 2 * tail - 2 * x * density  # E[z²; |z| ≤ x] of the normal law
    nu, size = (inside + 2 * x * density) / (2 * x), (inside + 2 * x**2 * tail) / (4 * x**2)

    def loss(kappa):
        past, D = np.maximum(nu / mu**0.5 - 1, 0), (size - nu**2) / np.maximum(mu, kappa - mu)
        return (mu * past**2 / (past**2 + D) * (mu <= kappa)).max() / 2

    stated = (0.0148, 0.0309, 0.0474, 0.0610, 0.0699)
    assert f"{', '.join(f'{v:.4f}' for v in stated)} in units of 1/τ²" in " ".join(SECTIONS["2.7"].split())
    for kappa, value in zip((0.044, 1, 10, 100, 1000), stated, strict=True):
        assert value <= loss(kappa) < value + 2e-4
    assert f"1/(4π) = {1 / (4 * pi):.4f}" in SECTIONS["2.7"]
    at = int(np.abs(x - 1.65).argmin()), int(np.abs(mu - 0.044).argmin())
    assert abs(x[at[0], 0] - 1.65) < 1e-9
    M = mu[at[1]]
    assert M / (1 + (size - nu**2)[at[0], 0] / M / (nu[at[0], 0] / M**0.5 - 1) ** 2) / 2 >= 0.0148


def test_batches_and_their_prices():
    rows = SECTIONS["2.5"]
    taus, sizes, ratios = (
        re.search(rf"(?m)^\| {re.escape(x)} \|(.*)\|$", rows)[1].split("|")
        for x in ("τ", "K", "(1/(8τ²))/⌊K/2⌋")
    )
    for tau, K, ratio in zip(taus, sizes, ratios, strict=True):
        exact, K = Fraction(tau.strip()), int(K)
        assert majority(K) > exact >= majority(K + 2)
        assert majority(K) * (1 + Fraction(1, K - 2) if K > 3 else 1) <= 2 * exact
        assert near(ratio.strip(), float(1 / (8 * exact**2)) / (K // 2))


@pytest.mark.parametrize("K", [3, 5, 7, 9])
def test_majority_coefficients(K):
    x = characters([1 << i for i in range(K)], K)
    hat = [np.mean(np.sign(x.sum(axis=0)) * x[:j].prod(axis=0)) / 2 for j in range(K + 1)]
    k = K // 2
    for j in range(K + 1):
        ratio = comb(k, j // 2) / comb(2 * k, j // 2 * 2) * (-1) ** (j // 2) if j % 2 else 0
        assert hat[j] == pytest.approx(float(majority(K)) * ratio)
    assert K == 3 or max(abs(v) for v in hat[2 : K - 1]) <= hat[1] / (K - 2) + 1e-12


# 2.7


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
    signs = np.array(
        [[1 if i in chosen else -1 for i in range(2 * e)] for chosen in combinations(range(2 * e), e)]
    )
    tried, top = 0, Fraction(0)
    for r in range(1, 2 * e):
        start = [0, *(1 << i for i in range(r))]
        for rest in combinations([x for x in range(2**r) if x not in start], 2 * e - 1 - r):
            tried += 1
            sizes = np.abs(signs[: len(signs) // 2] @ characters([*start, *rest], r))
            assert all(((sizes - c) ** 2).mean(axis=1).min() >= distance(c) for c in range(1, 10))
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


def bounds(e):
    """(2e + c^2 - ζ(c))/(8ce) for every c that can matter."""
    return [Fraction(2 * e + c * c - distance(c), 8 * c * e) for c in range(1, 60)]


def test_values_of_T():
    section = re.sub(r"\s+", " ", SECTIONS["2.7"])
    values = re.search(
        r"T\(1\), …, T\(4\) = ([^T]*), T\(6\), …, T\(12\) = ([^w]*), while 13/96 ≤ T\(5\) ≤ 11/80", section
    )
    few, more = ([Fraction(x) for x in listed.split(", ")] for listed in values.groups())
    assert few == [separation(e) for e in range(1, 5)]
    assert more == [separation(e) for e in range(6, 13)]
    for c, bound in (
        (2, lambda e: (e + 1, 8 * e)),
        (4, lambda e: (e + 6, 16 * e)),
        (8, lambda e: (e + 30, 32 * e)),
    ):
        assert all(bounds(e)[c - 1] == Fraction(*bound(e)) for e in range(1, 99))


# 2.9


def test_low_degree_advantage():
    n, s, M, eta = 4, 2, 2, 0.1
    sets = [sum(1 << i for i in chosen) for chosen in combinations(range(n), s)]
    signs = characters(sets, n) * (1 - 2 * eta)
    # Likelihood ratio at every (v_1..v_M, y_1..y_M), and its Fourier weight by degree.
    rows = np.concatenate([1 + signs, 1 - signs], axis=1)
    ratio = sum(np.multiply.outer(x, x) for x in rows).ravel() / len(sets)
    walsh_hadamard(ratio)
    weight = np.bincount(np.bitwise_count(np.arange(ratio.size)), (ratio / ratio.size) ** 2)
    for D in range(1, (s + 1) * M + 1):
        stated = sum(comb(M, t) * (1 - 2 * eta) ** (2 * t) for t in range(1, D // (s + 1) + 1)) / comb(n, s)
        assert weight[1 : D + 1].sum() == pytest.approx(stated, abs=1e-12)


# 4


def test_rank_law():
    full = {c: prod(1 - 2.0**-i for i in range(c + 1, 60)) for c in (0, 1, 2, 5, 10)}
    shown = re.search(r"For large n this is ([\d., ]+) for", " ".join(SECTIONS["4.1"].split()))[1]
    assert all(near(x, y) for x, y in zip(shown.split(", "), full.values(), strict=True))
    n, c = 3, 1
    spans = [
        reduce(lambda span, row: span | {x ^ row for x in span}, rows, {0})
        for rows in product(range(8), repeat=4)
    ]
    assert np.mean([len(x) == 2**n for x in spans]) == prod(1 - 2.0**-i for i in range(c + 1, n + c + 1))
