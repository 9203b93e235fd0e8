"""How far a job is: in place on a terminal, on a plain line now and then elsewhere; the same words on both."""

import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task
from rich.progress import Progress as Bars
from rich.text import Text

from hardness.io.texts import printable

EVERY = 10.0  # seconds between plain lines
PATIENCE = 3.0  # seconds for which a job keeps its plain lines back: what fails at once says why, and no more


def sentence(task: Task) -> str:
    """What is done, the seconds that it took, and those left, if the rest goes like what is done."""
    left = "" if task.time_remaining is None else f", about {task.time_remaining:.0f} s left"
    return f"{task.description}; {task.elapsed or 0:.0f} s so far{left}"


class _Sentence(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(sentence(task))


@contextmanager
def steps(
    name: str,
    stream: TextIO | None = None,
    total: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[..., None]]:
    """What a single long job is at: yields what is to be told each step, and how much more of `total` is done.

    `clock` gives the seconds that are shown.

    On a terminal the last step stands in place, with the time. Elsewhere a line in `EVERY` seconds says the same, and
    without a `total` each step has a line too. Lines of a job that raises within `PATIENCE` are never shown.

    >>> with steps("direct", stream=sys.stdout) as tell:
    ...     tell("fitting 1000 examples")
    fitting 1000 examples
    """
    stream = stream or sys.stderr
    # A file is none, whatever the environment says
    console = Console(file=stream, force_terminal=stream.isatty())
    first = SpinnerColumn() if total is None else BarColumn(bar_width=12)
    in_place = console.is_interactive
    bars = Bars(
        first,
        _Sentence(),
        console=console,
        transient=True,
        disable=not in_place,
        speed_estimate_period=inf,
        get_time=clock,
    )
    bars.advance(bars.add_task(printable(name), total=total), 0)  # time left counts from here
    (task,) = bars.tasks
    lines, ended = deque[str](), threading.Event()

    def tell(line: str, done: float = 0.0) -> None:
        bars.update(task.id, description=printable(line), advance=done)
        if not in_place and total is None:
            lines.append(printable(line))

    def flush() -> None:
        while lines:
            print(lines.popleft(), file=stream, flush=True)

    def remind() -> None:
        pause = min(PATIENCE, EVERY)
        while not ended.wait(pause):
            if not lines:
                lines.append(sentence(task))
            flush()
            pause = EVERY

    reminder = threading.Thread(target=remind, daemon=True)
    try:
        with bars:
            if not in_place:
                reminder.start()
            yield tell
    except BaseException:
        lines.clear()
        raise
    finally:
        ended.set()
        if not in_place:
            reminder.join()
        flush()


class Progress:
    """Reports the trials of a run to `stream` (stderr), with the time left by predicted seconds.

    >>> progress = Progress(stream=sys.stdout)
    >>> with progress.of(work=2.0, trials=2):
    ...     progress.advance(1.0, "solved")
    ...     progress.advance(1.0, "budget")
    2 trials to run, about 2 s of one process
    2 of 2 trials: 1 solved, 1 budget
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream, self.clock = stream or sys.stderr, clock
        self.statuses: Counter[str] = Counter()

    @contextmanager
    def of(self, work: float | None, trials: int, part: str = "") -> Iterator[None]:
        """Report on `trials` trials for the length of this context: a `part` of a run that has several.

        `work` is what they are predicted to take, in seconds of one process; None where nobody knows.
        """
        self.trials, self.known, self.statuses = trials, work is not None, Counter()
        self.part = f"{part}: " if part else ""
        length = "for an unknown time" if work is None else f"about {work:.0f} s of one process"
        print(f"{self.part}{trials} trials to run, {length}", file=self.stream, flush=True)
        try:
            with steps(
                self.line(), self.stream, work if self.known else float(trials), self.clock
            ) as self._tell:
                yield
        finally:
            print(self.line(), file=self.stream, flush=True)

    def advance(self, work: float, status: str) -> None:
        """One trial of `work` predicted seconds ended."""
        self.statuses[status] += 1
        self._tell(self.line(), work if self.known else 1.0)

    def line(self) -> str:
        """Trials ended, by status."""
        by_status = ", ".join(f"{count} {status}" for status, count in self.statuses.most_common())
        return f"{self.part}{self.statuses.total()} of {self.trials} trials: {by_status or 'none ended'}"
