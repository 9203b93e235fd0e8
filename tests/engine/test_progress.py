"""What a long job says of itself: on a terminal in place, elsewhere on lines."""

import io
import time
from contextlib import nullcontext

import pytest

from hardness.engine import progress
from hardness.engine.progress import Progress, steps


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("fails", [True, False])
def test_what_fails_at_once_says_no_more_than_why(fails):
    stream = io.StringIO()
    with pytest.raises(ValueError, match="no") if fails else nullcontext(), steps("direct", stream) as tell:
        tell("learning\x1b[2J")
        if fails:
            raise ValueError("no")
    assert stream.getvalue() == ("" if fails else "learning\\x1b[2J\n")


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_trials_say_the_same_on_a_terminal_as_in_a_pipe(kind, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a pipe gets no escapes, whatever others are told
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    stream = kind()
    run = Progress(stream=stream)
    with run.of(work=4.0, trials=3):
        time.sleep(0.2)
        run.advance(1.0, "solved")
        deadline = time.monotonic() + 20
        while " s left" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    said = stream.getvalue()
    assert said.startswith("3 trials to run, about 4 s of one process\n")
    assert "0 of 3 trials: none ended; 0 s so far" in said  # before any ended: a job that is silent goes on
    assert "1 of 3 trials: 1 solved; 0 s so far, about 1 s left" in said
    assert said.endswith("1 of 3 trials: 1 solved\n")
    assert ("\x1b" in said) == stream.isatty()
