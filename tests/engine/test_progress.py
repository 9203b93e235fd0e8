"""What a long job says of itself: on a terminal in place, elsewhere on lines."""

import io

import pytest

from hardness.engine import progress
from hardness.engine.progress import steps, trials


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
    with trials(3, stream=stream) as advance:
        advance("solved")
    shown = stream.getvalue()
    assert shown.startswith("3 trials to run\n")
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


def test_a_step_that_counts_moves_the_bar(monkeypatch):
    """Inside a single trial too, so that the time left can be told."""
    bars = []
    monkeypatch.setattr(progress.Progress, "update", lambda self, task, **change: bars.append(change))
    with steps("job", Terminal()) as tell:
        tell("30 of 120 examples: .50 of the variance explained")
    assert {"completed": 30, "total": 120} in bars
