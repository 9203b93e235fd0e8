"""Half the heads (theory 1.5), of several sharpnesses or wide and steep: exact, and through a softmax of the tests."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from softmax import on, price, wrong

from hardness.errors import InputError
from hardness.gadgets import sharp, wide
from hardness.gadgets.coefficients import bits
from hardness.instance import every_pair
from hardness.tokens import pack

# The infimum of Σ|c| over all sharpnesses at one threshold
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
        assert sum(b == 0 for b in closed_form.betas) == balance
    assert gadget.proved(heads, size, balance)[0]


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
    r, doubled, c = sharp.rational(3, 5)
    wrong = r, doubled, [c[0] + Fraction(1, 10**40), *c[1:]]
    monkeypatch.setattr(sharp, "rational", lambda *_: wrong)
    assert 0 < sharp.residual(3, 5) < Fraction(1, 10**39)


# --- one wide head among steep ones: certified by interval arithmetic ----------------------------------------------


@pytest.mark.slow
def test_thirty_two_heads_hide_sixty_three_bits_at_a_price_of_227():
    gadget = wide.exact([0] + [1] * 63, 32)
    assert wide.certified(32)
    assert np.abs(gadget.coefficients).sum() < 1.02 * price(63) < 228
    assert wrong(gadget, pack(1 - 2 * np.random.default_rng(0).integers(0, 2, (1000, 2, 64)))) < 1e-11


def test_steps_solve_the_system_in_the_limit_of_steep_heads(monkeypatch):
    for heads in (3, 6, 12):
        monkeypatch.setattr(wide, "STEEP", 10**24)
        with mpmath.workdps(900):
            values, _ = wide.equations(heads, wide.steps(heads), mpmath.mp)
            assert max(abs(v) for v in values) < mpmath.mpf(10) ** -18


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_number_off_by_1e_55_is_not_certified(monkeypatch, place):
    with mpmath.workdps(wide.DIGITS):
        moved = tuple(x * (1 + (i == place) * mpmath.mpf(10) ** -55) for i, x in enumerate(wide.solution(5)))
    assert wide.certified(5)
    monkeypatch.setattr(wide, "solution", lambda _: moved)
    assert not wide.certified(5)


# --- the least there is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "least"), LEAST.items())
def test_the_table_is_near_the_least(m, least):
    """The infimum by a linear program over a fine grid of sharpnesses."""
    betas = np.r_[np.geomspace(1e-3, 10, 1000), np.inf]
    tanh = np.tanh(np.outer(np.arange(1, 2 * m, 2), betas) / 4)
    program = linprog(np.ones(2 * len(betas)), A_eq=np.hstack([tanh, -tanh]), b_eq=(-1.0) ** np.arange(m))
    assert program.fun == pytest.approx(least, rel=1e-4)
    assert float(sum(map(abs, sharp.rational(m, 2 * m - 1)[2]))) <= 1.021 * least


def test_m_heads_hide_m_plus_q_minus_1_bits_at_a_price_that_is_linear_in_m():
    """Σ|c| < 2 Σ|c| of q heads + (m - q) for steps (theory 1.5), and pairs of sharpness 64 are within 6 % of these."""
    for q in range(1, 7):
        for p in range(1, 7):
            total = float(sum(map(abs, sharp.rational(q + 2 * p, 2 * (q + p) - 1)[2])))
            assert total < 1.06 * (2 * LEAST[q] + 2 * p)


@pytest.mark.parametrize(("gadget", "heads"), [(sharp, 13), (wide, 33)])
def test_more_heads_than_a_layer_is_made_of_are_refused(gadget, heads):
    with pytest.raises(InputError, match=r"13 sharpnesses at one threshold|up to 32 heads"):
        gadget.exact([0] + [1] * (2 * heads - 1), heads)
