"""Writing to a store that others may be writing to, on a disk that may be full."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hardness.errors import InputError

LOCK_WAIT_SECONDS = 30.0  # seconds to wait for another writer


def write_ahead(db: sqlite3.Connection) -> None:
    """Keep a journal of what is written ahead. Here SQLite itself does not wait for another that makes the same store.

    >>> write_ahead(sqlite3.connect(":memory:"))
    """
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


@contextmanager
def transaction(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """One transaction, whole or not at all. Raises `InputError` for a full disk or a busy writer.

    >>> db = sqlite3.connect(":memory:", isolation_level=None)
    >>> with transaction(db, Path("rows.db")):
    ...     _ = db.execute("INSERT INTO trials VALUES (1)")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: cannot write rows.db: no such table: trials
    """
    try:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise InputError(f"cannot write {path}: {error}") from error
    finally:
        if db.in_transaction:
            with suppress(sqlite3.OperationalError):  # a full disk has rolled it back already
                db.execute("ROLLBACK")
