"""Commands of the lab run in the process of the tests, where no start of Python has to be paid."""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from hardness.cli import run
from hardness.engine import progress

HARDNESS = str(Path(sys.executable).parent / "hardness")


class Completed(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


def run_command(line: str, *more: object, patience: float = 3600.0) -> Completed:
    """The end of a command; `more` are words that may hold blanks, such as paths.

    A job says after this many seconds that it goes on: by default never, so that a busy machine prints no other lines.
    """
    out, err = io.StringIO(), io.StringIO()
    reminders = mock.patch.multiple(progress, PATIENCE=patience, EVERY=patience)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), reminders:
        code = run([*line.split(), *map(str, more)])
    return Completed(code, out.getvalue(), err.getvalue())


def answer(line: str, *more: object, code: int = 0) -> dict[str, Any]:
    """What a command answers with `--json`."""
    completed = run_command(line, *more, "--json")
    assert completed.code == code, completed.err
    return dict(json.loads(completed.out))


def check_refused(completed: Completed, words: str):
    """Exit code 2, nothing on stdout, and one line on stderr that says what was wrong."""
    assert (completed.code, completed.out) == (2, ""), completed
    assert completed.err.startswith("error: ")
    assert completed.err.count("\n") == 1
    assert words in completed.err
