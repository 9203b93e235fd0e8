"""What a long job says of itself: on a terminal in place, elsewhere on lines."""

import io
import time
from contextlib import nullcontext

import pytest

from hardness.engine.progress import steps


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
    assert "0:00:0" in stream.getvalue()


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
