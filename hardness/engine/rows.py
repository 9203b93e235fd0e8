"""Rows in files: a CSV file whose nested cells are JSON, and the union of such files, stores and folders of studies.

A line is a row: the identity of its task, how it ended, its cost, then task and detail as canonical JSON. With times it
has two more cells, seconds and provenance. So a file is read by `json.loads`, and files are merged by putting one
behind the other. The same seed gives the same bytes of a file without times.
"""

import csv
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

from hardness.engine.outcome import UNREPEATABLE, Row, Table
from hardness.engine.store import STORE, Store, checked, describe
from hardness.engine.task import canonical
from hardness.errors import InputError
from hardness.io import schemas
from hardness.io.files import read_bounded, replacing
from hardness.io.texts import sanitize, sanitize_json

ROWS, TIMINGS, SUMMARY = "rows.csv", "timings.csv", "summary.json"  # in the folder of a study
COLUMNS = ("identity", "status", "cost", "task", "detail")
TIMES = ("seconds", "provenance")
PLANNED = "planned"  # the status of a task that has not been run
TIMED = ("reference_seconds",)  # of a detail, what is a time: no two runs agree on it
TABLE_BYTES = 32 << 20
SUMMARY_BYTES = 4 << 20
# What the rows of a study are about; the second part, where it is stated
ABOUT, PART = ("study", "seed", "quick"), {"ray", "dim", "examples", "work"}


def untimed(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return a detail without its times."""
    return {name: value for name, value in detail.items() if name not in TIMED}


def dump(rows: Iterable[Row], out: Path, timing: bool = False) -> int:
    """Write rows to a file that `load` reads; return how many. `timing` adds seconds and provenance."""
    count = 0
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS + TIMES * timing)
        for row in rows:
            writer.writerow(_cells(row, timing))
            count += 1
    return count


def _cells(row: Row, timing: bool) -> list[str]:
    end = row.outcome
    if end is None:
        return [row.task.identity, PLANNED, "", row.task.text, ""] + [""] * (len(TIMES) * timing)
    cost = "" if end.cost is None else canonical(end.cost)
    detail = sanitize_json(end.detail if timing else untimed(end.detail))
    cells = [row.task.identity, end.status, cost, row.task.text, canonical(detail)]
    return cells + [canonical(end.seconds), canonical(sanitize_json(row.provenance or {}))] * timing


def load(path: Path, provenance: Mapping[str, Any] | None = None) -> list[Row]:
    """Return the rows of a file that `dump` wrote; those that state no provenance get the one that is given.

    Raises `InputError` for any other file. A row states its task and the task's identity, so that a task that was
    changed on the way is found.
    """
    try:
        text = read_bounded(path, TABLE_BYTES).decode("utf-8")
        lines = csv.DictReader(StringIO(text, newline=""))
        if not set(COLUMNS) <= set(lines.fieldnames or ()):
            raise InputError(
                f"{path} has not the columns {', '.join(COLUMNS)}: `study merge` reads rows.csv as `study report` "
                "writes it, and no table that `study export` made for other programs"
            )
        return [_row(line, path, number, provenance) for number, line in enumerate(lines, 2)]
    except (UnicodeError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {sanitize(error)}") from error


def _row(
    line: Mapping[str, str | None], path: Path, number: int, provenance: Mapping[str, Any] | None
) -> Row:
    """Return the row of a line; every cell is checked."""
    place = f"{path}, line {number}"
    cells = {name: line[name] or "" for name in line if name}
    cost, seconds, made = (
        schemas.parse(cells[name], f"{place}: {name}") if cells.get(name) else absent
        for name, absent in (("cost", None), ("seconds", 0.0), ("provenance", {}))
    )
    status = None if cells["status"] == PLANNED else cells["status"]
    try:
        row = checked(cells["identity"], cells["task"], status, cost, cells["detail"], seconds, made)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    return row if made or row.outcome is None else replace(row, provenance=provenance)


def file_of(path: Path) -> Path:
    """Return the file that holds the rows of a study's folder: its store, where there is one. A file is its own."""
    if not path.is_dir():
        return path
    return path / (ROWS if (path / ROWS).exists() and not (path / STORE).exists() else STORE)


def read(path: Path) -> Table:
    """Return the rows of a study's folder, of a store, or of a rows.csv with the summary.json beside it.

    The times of a rows.csv are those of timings.csv, if that lies there too. Raises `InputError` where there are none.
    """
    file = file_of(path)
    if file.suffix != ".csv":
        with Store(file) as store:
            return store.table()
    about, commands, commits, provenance = _summary(file)
    times = timings(file.with_name(TIMINGS))
    rows = [_timed(row, times.get(row.task.identity, {})) for row in load(file, provenance)]
    return Table(about, commands, rows, commits)


def _summary(path: Path) -> tuple[dict[str, Any], list[str], list[str], dict[str, str]]:
    """Return what the summary beside a file says: what its rows are about, commands, commits and provenance."""
    beside = path.with_name(SUMMARY)
    missing = f"{path} has no readable {SUMMARY} beside it, which says what the rows are about"
    try:
        stated = schemas.parse(read_bounded(beside, SUMMARY_BYTES), str(beside))
        about = {name: stated[name] for name in (*ABOUT, *sorted(PART & stated.keys()))}
        made_by, commits = (
            [sanitize(each) for each in stated.get(name, [])] for name in ("made_by", "commits")
        )
        provenance = stated.get("provenance", {"commit": commits[0]} if len(commits) == 1 else {})
        return about, made_by, commits, {str(name): str(value) for name, value in provenance.items()}
    except InputError as error:
        raise InputError(f"{missing} ({error})") from error
    except (LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{missing}; copy that of its page") from error


def merge(paths: Iterable[Path], out: Path) -> dict[str, int]:
    """Write the union of the rows of one study and seed to the store `out`, whole; return the counts by status.

    A path is what `read` takes. Raises `InputError` as `union` does.
    """
    table = union(paths)
    with replacing(out) as temporary:
        with Store(temporary, table.about) as store:
            store.made_by(*table.commands)
            store.plan(row.task for row in table.rows)
            for row in table.rows:
                if row.outcome is not None:
                    store.add(row.task, row.outcome, row.provenance or {})
        with closing(sqlite3.connect(temporary)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # one file, no journal beside it, before the renaming
    return table.counts()


def union(paths: Iterable[Path]) -> Table:
    """Return the rows of several files of one study and seed, one behind the other, each task once.

    Where two files ran the same task, a trial that ended by itself wins over one that crashed or ran out of time; two
    that ended by themselves must agree, or the rows come from different code: `InputError`.
    """
    about: Mapping[str, Any] | None = None
    commands: dict[str, None] = {}
    rows: dict[str, Row] = {}
    for path in paths:
        part = read(path)
        if about is not None and part.about != about:
            raise InputError(f"{path} holds {describe(part.about)}, not {describe(about)}: they do not merge")
        about = part.about
        commands |= dict.fromkeys(part.commands)
        for row in part.rows:
            identity = row.task.identity
            rows[identity] = _better(rows.get(identity), row, path)
    return Table(about or {}, [*commands], [*rows.values()])


def _better(kept: Row | None, row: Row, path: Path) -> Row:
    """Return the row that says more of one task. Raises `InputError` where two say different things."""
    if kept is None or kept.outcome is None:
        return row
    if row.outcome is None:
        return kept
    if UNREPEATABLE & {kept.outcome.status, row.outcome.status}:
        return row if kept.outcome.status in UNREPEATABLE else kept
    if _cells(kept, timing=False) != _cells(row, timing=False):
        raise InputError(f"{path}: task {row.task.identity[:12]} ended otherwise in another file; not merged")
    return kept


def _timed(row: Row, times: Mapping[str, float]) -> Row:
    """Return a row with its times, where it states none itself."""
    if row.outcome is None:
        return row
    measured = {name: value for name, value in times.items() if name != "seconds"}
    detail = {**measured, **row.outcome.detail}
    seconds = row.outcome.seconds or times.get("seconds", 0.0)
    return replace(row, outcome=replace(row.outcome, seconds=seconds, detail=detail))


def dump_timings(rows: Iterable[Row], out: Path) -> None:
    """Write the times of the trials that ended, by identity: what a file without times leaves out."""
    ended = {row.task.identity: row.outcome for row in rows if row.outcome}
    names = [name for name in TIMED if any(name in outcome.detail for outcome in ended.values())]
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("identity", "seconds", *names))
        for identity, outcome in ended.items():
            writer.writerow((identity, f"{outcome.seconds:.3f}", *map(outcome.detail.get, names)))


def timings(path: Path) -> dict[str, dict[str, float]]:
    """Return times by identity and name, as `dump_timings` wrote them; none where there is no such file.

    Raises `InputError` for any other file.
    """
    if not path.exists():
        return {}
    try:
        lines = csv.DictReader(StringIO(read_bounded(path, TABLE_BYTES).decode("utf-8"), newline=""))
        times = {
            line["identity"]: {name: float(line[name]) for name in ("seconds", *TIMED) if line.get(name)}
            for line in lines
        }
    except (UnicodeError, csv.Error, LookupError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is no table of identities and seconds ({sanitize(error)})") from error
    if not all(0 <= value < inf for line in times.values() for value in line.values()):
        raise InputError(f"{path} holds seconds that are no times; send what the lab wrote")
    return times
