"""Rows on disk: one SQLite file, one transaction a finished trial, each task at most once."""

import csv
import dataclasses
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from hardness.errors import InputError, missing_extra
from hardness.files import replacing
from hardness.study.outcome import CRASHED, STATUSES, Outcome
from hardness.study.task import Task, canonical

APPLICATION = 0x41545448  # "ATTH" in the SQLite header: another program's database is refused
VERSION = 1
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE plan (position INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, task TEXT NOT NULL);
CREATE TABLE provenance (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE trials (
    identity BLOB PRIMARY KEY, status TEXT NOT NULL, cost REAL, detail TEXT NOT NULL,
    seconds REAL NOT NULL, source TEXT, provenance INTEGER NOT NULL REFERENCES provenance
) WITHOUT ROWID;
"""
TIMING = ("seconds", "source")  # with the provenance, what may differ between two runs of the same seed


@dataclass(frozen=True)
class Row:
    """A planned task, and how its trial ended if it was run (else `outcome` is None)."""

    task: Task
    outcome: Outcome | None = None
    provenance: Mapping[str, Any] | None = None


class Store:
    """The rows of one study under one root seed. A context: leaving it closes the file.

    Opening makes the file if `study` is given and there is none. Raises `InputError` on a damaged file, a file
    of another kind, or rows of another study or seed. A writer that is killed loses no committed trial.

    >>> import tempfile
    >>> task = Task("parity", {"dim": 16, "heads": 2}, {"kind": "game"}, {}, repetition=0)
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "rows.db", {"study": "demo"}) as store:
    ...     store.plan([task])
    ...     store.add(task, Outcome("solved", 99), {"numpy": "2"})
    ...     store.counts()
    {'solved': 1}
    """

    def __init__(self, path: Path, about: Mapping[str, Any] | None = None) -> None:
        self.path = path
        if about is None and not (path.exists() and path.stat().st_size):
            raise InputError(f"{path} does not exist or is empty; run the study first")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"cannot open {path}: {error}; name another --out") from error
        try:
            self._open(about)
        except sqlite3.OperationalError as error:
            self._db.close()
            raise InputError(f"cannot open {path}: {error}") from error
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise InputError(f"{path} is damaged or not a store ({error}); move it away and run again") from error
        except BaseException:
            self._db.close()
            raise

    def _open(self, about: Mapping[str, Any] | None) -> None:
        if about is not None and not self._tables():
            # The journal survives kill -9 at any instruction; only a power cut could lose the last trials.
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("BEGIN IMMEDIATE")
            if not self._tables():  # another process may have been first
                self._create(about)
            self._db.execute("COMMIT")
        if not self._tables():  # another process is only just making it, or was killed before it had
            raise InputError(f"{self.path} is empty; run the study first")
        self._db.execute("PRAGMA synchronous = NORMAL")
        kind = [self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if kind != [APPLICATION, VERSION]:
            raise InputError(f"{self.path} is not a store of studies, version {VERSION}; name another --out")
        page = self._db.execute("PRAGMA page_size").fetchone()[0]
        if not self._journal() and self.path.stat().st_size % page:
            raise sqlite3.DatabaseError("its last page is cut off")  # SQLite would read zeros there
        if (check := self._db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(check.replace("\n", " "))
        self.about: dict[str, Any] = {k: json.loads(v) for k, v in self._db.execute("SELECT * FROM meta")}
        if about is not None and self.about != json.loads(canonical(about)):
            raise InputError(f"{self.path} holds {_describe(self.about)}, not {_describe(about)}; name another --out")

    def _tables(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])

    def _create(self, about: Mapping[str, Any]) -> None:
        for statement in TABLES.split(";"):
            self._db.execute(statement)
        self._db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, canonical(about[key])) for key in about])
        self._db.execute(f"PRAGMA application_id = {APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {VERSION}")

    def _journal(self) -> bool:
        journal = self.path.with_name(self.path.name + "-wal")
        return journal.exists() and journal.stat().st_size > 0

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._db.close()

    def plan(self, tasks: Iterable[Task]) -> None:
        """Record what is to be run; what is planned already stays where it is."""
        rows = ((bytes.fromhex(task.identity), task.text) for task in tasks)
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR IGNORE INTO plan (identity, task) VALUES (?, ?)", rows)
        self._db.execute("COMMIT")

    def add(self, task: Task, outcome: Outcome, provenance: Mapping[str, Any]) -> None:
        """Record a finished trial in one transaction; a task that has one keeps it."""
        if outcome.status not in STATUSES:
            raise ValueError(f"status {outcome.status!r} is none of {STATUSES}")
        text = canonical(provenance)
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("INSERT OR IGNORE INTO provenance (text) VALUES (?)", (text,))
            self._db.execute(
                "INSERT OR IGNORE INTO trials SELECT ?, ?, ?, ?, ?, ?, id FROM provenance WHERE text = ?",
                (
                    bytes.fromhex(task.identity),
                    outcome.status,
                    outcome.cost,
                    canonical(outcome.detail),
                    round(outcome.seconds, 6),
                    outcome.source,
                    text,
                ),
            )
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as error:  # a full disk, a read-only file, another writer
            raise InputError(f"cannot write {self.path}: {error}") from error

    def retry(self, tasks: Iterable[Task]) -> int:
        """Forget the trials of `tasks` that ended as one of `CRASHED`, so that they run again; returns how many."""
        self._db.execute("BEGIN IMMEDIATE")
        forgotten = self._db.executemany(
            "DELETE FROM trials WHERE identity = ? AND status IN (?, ?)",
            [(bytes.fromhex(task.identity), *CRASHED) for task in tasks],
        ).rowcount
        self._db.execute("COMMIT")
        return forgotten

    def done(self) -> set[str]:
        """Identities of the tasks that have been run."""
        return {identity.hex() for (identity,) in self._db.execute("SELECT identity FROM trials")}

    def planned(self) -> int:
        """How many tasks are planned."""
        return int(self._db.execute("SELECT count(*) FROM plan").fetchone()[0])

    def counts(self) -> dict[str, int]:
        """Trials by status, in the order of `STATUSES`; statuses without a trial are absent."""
        found = Counter(dict(self._db.execute("SELECT status, count(*) FROM trials GROUP BY status").fetchall()))
        return {status: found[status] for status in STATUSES if found[status]}

    def sources(self) -> dict[str, set[str]]:
        """Digests of the source files of the learners that made the rows, by learner."""
        found: dict[str, set[str]] = {}
        query = "SELECT task, source FROM plan JOIN trials USING (identity) WHERE source IS NOT NULL"
        for task, source in self._db.execute(query):
            found.setdefault(json.loads(task)["solver"]["learner"], set()).add(source)
        return found

    def rows(self) -> Iterator[Row]:
        """All planned tasks in order, run or not."""
        notes = {id_: json.loads(text) for id_, text in self._db.execute("SELECT id, text FROM provenance")}
        columns = "task, status, cost, detail, seconds, source, provenance"
        query = f"SELECT {columns} FROM plan LEFT JOIN trials USING (identity) ORDER BY position"
        for text, status, cost, detail, seconds, source, note in self._db.execute(query):
            task = Task.parse(text)
            vars(task)["text"] = text  # canonical, as it was written: spares making it again
            if status is None:
                yield Row(task)
            else:
                yield Row(task, Outcome(status, cost, json.loads(detail), seconds, source), notes[note])


def merge(paths: Iterable[Path], out: Path) -> dict[str, int]:
    """Union of stores of one study and seed, written to `out` whole; returns the counts by status.

    Where two stores ran the same task, a trial that ended by itself wins over one that crashed or ran out of
    time; two that ended by themselves must agree, or the rows come from different code: `InputError`.
    """
    about: dict[str, Any] | None = None
    best: dict[str, Row] = {}
    for path in paths:
        with Store(path) as store:
            if about is not None and store.about != about:
                raise InputError(f"{path} holds {_describe(store.about)}, not {_describe(about)}: they do not merge")
            about = store.about
            for row in store.rows():
                best[row.task.identity] = _better(best.get(row.task.identity), row, path)
    with replacing(out) as temporary:
        with Store(temporary, about) as store:
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
            columns |= {name: getattr(row.outcome, name) for name in TIMING}
            columns |= dict(_flatten({"provenance": row.provenance}))
    return columns


def _flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in sorted(value.items()):
        if isinstance(item, Mapping):
            yield from _flatten(item, f"{prefix}{key}.")
        else:
            yield prefix + key, item


def export(store: Store, out: Path, timing: bool = True) -> int:
    """Write the rows to a `.csv` or `.parquet` file; returns how many. Equal seeds give equal bytes without timing."""
    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"cannot export to {out.name}: name a .csv or .parquet file")
    names: dict[str, None] = {}
    for row in store.rows():
        names |= dict.fromkeys(flat(row, timing))
    if out.suffix == ".csv":
        with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(names), restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(flat(row, timing) for row in store.rows())
        return store.planned()
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("pyarrow", "parquet", "a .parquet file") from error
    rows = [flat(row, timing) for row in store.rows()]
    with replacing(out) as temporary:
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), temporary)
    return len(rows)


def _describe(about: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(about.items()))
