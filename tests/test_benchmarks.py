"""Races on a clock of their own, and the committed page as a function of its rows; no machine is timed here."""

from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import benchmarks.__main__ as page
from benchmarks.harness import race, read_rows


class Clock:
    """A clock that only calls move; every tenth time the machine is three times as slow for a while."""

    def __init__(self):
        self.now, self.calls = 0.0, 0

    def __call__(self):
        return self.now

    def lasting(self, seconds):
        def call():
            self.calls += 1
            self.now += seconds * (3 if self.calls // 50 % 10 == 9 else 1)

        return call


@settings(max_examples=20)
@given(st.floats(1e-2, 10), st.floats(1e-2, 10))
def test_a_race_finds_the_ratio_whatever_slows_all_down(ours, theirs):
    clock = Clock()
    entrants = {
        "ours": clock.lasting(ours),
        "slow: a": clock.lasting(2 * theirs),
        "fast: b": clock.lasting(theirs),
    }
    times = race(entrants, seconds=200 * (ours + 3 * theirs), clock=clock)
    assert median(times["fast: b"] / times["ours"]) == pytest.approx(theirs / ours)
    assert median(times["slow: a"] / times["ours"]) == pytest.approx(2 * theirs / ours)


def test_the_committed_page_is_made_of_the_committed_rows(tmp_path):
    page.publish(read_rows(page.REPORT / "rows.csv"), page.about(page.REPORT), tmp_path)
    for name in ("README.md", "summary.json"):
        assert (tmp_path / name).read_bytes() == (page.REPORT / name).read_bytes(), name
