"""The union of rows: of stores, of studies' folders, and of the .csv tables that were exported from them.

A table loses what a store keeps: which of its empty cells were None, and where there was nothing; empty mappings; and
whether a dot parts two keys or stands in one. A task says it again by its identity, which is a digest of it. Of what
the trial found, `_first_rows` says it: the columns stand in the order in which the rows came to have them.
"""

import ast
import csv
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import combinations, pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from hardness.engine.outcome import UNREPEATABLE, Outcome, Row
from hardness.engine.store import STORE, Store, describe
from hardness.engine.table import ROWS, SUMMARY, TIMINGS, flat, timings
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.io import schemas
from hardness.io.files import read_bounded, replacing
from hardness.io.texts import FORMULA, csv_safe, sanitize

TABLE_BYTES = 32 << 20  # bytes of a table of rows
SUMMARY_BYTES = 4 << 20
DIGEST = 64  # characters of an identity
MOST_NULLS = 3  # of a task's empty cells, beyond those of a task like it, that may all have been None
NESTED = ("params", "solver", "budget", "plugins")
OUTCOME = ("detail", "provenance")
TEXTS = ("plugins", "provenance")  # whose values all are texts, such as 3.11
NUMBER_KEY = re.compile(r"(?<![^.])(\d+)\.(\d+)(?![^.])")  # 0.05 in certified.0.05

# What rows are about; the rest, if stated
ABOUT, PART = (("study", "seed", "quick"), {"ray", "examples", "work"})

Cells = dict[str, str]  # the cells of a line that are not empty, by column


def merge(paths: Iterable[Path], out: Path) -> dict[str, int]:
    """Union of the rows of one study and seed, written to `out` whole; returns the counts by status.

    A path is a store, a study's folder, or its rows.csv with the summary beside it, as `study report` writes them; the
    times of its rows are those of timings.csv, if that lies there too.

    Where two stores ran the same task, a trial that ended by itself wins over one that crashed or ran out of
    time; two that ended by themselves must agree, or the rows come from different code: `InputError`.
    """
    about: dict[str, Any] | None = None
    commands: list[str] = []
    rows: dict[str, Row] = {}
    for path in map(rows_of, paths):
        stated, made_by, more = _contents(path)
        if about is not None and stated != about:
            raise InputError(f"{path} holds {describe(stated)}, not {describe(about)}: they do not merge")
        about = stated
        commands += made_by
        for row in more:
            rows[row.task.identity] = _better(rows.get(row.task.identity), row, path)
    return _write(out, about, commands, rows)


def rows_of(path: Path) -> Path:
    """The file of a study's folder that holds its rows: the store, where there is one."""
    return (
        path / (STORE if (path / STORE).exists() or not (path / ROWS).exists() else ROWS)
        if path.is_dir()
        else path
    )


def _contents(path: Path) -> tuple[dict[str, Any], list[str], list[Row]]:
    """What the rows of a store or of a table are about, the commands that made them, and they themselves."""
    if path.suffix == ".csv":
        about, commands, provenance = _summary(path)
        rows = read(path, provenance)
        times = timings(path.with_name(TIMINGS))
        return about, commands, [_timed(row, times.get(row.task.identity, {})) for row in rows]
    with Store(path) as store:
        return store.about, store.commands, list(store.rows())


def _timed(row: Row, times: Mapping[str, float]) -> Row:
    """A row with its times, where it states none itself."""
    if row.outcome is None:
        return row
    measured = {name: value for name, value in times.items() if name != "seconds"}
    detail = {**measured, **row.outcome.detail}
    seconds = row.outcome.seconds or times.get("seconds", 0.0)
    return replace(row, outcome=replace(row.outcome, seconds=seconds, detail=detail))


def _write(
    out: Path, about: dict[str, Any] | None, commands: list[str], rows: Mapping[str, Row]
) -> dict[str, int]:
    with replacing(out) as temporary:
        with Store(temporary, about) as store:
            store.made_by(*commands)
            store.plan(row.task for row in rows.values())
            for row in rows.values():
                if row.outcome is not None:
                    store.add(row.task, row.outcome, row.provenance or {})
            counts = store.counts()
        with closing(sqlite3.connect(temporary)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # one file, no journal beside it, before the renaming
    return counts


def _better(kept: Row | None, row: Row, path: Path) -> Row:
    if kept is None or kept.outcome is None or row.outcome is None:
        return row if kept is None or kept.outcome is None else kept
    if kept.outcome.status in UNREPEATABLE or row.outcome.status in UNREPEATABLE:
        return row if kept.outcome.status in UNREPEATABLE else kept
    if _shown(kept) != _shown(row):
        raise InputError(
            f"{path}: task {row.task.identity[:12]} ended otherwise in another store; not merged"
        )
    return kept


def _shown(row: Row) -> Cells:
    """The cells of a row as a table shows them: what a table loses is no difference between two rows."""
    return {name: str(value) for name, value in flat(row, timing=False).items() if value is not None}


def _summary(path: Path) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """What the rows of a table are about, the commands that made them, and where: of the summary beside it."""
    beside = path.with_name(SUMMARY)
    missing = f"{path} has no readable {SUMMARY} beside it, which says what the rows are about"
    try:
        stated = schemas.parse(read_bounded(beside, SUMMARY_BYTES), str(beside))
        about = {name: stated[name] for name in (*ABOUT, *sorted(PART & stated.keys()))}
        commits = stated.get("commits", [])
        provenance = stated.get("provenance", {"commit": commits[0]} if len(commits) == 1 else {})
        made_by = [str(line) for line in stated.get("made_by", [])]
        return about, made_by, {str(name): str(value) for name, value in provenance.items()}
    except InputError as error:
        raise InputError(f"{missing} ({error})") from error
    except (LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{missing}; copy that of its page") from error


def read(path: Path, provenance: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a table that `hardness.engine.table.export` wrote, as they were. Raises `InputError` for any other.

    A row states its task and the task's identity, so that a cell that was changed on the way is found. `provenance` is
    that of rows that state none.
    """
    lines: list[Cells] = []
    tasks: list[Task] = []
    like: dict[Any, Sequence[str]] = {}
    try:
        if path.stat().st_size > TABLE_BYTES:
            raise InputError(f"{path} is longer than {TABLE_BYTES >> 20} MiB; merge the stores instead")
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = list(reader.fieldnames or ())
            for number, line in enumerate(reader, 2):
                lines.append(dict(_filled(line)))
                tasks.append(_stated(lines[-1], columns, like, path, number))
    except (OSError, UnicodeError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {sanitize(error)}") from error
    nulls = _nulls(lines, columns, tasks)
    for number, (line, task, empty) in enumerate(zip(lines, tasks, nulls, strict=True), 2):
        try:
            yield _row(task, line, empty, provenance)
        except (InputError, LookupError, TypeError, ValueError) as error:
            raise _foreign(path, number, error) from error


def _stated(
    line: Cells, columns: Sequence[str], like: dict[Any, Sequence[str]], path: Path, number: int
) -> Task:
    try:
        return _task(line, columns, like)
    except (InputError, LookupError, TypeError, ValueError) as error:
        raise _foreign(path, number, error) from error


def _filled(line: Mapping[str | None, Any]) -> Iterator[tuple[str, str]]:
    """The cells that are not empty; a line may be longer than the columns, or shorter."""
    return ((name, text) for name, text in line.items() if name and text and isinstance(text, str))


def _foreign(path: Path, number: int, error: Exception) -> InputError:
    return InputError(
        f"{path}, line {number}: no row of a study ({sanitize(error)}); send what the lab wrote"
    )


def _task(line: Cells, columns: Sequence[str], like: dict[Any, Sequence[str]]) -> Task:
    """The task of a line: its cells, and of its empty cells those as None that its identity asks for.

    `like` remembers what they were for tasks with the same columns, and is added to.
    """
    identity, stated = line["identity"], {name: text for name, text in line.items() if _group(name) in NESTED}
    kind = (line["family"], *stated)
    empty = [name for name in columns if _group(name) in NESTED and name not in stated]
    empty.append("solver.params.")  # an empty mapping, which no column shows
    tries = (names for size in range(MOST_NULLS + 1) for names in combinations(empty, size))
    for names in (like.get(kind, ()), *tries):
        parts = {group: _nested(stated, group, names) for group in NESTED}
        task = Task(family=line["family"], repetition=_value(line["repetition"]), **parts)
        if task.identity == identity:
            like[kind] = names
            return task
    raise InputError("the task is not the one that its identity names")


def _row(task: Task, line: Cells, empty: Sequence[str], provenance: Mapping[str, Any]) -> Row:
    if line["status"] == "planned":
        return Row(task)
    cost, seconds = (_value(line[name]) if name in line else None for name in ("cost", "seconds"))
    if not isinstance(cost, int | float | None) or not isinstance(seconds, int | float | None):
        raise InputError(f"its cost or seconds are no numbers: {sanitize((cost, seconds), 60)}")
    outcome = Outcome(line["status"], cost, _nested(line, "detail", empty))
    made = _nested(line, "provenance", empty)
    return Row(task, replace(outcome, seconds=float(seconds or 0.0)), made or provenance)


def _group(column: str) -> str:
    return column.partition(".")[0]


def _path(column: str) -> list[str]:
    """The keys of a column; a decimal number is one of them, and so is the name of a plug-in.

    >>> _path("detail.certified.0.05"), _path("plugins.a.b:C")
    (['detail', 'certified', '0.05'], ['plugins', 'a.b:C'])
    """
    if _group(column) == "plugins":
        return column.split(".", 1)
    return [key.replace("\0", ".") for key in NUMBER_KEY.sub("\\1\0\\2", column).split(".")]


def _nested(line: Cells, group: str, empty: Sequence[str]) -> dict[str, Any]:
    """The columns ``group.a.b`` of a line as mappings; those of `empty` are None, with a dot behind them mappings."""
    whole: dict[str, Any] = {}
    columns = [*line, *empty]
    for column in (name for name in columns if _group(name) == group and name != group):
        *way, last = _path(column)[1:]
        inner = whole
        for key in way:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise InputError(f"column {sanitize(column, 60)} lies within another")
        if last and column in line:
            inner[last] = _text(line[column]) if group in TEXTS else _value(line[column])
        elif last:
            inner.setdefault(last, None)
    return whole


def _text(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def _value(cell: str) -> Any:
    """A cell as it was before `hardness.io.texts.csv_safe`: what is written in another way than it was is a text.

    >>> [_value(cell) for cell in ("'-x", "0.125", "True", "1e999", "diag", "[1, None]", "1_0", "007")]
    ['-x', 0.125, True, '1e999', 'diag', [1, None], '1_0', '007']
    """
    if cell in ("True", "False"):
        return cell == "True"
    if cell.startswith("["):
        return _list(cell)
    for number in (int, float):
        try:
            value = number(cell)
        except ValueError:
            continue
        if str(value) == cell and isfinite(value):
            return value
    return _text(cell)


def _list(cell: str) -> Any:
    if cell.count("[") > 1 and max(_depths(cell)) > schemas.DEPTH:
        return cell
    try:
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # signs before a number nest as well
        return cell
    return value if str(csv_safe(value)) == cell else cell


def _depths(cell: str) -> Iterator[int]:
    depth = 0
    for character in cell:
        depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(character, 0)
        yield depth


def _nulls(lines: Sequence[Cells], columns: Sequence[str], tasks: Sequence[Task]) -> list[list[str]]:
    """Of each line the empty cells of its outcome that stand for None: those that its kind of trial reports.

    A trial's kind is who solved what, and how it ended. No column is put into a row before the first that had it.
    """
    kinds = [_kind(line, task) for line, task in zip(lines, tasks, strict=True)]
    reported: dict[Any, dict[str, None]] = {}
    noted = dict.fromkeys(name for name in columns if _group(name) == "provenance")  # the same of every row
    for line, kind in zip(lines, kinds, strict=True):
        reported.setdefault(kind, {**noted}).update((name, None) for name in line if _group(name) == "detail")
    first = _first_rows(lines, columns, tasks, kinds, reported)
    begun: dict[int, list[str]] = {}
    for name, row in first.items():
        begun.setdefault(row, []).append(name)
    nulls = []
    for row, (line, kind) in enumerate(zip(lines, kinds, strict=True)):
        names = dict.fromkeys([name for name in reported[kind] if first[name] <= row] + begun.get(row, []))
        nulls.append([name for name in names if not any(_overlap(name, column) for column in line)])
    return nulls


def _kind(line: Cells, task: Task) -> Any:
    solver = sorted((name, value) for name, value in task.solver.items() if isinstance(value, str))
    return task.family, tuple(solver), line["status"]


def _overlap(name: str, column: str) -> bool:
    """Whether one of two columns is the other, or a part of what it holds."""
    return f"{name}.".startswith(f"{column}.") or column.startswith(f"{name}.")


def _first_rows(
    lines: Sequence[Cells],
    columns: Sequence[str],
    tasks: Sequence[Task],
    kinds: Sequence[Any],
    reported: Mapping[Any, Mapping[str, None]],
) -> dict[str, int]:
    """For every column of an outcome the first row that had it, empty or not.

    Rows came in order, each with its columns in order: so first rows ascend with the columns, and where two neighbours
    are not in order they do so strictly. The first row that is not empty bounds it above; within that the first
    row whose kind of trial reports the column is taken. Where no row here has a column of a task, this is a part of a
    table, and its last columns, all empty, come from rows of another part.
    """
    filled: dict[str, int] = {}
    likely: dict[str, int] = {}
    for row, (line, task, kind) in enumerate(zip(lines, tasks, kinds, strict=True)):
        for name in (*flat(Row(task)), *line):
            filled.setdefault(name, row)
        for name in reported[kind]:
            likely.setdefault(name, row)
    if any(name not in filled and _group(name) in NESTED for name in columns):
        columns = columns[: 1 + max((i for i, name in enumerate(columns) if name in filled), default=-1)]
    latest = {name: filled.get(name, len(lines) - 1) for name in columns}
    for name, following in reversed(list(pairwise(columns))):
        latest[name] = min(latest[name], latest[following] - (not _in_order(name, following)))
    first: dict[str, int] = {}
    row, before = 0, "identity"
    for name in columns:
        if _group(name) in OUTCOME:
            earliest = row + (not _in_order(before, name))
            row = first[name] = min(max(likely.get(name, earliest), earliest), latest[name])
        else:
            row = latest[name]
        before = name
    return first


ORDER = ("identity", "task", "status", "cost", "detail", "seconds", "provenance")


def _in_order(name: str, following: str) -> bool:
    """Whether one row has its column `name` before `following`."""

    def place(column: str) -> tuple[int, list[str]]:
        group = _group(column)
        return ORDER.index(group if group in ORDER else "task"), _path(column)

    return place(name) <= place(following)
