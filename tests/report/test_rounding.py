"""Bounds in print: never on the wrong side of what they bound, and no further from it than their last digit."""

from fractions import Fraction
from math import inf, log2
from typing import Any

import pytest
from commands import answer, run_command
from hypothesis import given
from hypothesis import strategies as st

from hardness.io.rounding import at_least, at_least_power, at_most, at_most_power, bounded
from hardness.report.rounding import FORMS

FLOATS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
NUMBERS = FLOATS | st.integers(-(10**400), 10**400) | st.fractions()


def meant(value: float | Fraction) -> Fraction:
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def read(text: str) -> Fraction:
    """What a printed number says."""
    return Fraction(text.replace(",", "").replace("−", "-"))


@given(NUMBERS, st.integers(1, 6))
def test_a_printed_bound_is_on_the_right_side_and_near(value: float | Fraction, digits: int) -> None:
    below, above = read(at_least(value, digits)), read(at_most(value, digits))
    assert below <= meant(value) <= above
    coarsest = max(1, abs(meant(value))) if abs(meant(value)) >= 1 else abs(meant(value))
    assert above - below <= coarsest * Fraction(10, 10**digits) * 10 or above - below <= 1
    assert (below == above) == (below == meant(value))


@given(st.floats(0, 1e6), st.integers(0, 4))
def test_a_printed_logarithm_is_on_the_right_side_and_within_one_place(log2: float, places: int) -> None:
    below, above = (
        read(text.removeprefix("2^")) for text in (at_least_power(log2, places), at_most_power(log2, places))
    )
    assert below <= meant(log2) <= above
    assert above - below <= Fraction(1, 10**places)


def test_what_is_no_number_is_said_so() -> None:
    assert (at_least(None), at_least(inf), at_most(-inf), at_least(0.0)) == ("–", "∞", "−∞", "0")
    for value in (float("nan"), "many"):
        with pytest.raises(ValueError, match=r"Fraction|float"):
            bounded(value, up=True)
    assert {"at_least", "at_most", "at_least_power", "at_most_power"} <= set(FORMS)


def both(line: str) -> tuple[list[list[str]], dict[str, Any]]:
    """What a command prints for people, in words, and its JSON, which is not rounded."""
    return [row.split() for row in run_command(line).out.splitlines()], answer(line)


def test_commands_print_no_bound_above_what_is_proved() -> None:
    for dim, heads in ((17, 4), (64, 6), (129, 30), (257, 64)):
        words, exact = both(f"sq bounds parity --dim {dim} --heads {heads} --tolerance 0.07")
        for name, text, *_ in words:
            known = log2(exact["concepts" if name == "concepts" else name])
            shown = Fraction(text[2:]) if text.startswith("2^") else Fraction(log2(read(text)))
            assert 0 <= known - shown < 0.01, (dim, name)
        words, exact = both(f"estimate parity --dim {dim} --heads {heads} --tolerance 0.07")
        shown = Fraction(words[0][2].removeprefix("2^"))
        assert words[0][:2] == ["sq", "bound"]
        assert 0 <= Fraction(exact["attacks"][0]["log2_time"]) - shown <= Fraction(1, 10)


def test_games_print_bounds_rounded_down_and_ratios_up() -> None:
    line = "sq play parity --dim 11 --heads 3 --tolerance 0.1 --strategy sign-batch --seed 0"
    words, exact = both(line)
    shown = {row[0]: read(row[1]) for row in words if row[0] != "status"}
    assert shown["bound"] <= Fraction(exact["bound"]) < shown["bound"] * Fraction("1.0001")
    assert shown["ratio"] >= Fraction(exact["ratio"]) > shown["ratio"] * Fraction("0.9999")
