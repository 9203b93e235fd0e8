"""The command line on theory 2.7: sq bounds, sq value, and what games against the window gained."""

from commands import answer, run_command


def test_bounds_gain_the_floors():
    lines = {
        "--dim 17 --heads 6 --tolerance 0.1": (668, 891, True),
        "--dim 17 --heads 6 --tolerance 0.25": (None, None, False),
        "--dim 5 --heads 4 --tolerance 0.3": (0, 0, True),  # of one set
    }
    for line, expected in lines.items():
        fields = answer(f"sq bounds parity {line}")
        assert tuple(fields[name] for name in ("strict", "exact_floor", "identifiable")) == expected
    assert "nothing is identifiable" in run_command("sq bounds parity --dim 17 --heads 6 --tolerance 0.3").out


def test_values():
    unknown = {"value": None, "identifiable": False}
    assert answer("sq value --independent 1001 --tolerance 0.2") == {"value": 1000}
    assert answer("sq value --independent 1 --tolerance 0.3") == {"value": 0}
    assert answer("sq value --independent 2 --tolerance 0.25") == unknown
    assert answer("sq value parity --dim 5 --heads 2 --tolerance 0.25") == unknown
    fields = answer("sq value parity --dim 5 --heads 2 --tolerance 0.15")
    assert fields == {"value": 3, "lower": 3, "upper": 3, "status": "exact"}
    fields = answer("sq value parity --dim 17 --heads 6 --tolerance 0.1 --seconds 1")
    assert fields == {"value": None, "lower": 891, "upper": 1296, "status": "bracket"}
