"""Estimates against laws of their own and against themselves."""

from math import inf, isfinite, log2

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hardness.attacks import bkw_cost, lattice_cost
from hardness.attacks.cost import LOG2_OPERATIONS_A_SECOND, rows_a_candidate
from hardness.attacks.estimate import estimates
from hardness.attacks.rounding_prices import rounding_error


def parity(n, s, eta=0.0, gadget="diag"):
    heads = s * (2 if gadget == "dot" else 1)
    return {"family": "parity", "dim": n + 1, "heads": heads, "gadget": gadget, "flip": eta}


def rounding(n, q, p, noise=0.0, gadget="diag", weight=None):
    shape = {"family": "rounding", "dim": n + 1, "modulus": q, "levels": p}
    return shape | {"weight": weight, "gadget": gadget, "noise": noise}


def assert_not_cheaper(easy, hard):
    """No attack gets cheaper between two lists of estimates; what fails or does not apply counts as infinite."""
    for before, after in zip(easy.attacks, hard.attacks, strict=True):
        assert before.name == after.name
        if before.status == "not applicable" and after.status == "ok":
            assert before.name == "sq bound"  # below one query
            continue
        low = inf if before.log2_time is None else before.log2_time
        high = inf if after.log2_time is None else after.log2_time
        assert high >= low - 1e-9, (before, after)


@settings(max_examples=60)
@given(
    st.integers(2, 200),
    st.integers(2, 12),
    st.floats(0, 0.45),
    st.floats(0, 0.04),
    st.sampled_from(["diag", "dot"]),
)
def test_parity_estimates_increase(n, s, eta, more, gadget):
    s = min(s, n)
    here = estimates(parity(n, s, eta, gadget))
    assert_not_cheaper(here, estimates(parity(n + 1, s, eta, gadget)))
    assert_not_cheaper(here, estimates(parity(n, s, eta + more, gadget)))


@settings(max_examples=6)
@given(
    st.integers(2, 70),
    st.sampled_from([(17, 2), (97, 4), (97, 8), (257, 16), (8192, 1024), (97, 97), (8, 8)]),
    st.floats(0, 3),
    st.floats(0, 3),
    st.sampled_from(["diag", "dot"]),
    st.sampled_from([None, 2]),
)
@example(4, (17, 2), 2.0, 0.0, "dot", 2)
def test_rounding_estimates_increase(n, modulus, noise, more, gadget, weight):
    here = estimates(rounding(n, *modulus, noise, gadget, weight))
    assert_not_cheaper(here, estimates(rounding(n + 1, *modulus, noise, gadget, weight)))
    assert_not_cheaper(here, estimates(rounding(n, *modulus, noise + more, gadget, weight)))


@pytest.mark.parametrize("n", [1, 2, 16, 1100])
@pytest.mark.parametrize(
    "kind", [{"family": "rounding", "modulus": 97, "levels": 2}, {"family": "parity", "flip": 0.45}]
)
def test_every_attack_is_listed_with_a_finite_figure_or_none(n, kind):
    """Bounds and tries beyond 2^1024 are figures like any other; at the smallest sizes nothing divides by zero."""
    lines = estimates({"dim": n + 1, "heads": 2 * ((n + 1) // 2), "gadget": "dot"} | kind).attacks
    assert {"sq bound", "exhaustive", "meet in the middle", "gaussian"} <= {line.name for line in lines}
    for line in lines:
        assert line.status in ("ok", "failed", "not priced", "not applicable")
        assert (line.log2_time is not None) == (line.status == "ok")
        assert line.log2_time is None or isfinite(line.log2_time)
    assert n < 1100 or (lines[0].log2_time or 0) > 1000


def rows_of_the_test(bias):
    """Expected rows of a wrong candidate until its likelihood ratio is at most 1/2, by the law of its agreements."""
    alive, rows, expected = {0: 1.0}, 0, 0.0  # number of agreements: probability
    while sum(alive.values()) > 1e-9:
        expected, rows = expected + sum(alive.values()), rows + 1
        after = {}
        for agreed, mass in alive.items():
            for more in (0, 1):
                ratio = (1 + bias) ** (agreed + more) * (1 - bias) ** (rows - agreed - more)
                if ratio > 0.5:
                    after[agreed + more] = after.get(agreed + more, 0.0) + mass / 2
        alive = after
    return expected


@pytest.mark.parametrize("bias", [1.0, 0.9, 0.5, 0.3])
def test_rows_a_candidate_bound_the_sequential_test(bias):
    exact = rows_of_the_test(bias)
    assert 0.5 * rows_a_candidate(bias) <= exact <= rows_a_candidate(bias) + 1e-6
    assert bias < 1 or exact == pytest.approx(2)


@pytest.mark.parametrize(("n", "p"), [(28, 2), (60, 8)])
def test_estimates_lie_at_or_below_what_the_attack_predicts_of_itself(n, p):
    """Without limits nothing costs more than within them, but for blocks and coordinates that are searched coarsely."""
    bias, error = bkw_cost.bias_of(97, p), rounding_error(97, p) / 97
    for held, free in (
        (bkw_cost.plan(n, bias, 0, inf), bkw_cost.price(n, bias, 0)),
        (lattice_cost.forecast(n, inf, error, False), lattice_cost.price(n, error, False)),
    ):
        assert -3 < free.time - LOG2_OPERATIONS_A_SECOND - log2(held.seconds) < 0.5
