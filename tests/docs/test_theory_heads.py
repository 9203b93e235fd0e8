"""Theory 1.5 in numbers: half the heads, and what they cost; by brute force and in rationals."""

from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import comb, e, exp, factorial, log, pi, sqrt

import mpmath
import numpy as np
import pytest
from softmax import price, softmax_layer
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from theory_page import SECTIONS

from hardness.gadgets import coefficients, sharp, wide

TEXT = " ".join(SECTIONS["1.5"].split())
LEAST = (1, 7, 31.58, 143.65, 675.24, 3289.8, 16638.1, 87457.1)  # reproduced by tests/layer/test_sharp.py


def places(q):
    return [Fraction(2 * k - 1, 2) for k in range(1, q + 1)]


def interpolation(q, k):
    """Π (x_j + x_k)/|x_j - x_k| over j ≠ k."""
    x = places(q)
    return reduce(
        lambda a, b: a * b, ((y + x[k]) / abs(y - x[k]) for j, y in enumerate(x) if j != k), Fraction(1)
    )


def test_least_price_of_one_threshold_is_as_printed_and_above_its_bound():
    assert "1, 7, 31.6, 143.6, 675, 3290, 16638, 87457" in TEXT
    for q, least in enumerate(LEAST, 1):
        terms = [interpolation(q, k) for k in range(q)]
        for k, term in enumerate(terms, 1):
            closed = Fraction(factorial(q + k - 1), (2 * k - 1) * factorial(k - 1) ** 2 * factorial(q - k))
            n, j = q - 1, k - 1
            assert term == closed == Fraction(comb(n, j) * comb(n + j, j) * (n + j + 1), 2 * j + 1)
        assert float(max(terms)) / (e * (q + 1)) <= least <= 4 * float(sum(terms))
    delannoy = [sum(comb(n, j) * comb(n + j, j) for j in range(n + 1)) for n in (199, 200)]
    assert delannoy[1] / delannoy[0] == pytest.approx(3 + 2 * sqrt(2), rel=3e-3)


def test_tanh_on_a_sector_and_the_factors_of_the_lower_bound():
    for q in (1, 2, 5, 20):
        theta = pi / 2 * q / (q + 1)
        z = np.exp(np.linspace(-6, 6, 4001))[:, None] * np.exp(1j * np.linspace(0, theta, 31))
        bound = 1 / np.tanh(pi / 4 / np.tan(theta))
        assert np.abs(np.tanh(z)).max() <= bound + 1e-9 <= q + 1 + 1e-9
        nu = 1 + 1 / q
        u = np.linspace(0.01, 9, 500)
        lost = np.log(np.tanh(nu * u / 2)) - np.log(np.tanh(u / 2))
        assert (lost <= 1 / q + 1e-12).all()


@pytest.mark.parametrize("omega", [0.0, 0.7, 3.0, 14.13])
def test_transform_of_the_kernel_is_zeta_on_the_line_where_it_has_no_zero(omega):
    with mpmath.workdps(30):
        s = mpmath.mpc(0, omega)
        integral = mpmath.quad(
            lambda x: mpmath.exp(-s * mpmath.log(x)) / mpmath.cosh(x) ** 2, [1e-30, 1e-9, 1e-3, 1, 40]
        )
        stated = 4 * (1 - 2 ** (1 + s)) * 2 ** (s - 1) * mpmath.gamma(1 - s) * mpmath.zeta(-s)
        assert abs(integral - stated) < 1e-7
        if omega:
            size = abs(1 - 2 ** (1 + s)) * omega * abs(mpmath.zeta(1 + s)) / mpmath.cosh(pi * omega / 2)
            assert abs(stated) == pytest.approx(float(size), rel=1e-9)


def test_function_of_the_upper_bound_interpolates_and_is_bounded_on_the_imaginary_axis():
    q = 6
    x = [float(v) for v in places(q)]

    def value(z):
        parts = []
        for k, xk in enumerate(x):
            part = (-1) ** (q - 1 + k) * 4 * z * xk / (z + xk) ** 2
            for j, xj in enumerate(x):
                part *= 1 if j == k else (z - xj) * (xk + xj) / ((z + xj) * (xk - xj))
            parts.append(part)
        return sum(parts)

    assert [value(v) for v in x] == pytest.approx([(-1) ** (q - 1 + k) for k in range(q)])
    prices = [float(interpolation(q, k)) for k in range(q)]
    step = 1e-6
    for y in np.exp(np.linspace(-8, 8, 200)):
        bound = sum(2 * p / np.cosh(log(y) - log(v)) for p, v in zip(prices, x, strict=True))
        assert abs(value(1j * y)) <= bound * (1 + 1e-12)
        slope = (value(1j * y * exp(step)) - value(1j * y * exp(-step))) / (2 * step)
        assert abs(slope) <= q * bound * (1 + 1e-6)


def steps_price(r, s):
    return 2 * (r**s + r * r) / (r * r - 1) - 1


def test_linear_price_is_as_printed():
    grid = 1 + np.exp(np.linspace(-6, 3, 4001))
    prices = {m: min(steps_price(grid, 2 * m - 1)) if m > 1 else 1 for m in (1, 2, 3, 4, 5, 6, 8, 16)}
    assert "1, 7, 14.28, 21.49, 28.69, 35.88, 50.25, 107.7 for m = 1, 2, 3, 4, 5, 6, 8, 16" in TEXT
    assert [float(f"{v:.4g}") for v in prices.values()] == [1, 7, 14.28, 21.49, 28.69, 35.88, 50.25, 107.7]
    u = 1.2784645427610738
    assert ((u - 1) * exp(u), exp(u)) == (pytest.approx(1), pytest.approx(3.5911, abs=5e-5))
    for s in range(3, 399, 2):
        assert steps_price(exp(u / s), s) <= exp(u) * s + 1
        r = float(wide.ratio(s))
        assert s < steps_price(r, s) <= 3.6 * s
    for s in (5, 11, 31):
        r = min(grid, key=lambda r, s=s: steps_price(r, s))
        assert (s - 2) * r**s == pytest.approx(s * r ** (s - 2) + 2, rel=2e-3)


def test_lower_bounds_on_coefficients_hold_for_all_layers_of_the_lab():
    for s in range(1, 16):
        gadgets = {
            "steep diag": coefficients.exact(
                "diag", [0] + [1] * s, range(s + 1), [(-1) ** t for t in range(s + 1)], 2**16
            ),
            "sharp": sharp.exact([0] + [1] * s, s // 2 + 1),
            "wide": wide.exact([0] + [1] * s, s // 2 + 1),
        }
        floor = 2 ** (s - 1) / comb(s - 1, (s - 1) // 2)
        for name, gadget in gadgets.items():
            total = np.abs(gadget.coefficients).sum()
            assert total >= s * (1 - 1e-12), name
            assert total >= floor, name
        assert np.abs(gadgets["steep diag"].coefficients).sum() < s * 1.001
        assert s not in range(3, 16, 2) or np.abs(gadgets["wide"].coefficients).sum() < 1.05 * price(s)
        assert floor == pytest.approx(sqrt(pi * s / 2), rel=0.5 / s + 0.26 * (s == 1))


def test_influence_of_heads_is_bounded_by_that_of_majority():
    rng = np.random.default_rng(0)
    for s in (3, 6, 9):
        x = np.array(list(product((-1, 1), repeat=s)))
        bound = s * comb(s - 1, (s - 1) // 2) / 2 ** (s - 1)
        assert np.abs(x.sum(axis=1)).mean() == pytest.approx(bound)
        for _ in range(50):
            f = np.tanh(rng.normal(0, 3) + x @ rng.standard_cauchy(s))
            first = [(f * x[:, j]).mean() for j in range(s)]
            along = [np.abs(f[x[:, j] == 1] - f[x[:, j] == -1]).mean() / 2 for j in range(s)]
            assert np.abs(first) == pytest.approx(along)
            assert np.abs(first).sum() <= bound + 1e-12


def test_dot_takes_one_head_more_than_bits():
    """(-1)^t on -s..s+1 by s + 1 heads at the threshold 1/2; through a softmax with the matrices of dot."""
    s, heads = 3, 4
    r, _, c = sharp.rational(heads, 2 * heads - 1)
    rng = np.random.default_rng(0)
    X = 1 - 2 * rng.integers(0, 2, (500, 2, s + 1)).astype(float)
    theta, w = np.zeros((2, heads, s + 1, s + 1))
    betas = 2 * np.log(np.array(r, float))
    theta[:, 0, 1:] = betas[:, None] / 2
    theta[:, 0, 0] = -betas / 4  # the threshold 1/2
    w[:, 0, 0] = c
    F = softmax_layer(theta, w, X)[:, :, 0]
    opened = X[:, 0, 0] != X[:, 1, 0]
    parity = (X[:, 0, 1:] * X[:, 1, 1:]).prod(axis=1)
    right = -((-1) ** heads) * X[:, :, 0] * parity[:, None]  # (-1)^t at the levels t + s of the diag parity
    assert np.abs(F - right)[opened].max() < 1e-10


def test_nine_heads_at_one_threshold_hide_nineteen_bits():
    """The determinant of theory 1.5 changes sign in rationals, and where it vanishes nine columns are independent."""
    rest = [Fraction(r) for r in ["4/3", "7/5", "3/2", "5/3", "11/6", "21/10", "5/2", "3"]]
    n = 10
    columns = [[sharp.tanh(r, 2 * k - 1) for k in range(1, n + 1)] for r in rest]
    signs = [Fraction((-1) ** k) for k in range(1, n + 1)]

    def cofactors(others, rows):
        """What multiplies the entries of the column of ρ in the determinant over these rows."""
        picked = [[QQ(column[k].numerator, column[k].denominator) for k in rows] for column in others]
        minors = [
            DomainMatrix([row[:i] + row[i + 1 :] for row in picked], (len(rows) - 1,) * 2, QQ).det()
            for i in rows
        ]
        return [(-1) ** i * Fraction(int(v.numerator), int(v.denominator)) for i, v in enumerate(minors)]

    whole = cofactors([*columns, signs], range(n))
    minor = cofactors(columns, range(n - 1))  # of the first nine columns, without the last row

    def value(factors, r):
        return sum(f * sharp.tanh(r, 2 * k - 1) for k, f in enumerate(factors, 1))

    low, high = Fraction(15, 4), Fraction(4)
    assert value(whole, low) * value(whole, high) < 0
    while high - low > Fraction(1, 2**80):
        middle = (low + high) / 2
        low, high = (low, middle) if value(whole, low) * value(whole, middle) <= 0 else (middle, high)
    ends = [[f * sharp.tanh(r, 2 * k - 1) for k, f in enumerate(minor, 1)] for r in (low, high)]
    smallest, largest = (sum(map(pick, *ends)) for pick in (min, max))  # tanh is monotone in ρ
    assert smallest * largest > 0
    with mpmath.workdps(60):
        r = [
            *(mpmath.mpf(v.numerator) / v.denominator for v in rest),
            mpmath.mpf(low.numerator) / low.denominator,
        ]
        rows = [[(v ** (2 * k - 1) - 1) / (v ** (2 * k - 1) + 1) for v in r] for k in range(1, n + 1)]
        c = mpmath.lu_solve(mpmath.matrix(rows[:-1]), mpmath.matrix([-((-1) ** k) for k in range(1, n)]))
        for k, row in enumerate(rows, 1):
            assert abs(sum(x * y for x, y in zip(row, c, strict=True)) + (-1) ** k) < 1e-12


def ratios(k, s, y):
    """The values of Q at y = e^(-β), with the sign part of the label; None where two labels meet at one of them."""
    wanted = {}
    for opposite in range(1, k):
        for levels in product(range(s + 1), repeat=k - 1):
            differ, agree = levels[:opposite], levels[opposite:]
            q = sum((y**t for t in differ), Fraction(0)) / (1 + sum(y**t for t in agree))
            value = (-1) ** sum(differ) if opposite == k - 1 else 0
            if wanted.setdefault(q, value) != value:
                return None
    return wanted


def heads_of(wanted):
    """Thresholds e^(-βb) midway between the values of Q, and (c, A), in the precision at hand."""
    points = sorted(wanted)
    q = [mpmath.mpf(v.numerator) / v.denominator for v in points]
    a = [(u + v) / 2 for u, v in pairwise(q)]
    system = mpmath.matrix([[(x - v) / (x + v) for x in a] + [-1] for v in q])
    *c, A = mpmath.lu_solve(system, mpmath.matrix([wanted[v] for v in points]))
    return a, c, A


def test_values_of_the_softmax_that_have_no_heads():
    """Theory 1.6 names 1/4 and 1/2 at k = 3, and 1/3 at k = 4."""
    for s in (1, 2, 3, 4):
        assert ratios(3, s, Fraction(1, 4)) is None
        assert (ratios(3, s, Fraction(1, 2)) is None) == (s >= 2)
        assert ratios(3, s, Fraction(3, 20)) is not None
    assert ratios(4, 1, Fraction(1, 3)) is None


@pytest.mark.parametrize(("k", "s"), [(3, 1), (3, 2), (3, 3), (3, 5), (4, 1), (4, 2), (5, 2)])
def test_as_many_points_of_one_label_as_theory_says(k, s):
    """(s + 1) C(s + k - 2, k - 2) with one opposite gate, at all but a few y; each takes a head."""
    for y in (Fraction(3, 20), Fraction(7, 10), Fraction(5, 6)):
        wanted = ratios(k, s, y)
        level = (s + 1) * comb(s + k - 2, k - 2)
        alone = {
            y**b / (1 + sum(y**t for t in agree))
            for b in range(s + 1)
            for agree in product(range(s + 1), repeat=k - 2)
        }
        assert len(alone) == level <= len(wanted) - 1
        assert {wanted[q] for q in alone} == {0}


@pytest.mark.parametrize(
    ("k", "s", "total"), [(3, 1, "9.4e+4"), (3, 2, "2.4e+11"), (3, 3, "1.3e+21"), (4, 1, "2.3e+13")]
)
def test_coefficients_of_more_than_two_tokens_explode(k, s, total):
    y = Fraction(3, 20)
    with mpmath.workdps(120):
        _, c, _ = heads_of(ratios(k, s, y))
        sum_ = sum(map(abs, c))
        assert mpmath.nstr(sum_, 2) == total
        assert float(sum_) >= 4 * (k - 2) * y ** (1 - s) / (1 - y)
    mantissa, exponent = total.split("e+")
    assert f"{mantissa}·10{exponent.translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}" in SECTIONS["1.6"]


def test_three_tokens_hide_a_parity_where_one_gate_stands_alone():
    """Theory 1.6 at k = 3, s = 2: heads by theorem 1.2 in the variable Q, through a softmax of forty digits."""
    k, s, y = 3, 2, Fraction(3, 20)
    wanted = ratios(k, s, y)
    assert (s + 1) * comb(s + k - 2, k - 2) <= len(wanted) - 1 == (s + 1) ** 2 + comb(s + 2, 2) - 1
    rng, d, S, worst = np.random.default_rng(0), 5, [1, 3], 0
    seen = set()
    with mpmath.workdps(40):
        a, c, A = heads_of(wanted)
        half = -mpmath.log(mpmath.mpf(y.numerator) / y.denominator) / 2
        for X in 1 - 2 * rng.integers(0, 2, (30, k, d)):
            F = [mpmath.mpf(0)] * k
            for x, coefficient in zip(a, c, strict=True):
                # -βb/2 with e^(-βb) = x
                theta = [mpmath.log(x) / 2] + [half if j in S else 0 for j in range(1, d)]
                for row in range(k):
                    weight = [
                        mpmath.exp(sum(theta[j] * X[row, j] * X[b, j] for j in range(d))) for b in range(k)
                    ]
                    F[row] += coefficient * sum(w * X[b, 0] for b, w in enumerate(weight)) / sum(weight)
            for row in range(k):
                differing = int((X[:, 0] != X[row, 0]).sum())
                # Of v, which pairs the row with each other token
                parity = int(X[:, S].prod() * X[row, S].prod() ** k)
                expected = {0: sum(c), k - 1: A + parity}.get(differing, A)
                worst = max(worst, abs(F[row] - X[row, 0] * expected))
                seen.add((differing, parity))
    assert worst < 1e-20
    assert len(seen) == 6
