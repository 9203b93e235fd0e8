"""Rows on disk: one SQLite file, one transaction a finished trial, each task at most once."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from types import NoneType
from typing import Any

from hardness.engine.outcome import Outcome, Table
from hardness.engine.outcome import Row as Row
from hardness.engine.task import Task, canonical
from hardness.errors import InputError
from hardness.io import schemas
from hardness.io.files import regular
from hardness.io.texts import is_sanitized, sanitize, sanitize_json

APPLICATION = 0x41545448  # "ATTH" in the SQLite header: another program's database is refused
VERSION = 4
STORE = "rows.db"  # in the folder of a study
LOCK_WAIT_SECONDS = 30.0  # for another writer
AGAIN = "move it away and run again, or take the rows of its page: `hardness study merge FOLDER/rows.csv --out F.db`"
COMMANDS = "commands"  # in the table `meta`; not a part of what the store is about
TABLES = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE plan (position INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, task TEXT NOT NULL);
CREATE TABLE provenance (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE trials (
    identity BLOB PRIMARY KEY, status TEXT NOT NULL, cost REAL, detail TEXT NOT NULL,
    seconds REAL NOT NULL, provenance INTEGER NOT NULL REFERENCES provenance
) WITHOUT ROWID;
"""


class Store:
    """Hold the rows of one study under one root seed in an SQLite file; as a context manager, close it at the end.

    If the file does not exist, it is made from `about` (study and seed, by name). Raises `InputError` for a missing
    file without `about`, for a file of another kind, study or seed, and for a damaged one: every row is checked. A
    killed writer loses no stored trial.
    """

    def __init__(self, path: Path, about: Mapping[str, Any] | None = None) -> None:
        self.path = path
        if not path.exists():
            if about is None:
                raise InputError(f"{path} does not exist; run the study first")
            with self._in_one_line("make"):
                self._make(about)
        with self._in_one_line("open"):
            self._db = sqlite3.connect(regular(path), isolation_level=None, timeout=LOCK_WAIT_SECONDS)
        try:
            self.about, self.commands = self._check()
            if about is not None and self.about != json.loads(canonical(about)):
                held, asked = describe(self.about), describe(about)
                raise InputError(f"{path} holds {held}, not {asked}; name another --out")
        except BaseException:
            self._db.close()
            raise

    def _make(self, about: Mapping[str, Any]) -> None:
        """Write an empty store that notes `about` (study, seed), whole or not at all; an existing file is kept."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f".{self.path.name}.{token_hex(4)}")
        try:
            with closing(sqlite3.connect(temporary)) as db:
                # With a journal of its own a kill at any instruction loses nothing, a power cut the last trials.
                db.execute("PRAGMA journal_mode = WAL")
                db.executescript(TABLES)
                notes = [(key, canonical(value)) for key, value in about.items()]
                db.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", notes)
                db.commit()
            with suppress(FileExistsError):
                os.link(temporary, self.path)
        finally:
            temporary.unlink(missing_ok=True)

    def _check(self) -> tuple[dict[str, Any], list[str]]:
        """Return what the rows are about (study, seed) and the commands that made them; `InputError` if damaged."""
        try:
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("BEGIN")  # one state of the file, whoever writes
            if (self._pragma("application_id"), self._pragma("user_version")) != (APPLICATION, VERSION):
                raise InputError(f"it is no store of studies, version {VERSION}")
            if (damage := self._pragma("quick_check(1)")) != "ok":
                raise InputError(damage)
            if self._db.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone():
                raise InputError("it holds views or triggers")
            notes = self._db.execute("SELECT key, value FROM meta ORDER BY key")
            about = {key: schemas.parse(value, key) for key, value in notes}
            commands = [sanitize(text) for text in about.pop(COMMANDS, [])]
            if not isinstance(about.get("study"), str):
                raise InputError("it does not say which study its rows are of")
            for _ in self.rows():  # every row is checked
                pass
            self._db.execute("COMMIT")
        except (InputError, AttributeError, TypeError, sqlite3.Error) as error:
            raise InputError(f"{self.path} cannot be read ({sanitize(error)}); {AGAIN}") from error
        return about, commands

    def _pragma(self, name: str) -> Any:
        return self._db.execute(f"PRAGMA {name}").fetchone()[0]

    @contextmanager
    def _in_one_line(self, what: str) -> Iterator[None]:
        """Turn errors of the system or of SQLite into an `InputError`; `what` is the verb, as in "cannot open"."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"cannot {what} {self.path}: {sanitize(error)}; name another --out") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run the block as one transaction: all of it is written, or nothing if it raises."""
        with self._in_one_line("write"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:  # a full disk has rolled it back already
                    self._db.execute("ROLLBACK")

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def made_by(self, *commands: str) -> None:
        """Note the command lines that make rows of this store, after those already noted; each is kept once."""
        self.commands = list(dict.fromkeys([*self.commands, *commands]))
        with self._transaction():
            note = (COMMANDS, canonical(self.commands))
            self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", note)

    def plan(self, tasks: Iterable[Task]) -> None:
        """Add tasks to those that are to be run, each once. Raises `InputError` for one too long or not printable."""
        tasks = list(tasks)
        if odd := next((task.text for task in tasks if not is_sanitized(json.loads(task.text))), None):
            raise InputError(f"a task holds a text that is too long or cannot be printed: {sanitize(odd)}")
        rows = [(bytes.fromhex(task.identity), task.text) for task in tasks]
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO plan (identity, task) VALUES (?, ?)", rows)

    def add(self, task: Task, outcome: Outcome, provenance: Mapping[str, Any]) -> None:
        """Store a finished trial in one transaction; if the task has a trial already, that one is kept."""
        text, detail = canonical(sanitize_json(provenance)), canonical(sanitize_json(outcome.detail))
        cells = (bytes.fromhex(task.identity), outcome.status, outcome.cost, detail, outcome.seconds, text)
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO provenance (text) VALUES (?)", (text,))
            self._db.execute(
                "INSERT OR IGNORE INTO trials (identity, status, cost, detail, seconds, provenance)"
                " SELECT ?, ?, ?, ?, ?, id FROM provenance WHERE text = ?",
                cells,
            )

    def done(self) -> set[str]:
        """Return the identities of the tasks that have been run."""
        return {identity.hex() for (identity,) in self._db.execute("SELECT identity FROM trials")}

    def table(self) -> Table:
        """Return all rows as a table that also holds what they are about (study, seed) and what commands made them."""
        return Table(self.about, self.commands, list(self.rows()))

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all planned tasks; one not run has no outcome. Raises `InputError` at a damaged row."""
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
    """Return the row made of cells read from a file that may come from anybody; `status` None: the task was not run.

    `text` is the task as JSON and `identity` the SHA-256 of it; `detail` is JSON too, and `made` the provenance. Raises
    `InputError` if text and identity do not match, and for any cell that `Store` would not have written.
    """
    stated = schemas.parse(text, "a task")
    schemas.check("task", stated, "a task")
    task = Task.parse(canonical(stated))
    if task.identity != identity or not is_sanitized(stated):
        raise InputError("the task is not the one that its identity names; send what the lab wrote")
    if status is None:
        return Row(task)
    detailed = schemas.parse(detail or "", "a detail")
    numbers = type(cost) in (int, float, NoneType) and type(seconds) in (int, float)
    if not (numbers and isinstance(detailed, dict) and isinstance(made, dict)):
        raise InputError("the row of a trial is none that the lab writes")
    return Row(task, Outcome(status, cost, sanitize_json(detailed), seconds), sanitize_json(made))


def describe(about: Mapping[str, Any]) -> str:
    """Return in words what rows are about, such as "seed 0, study games"."""
    return ", ".join(f"{key} {value}" for key, value in sorted(about.items()))
