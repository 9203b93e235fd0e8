"""The table of results beside this file: a number that moves is a decision (`tests/support/kept.py`)."""

from pathlib import Path

from kept import moved


def test_no_result_has_moved() -> None:
    assert moved(Path(__file__).with_name("kept.json")) == []
