"""Rows as others send them, a store or rows.csv with summary.json beside it; and the union of several."""

import csv
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from math import isfinite
from pathlib import Path
from typing import Any

from hardness.engine.outcome import Outcome, Row
from hardness.engine.store import Store, describe
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.io.files import replacing
from hardness.io.texts import FORMULA, sanitize

ROWS, SUMMARY, STORE = "rows.csv", "summary.json", "rows.db"
LARGEST = 1 << 28  # bytes of a table
Found = tuple[dict[str, Any], list[str], Iterator[Row]]


def results(path: Path, store: Store | None = None) -> Found:
    """What rows are about, the commands that made them, and the rows: of an open `store`, or of rows.csv at `path`."""
    if store is not None:
        return store.about, store.commands, store.rows()
    summary = path.with_name(SUMMARY)
    try:
        said = json.loads(summary.read_text(encoding="utf-8"))
        about = {name: said[name] for name in ("study", "seed", "quick")}
        commands, commits = [str(line) for line in said.get("made_by", [])], said.get("commits", [])
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path} has no readable {SUMMARY} beside it, which says what the rows are about") from error
    return about, commands, read(path, {"commit": str(commits[0])} if len(commits) == 1 else {})


def place(path: Path) -> Path:
    """The store or the table that `path` means: itself, or of a study's folder its store, else its table."""
    if not path.is_dir():
        return path
    return path / STORE if (path / STORE).exists() or not (path / ROWS).exists() else path / ROWS


def read(path: Path, provenance: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a table that `hardness.engine.table.export` wrote. Raises `InputError` for any other.

    A row states its task and the task's identity, so that a cell that was changed on the way is found.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} has more than {LARGEST >> 20} MiB; send rows in parts")
        with path.open(newline="", encoding="utf-8") as file:
            for number, line in enumerate(csv.DictReader(file), 2):
                yield _row(line, f"{path}, line {number}", provenance)
    except (OSError, UnicodeError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {sanitize(error)}") from error


def _row(line: Mapping[str | None, Any], where: str, provenance: Mapping[str, Any]) -> Row:
    known = {str(name): _value(text) for name, text in line.items() if isinstance(text, str) and text}
    parts = {name: _nested(known, name) for name in ("params", "solver", "budget", "plugins", "detail")}
    detail = parts.pop("detail")
    try:
        task = Task(family=str(known["family"]), repetition=known["repetition"], **parts)
        if task.identity != line["identity"]:
            raise InputError("the task is not the one that its identity names")
        if known["status"] == "planned":
            return Row(task)
        if not isinstance(cost := known.get("cost"), int | float | None):
            raise InputError(f"its cost is no number: {sanitize(cost, 60)}")
        return Row(task, Outcome(str(known["status"]), cost, detail), provenance)
    except (InputError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{where}: no row of a study ({sanitize(error)}); send what the lab wrote") from error


def _nested(known: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The columns ``name.a.b`` as mappings; names of plug-ins have dots of their own."""
    found: dict[str, Any] = {}
    for key, value in known.items():
        first, _, rest = key.partition(".")
        if first == name and rest:
            *way, last = [rest] if name == "plugins" else rest.split(".")
            inner = found
            for step in way:
                inner = inner.setdefault(step, {})
                if not isinstance(inner, dict):
                    raise InputError(f"column {sanitize(key, 60)} lies within another")
            inner[last] = value
    return found


def _value(text: str) -> Any:
    """A cell as it was before `hardness.io.texts.cell`.

    >>> _value("'-x"), _value("0.125"), _value("True"), _value("1e999"), _value("diag")
    ('-x', 0.125, True, '1e999', 'diag')
    """
    if text in ("True", "False"):
        return text == "True"
    if text[:1] == "'" and text[1:].startswith(FORMULA):
        return text[1:]
    try:
        number = float(text)
        return (int(text) if text.lstrip("-").isdecimal() else number) if isfinite(number) else text
    except ValueError:
        return text


def merge(paths: Iterable[Path], out: Path) -> dict[str, int]:
    """Union of the rows of one study and seed, written to `out` whole; returns the counts by status.

    A path is a store, a study's folder, or its rows.csv with the summary beside it, as `study report` writes them.

    Where two stores ran the same task, a trial that ended by itself wins over one that crashed or ran out of
    time; two that ended by themselves must agree, or the rows come from different code: `InputError`.
    """
    about: dict[str, Any] | None = None
    commands: list[str] = []
    best: dict[str, Row] = {}
    for path in map(place, paths):
        with nullcontext() if path.suffix == ".csv" else Store(path) as store:
            found, made_by, rows = results(path, store)
            if about is not None and found != about:
                raise InputError(f"{path} holds {describe(found)}, not {describe(about)}: they do not merge")
            about = found
            commands += made_by
            for row in rows:
                best[row.task.identity] = _better(best.get(row.task.identity), row, path)
    with replacing(out) as temporary:
        with Store(temporary, about) as store:
            store.made_by(*commands)
            store.plan(row.task for row in best.values())
            for row in best.values():
                if row.outcome is not None:
                    store.add(row.task, row.outcome, row.provenance or {})
            counts = store.counts()
        with closing(sqlite3.connect(temporary)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # one file, no journal beside it, before the renaming
    return counts


def _better(kept: Row | None, row: Row, path: Path) -> Row:
    crashes = ("error", "killed", "timeout")
    if kept is None or kept.outcome is None or row.outcome is None:
        return row if kept is None or kept.outcome is None else kept
    a, b = kept.outcome, row.outcome
    if a.status in crashes or b.status in crashes:
        return row if a.status in crashes else kept
    if (a.status, a.cost, a.detail) != (b.status, b.cost, b.detail):
        raise InputError(f"{path}: task {row.task.identity[:12]} ended otherwise in another store; not merged")
    return kept
