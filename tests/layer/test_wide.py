"""One wide head among steep ones (theory 1.5): certified by interval arithmetic, and through an own softmax."""

import numpy as np
import pytest
from softmax import wrong

from hardness.gadgets import wide
from hardness.tokens import pack


@pytest.mark.slow
def test_thirty_two_heads_hide_sixty_three_bits_at_a_price_of_227():
    made = wide.exact([0] + [1] * 63, 32)
    assert wide.certified(wide.plan(32, 63))
    assert np.abs(made.coefficients).sum() < 1.02 * wide.price(63) < 228
    assert wrong(made, pack(1 - 2 * np.random.default_rng(0).integers(0, 2, (1000, 2, 64)))) < 1e-11


def test_steps_solve_the_system_in_the_limit_of_steep_heads(monkeypatch):
    from mpmath import mp, mpf, workdps

    for heads, size in ((3, 5), (6, 11), (9, 12), (12, 23)):
        monkeypatch.setattr(wide, "STEEP", 10**24)
        with workdps(900):
            how = wide.plan(heads, size)
            values, _ = wide.equations(how, wide.steps(how), mp)
            assert max(abs(v) for v in values) < mpf(10) ** -18


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_number_off_by_1e_55_is_not_certified(monkeypatch, place):
    from mpmath import mpf, workdps

    how = wide.plan(5, 9)
    with workdps(wide.DIGITS):
        moved = tuple(x * (1 + (i == place) * mpf(10) ** -55) for i, x in enumerate(wide.solution(how)))
    assert wide.certified(how)
    monkeypatch.setattr(wide, "solution", lambda _: moved)
    assert not wide.certified(how)
