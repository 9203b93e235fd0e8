"""The store: exactly once, mergeable, and one clear sentence when the file is damaged."""

import csv
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from study_trials import ABOUT, exported, numbered

from hardness.engine.frames import export
from hardness.engine.outcome import STATUSES, Outcome
from hardness.engine.rows import merge
from hardness.engine.store import Store
from hardness.errors import InputError


def filled(path: Path, done: list[int], about: Any = None, planned: int = 8, cost: float = 5.0) -> Path:
    with Store(path, about or ABOUT) as store:
        store.plan(numbered(planned))
        for r in done:
            store.add(
                numbered(planned)[r], Outcome("solved", cost + r, {"accuracy": 0.5}, 0.25), {"numpy": "2"}
            )
    return path


def test_every_status_is_stored_once_and_no_other(tmp_path):
    with Store(tmp_path / "rows.db", ABOUT) as store:
        store.plan(numbered(len(STATUSES)))
        for task, status in zip(numbered(len(STATUSES)), STATUSES, strict=True):
            store.add(task, Outcome(status), {})
            store.add(task, Outcome("wrong", 2), {})  # a task that has a trial keeps it
        assert store.table().counts() == dict.fromkeys(STATUSES, 1)
        with pytest.raises(InputError, match="ends as one of"):
            store.add(numbered(1)[0], Outcome("fine"), {})


def test_shards_merge_to_the_whole_in_any_order_and_once(tmp_path):
    whole = filled(tmp_path / "whole.db", list(range(8)))
    parts = [filled(tmp_path / f"{i}.db", list(range(i, 8, 3))) for i in range(3)]
    for order in (parts, [*parts[::-1], parts[0]]):
        assert merge(order, tmp_path / "new" / "merged.db") == {"solved": 8}
        assert exported(tmp_path / "new" / "merged.db") == exported(whole)
        assert not list((tmp_path / "new").glob("*-wal"))


def test_rows_that_disagree_and_other_studies_do_not_merge(tmp_path):
    a, b = filled(tmp_path / "a.db", [0]), filled(tmp_path / "b.db", [0], cost=6.0)
    other = filled(tmp_path / "c.db", [1], {**ABOUT, "seed": 1})
    for paths, words in (([a, b], "ended otherwise"), ([a, other], "do not merge")):
        with pytest.raises(InputError, match=words):
            merge(paths, tmp_path / "out.db")
        assert not (tmp_path / "out.db").exists()
    with pytest.raises(InputError, match="seed 0"):
        Store(a, {**ABOUT, "seed": 1})


def damaged(path: Path):
    for about in (None, ABOUT):
        with pytest.raises(InputError, match=r"rows\.db") as caught:
            Store(path, about)
        assert "cannot be read" in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [50, 5000, None])
def test_a_truncated_file_and_a_corrupt_page_are_one_sentence(tmp_path, keep: int | None):
    path = filled(tmp_path / "rows.db", list(range(300)), planned=300)
    data = path.read_bytes()
    path.write_bytes(data[:keep] if keep else data[:8192] + b"\xff" * 4096 + data[12288:])
    damaged(path)


DAMAGE = {
    "text that is no JSON": "UPDATE trials SET detail = '{' WHERE cost = 7",
    "a figure that is none": "UPDATE trials SET detail = '{\"loss\": NaN}' WHERE cost = 7",
    "a deep detail": "UPDATE trials SET detail = '{\"a\":' || replace(hex(zeroblob(50000)), '00', '[') WHERE cost = 7",
    "a task that was changed": "UPDATE plan SET task = replace(task, '\"dim\":16', '\"dim\":17') WHERE position = 3",
    "a provenance that is no JSON": "UPDATE provenance SET text = 'x'",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_row_is_one_sentence(tmp_path, name: str):
    path = filled(tmp_path / "rows.db", list(range(8)))
    with sqlite3.connect(path) as db:
        assert db.execute(DAMAGE[name]).rowcount >= 1
    damaged(path)


@pytest.mark.parametrize(
    ("sql", "words"),
    [("TABLE t (x)", "no store"), ("TRIGGER t AFTER INSERT ON trials BEGIN SELECT 1; END", "triggers")],
)
def test_other_databases_and_triggers_are_no_store(tmp_path, sql: str, words: str):
    path = filled(tmp_path / "rows.db", [1]) if words == "triggers" else tmp_path / "rows.db"
    with sqlite3.connect(path) as db:
        db.execute(f"CREATE {sql}")
    with pytest.raises(InputError, match=words):
        Store(path, ABOUT)


def test_foreign_files_are_refused(tmp_path):
    (tmp_path / "text.db").write_text("hello " * 1000)
    for path, about, words in (
        (tmp_path / "text.db", None, "cannot be read"),
        (tmp_path / "none.db", None, "does not exist"),
        (tmp_path, ABOUT, "it is a folder"),
    ):
        with pytest.raises(InputError, match=words):
            Store(path, about)


def test_a_torn_journal_loses_at_most_its_last_trial(tmp_path):
    path = tmp_path / "rows.db"
    with Store(path, ABOUT) as store:
        store.plan(numbered(8))
        for task in numbered(8):
            store.add(task, Outcome("solved", 1), {})
        # The state of the files while the writer is alive, its journal cut by 40 bytes: a kill amid a write.
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        journal = path.with_name("rows.db-wal").read_bytes()
    copy.with_name("copy.db-wal").write_bytes(journal[:-40])
    with Store(copy, ABOUT) as store:
        assert store.table().counts() == {"solved": 7}
        store.add(numbered(8)[7], Outcome("solved", 1), {})
    assert exported(copy) == exported(path)


def test_export_has_every_row_and_times_where_asked(tmp_path):
    with Store(filled(tmp_path / "rows.db", [0, 3])) as store:
        export([*store.rows()], tmp_path / "rows.csv", timing=False)
        export([*store.rows()], tmp_path / "timed.csv")
    rows, timed = (list(csv.DictReader((tmp_path / f"{name}.csv").open())) for name in ("rows", "timed"))
    assert [row["status"] for row in rows] == ["solved", "planned", "planned", "solved"] + ["planned"] * 4
    assert (rows[3]["cost"], rows[3]["detail.accuracy"]) == ("8", "0.5")
    assert not any("seconds" in name or "provenance" in name for name in rows[0])
    assert (timed[0]["seconds"], timed[0]["provenance.numpy"]) == ("0.25", "2")
