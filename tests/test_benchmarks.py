"""The benchmark harness on a clock of its own; no machine is timed here."""

import csv
import doctest
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_reading import words

from benchmarks import harness, page
from benchmarks.harness import Row, absent, exponent, race, row
from hardness.report.report import write_index


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
@given(st.floats(1e-2, 10), st.floats(1e-2, 10), st.floats(1e-2, 10))
def test_a_race_finds_the_ratio_whatever_slows_all_down(ours, theirs, yardstick):
    clock = Clock()
    entrants = {"ours": ours, "peer": theirs, "slow peer": 2 * theirs, "yardstick": yardstick}
    times = race(
        {name: clock.lasting(s) for name, s in entrants.items()},
        seconds=200 * sum(entrants.values()),
        clock=clock,
    )
    result = row("topic", "case", 1, times, units=4)
    assert result.peer == "peer"
    assert result.ratio == pytest.approx(theirs / ours)
    assert result.low <= result.ratio <= result.high
    assert result.over_yardstick == pytest.approx(ours / yardstick)
    assert (result.ours, result.theirs) == (pytest.approx(ours / 4), pytest.approx(theirs / 4))


def test_interval_of_an_exponent_covers_it():
    # 400 fits with a 95 % interval: 20 miss on average; more than 45 happens with probability below 1e-6.
    rng, sizes = np.random.default_rng(0), 2.0 ** np.arange(5)
    missed = 0
    for _ in range(400):
        _, low, high = exponent(sizes, sizes**1.5 * np.exp(rng.normal(0, 0.1, 5)))
        missed += not low <= 1.5 <= high
    assert 5 <= missed <= 45
    assert exponent(sizes, 3e-9 * sizes**1.5) == pytest.approx((1.5, 1.5, 1.5))


def test_the_page_needs_no_network_and_the_rows_are_whole(tmp_path):
    figures = (3e-9, "torch", 1e-5, 3333.0, 3000.0, 3500.0, "writing", 2.5)
    row = Row("1 labels", "d=32 <b>", 2, "example", *figures, "x", "y", "z")
    write_index(tmp_path)
    page.publish(
        [row, *absent("2 dense forward", {"torch": None})],
        {"processor": "any"},
        tmp_path / "speed",
        {"1 labels": ["Of heads.", "Of tokens."]},
    )
    text = "1 of 2 kinds of goal are met wherever they are judged; missed in rows: labels y (1 of 1); absent: torch."
    assert text in (tmp_path / "index.html").read_text()
    html = (tmp_path / "speed" / "index.html").read_text()
    assert "http" not in html
    shown = html + words(html)
    for text in (
        "3,333× (3,000× to 3,500×)",
        "Yardstick: writing",
        "Of heads.",
        "Of tokens.",
        "torch is not installed: not compared",
        "&lt;b&gt;",
    ):
        assert text in shown
    with (tmp_path / "speed" / "rows.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["case"] for line in lines] == ["d=32 <b>", "absent"]
    assert (float(lines[0]["ours"]), lines[1]["ours"]) == (3e-9, "")


def test_the_committed_page_is_made_of_the_committed_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "docs_href", lambda folder: "../../docs/")  # as from reports/benchmarks
    monkeypatch.setattr(page, "index_href", lambda folder: "../index.html")
    page.publish(page.rows_in(page.REPORT), page.about_in(page.REPORT), tmp_path, page.notes(page.TOPICS))
    for name in ("rows.csv", "summary.json", "index.html"):
        assert (tmp_path / name).read_bytes() == (page.REPORT / name).read_bytes(), name


def test_kinds_of_goals_are_counted_and_those_that_many_rows_share_named():
    many = [Row("1 A", str(i), 1, met="easy") for i in range(page.MANY)]
    rows = [*many, Row("1 A", "b", 1, missed="easy"), Row("2 B", "c", 1, met="x; y", missed="z")]
    assert page.verdict(rows) == (
        "2 of 4 kinds of goal are met wherever they are judged; "
        f"missed in rows: A easy (1 of {page.MANY + 1}), B z (1 of 1)."
    )
    assert f"easy (A), met in {page.MANY} of {page.MANY + 1} rows" in page.tally(rows)
    assert page.tally(rows[-1:]) == ""


def test_a_reference_is_called_one(tmp_path):
    rows = [Row("1 A", peer, 1, "call", 1.0, peer, 2.0, 2.0) for peer in ("the dense student", "torch eager")]
    page.publish(rows, {}, tmp_path, {})
    cells = words((tmp_path / "index.html").read_text())
    assert "reference: the dense student 2 s" in cells
    assert "reference: torch" not in cells


def test_every_topic_is_a_file_and_every_example_runs():
    files = Path(page.__file__).parent.glob("bench_*.py")
    assert {file.stem.removeprefix("bench_") for file in files} == set(page.TOPICS)
    for module in (harness, page):
        assert doctest.testmod(module).attempted > 0
        assert doctest.testmod(module).failed == 0
