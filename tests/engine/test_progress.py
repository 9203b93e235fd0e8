"""What a long job says of itself: on a terminal in place, elsewhere on lines."""

import io

import pytest

from hardness.engine import progress
from hardness.engine.progress import Progress, steps


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_trials_say_the_same_on_a_terminal_as_in_a_pipe(kind, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a pipe gets no escapes, whatever others are told
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    stream = kind()
    run = Progress(stream)
    with run.of(work=4.0, trials=3):
        run.advance(1.0, "solved")
    shown = stream.getvalue()
    assert shown.startswith("3 trials to run, about 4 s of one process\n")
    assert shown.endswith("1 of 3 trials: 1 solved\n")
    assert ("\x1b" in shown) == stream.isatty()
    assert shown.count("1 of 3 trials: 1 solved") >= 2  # on the way, and at the end


def test_what_fails_at_once_says_nothing_but_why():
    def fails(stream):
        with steps("job", stream) as tell:
            tell("first step")
            raise ValueError("bad")

    stream = io.StringIO()
    with pytest.raises(ValueError, match="bad"):
        fails(stream)
    assert stream.getvalue() == ""


def test_a_bar_moves_inside_the_only_trial_and_with_steps_that_count(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    stream = io.StringIO()
    with Progress(stream).of(work=4.0, trials=1):
        progress.within(0.25)
    assert "0 of 1 trials: none ended, 25% of its budget spent\n" in stream.getvalue()
    assert progress.LISTENERS == []
    screen = Terminal()
    with steps("job", screen) as tell:
        tell("30 of 120 examples")
    assert "30 of 120 examples" in screen.getvalue()
