"""Rows as tables: .csv files that no spreadsheet calculates, .parquet files, data frames; the union of several."""

import csv
import dataclasses
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome, Row
from hardness.engine.store import Store, describe
from hardness.engine.task import Task
from hardness.errors import InputError, missing_extra
from hardness.io.files import replacing
from hardness.io.texts import FORMULA, csv_safe, sanitize, sanitize_json

if TYPE_CHECKING:
    import pandas as pd

ROWS, SUMMARY, STORE = "rows.csv", "summary.json", "rows.db"
COLUMNS = {
    "identity": "SHA-256 of the task: what was run",
    "family": "the family of the instance",
    "repetition": "the run among equal tasks; each has an instance of its own",
    "params.": "parameters of the family",
    "solver.": "who solved, and its options",
    "budget.": "what the run might spend: queries, samples, work",
    "plugins.": "fingerprints of code of other packages that the task names",
    "status": "solved, wrong, budget, timeout, error, killed, refused; or planned: not run yet",
    "cost": "queries or examples spent; a run that did not solve is only known to need more",
    "detail.": "what else the trial found",
    "seconds": "wall-clock time of the trial",
    "provenance.": "version, commit and machine that made the row",
}


def flat(row: Row, timing: bool = True) -> dict[str, Any]:
    """A row as columns: nested names joined by dots; without `timing`, only what the seed determines."""
    fields = {f.name: getattr(row.task, f.name) for f in dataclasses.fields(row.task)}
    columns: dict[str, Any] = {"identity": row.task.identity, **dict(_flatten(fields))}
    columns["status"] = row.outcome.status if row.outcome else "planned"
    if row.outcome:
        cost = row.outcome.cost
        columns["cost"] = int(cost) if cost is not None and float(cost).is_integer() else cost
        columns |= dict(_flatten({"detail": row.outcome.detail}))
        if timing:
            columns["seconds"] = row.outcome.seconds
            columns |= dict(_flatten({"provenance": row.provenance}))
    return columns


def _flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in sorted(value.items()):
        if isinstance(item, Mapping):
            yield from _flatten(item, f"{prefix}{key}.")
        else:
            yield prefix + key, item


def export(rows: Callable[[], Iterable[Row]], out: Path, timing: bool = True) -> int:
    """Write what `rows()` gives, called once a pass, to a `.csv` or `.parquet` file; returns how many rows those are.

    Equal seeds give equal bytes without timing. Raises `InputError` for another suffix.
    """
    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"cannot export to {out.name}: name a .csv or .parquet file")
    names: dict[str, None] = {}
    count = 0
    for row in rows():
        names |= dict.fromkeys(flat(row, timing))
        count += 1
    if out.suffix == ".csv":
        with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(names), restval="", lineterminator="\n")
            writer.writerow({name: csv_safe(name) for name in names})
            writer.writerows({name: csv_safe(value) for name, value in flat(row, timing).items()} for row in rows())
        return count
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("pyarrow", "parquet", "a .parquet file") from error
    table = [flat(row, timing) for row in rows()]
    with replacing(out) as temporary:
        try:
            pq.write_table(
                pa.table({str(sanitize_json(name)): [sanitize_json(row.get(name)) for row in table] for name in names}),
                temporary,
            )
        except pa.ArrowException as error:
            raise InputError(f"the rows make no table for Parquet ({sanitize(error)}); export a .csv") from error
    return count


def rows(folder: str | Path) -> "pd.DataFrame":
    """The rows of a study or sweep, as a pandas DataFrame; `attrs["columns"]` says what each column is.

    `folder` is what `study run --out` or `sweep --out` named, or the rows.db in it. Raises `InputError` where there is
    no store, and where pandas is missing.

    >>> import tempfile, hardness
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = hardness.sweep("parity", dim=[8, 9], heads=2, strategy="flat", runs=1, workers=0, out=folder)
    ...     found = hardness.rows(folder)
    >>> found[["params.dim", "status", "cost"]].values.tolist()
    [[8, 'solved', 4], [9, 'solved', 5]]
    >>> found.attrs["columns"]["cost"]
    'queries or examples spent; a run that did not solve is only known to need more'
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_extra("pandas", "notebook", "hardness.rows") from error
    path = Path(folder)
    with Store(path / STORE if path.is_dir() else path) as store:
        table = pd.DataFrame([flat(row) for row in store.rows()])
    meanings = {name: [text for known, text in COLUMNS.items() if name.startswith(known)] for name in table.columns}
    table.attrs["columns"] = {name: text for name, (text,) in meanings.items()}
    return table


def read(path: Path, provenance: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a table that `hardness.engine.table.export` wrote. Raises `InputError` for any other.

    A row states its task and the task's identity, so that a cell that was changed on the way is found.
    """
    try:
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


def _summary(path: Path) -> tuple[dict[str, Any], list[str], list[Any]]:
    """What the rows of a table are about, the commands that made them, and their commits: of the summary beside it."""
    summary = path.with_name(SUMMARY)
    try:
        said = json.loads(summary.read_text(encoding="utf-8"))
        about = {name: said[name] for name in ("study", "seed", "quick")}
        return about, [str(line) for line in said.get("made_by", [])], list(said.get("commits", []))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path} has no readable {SUMMARY} beside it, which says what the rows are about") from error


def merge(paths: Iterable[Path], out: Path) -> dict[str, int]:
    """Union of the rows of one study and seed, written to `out` whole; returns the counts by status.

    A path is a store, a study's folder, or its rows.csv with the summary beside it, as `study report` writes them.

    Where two stores ran the same task, a trial that ended by itself wins over one that crashed or ran out of
    time; two that ended by themselves must agree, or the rows come from different code: `InputError`.
    """
    about: dict[str, Any] | None = None
    commands: list[str] = []
    best: dict[str, Row] = {}
    for path in paths:
        if path.is_dir():
            path = path / (STORE if (path / STORE).exists() or not (path / ROWS).exists() else ROWS)
        with nullcontext() if path.suffix == ".csv" else Store(path) as store:
            if store is None:
                found, made_by, commits = _summary(path)
                rows = read(path, {"commit": str(commits[0])} if len(commits) == 1 else {})
            else:
                found, made_by, rows = store.about, store.commands, store.rows()
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
