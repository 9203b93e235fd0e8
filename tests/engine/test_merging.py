"""Exported rows merge back as they were: every committed study, whole, in halves and in shards."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import answer

import hardness
from hardness.engine.merging import merge, read
from hardness.engine.outcome import Outcome, Row
from hardness.engine.store import Store
from hardness.engine.table import export, export_timings
from hardness.engine.task import Task
from hardness.errors import InputError

REPORTS = Path(__file__).parents[2] / "reports"
STUDIES = sorted(path.parent.name for path in REPORTS.glob("*/rows.csv") if path.parent.name != "benchmarks")
ABOUT = {"study": "test", "seed": 0, "quick": False}


def exported(store: Path) -> bytes:
    with Store(store) as rows:
        export(rows.rows, store.with_suffix(".csv"), timing=False)
    return store.with_suffix(".csv").read_bytes()


def table_in(folder: Path, data: bytes, summary: str) -> Path:
    folder.mkdir()
    (folder / "rows.csv").write_bytes(data)
    (folder / "summary.json").write_text(summary)
    return folder


def halves_of(study: str, folder: Path) -> list[Path]:
    """Two folders of a table and its summary: the first half of a study's lines, and the second."""
    with (REPORTS / study / "rows.csv").open(newline="") as file:
        first, *lines = csv.reader(file)
    paths = []
    for name, part in (("one", lines[: len(lines) // 2]), ("two", lines[len(lines) // 2 :])):
        paths.append(table_in(folder / name, b"", (REPORTS / study / "summary.json").read_text()))
        with (folder / name / "rows.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([first, *part])
    return paths


@pytest.mark.parametrize("study", STUDIES)
def test_two_halves_of_a_committed_table_merge_to_its_bytes(study: str, tmp_path: Path) -> None:
    merge(halves_of(study, tmp_path), tmp_path / "merged.db")
    assert exported(tmp_path / "merged.db") == (REPORTS / study / "rows.csv").read_bytes()


def test_a_committed_folder_serves_as_a_store(tmp_path: Path) -> None:
    """A clone has no rows.db: its page is made of the table, and nothing of a store is left behind."""
    shutil.copytree(REPORTS / "games", tmp_path / "games")
    (tmp_path / "games" / "index.html").unlink()
    before = {
        path.name: path.read_bytes() for path in (tmp_path / "games").iterdir() if path.suffix != ".pdf"
    }
    assert (
        answer(f"study report {tmp_path}/games")["verdict"] == json.loads(before["summary.json"])["verdict"]
    )
    after = {path.name: path.read_bytes() for path in (tmp_path / "games").iterdir() if path.suffix != ".pdf"}
    assert {name: data for name, data in after.items() if name != "index.html"} == before
    counts = answer(f"study status {tmp_path}/games")
    table = hardness.rows(tmp_path / "games", tuning=True)
    assert (counts["planned"], counts["statuses"]) == (len(table), table.status.value_counts().to_dict())
    assert sorted(path.name for path in (tmp_path / "games").iterdir() if path.suffix != ".pdf") == sorted(
        after
    )


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_tables_of_the_shards_of_a_study_merge_to_the_table_of_the_whole(study: str, tmp_path: Path) -> None:
    merge([REPORTS / study], tmp_path / "whole.db")
    assert exported(tmp_path / "whole.db") == (REPORTS / study / "rows.csv").read_bytes()
    summary = (REPORTS / study / "summary.json").read_text()
    with Store(tmp_path / "whole.db") as store:
        rows, about = list(store.rows()), store.about
    paths = []
    for name, part in (("one", rows[::2]), ("two", rows[1::2])):
        with Store(tmp_path / f"{name}.db", about) as store:
            store.plan(row.task for row in rows)
            for row in part:
                if row.outcome is not None:
                    store.add(row.task, row.outcome, row.provenance or {})
        paths.append(table_in(tmp_path / name, exported(tmp_path / f"{name}.db"), summary))
    merge(paths, tmp_path / "merged.db")
    assert exported(tmp_path / "merged.db") == exported(tmp_path / "whole.db")


def tasks_and_ends() -> list[tuple[Task, Outcome | None]]:
    """What a table shows in an ambiguous way: None, empty mappings, dots in keys, numbers that are texts, lists."""
    plain = {"dim": 8, "heads": 2, "weight": None}
    learner = {"kind": "learner", "learner": "a.b:C", "params": {}}
    details: list[dict[str, Any]] = [
        {"open": None, "share": 3, "z": 0.5},
        {"certified": {"0.01": 1, "0.05": None, "1": 2}, "curve": [[256, -0.5], [None, "x"]]},
        {"open": 4, "share": 2, "z": 7},
    ]
    pairs: list[tuple[Task, Outcome | None]] = []
    for repetition, detail in enumerate(details):
        solver = {**learner, "learner": f"a.b:C{repetition}"}
        if repetition == 1:
            solver["params"] = {"rate": None, "digest": "sha256:123e4"}
        task = Task("parity", plain, solver, {}, repetition, {"a.b:C": "1e5"})
        pairs.append((task, Outcome("solved", 2.5, detail, 0.25)))
    return [
        *pairs,
        (Task("parity", {"dim": 9}, {"kind": "learner", "learner": "x"}, {"samples": 8}, 0), None),
    ]


@pytest.mark.parametrize("timing", [True, False])
def test_rows_are_read_as_they_were_with_nothing_and_none_and_integers_beside_them(
    tmp_path: Path, timing: bool
) -> None:
    pairs = tasks_and_ends()
    with Store(tmp_path / "rows.db", ABOUT) as store:
        store.plan(task for task, _ in pairs)
        for task, outcome in pairs:
            if outcome is not None:
                store.add(task, outcome, {"commit": "abc", "python": "3.11", "numpy": None})
        written = list(store.rows())
        export(store.rows, tmp_path / "rows.csv", timing=timing)
    rows = list(read(tmp_path / "rows.csv", {"commit": "abc", "python": "3.11", "numpy": None}))
    assert [row.task.text for row in rows] == [row.task.text for row in written]
    assert [row.provenance for row in rows] == [row.provenance for row in written]
    for row, original in zip(rows, written, strict=True):
        if original.outcome is not None and row.outcome is not None:
            assert json.dumps(row.outcome.detail, sort_keys=True) == json.dumps(
                original.outcome.detail, sort_keys=True
            )
            assert row.outcome.seconds == (0.25 if timing else 0)
            assert isinstance(row.outcome.detail.get("share"), int | None)
    (tmp_path / "summary.json").write_text(json.dumps(ABOUT))
    merge([tmp_path / "rows.csv"], tmp_path / "merged.db")
    table = (tmp_path / "rows.csv").read_bytes()
    with Store(tmp_path / "merged.db") as store:
        export(store.rows, tmp_path / "again.csv", timing=timing)
    assert (tmp_path / "again.csv").read_bytes() == table


def test_a_store_and_the_table_of_its_rows_agree(tmp_path: Path) -> None:
    pairs = tasks_and_ends()
    with Store(tmp_path / "rows.db", ABOUT) as store:
        store.plan(task for task, _ in pairs)
        store.add(pairs[0][0], Outcome("solved", 2.5, {"open": None, "share": 3}), {})
        export(store.rows, tmp_path / "rows.csv", timing=False)
    (tmp_path / "summary.json").write_text(json.dumps(ABOUT))
    for paths in (["rows.db", "rows.csv"], ["rows.csv", "rows.db"]):
        assert merge([tmp_path / name for name in paths], tmp_path / "merged.db") == {"solved": 1}


@pytest.mark.parametrize("name", ["summary.json", "rows.csv"])
def test_a_file_of_any_size_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "rows.csv").write_text("identity\n")
    (tmp_path / "summary.json").write_text(json.dumps(ABOUT))
    with (tmp_path / name).open("r+b") as file:
        file.truncate(300 << 20)  # sparse: it takes no space
    with pytest.raises(InputError, match="longer than"):
        merge([tmp_path / "rows.csv"], tmp_path / "merged.db")


def test_times_stand_beside_a_table_without_them_and_join_it_again(tmp_path: Path) -> None:
    tasks = [Task("parity", {"dim": 8 + i}, {"kind": "game"}, {}, 0) for i in range(3)]
    details = [
        {"counted": False, "reference_seconds": 1.25},
        {"counted": True, "reference_seconds": 0.5},
        {"counted": True},
    ]
    rows = [
        Row(task, Outcome("solved", 9, detail, 2.5), {}) for task, detail in zip(tasks, details, strict=True)
    ]
    export(lambda: rows, tmp_path / "rows.csv", timing=False)
    assert "reference" not in (tmp_path / "rows.csv").read_text()
    export_timings(rows, tmp_path / "timings.csv")
    (tmp_path / "summary.json").write_text(json.dumps(ABOUT))
    merge([tmp_path / "rows.csv"], tmp_path / "out.db")
    with Store(tmp_path / "out.db") as store:
        joined = [(row.outcome.detail, row.outcome.seconds) for row in store.rows() if row.outcome]
    assert joined == [(detail, 2.5) for detail in details]
    # Two runs of one task differ in times alone: they are one row.
    with Store(tmp_path / "again.db", ABOUT) as store:
        store.plan(tasks)
        store.add(tasks[0], Outcome("solved", 9, {"counted": False, "reference_seconds": 7.0}, 3.0), {})
    assert merge([tmp_path / "rows.csv", tmp_path / "again.db"], tmp_path / "both.db") == {"solved": 3}
