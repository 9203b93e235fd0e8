"""The command line on theory 2.7: sq bounds, sq value, and what games against the window gained."""

import pytest
from commands import answer, told


def test_bounds_gain_the_floors() -> None:
    found = answer("sq bounds parity --dim 17 --heads 6 --tolerance 0.1")
    assert (found["strict"], found["exact_floor"], found["identifiable"]) == (668, 891, True)
    found = answer("sq bounds parity --dim 17 --heads 6 --tolerance 0.25")
    assert (found["strict"], found["exact_floor"], found["identifiable"]) == (None, None, False)
    found = answer("sq bounds parity --dim 5 --heads 4 --tolerance 0.3")
    assert (found["concepts"], found["strict"], found["exact_floor"], found["identifiable"]) == (
        1,
        0,
        0,
        True,
    )
    assert "nothing is identifiable" in told("sq bounds parity --dim 17 --heads 6 --tolerance 0.3").out


def test_value_of_independent_parities() -> None:
    assert answer("sq value --independent 1001 --tolerance 0.2") == {"value": 1000}
    assert answer("sq value --independent 1 --tolerance 0.3") == {"value": 0}
    unknown = {"value": None, "identifiable": False}
    assert answer("sq value --independent 2 --tolerance 0.25") == unknown


def test_value_of_a_class() -> None:
    found = answer("sq value parity --dim 5 --heads 2 --tolerance 0.15")
    assert found == {"value": 3, "lower": 3, "upper": 3, "status": "exact"}
    found = answer("sq value parity --dim 17 --heads 6 --tolerance 0.1 --seconds 1")
    assert found == {"value": None, "lower": 891, "upper": 1296, "status": "bracket"}
    found = answer("sq value parity --dim 5 --heads 2 --tolerance 0.25")
    assert (found["value"], found["identifiable"]) == (None, False)


def test_games_gain_the_floor() -> None:
    line = "sq play parity --dim 9 --heads 3 --tolerance 0.1 --strategy {} --seed 1"
    for strategy in ("flat", "sign-batch", "characters"):
        found = answer(line.format(strategy))
        assert (found["status"], found["exact_floor"]) == ("solved", 8)
        assert found["floor_ratio"] == pytest.approx(found["queries"] / 8)
        assert found["ratio"] == pytest.approx(found["queries"] / found["bound"])
    assert "exact_floor" not in answer(line.format("flat --oracle null"))
