"""Rows in files: a CSV file whose nested cells are JSON, and the union of such files, stores and folders of studies.

A line is a row: the identity of its task, how it ended, its cost, then task and detail as canonical JSON. With times it
has two more cells, seconds and provenance. So a file is read by `json.loads`, and files are merged by putting one
behind the other. The same seed gives the same bytes of a file without times.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import replace
from io import StringIO
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
JSON = ("cost", *TIMES, *TIMED)  # cells besides task and detail
TABLE_BYTES, SUMMARY_BYTES = 32 << 20, 4 << 20
# What the rows of a study are about, and settings of a ray or a board under which they were asked for
ABOUT, SETTINGS = ("study", "seed", "quick"), {"ray", "dim", "examples", "work"}


def dump(rows: Iterable[Row], out: Path, timing: bool = False) -> int:
    """Write rows to a CSV file that `load` reads, with seconds and provenance if `timing`; return their number."""
    lines = [_cells(row, timing) for row in rows]
    _write(out, [COLUMNS + TIMES * timing, *lines])
    return len(lines)


def _write(out: Path, lines: Iterable[Iterable[Any]]) -> None:
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def _cells(row: Row, timing: bool) -> list[str]:
    end = row.outcome
    if end is None:
        return [row.task.identity, PLANNED, "", row.task.text, *[""] * (1 + len(TIMES) * timing)]
    cost = "" if end.cost is None else canonical(end.cost)
    kept = {name: value for name, value in end.detail.items() if timing or name not in TIMED}
    cells = [row.task.identity, end.status, cost, row.task.text, canonical(sanitize_json(kept))]
    return cells + [canonical(end.seconds), canonical(sanitize_json(row.provenance or {}))] * timing


def _lines(path: Path, columns: Iterable[str]) -> list[dict[str, str]]:
    """Return the lines of a CSV file as dicts by column. Raises `InputError` if one of `columns` is missing."""
    text = read_bounded(path, TABLE_BYTES)
    try:
        lines = csv.DictReader(StringIO(text.decode("utf-8"), newline=""))
        if missing := {*columns} - {*(lines.fieldnames or ())}:
            raise InputError(
                f"{path} has no column {min(missing)}; give a {path.name} as `study report` writes it"
            )
        return [{name: cell or "" for name, cell in line.items() if name} for line in lines]
    except (UnicodeError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {sanitize(error)}") from error


def load(path: Path, provenance: Mapping[str, Any] | None = None) -> list[Row]:
    """Return the rows of a CSV file that `dump` wrote, with the times of the timings.csv in its folder, if any.

    `provenance` is given to trials that state none. Raises `InputError` for any other file, and for a task that does
    not match the identity (a hash) stated in its line, so that a changed task is found.
    """
    rows, beside = [], path.with_name(TIMINGS)
    times = {line["identity"]: line for line in _lines(beside, ("identity",))} if beside.exists() else {}
    for number, line in enumerate(_lines(path, COLUMNS), 2):
        line = {**times.get(line["identity"], {}), **line}
        place = f"{path}, line {number}"
        cells = {
            name: schemas.parse(cell, f"{place}: {name}")
            for name, cell in line.items()
            if name in JSON and cell
        }
        cost, seconds, made = cells.get("cost"), cells.get("seconds", 0.0), cells.get("provenance", {})
        status = None if line["status"] == PLANNED else line["status"]
        try:
            row = checked(line["identity"], line["task"], status, cost, line["detail"], seconds, made)
        except InputError as error:
            raise InputError(f"{place}: {error}") from error
        if row.outcome is not None:
            detail = {name: cells[name] for name in TIMED if name in cells} | {**row.outcome.detail}
            row = replace(row, outcome=replace(row.outcome, detail=detail), provenance=made or provenance)
        rows.append(row)
    return rows


def file_of(path: Path) -> Path:
    """Return the file of rows in a folder: rows.db, or rows.csv if that alone exists. A file is returned as is."""
    if not path.is_dir():
        return path
    return path / (ROWS if (path / ROWS).exists() and not (path / STORE).exists() else STORE)


def read(path: Path) -> Table:
    """Return the rows of a study's folder, of a store, or of a rows.csv with the summary.json beside it.

    A rows.csv gets its times from a timings.csv in its folder. Raises `InputError` if rows or summary cannot be read.
    """
    file = file_of(path)
    if file.suffix != ".csv":
        with Store(file) as store:
            return store.table()
    beside = file.with_name(SUMMARY)
    try:
        stated = schemas.parse(read_bounded(beside, SUMMARY_BYTES), str(beside))
        about = {name: stated[name] for name in (*ABOUT, *sorted(SETTINGS & stated.keys()))}
        made_by, commits = ([*map(sanitize, stated.get(name, []))] for name in ("made_by", "commits"))
        given = stated.get("provenance", {"commit": commits[0]} if len(commits) == 1 else {})
        provenance = {name: str(value) for name, value in given.items()}
    except (LookupError, TypeError, AttributeError, InputError) as error:
        raise InputError(f"{file} has no readable {SUMMARY} beside it ({sanitize(error)})") from error
    return Table(about, made_by, load(file, provenance), commits)


def dump_timings(rows: Iterable[Row], out: Path) -> None:
    """Write a CSV file of the times of all trials that ended, by the identity of the task; `dump` leaves these out."""
    ended = {row.task.identity: row.outcome for row in rows if row.outcome}
    names = [name for name in TIMED if any(name in end.detail for end in ended.values())]
    lines = [(key, f"{end.seconds:.3f}", *map(end.detail.get, names)) for key, end in ended.items()]
    _write(out, [("identity", "seconds", *names), *lines])


def merge(paths: Iterable[Path], out: Path) -> dict[str, int]:
    """Write the rows of several files of one study and seed, joined, to `out`; return the number of trials by status.

    `out` is a .csv file, else an SQLite store; paths are as for `read`. Raises `InputError` if the files contradict.
    """
    table = union(paths)
    if out.suffix == ".csv":
        dump(table.rows, out)
        return table.counts()
    with replacing(out) as temporary:
        temporary.unlink()
        with Store(temporary, table.about) as store:
            store.made_by(*table.commands)
            store.plan(row.task for row in table.rows)
            for row in table.rows:
                if row.outcome is not None:
                    store.add(row.task, row.outcome, row.provenance or {})
    return table.counts()


def union(paths: Iterable[Path]) -> Table:
    """Return the rows of several files of one study and seed as one table that holds each task once.

    If two files ran the same task, a trial that ended by itself replaces one that crashed or ran out of time. Raises
    `InputError` for files of different studies or seeds, and if two trials that ended by themselves differ.
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
    """Return which of two rows of a task to keep; `InputError`, naming `path`, if both ran to their end and differ."""
    if kept is None or kept.outcome is None:
        return row
    if row.outcome is None:
        return kept
    if UNREPEATABLE & {kept.outcome.status, row.outcome.status}:
        return row if kept.outcome.status in UNREPEATABLE else kept
    if _cells(kept, timing=False) != _cells(row, timing=False):
        raise InputError(f"{path}: task {row.task.identity[:12]} ended otherwise in another file; not merged")
    return kept
