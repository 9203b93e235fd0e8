"""What a long job says of itself: on a terminal in place, elsewhere on lines."""

import io
import time
from contextlib import nullcontext

import pytest

from hardness.engine import progress
from hardness.engine.progress import Progress, sentence, steps


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


def test_trials_that_start_processes_do_not_tell_how_long_the_others_take(monkeypatch):
    """Two processes take 40 s to start, and then half a second a trial each: the first trials are no measure."""
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    clock, lines = Clock(), []
    monkeypatch.setattr(progress, "sentence", lambda task: lines.append(sentence(task)) or "")
    run = Progress(io.StringIO(), clock)

    def shown():
        patience, known = time.monotonic() + 60, len(lines)
        while len(lines) < known + 2:  # the second of them was begun after the call
            assert time.monotonic() < patience
            time.sleep(0.01)
        return lines[-1]

    with run.of(work=6.5, trials=65, starts=2):
        for seconds, trials in ((40.0, 1), (41.0, 1), (42.0, 4), (46.0, 16)):
            clock.seconds = seconds
            for _ in range(trials):
                run.advance(0.1, "solved")
            if seconds < 42:
                assert shown().endswith(f"{seconds:.0f} s so far")
        assert shown() == "22 of 65 trials: 22 solved; 46 s so far, about 11 s left"


def test_parts_of_a_run_are_announced_and_counted_each_for_itself():
    stream = io.StringIO()
    run = Progress(stream)
    for part, trials in (("tuning, round 1", 2), ("results", 1)):
        with run.of(work=None, trials=trials, part=part):
            for _ in range(trials):
                run.advance(0.0, "solved")
    assert stream.getvalue().splitlines() == [
        "tuning, round 1: 2 trials to run, for an unknown time",
        "tuning, round 1: 2 of 2 trials: 2 solved",
        "results: 1 trials to run, for an unknown time",
        "results: 1 of 1 trials: 1 solved",
    ]
