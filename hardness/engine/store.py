"""Rows on disk: one SQLite file, one transaction a finished trial, each task at most once."""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hardness.engine.outcome import CRASHED, Outcome, Table
from hardness.engine.outcome import Row as Row
from hardness.engine.task import Task, canonical
from hardness.errors import InputError
from hardness.io import schemas
from hardness.io.files import regular
from hardness.io.texts import is_sanitized, sanitize, sanitize_json

APPLICATION = 0x41545448  # "ATTH" in the SQLite header: another program's database is refused
VERSION, READ = 4, (2, 3, 4)  # stores of 0.3, versions 2 and 3, are read and added to
STORE = "rows.db"  # in the folder of a study
LOCK_WAIT_SECONDS = 30.0  # for another writer
AGAIN = "move it away and run again, or take the rows of its page: `hardness study merge FOLDER/rows.csv --out F.db`"
COMMANDS = "commands"  # in the table `meta`; not a part of what the store is about
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE plan (position INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, task TEXT NOT NULL);
CREATE TABLE provenance (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE trials (
    identity BLOB PRIMARY KEY, status TEXT NOT NULL, cost REAL, detail TEXT NOT NULL,
    seconds REAL NOT NULL, provenance INTEGER NOT NULL REFERENCES provenance
) WITHOUT ROWID;
"""


class Store:
    """The rows of one study under one root seed. A context: leaving it closes the file.

    Opening makes the file if `about` is given and there is none. Raises `InputError` on a file of another kind, or
    rows of another study or seed, and on a damaged one: every row is checked. A writer that is killed loses no
    committed trial.
    """

    def __init__(self, path: Path, about: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.about: dict[str, Any]
        self.commands: list[str] = []  # the command lines that made the rows, first one first
        try:
            if path.exists():
                regular(path)
            if about is None and not (path.exists() and path.stat().st_size):
                raise InputError(f"{path} does not exist or is empty; run the study first")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=LOCK_WAIT_SECONDS)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"cannot open {path}: {error}; name another --out") from error
        try:
            self._open(about)
            self._check()
        except sqlite3.Error as error:
            self._db.close()
            # The disk, another writer
            if any(word in str(error) for word in ("locked", "full", "I/O", "unable to open")):
                raise InputError(f"cannot open {path}: {error}") from error
            raise InputError(f"{path} is damaged or no store ({sanitize(error)}); {AGAIN}") from error
        except BaseException:
            self._db.close()
            raise
        if about is not None and self.about != json.loads(canonical(about)):
            self._db.close()
            raise InputError(
                f"{path} holds {describe(self.about)}, not {describe(about)}; name another --out"
            )

    def _open(self, about: Mapping[str, Any] | None) -> None:
        """Make the tables where there are none. Raises `InputError` for a file that is no store."""
        self._db.execute("PRAGMA trusted_schema = OFF")
        if about is not None and not self._tables():
            # The journal survives kill -9 at any instruction; only a power cut could lose the last trials.
            self._write_ahead()
            self._db.execute("BEGIN IMMEDIATE")
            if not self._tables():  # another process may have been first
                for statement in TABLES.split(";"):
                    self._db.execute(statement)
                notes = [(key, canonical(value)) for key, value in about.items()]
                self._db.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", notes)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {VERSION}")
            self._db.execute("COMMIT")
        if not self._tables():  # another process is only just making it, or was killed before it had
            raise InputError(f"{self.path} is empty; run the study first")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if self._pragma("application_id") != APPLICATION or self._pragma("user_version") not in READ:
            raise InputError(
                f"{self.path} is not a store of studies, version {VERSION}: run the study into another --out"
            )

    def _check(self) -> None:
        """Read what the rows are about. Raises `InputError` if anything is damaged."""
        journal = Path(f"{self.path}-wal")
        whole = self.path.stat().st_size % self._pragma("page_size") == 0
        self._db.execute("BEGIN")  # one moment of a store that others may be writing
        try:
            if not (whole or (journal.exists() and journal.stat().st_size)):  # SQLite would read zeros
                raise InputError("its last page is cut off")
            if (check := self._pragma("quick_check(1)")) != "ok":
                raise InputError(check)
            if self._db.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone():
                raise InputError("it holds views or triggers")
            notes = self._db.execute("SELECT key, value FROM meta")
            self.about = {str(key): schemas.parse(value, key) for key, value in notes}
            # What may differ between two stores of the same rows is no part of what they are about.
            self.commands = [sanitize(text) for text in self.about.pop(COMMANDS, [])]
            if not isinstance(self.about.get("study"), str):
                raise InputError("it does not say which study its rows are of")
            lost = "SELECT 1 FROM trials WHERE identity NOT IN (SELECT identity FROM plan)"
            if self._db.execute(lost).fetchone():
                raise InputError("a trial is of no task that was planned")
            for _ in self.rows():  # every row is checked
                pass
        except (InputError, AttributeError, TypeError) as error:
            raise InputError(f"{self.path} is damaged ({sanitize(error)}); {AGAIN}") from error
        finally:
            self._db.execute("COMMIT")

    def _pragma(self, name: str) -> Any:
        return self._db.execute(f"PRAGMA {name}").fetchone()[0]

    def _tables(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])

    def _write_ahead(self) -> None:
        """Keep a journal. Here SQLite itself does not wait for another process that makes the same store."""
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """One transaction, whole or not at all. Raises `InputError` for a full disk or a busy writer."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise InputError(f"cannot write {self.path}: {error}") from error
        finally:
            if self._db.in_transaction:
                with suppress(sqlite3.OperationalError):  # a full disk has rolled it back already
                    self._db.execute("ROLLBACK")

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def made_by(self, *commands: str) -> None:
        """Note command lines that make rows of this store; what is noted already stays where it is."""
        known = list(dict.fromkeys([*self.commands, *commands]))
        if known != self.commands:
            with self._transaction():
                note = (COMMANDS, canonical(known))
                self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", note)
            self.commands = known

    def plan(self, tasks: Iterable[Task]) -> int:
        """Record what is to be run; what is planned already stays. `InputError` for texts that cannot be read.

        Rows that ask the same of another version of a plug-in are forgotten; returns how many trials that were.
        """
        tasks = list(tasks)
        if odd := next((task.text for task in tasks if not is_sanitized(task.text)), None):
            raise InputError(f"a task holds a text that is too long or cannot be printed: {sanitize(odd)}")
        now = {task.question: task.identity for task in tasks if task.plugins}
        planned = [Task.parse(text) for (text,) in self._db.execute("SELECT task FROM plan")] if now else []
        old = [(bytes.fromhex(t.identity),) for t in planned if now.get(t.question, t.identity) != t.identity]
        rows = ((bytes.fromhex(task.identity), task.text) for task in tasks)
        with self._transaction():
            forgotten = self._db.executemany("DELETE FROM trials WHERE identity = ?", old).rowcount
            self._db.executemany("DELETE FROM plan WHERE identity = ?", old)
            self._db.executemany("INSERT OR IGNORE INTO plan (identity, task) VALUES (?, ?)", rows)
        return max(forgotten, 0)

    def add(self, task: Task, outcome: Outcome, provenance: Mapping[str, Any]) -> None:
        """Record a finished trial in one transaction; a task that has one keeps it."""
        text, detail = canonical(sanitize_json(provenance)), canonical(sanitize_json(outcome.detail))
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO provenance (text) VALUES (?)", (text,))
            cells = (bytes.fromhex(task.identity), outcome.status, outcome.cost, detail, outcome.seconds)
            self._db.execute(
                "INSERT OR IGNORE INTO trials (identity, status, cost, detail, seconds, provenance)"
                " SELECT ?, ?, ?, ?, ?, id FROM provenance WHERE text = ?",
                (*cells, text),
            )

    def retry(self, tasks: Iterable[Task]) -> int:
        """Forget the trials of `tasks` that ended as one of `CRASHED`, so that they run again; returns how many."""
        rows = [(bytes.fromhex(task.identity), *CRASHED) for task in tasks]
        with self._transaction():
            return self._db.executemany(
                "DELETE FROM trials WHERE identity = ? AND status IN (?, ?)", rows
            ).rowcount

    def done(self) -> set[str]:
        """Identities of the tasks that have been run."""
        return {identity.hex() for (identity,) in self._db.execute("SELECT identity FROM trials")}

    def counts(self) -> dict[str, int]:
        """Return the number of trials by status, in the order of `STATUSES`."""
        return self.table().counts()

    def table(self) -> Table:
        """Return all rows, with what they are about."""
        return Table(self.about, self.commands, list(self.rows()))

    def rows(self) -> Iterator[Row]:
        """Yield all planned tasks in order, run or not. Raises `InputError` at a damaged one."""
        notes = {
            number: schemas.parse(text, "a provenance")
            for number, text in self._db.execute("SELECT id, text FROM provenance")
        }
        columns = "identity, task, status, cost, detail, seconds, provenance"
        query = f"SELECT {columns} FROM plan LEFT JOIN trials USING (identity) ORDER BY position"
        for identity, text, status, cost, detail, seconds, note in self._db.execute(query):
            yield checked(identity.hex(), text, status, cost, detail, seconds, notes.get(note))


def checked(
    identity: str, text: str, status: str | None, cost: Any, detail: str | None, seconds: Any, made: Any
) -> Row:
    """Return a row of a file, which may come from anybody; one of a task that was not run if it has no `status`.

    Raises `InputError` for one that the lab would not write. A task is its own checksum: its identity is the SHA-256
    of its text.
    """
    stated = schemas.check("task", schemas.parse(text, "a task"), "a task")
    task = Task.parse(canonical(stated))
    if task.identity != identity or not is_sanitized(text):
        raise InputError("the task is not the one that its identity names; send what the lab wrote")
    if status is None:
        return Row(task)
    detailed = schemas.parse(detail or "", "a detail")
    numbers = all(type(value) in (int, float) for value in (cost or 0.0, seconds))
    if not (numbers and isinstance(detailed, dict) and isinstance(made, dict)):
        raise InputError("the row of a trial is none that the lab writes")
    return Row(task, Outcome(status, cost, sanitize_json(detailed), seconds), sanitize_json(made))


def describe(about: Mapping[str, Any]) -> str:
    """What rows are about, in words."""
    return ", ".join(f"{key} {value}" for key, value in sorted(about.items()))
