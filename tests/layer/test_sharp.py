"""Half the heads (theory 1.5), of several sharpnesses or wide and steep: exact, and through a softmax of the tests."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from softmax import on, price, wrong

from hardness.errors import InputError
from hardness.gadgets import sharp, wide
from hardness.gadgets.coefficients import bits
from hardness.instance import every_pair
from hardness.tokens import pack

# The infimum of Σ|c| over all sharpnesses at one threshold, by `cheapest` below.
LEAST = {1: 1, 2: 7, 3: 31.5809, 4: 143.6456, 5: 675.236, 6: 3289.823, 7: 16638.05, 8: 87457.07}


@pytest.mark.parametrize(
    ("dim", "heads"),
    [(8, 2), (6, 3), (8, 4), *(pytest.param(*shape, marks=pytest.mark.slow) for shape in ((9, 3), (10, 4)))],
)
@pytest.mark.parametrize("gadget", [sharp, wide])
def test_softmax_of_m_heads_is_the_parity_of_2m_minus_1_bits_on_every_input(gadget, dim, heads):
    support = np.random.default_rng(dim).permutation(np.arange(1, dim))[: 2 * heads - 1]
    closed_form = gadget.exact(on(dim, support), heads)
    assert closed_form.heads == heads == len(closed_form.layer().theta)
    assert max(wrong(closed_form, part) for part in np.array_split(every_pair(dim), 16)) < 1e-12


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("heads", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("gadget", [sharp, wide])
def test_fewer_bits_and_balance_through_the_softmax(gadget, heads, balance):
    for size in range(1, bits(gadget.__name__.rpartition(".")[2], heads, balance) + 1):
        closed_form = gadget.exact(on(size + 1, range(1, size + 1)), heads, balance)
        assert closed_form.heads == heads
        rng = np.random.default_rng(size)
        assert wrong(closed_form, pack(1 - 2 * rng.integers(0, 2, (400, 2, size + 1)))) < 1e-10
        assert closed_form.gate == 0 or not balance
        if gadget is sharp:
            assert sum(b == 0 for b in closed_form.betas) == balance
        else:
            assert wide.certified(wide.plan(heads - balance, size))


def value_over_q(heads, size, balance, t):
    """G(t) from the definition: e^(β(t - b)) = r^(2t - 2b)."""
    r, doubled, c = sharp.rational(heads, size, balance)
    total = Fraction(0)
    for sharpness, twice, coefficient in zip(r, doubled, c, strict=True):
        x = Fraction(sharpness) ** (2 * t - twice)
        total += coefficient * (x - 1) / (x + 1)
    return total


@pytest.mark.parametrize("heads", range(1, 13))
def test_exact_over_the_rationals_to_twelve_heads(heads):
    for balance in (False, True)[:heads]:
        limit = bits("sharp", heads, balance)
        for size in range(1, limit + 1) if heads < 8 else (limit,):
            values = [value_over_q(heads, size, balance, t) for t in range(size + 1)]
            assert values == [(-1) ** t for t in range(size + 1)]
    assert sharp.residual(heads, 2 * heads - 1) == 0


def test_a_wrong_coefficient_is_seen_over_q(monkeypatch):
    right = sharp.rational(3, 5)
    wrong = right._replace(
        coefficients=[right.coefficients[0] + Fraction(1, 10**40), *right.coefficients[1:]]
    )
    monkeypatch.setattr(sharp, "rational", lambda *_: wrong)
    assert 0 < sharp.residual(3, 5) < Fraction(1, 10**39)


# --- one wide head among steep ones: certified by interval arithmetic ----------------------------------------------


@pytest.mark.slow
def test_thirty_two_heads_hide_sixty_three_bits_at_a_price_of_227():
    gadget = wide.exact([0] + [1] * 63, 32)
    assert wide.certified(wide.plan(32, 63))
    assert np.abs(gadget.coefficients).sum() < 1.02 * price(63) < 228
    assert wrong(gadget, pack(1 - 2 * np.random.default_rng(0).integers(0, 2, (1000, 2, 64)))) < 1e-11


def test_steps_solve_the_system_in_the_limit_of_steep_heads(monkeypatch):
    for heads, size in ((3, 5), (6, 11), (9, 12), (12, 23)):
        monkeypatch.setattr(wide, "STEEP", 10**24)
        with mpmath.workdps(900):
            how = wide.plan(heads, size)
            values, _ = wide.equations(how, wide.steps(how), mpmath.mp)
            assert max(abs(v) for v in values) < mpmath.mpf(10) ** -18


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_number_off_by_1e_55_is_not_certified(monkeypatch, place):
    how = wide.plan(5, 9)
    with mpmath.workdps(wide.DIGITS):
        moved = tuple(
            x * (1 + (i == place) * mpmath.mpf(10) ** -55) for i, x in enumerate(wide.solution(how))
        )
    assert wide.certified(how)
    monkeypatch.setattr(wide, "solution", lambda _: moved)
    assert not wide.certified(how)


# --- the least there is --------------------------------------------------------------------------------------------


def cheapest(m, start):
    """(infimum of Σ|c|, the β of its finite heads) of m heads at one threshold, by Remez' exchange in the dual.

    By duality the infimum is the largest Σ λ_k (-1)^(m-1+k) with |P(β)| <= 1 for all β, P(β) = Σ λ_k tanh(β x_k/2);
    at the optimum P alternates between ±1 at the sharpnesses, the last of which is infinite.
    """
    x = [mpmath.mpf(2 * k - 1) / 2 for k in range(1, m + 1)]
    w = mpmath.matrix([(-1) ** (m - 1 + k) for k in range(1, m + 1)])
    signs = mpmath.matrix([(-1) ** (m - 1 - i) for i in range(m)])
    grid = [mpmath.mpf(j) / 50 - 6 for j in range(500)]
    while True:
        rows = [[mpmath.tanh(b * y / 2) for y in x] for b in start] + [[1] * m]
        dual = mpmath.lu_solve(mpmath.matrix(rows), signs)

        def slope(u, dual=dual):
            b = mpmath.exp(u)
            return sum(v * y * mpmath.sech(b * y / 2) ** 2 for v, y in zip(dual, x, strict=True))

        values = [slope(u) for u in grid]
        brackets = [(a, b) for (a, f), (b, g) in pairwise(zip(grid, values, strict=True)) if f * g < 0]
        sharpnesses = [
            mpmath.exp(mpmath.findroot(slope, b, solver="anderson", tol=1e-40)) for b in brackets[1 - m :]
        ]
        if max(abs(b / a - 1) for a, b in zip(sharpnesses, start, strict=True)) < 1e-15:
            primal = mpmath.lu_solve(mpmath.matrix(rows).T, w)
            assert all(
                c * s > 0 for c, s in zip(primal, signs * signs[0] * mpmath.sign(primal[0]), strict=True)
            )
            value = abs(sum(v * s for v, s in zip(dual, w, strict=True)))
            assert abs(mpmath.norm(primal, 1) / value - 1) < 1e-12  # primal and dual meet: the optimum
            return value, sharpnesses
        start = sharpnesses


@pytest.mark.slow
def test_the_table_is_near_the_least():
    with mpmath.workdps(60):
        betas = [mpmath.mpf("1.4")]
        for m in range(2, 13):
            value, betas = cheapest(m, betas)
            assert m not in LEAST or abs(value / LEAST[m] - 1) < 1e-5
            assert float(sum(map(abs, sharp.rational(m, 2 * m - 1).coefficients))) <= 1.021 * value
            middles = [(a + b) / 2 * mpmath.mpf("0.9") for a, b in pairwise(betas)]
            betas = [betas[0] * mpmath.mpf("0.55"), *middles, betas[-1] * mpmath.mpf("1.2")]


def test_m_heads_hide_m_plus_q_minus_1_bits_at_a_price_that_is_linear_in_m():
    """Σ|c| < 2 Σ|c| of q heads + (m - q) for steps (theory 1.5), and pairs of sharpness 64 are within 6 % of these."""
    for q in range(1, 7):
        for p in range(1, 7):
            total = float(sum(map(abs, sharp.rational(q + 2 * p, 2 * (q + p) - 1).coefficients)))
            assert total < 1.06 * (2 * LEAST[q] + 2 * p)


@pytest.mark.parametrize(("plan", "shape"), [(sharp.rational, (13, 25)), (wide.plan, (33, 65))])
def test_more_heads_than_a_layer_is_made_of_are_refused(plan, shape):
    with pytest.raises(InputError, match=r"13 sharpnesses at one threshold|up to 32 heads"):
        plan(*shape)
