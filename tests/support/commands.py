"""Commands of the lab run in the process of the tests, where no start of Python has to be paid."""

import contextlib
import io
import json
from typing import Any, NamedTuple

from hardness.cli import run


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def told(line: str, *more: object) -> Told:
    """The end of a command; `more` are words that may hold blanks, such as paths."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*line.split(), *map(str, more)])
    return Told(code, out.getvalue(), err.getvalue())


def answer(line: str, *more: object, code: int = 0) -> dict[str, Any]:
    """What a command answers with `--json`."""
    found = told(line, *more, "--json")
    assert found.code == code, found.err
    return dict(json.loads(found.out))


def check_refused(found: Told, words: str) -> None:
    """Exit code 2, nothing on stdout, and one line on stderr that says what was wrong."""
    assert (found.code, found.out) == (2, ""), found
    assert found.err.startswith("error: ")
    assert found.err.count("\n") == 1
    assert words in found.err
