"""The command line on theory 2.7: sq bounds, sq value, and what games against the window gained."""

from commands import answer, run_command


def test_bounds_gain_the_floors() -> None:
    fields = answer("sq bounds parity --dim 17 --heads 6 --tolerance 0.1")
    assert (fields["strict"], fields["exact_floor"], fields["identifiable"]) == (668, 891, True)
    fields = answer("sq bounds parity --dim 17 --heads 6 --tolerance 0.25")
    assert (fields["strict"], fields["exact_floor"], fields["identifiable"]) == (None, None, False)
    fields = answer("sq bounds parity --dim 5 --heads 4 --tolerance 0.3")
    assert (fields["concepts"], fields["strict"], fields["exact_floor"], fields["identifiable"]) == (
        1,
        0,
        0,
        True,
    )
    assert "nothing is identifiable" in run_command("sq bounds parity --dim 17 --heads 6 --tolerance 0.3").out


def test_value_of_independent_parities() -> None:
    assert answer("sq value --independent 1001 --tolerance 0.2") == {"value": 1000}
    assert answer("sq value --independent 1 --tolerance 0.3") == {"value": 0}
    unknown = {"value": None, "identifiable": False}
    assert answer("sq value --independent 2 --tolerance 0.25") == unknown


def test_value_of_a_class() -> None:
    fields = answer("sq value parity --dim 5 --heads 2 --tolerance 0.15")
    assert fields == {"value": 3, "lower": 3, "upper": 3, "status": "exact"}
    fields = answer("sq value parity --dim 17 --heads 6 --tolerance 0.1 --seconds 1")
    assert fields == {"value": None, "lower": 891, "upper": 1296, "status": "bracket"}
    fields = answer("sq value parity --dim 5 --heads 2 --tolerance 0.25")
    assert (fields["value"], fields["identifiable"]) == (None, False)
