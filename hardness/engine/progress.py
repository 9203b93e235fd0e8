"""How far a job is: in place on a terminal, on a plain line now and then elsewhere; the same words on both."""

import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task
from rich.progress import Progress as Bars
from rich.text import Text

from hardness.io.texts import printable

EVERY = 10.0  # seconds between plain lines
PATIENCE = 3.0  # seconds for which a job keeps its plain lines back: what fails at once says why, and no more


class Pace:
    """Seconds that work takes, from when the first `starts` steps have ended: these hold the start of a process each.

    >>> pace = Pace(starts=1)
    >>> pace.step(1.0, 30.0), pace.step(1.0, 32.0), pace.left(5.0)
    (None, None, 10.0)
    """

    def __init__(self, starts: int = 0) -> None:
        self.starts, self.work, self.seconds = starts, 0.0, 0.0
        self._begun = 0.0

    def step(self, work: float, now: float) -> None:
        """A step of so much work has ended `now`, in seconds since the first one began."""
        if self.starts:
            self.starts, self._begun = self.starts - 1, now
        else:
            self.work, self.seconds = self.work + work, now - self._begun

    def left(self, work: float) -> float | None:
        """Seconds that so much work takes, if it goes like what is counted; None as long as nothing is."""
        return self.seconds / self.work * work if self.work else None


def sentence(task: Task) -> str:
    """What is done, the seconds that it took, and those left, if the rest goes like what is done."""
    seconds = task.fields["left"]
    left = "" if seconds is None else f", about {seconds:.0f} s left"
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
    starts: int = 0,
) -> Iterator[Callable[..., None]]:
    """What a single long job is at: yields what is to be told each step, and how much more of `total` is done.

    `clock` gives the seconds that are shown; the time left is that of `Pace(starts)`.

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
        get_time=clock,
    )
    bars.add_task(printable(name), total=total, left=None)
    (task,) = bars.tasks
    lines, ended = deque[str](), threading.Event()
    pace, begun = Pace(starts), clock()

    def tell(line: str, done: float = 0.0) -> None:
        pace.step(done, clock() - begun)
        left = None if total is None else pace.left(max(0.0, total - task.completed - done))
        bars.update(task.id, description=printable(line), advance=done, left=left)
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
    def of(self, work: float | None, trials: int, part: str = "", starts: int = 0) -> Iterator[None]:
        """Report on `trials` trials for the length of this context: a `part` of a run that has several.

        `work` is what they are predicted to take, in seconds of one process; None where nobody knows. The first
        `starts` trials start a process each, and do not tell how long the others take.
        """
        self.trials, self.known, self.statuses = trials, work is not None, Counter()
        self.part = f"{part}: " if part else ""
        length = "for an unknown time" if work is None else f"about {work:.0f} s of one process"
        print(f"{self.part}{trials} trials to run, {length}", file=self.stream, flush=True)
        try:
            with steps(
                self.line(), self.stream, work if self.known else float(trials), self.clock, starts
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
