"""Damaged files of every format, and random command lines: each ends with 0, 1 or 2, and on 2 with one line of error.

Forty of a kind by default, the same every time; `make fuzz` tries 5,000 of each.
"""

import contextlib
import re
import resource
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_lines import line
from damage import Draw
from file_formats import FORMATS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardness import cli

CPU_SECONDS, WALL_SECONDS, BYTES = 20, 120, 6 << 30
LONG = settings().max_examples > 100  # with --hypothesis-profile=fuzz
KINDS = {**FORMATS, "lines": line}


class Hang(BaseException):
    """A command took too long."""


def _hang(*_: object) -> None:
    raise Hang


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """At most so many seconds (of CPU: a busy machine is no hang) and addresses beyond those that are taken."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    handlers = [(number, signal.signal(number, _hang)) for number in (signal.SIGPROF, signal.SIGALRM)]
    resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, hard))
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.alarm(WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in handlers:
            signal.signal(number, handler)


def told(words: list[str]) -> tuple[int, str]:
    """Exit code and what was said on stderr; stdout and stderr are files as strict and as lenient as the real ones."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as err,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        limited(),
    ):
        code = cli.run(list(words))
        err.seek(0)
        return code, err.read()


def strays(words: list[str], new: set[Path]) -> set[str]:
    """What lies in the folder afterwards and was not asked for."""
    named = {words[i + 1] for i, word in enumerate(words[:-1]) if word == "--out"} | {"out"}
    asked = {Path(name).parts[0] for name in named if name and Path(name).parts}
    page = {"index.html", "rows.csv", "summary.json"} if "report" in words else set()
    tops = {path.parts[0] for path in new} - asked - page
    return {top for top in tops if not top.startswith("rows.db-") and not top.endswith((".svg", ".pdf"))}


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=settings().max_examples if LONG else 40,
    derandomize=not LONG,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_what_is_damaged_or_random_ends_in_one_line(kind: str, data: st.DataObject) -> None:
    draw: Draw = data.draw
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, contextlib.chdir(name):
        here = Path(name)
        words = KINDS[kind](draw, here)
        before = set(here.rglob("*"))
        code, said = told(words)
        new = {path.relative_to(here) for path in set(here.rglob("*")) - before}
    assert code in (0, 1, 2)
    assert "Traceback (most recent call last)" not in said
    errors = re.findall(r"(?m)^error: .*$", said)
    assert code != 2 or (len(errors) == 1 and len(errors[0]) < 2000)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", said)
    assert strays(words, new) == set()
