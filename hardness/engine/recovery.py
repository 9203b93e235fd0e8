"""What of a store can be trusted: every row is checked, and what is damaged is left out and counted.

A task is its own checksum: its identity is the SHA-256 of its text. Of a trial the types and the status are checked.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from hardness.errors import InputError
from hardness.io import schemas
from hardness.io.schemas import finite
from hardness.io.texts import is_sanitized, sanitize

COLUMNS = {
    "meta": ("key", "value"),
    "plan": ("position", "identity", "task"),
    "provenance": ("id", "text"),
    "trials": ("identity", "status", "cost", "detail", "seconds", "provenance"),
}
LOST = -1  # the provenance of a trial whose own is damaged


def examine(db: sqlite3.Connection, clean: sqlite3.Connection | None = None) -> tuple[dict[str, Any], int]:
    """What a store says it is about, and how many of its rows are damaged; the others are copied to `clean`, if given.

    Raises `InputError` if it does not say which study and seed it holds.
    """
    before, db.text_factory = db.text_factory, bytes
    try:
        about, lost = _about(db)
        if clean is not None:
            from hardness.engine.task import canonical

            clean.executemany("INSERT INTO meta VALUES (?, ?)", [(key, canonical(about[key])) for key in about])
        for table in ("plan", "provenance", "trials"):
            lost += _table(db, clean, table)
        return about, lost
    finally:
        db.text_factory = before


def _about(db: sqlite3.Connection) -> tuple[dict[str, Any], int]:
    """The table `meta` as a mapping, and how many of its lines are damaged."""
    about: dict[str, Any] = {}
    lost = 0
    for row in _rows(db, "meta"):
        try:
            key, value = row or ()
            about[key.decode()] = schemas.parse(value, "meta")
        except (InputError, TypeError, ValueError, AttributeError):
            lost += 1
    seed = about.get("seed", 0)
    if not isinstance(about.get("study"), str) or type(seed) is not int or seed < 0:
        raise InputError("it does not say which study and seed its rows are of")
    return about, lost


def _table(db: sqlite3.Connection, clean: sqlite3.Connection | None, table: str) -> int:
    """How many rows of a table are damaged; the others go to `clean`, if given."""
    lost, marks = 0, ", ".join("?" * len(COLUMNS[table]))
    trials = table == "trials"
    planned = {row[1] for row in _good(db, "plan")} if trials else set()
    known = {row[0] for row in _good(db, "provenance")} if trials else set()
    orphans = 0
    for row in _rows(db, table):
        found = _checked(table, row, planned, known) if row is not None else None
        if found is None:
            lost += 1
            continue
        orphan = trials and found[-1] == LOST
        orphans += orphan
        if clean is not None:
            if orphan:
                clean.execute("INSERT OR IGNORE INTO provenance VALUES (?, '{}')", (LOST,))
            clean.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", found)
    return lost + orphans


def _good(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows of `plan` or `provenance` that are as they were written."""
    for row in _rows(db, table):
        if row is not None and (found := _checked(table, row, set(), set())) is not None:
            yield found


def _checked(table: str, row: Sequence[Any], planned: set[bytes], known: set[int]) -> tuple[Any, ...] | None:
    """The row with its texts decoded, or None if it is damaged."""
    try:
        texts = [value.decode() if isinstance(value, bytes) and name != "identity" else value
                 for name, value in zip(COLUMNS[table], row, strict=True)]  # fmt: skip
        if table == "plan":
            good = (
                type(texts[0]) is int
                and hashlib.sha256(texts[2].encode()).digest() == texts[1]
                and is_sanitized(texts[2])
            )
            schemas.check("task", schemas.parse(texts[2], "a task"), "a task")
        elif table == "provenance":
            good = type(texts[0]) is int and isinstance(schemas.parse(texts[1], "a note"), dict)
        else:
            fields: list[Any] = texts
            identity, status, cost, detail, seconds, note = fields
            good = identity in planned and status in schemas.STATUSES and isinstance(detail, str)
            good = good and isinstance(schemas.parse(detail, "a detail"), dict)
            good = good and (cost is None or type(cost) in (int, float)) and type(seconds) in (int, float)
            good = good and finite(cost or 0) and finite(seconds)
            texts[-1] = note if note in known else LOST
        return tuple(texts) if good else None
    except (InputError, TypeError, ValueError, AttributeError):
        return None


def _rows(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...] | None]:
    """The rows of a table; None for a stretch that cannot be read, beyond which they are read from the other end."""
    columns = ", ".join(COLUMNS[table])
    # By the table itself and not by an index, which may be damaged while the table is not.
    source = "trials ORDER BY identity" if table == "trials" else f"{table} NOT INDEXED ORDER BY rowid"
    seen: set[Any] = set()
    for way in ("ASC", "DESC"):
        try:
            for row in db.execute(f"SELECT {columns} FROM {source} {way}"):
                if way == "DESC":
                    if row[0] in seen:
                        return
                else:
                    seen.add(row[0])
                yield row
            if way == "ASC":
                return
        except sqlite3.Error:
            if way == "ASC":
                yield None


def readable(path: Path, tables: str) -> tuple[sqlite3.Connection, int]:
    """A clean copy, in memory, of what can be read of a damaged store, and how many rows are lost with the rest.

    Raises `InputError` if that is nothing.
    """
    clean = sqlite3.connect(":memory:", isolation_level=None)
    clean.executescript(tables)
    try:
        with closing(sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, isolation_level=None)) as db:
            _, lost = examine(db, clean)
    except (InputError, sqlite3.Error) as error:
        clean.close()
        raise InputError(f"{path} is damaged or not a store ({sanitize(error)}); move it away and run again") from error
    with suppress(sqlite3.Error):
        clean.execute("PRAGMA query_only = ON")
    return clean, lost


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path.absolute()))
