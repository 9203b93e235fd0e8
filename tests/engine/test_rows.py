"""Rows in files: read as they were written, merged by putting one file behind the other, refused where damaged."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import answer
from hypothesis import given, settings
from hypothesis import strategies as st

import hardness
from hardness.engine.frames import frame
from hardness.engine.outcome import Outcome, Row
from hardness.engine.rows import dump, dump_timings, load, merge, read, union
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import InputError

REPORTS = Path(__file__).parents[2] / "reports"
ABOUT = {"study": "test", "seed": 0, "quick": False}


def folder_of(path: Path, lines: list[str], summary: str = json.dumps(ABOUT)) -> Path:
    path.mkdir()
    (path / "rows.csv").write_text("".join(lines))
    (path / "summary.json").write_text(summary)
    return path


@pytest.mark.parametrize("study", ["games", "stress"])
def test_two_halves_that_overlap_merge_to_the_bytes_of_the_whole(study: str, tmp_path):
    head, *lines = (REPORTS / study / "rows.csv").read_text().splitlines(keepends=True)
    summary = (REPORTS / study / "summary.json").read_text()
    half, some = len(lines) // 2, len(lines) // 10
    parts = [
        folder_of(tmp_path / "one", [head, *lines[: half + some]], summary),
        folder_of(tmp_path / "two", [head, *lines[half - some :]], summary),
    ]
    dump(union(parts).rows, tmp_path / "whole.rows.csv")
    assert (tmp_path / "whole.rows.csv").read_bytes() == (REPORTS / study / "rows.csv").read_bytes()
    merge(parts, tmp_path / "whole.db")
    dump(read(tmp_path / "whole.db").rows, tmp_path / "again.rows.csv")
    assert (tmp_path / "again.rows.csv").read_bytes() == (REPORTS / study / "rows.csv").read_bytes()


def test_a_committed_folder_serves_as_a_store(tmp_path):
    """A clone has no rows.db: what shows its rows is made of the table, and nothing else is left behind."""
    folder = tmp_path / "random-features"
    shutil.copytree(REPORTS / "random-features", folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert answer(f"study report {folder}")["page"] == str(folder / "README.md")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    counts = answer(f"study status {folder}")
    table = hardness.rows(folder, tuning=True)
    assert (counts["planned"], counts["statuses"]) == (len(table), table.status.value_counts().to_dict())


def facts(row: Row) -> Any:
    end = row.outcome
    return row.task.text, row.provenance, end and (end.status, end.cost, end.detail, end.seconds)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=10)
@given(params=st.dictionaries(st.text(max_size=5), JSON, max_size=3), detail=JSON)
def test_any_row_that_a_store_takes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, params: dict[str, Any], detail: Any
):
    folder = tmp_path_factory.mktemp("rows")
    task = Task("parity", params, {"kind": "test"}, {}, 0)
    with Store(folder / "rows.db", ABOUT) as store:
        try:
            store.plan([task, replace(task, repetition=1)])
        except InputError:  # a text that cannot be printed
            return
        store.add(task, Outcome("solved", 3, {"found": detail}), {"commit": "abc"})
        stored = [*store.rows()]
    dump(stored, folder / "rows.csv", timing=True)
    assert [*map(facts, load(folder / "rows.csv"))] == [*map(facts, stored)]


def ended(status: str, cost: float = 5.0, reference: float = 1.0) -> Row:
    task = Task("parity", {"dim": 8}, {"kind": "game"}, {}, 0)
    return Row(task, Outcome(status, cost, {"reference_seconds": reference}, 2.5))


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (ended("killed"), ended("solved"), "solved"),
        (ended("solved"), ended("timeout"), "solved"),
        (ended("budget"), Row(ended("budget").task), "budget"),
        (Row(ended("budget").task), ended("budget"), "budget"),
        (ended("solved", reference=1.0), ended("solved", reference=7.0), "solved"),  # times alone differ
    ],
)
def test_of_two_trials_of_one_task_the_one_that_ended_by_itself_is_kept(
    tmp_path, first: Row, second: Row, kept: str
):
    for name, row in (("a", first), ("b", second)):
        dump([row], folder_of(tmp_path / name, []) / "rows.csv")
    for names in ("ab", "ba"):
        (row,) = union([tmp_path / name for name in names]).rows
        assert row.outcome is not None
        assert row.outcome.status == kept


def test_times_stand_beside_a_table_without_them_and_join_it_again(tmp_path):
    folder = folder_of(tmp_path / "a", [])
    dump([ended("solved", reference=1.25)], folder / "rows.csv")
    assert "reference" not in (folder / "rows.csv").read_text()
    dump_timings([ended("solved", reference=1.25)], folder / "timings.csv")
    (row,) = read(folder).rows
    assert row.outcome is not None
    assert (row.outcome.detail, row.outcome.seconds) == ({"reference_seconds": 1.25}, 2.5)


@pytest.mark.parametrize("name", ["summary.json", "rows.csv", "timings.csv"])
def test_a_file_of_any_size_is_refused_before_it_is_read(tmp_path, name: str):
    folder = folder_of(tmp_path / "a", ["identity,status,cost,task,detail\n"])
    with (folder / name).open("a+b") as file:
        file.truncate(300 << 20)  # sparse: it takes no space
    with pytest.raises(InputError, match="longer than"):
        read(folder)


DAMAGES = {
    "task": lambda text: text.replace('""dim"":8', '""dim"":9'),
    "status": lambda text: text.replace(",solved,", ",easy,"),
    "cost": lambda text: text.replace(",5,", ",1e999,"),
    "detail": lambda text: text.replace(",{}\n", ",[]\n"),
    "cut": lambda text: text[:-40],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_one_line(tmp_path, damage: Any):
    path = tmp_path / "rows.csv"
    dump([ended("solved")], path)
    text = path.read_text()
    path.write_text(damage(text))
    assert damage(text) != text
    with pytest.raises(InputError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert "rows.csv" in str(caught.value)


def test_bare_names_go_to_params_then_solver_then_budget():
    params = {"dim": 8, "heads": 2, "status": "x"}
    task = Task("parity", params, {"kind": "fit", "heads": 3, "l1": 0.1}, {"samples": 9, "l1": 4}, 0)
    table = frame([Row(task, Outcome("wrong", 7, {"dim": 1, "samples": 2, "loss": {"end": 0.5}}))])
    assert {name: table[name][0] for name in ("dim", "heads", "solver.heads", "l1", "budget.l1")} == {
        "dim": 8, "heads": 2, "solver.heads": 3, "l1": 0.1, "budget.l1": 4,
    }  # fmt: skip
    assert {name: table[name][0] for name in ("status", "params.status", "detail.dim", "loss.end")} == {
        "status": "wrong", "params.status": "x", "detail.dim": 1, "loss.end": 0.5,
    }  # fmt: skip
    assert set(table.attrs["parts"]) == set(table)
