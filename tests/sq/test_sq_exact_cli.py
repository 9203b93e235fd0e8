"""The command line on theory 2.7: sq bounds, sq value, and what games against the window gained."""

import json

import pytest

from hardness.cli import run


def answer(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, object]:
    assert run(line.split()) == 0
    out, _ = capsys.readouterr()
    found: dict[str, object] = json.loads(out)
    return found


def test_bounds_gain_the_floors(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "sq bounds parity --dim 17 --heads 6 --tolerance 0.1 --json")
    assert (found["strict"], found["exact_floor"], found["identifiable"]) == (668, 891, True)
    found = answer(capsys, "sq bounds parity --dim 17 --heads 6 --tolerance 0.25 --json")
    assert (found["strict"], found["exact_floor"], found["identifiable"]) == (None, None, False)
    found = answer(capsys, "sq bounds parity --dim 5 --heads 4 --tolerance 0.3 --json")
    assert (found["concepts"], found["strict"], found["exact_floor"], found["identifiable"]) == (1, 0, 0, True)
    assert run(["sq", "bounds", "parity", "--dim", "17", "--heads", "6", "--tolerance", "0.3"]) == 0
    assert "nothing is identifiable" in capsys.readouterr().out


def test_value_of_independent_parities(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "sq value --independent 1001 --tolerance 0.2 --json") == {"value": 1000}
    assert answer(capsys, "sq value --independent 1 --tolerance 0.3 --json") == {"value": 0}
    unknown = {"value": None, "identifiable": False}
    assert answer(capsys, "sq value --independent 2 --tolerance 0.25 --json") == unknown


def test_value_of_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "sq value parity --dim 5 --heads 2 --tolerance 0.15 --json")
    assert found == {"value": 3, "lower": 3, "upper": 3, "status": "exact"}
    found = answer(capsys, "sq value parity --dim 17 --heads 6 --tolerance 0.1 --seconds 1 --json")
    assert found == {"value": None, "lower": 891, "upper": 1296, "status": "bracket"}
    found = answer(capsys, "sq value parity --dim 5 --heads 2 --tolerance 0.25 --json")
    assert (found["value"], found["identifiable"]) == (None, False)


def test_games_gain_the_floor(capsys: pytest.CaptureFixture[str]) -> None:
    line = "sq play parity --dim 9 --heads 3 --tolerance 0.1 --strategy {} --json --seed 1"
    for strategy in ("flat", "sign-batch", "characters"):
        found = answer(capsys, line.format(strategy))
        assert (found["status"], found["exact_floor"]) == ("solved", 8)
        assert found["floor_ratio"] == pytest.approx(found["queries"] / 8)
        assert found["ratio"] == pytest.approx(found["queries"] / found["bound"])
    assert "exact_floor" not in answer(capsys, line.format("flat --oracle null"))


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for options in ("--independent 5", "--independent 5 --tolerance nan", "--independent 1000 --tolerance 0.001"):
        assert run(f"sq value {options}".split()) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: ")
        assert err.count("\n") == 1
