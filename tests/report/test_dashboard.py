"""Dashboards of any rows: medians by cell, bounds where runs were cut short, and texts of others escaped."""

import re

import pytest
from commands import run_command

from hardness.engine.frames import frame
from hardness.engine.outcome import Outcome, Row
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.report.dashboard import PAGE, cells_of, drawing, drawings
from hardness.studies.ray import places_of, tasks_at

ENDS = {
    8: [("solved", 10), ("solved", 30), ("solved", 20)],
    9: [("solved", 10), ("budget", 50), ("solved", 20)],
    10: [("solved", 10), ("budget", 50), ("timeout", 50)],
    11: [("budget", 50), ("wrong", 40), ("error", None)],
    12: [("error", None), ("killed", None)],
    13: [("timeout", 0), ("timeout", 0)],
}


def task(dim: int, run: int, name: str = "x") -> Task:
    return Task("parity", {"dim": dim, "heads": 2}, {"kind": "sweep", "learner": name}, {"samples": 50}, run)


def test_medians_are_bounds_where_half_the_runs_are_cut_short_and_crashes_have_no_cost():
    rows = [Row(task(dim, run), Outcome(*end)) for dim, ends in ENDS.items() for run, end in enumerate(ends)]
    cells = cells_of(frame(rows)).set_index("dim")
    assert {dim: str(at) for dim, at in cells["median"].items()} == {
        "8": "20",
        "9": "20",
        "10": "≥ 50",
        "11": "≥ 50",
        "12": "—",
        "13": "—",
    }
    counts = cells.drop(columns=["median", "smallest", "largest", "timeout"])
    assert [*counts] == ["runs", "solved", "wrong", "budget", "error", "killed"]
    assert counts.values.tolist()[:2] == [[3, 3, 0, 0, 0, 0], [3, 2, 0, 1, 0, 0]]
    assert cells.timeout.tolist() == [0, 0, 1, 0, 0, 2]
    assert drawings(frame(rows[-2:])) == []


def words(drawn: bytes) -> list[str]:
    """The texts of a figure, without the numbers at its ticks."""
    return re.findall("<text[^>]*>([^<]*[a-z][^<]*)</text>", drawn.decode())


def test_budgets_and_sizes_that_follow_from_the_heads_make_no_lines_and_solvers_are_told_apart():
    tasks = tasks_at(places_of([2, 3, 4], 4), ["diagonal"])
    rows = frame(Row(each, Outcome("solved", 10 * each.params["heads"])) for each in tasks)
    examples, queries = map(words, drawings(rows))
    solvers = {"parity, gaussian", "parity, diagonal", "random-diagonal, diagonal"}
    assert {*examples} == {"heads", "median examples", *solvers}
    assert {*queries} == {"heads", "median queries", "flat", "sign-batch"}
    cells = cells_of(rows)
    assert "kind" not in cells
    assert {*cells.strategy, *cells.attack, *cells.learner} == {
        *("", "sign-batch", "flat", "gaussian", "diagonal")
    }


def test_lines_that_are_left_out_are_counted():
    rows = [
        Row(task(dim, 0, f"l{i}"), Outcome("solved", 9)) for i in range(16) for dim in range(8, 10 - (i > 0))
    ]
    shown = words(drawing(frame(rows)))
    assert "10 of 16 lines, those with the most points" in shown
    assert sum(name.startswith("l") for name in shown) == 10
    assert "l0" in shown


@pytest.mark.parametrize("text", ["<script>alert(1)</script><img src=x>", "red \x1b[31m \x07 \u202eexe.txt"])
def test_texts_of_others_are_shown_as_texts(tmp_path, text: str):
    """A store's reason, name and provenance, on the page and in the terminal."""
    with Store(tmp_path / "rows.db", {"study": "sweep", "seed": 0, "quick": True}) as store:
        store.plan([task(8, run, text) for run in range(2)] if "<" in text else [task(8, 0), task(8, 1)])
        for planned in [row.task for row in store.rows()]:
            store.add(planned, Outcome("wrong", 10, {"reason": text}), {"cpu": text})
    for command in ("report", "status"):
        printed = run_command("", "study", command, tmp_path)
        assert printed.code == 0, printed.err
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", printed.out + printed.err)
    page = (tmp_path / PAGE).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img src=x" not in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", page)
