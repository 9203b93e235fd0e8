"""What a long job says of itself: on a terminal in place, elsewhere on lines."""

import io
import time

import pytest

from hardness.engine import progress
from hardness.engine.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_trials_say_the_same_on_a_terminal_as_in_a_pipe(kind, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a pipe gets no escapes, whatever others are told
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    stream, clock = kind(), Clock()
    run = Progress(stream, clock)

    def waits_for(words):
        patience = time.monotonic() + 60
        while words not in stream.getvalue():
            assert time.monotonic() < patience
            time.sleep(0.01)

    with run.of(work=4.0, trials=3):
        waits_for("0 of 3 trials: none ended; 0 s so far")  # before any ended: a job that is silent goes on
        clock.seconds = 2.0
        run.advance(1.0, "solved")
        waits_for("1 of 3 trials: 1 solved; 2 s so far, about 6 s left")
    shown = stream.getvalue()
    assert shown.startswith("3 trials to run, about 4 s of one process\n")
    assert shown.endswith("1 of 3 trials: 1 solved\n")
    assert ("\x1b" in shown) == stream.isatty()
