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


def test_a_job_that_says_nothing_is_said_to_go_on():
    stream = io.StringIO()
    with steps("direct", stream, every=0.05) as tell:
        deadline = time.monotonic() + 20
        while "so far" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        tell("predicting \x1b[31m2000")
    first, *_, last = stream.getvalue().splitlines()
    assert first == "direct; 0 s so far"
    assert last.startswith("predicting")
    assert "\x1b" not in last  # other people's words do not reach the terminal as they are
    said = stream.getvalue()
    time.sleep(0.2)
    assert stream.getvalue() == said  # it has ended


def test_on_a_terminal_the_last_step_stands_in_place():
    stream = Terminal()
    with steps("direct", stream) as tell:
        tell("learning from [bold]9[/bold] examples")
        deadline = time.monotonic() + 20
        while "[bold]9" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "learning from [bold]9[/bold] examples" in stream.getvalue()
    assert "; 0 s so far" in stream.getvalue()


def test_a_job_that_fails_ends_its_reminder():
    stream = io.StringIO()
    try:
        with steps("direct", stream, every=0.02):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        said = stream.getvalue()
    time.sleep(0.1)
    assert stream.getvalue() == said


@pytest.mark.parametrize("fails", [True, False])
def test_what_fails_at_once_says_no_more_than_why(fails):
    stream = io.StringIO()
    with pytest.raises(ValueError, match="no") if fails else nullcontext(), steps("direct", stream) as tell:
        tell("learning")
        if fails:
            raise ValueError("no")
    assert stream.getvalue() == ("" if fails else "learning\n")


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
    assert "1 of 3 trials: 1 solved; 0 s so far, about 1 s left" in said
    assert said.endswith("1 of 3 trials: 1 solved\n")
    assert ("\x1b" in said) == stream.isatty()
