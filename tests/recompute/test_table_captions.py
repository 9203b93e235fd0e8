"""The numbers of captions of tables on two pages, from rows, tuning and formulas: nothing of the lab."""

import re

from committed import ROOT, tables

STUDY = ROOT / "learner" / "studies" / "exponential_in_m"
WORDS = ("zero", "one", "two", "three", "four", "five") + ("",) * 10 + ("sixteen",)
Place = tuple[int, int]


def captioned(study: str, start: str) -> tuple[str, list[list[str]]]:
    """A caption and the lines under it."""
    (table,) = [(caption, lines) for caption, lines in tables(study).items() if caption.startswith(start)]
    return table


def test_a_bound_that_says_nothing() -> None:
    caption, lines = captioned("needs", "What m heads buy")
    for base, power in re.findall(r"\((\d)\^(\d) says nothing\)", caption):
        assert int(base) ** int(power) == 1  # a query
        assert any(f"{base}^{power}" in line for line in lines)
