"""How far a job is: a bar on a terminal, elsewhere a plain line now and then."""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from hardness.io.texts import printable

EVERY = 10.0  # seconds between plain lines of a job whose length is known
PATIENCE = 3.0  # seconds for which a job keeps its plain lines back: what fails at once says why, and no more
LISTENERS: list[Callable[[float], None]] = []  # who shows how far the trial is that runs in this process


def within(share: float) -> None:
    """Say that the trial that runs has spent this share of its budget."""
    for listener in LISTENERS:
        listener(share)


@contextmanager
def steps(
    name: str, stream: TextIO | None = None, total: float | None = None
) -> Iterator[Callable[..., None]]:
    """Show what a job is at: yields what is to be told each step, and how much more of `total` is done.

    On a terminal the last step stands in place, with a bar and the time that is left; of a job without `total` a step
    that says "n of m" moves the bar. Elsewhere each step has a line, with a `total` one in `EVERY` seconds. Lines of a
    job that raises within `PATIENCE` are never shown.

    >>> with steps("direct", stream=sys.stdout) as tell:
    ...     tell("fitting 1000 examples")
    fitting 1000 examples
    """
    stream = stream or sys.stderr
    # A file is no terminal, whatever the environment says
    console = Console(file=stream, force_terminal=stream.isatty())
    text = TextColumn("{task.description}", markup=False)
    columns = [BarColumn(bar_width=12), TimeRemainingColumn(), text, TimeElapsedColumn()]
    bars = Bars(*columns, console=console, transient=True, disable=not console.is_interactive)
    bar = bars.add_task(printable(name), total=total)
    begun, lines = time.monotonic(), list[str]()
    shown = begun

    def tell(line: str, done: float = 0.0) -> None:
        nonlocal shown
        bars.update(bar, description=printable(line), advance=done)
        if total is None and (counted := re.search(r"\b(\d+) of (\d+)\b", line)):
            bars.update(bar, completed=int(counted[1]), total=int(counted[2]))
        now = time.monotonic()
        if not console.is_interactive and (total is None or now - shown > EVERY):
            lines.append(printable(line))
            shown = now
        if now - begun > PATIENCE:
            flush()

    def flush() -> None:
        for line in lines:
            print(line, file=stream, flush=True)
        lines.clear()

    with bars:
        yield tell
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

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr

    @contextmanager
    def of(self, work: float | None, trials: int, part: str = "") -> Iterator[None]:
        """Report on `trials` trials for the length of this context: a `part` of a run that has several.

        `work` is what they are predicted to take, in seconds of one process; None where nobody knows.
        """
        self.trials, self.known, self.statuses, self.inside = trials, work is not None, Counter[str](), 0.0
        self.part = f"{part}: " if part else ""
        length = "for an unknown time" if work is None else f"about {work:.0f} s of one process"
        print(f"{self.part}{trials} trials to run, {length}", file=self.stream, flush=True)
        self.total = trials if work is None else work
        LISTENERS.append(self.within)
        try:
            with steps(self.line(), self.stream, self.total) as self._tell:
                yield
        finally:
            LISTENERS.remove(self.within)
            print(self.line(), file=self.stream, flush=True)

    def within(self, share: float) -> None:
        """Show that the only trial of a run has spent this share of its budget."""
        if self.trials == 1 and share > self.inside:
            more, self.inside = self.total * (share - self.inside), share
            self._tell(f"{self.line()}, {share:.0%} of its budget spent", more)

    def advance(self, work: float, status: str) -> None:
        """Count one trial of `work` predicted seconds that ended."""
        self.statuses[status] += 1
        self._tell(self.line(), (work if self.known else 1.0) * (1 - self.inside))

    def line(self) -> str:
        """Return how many trials ended, by status."""
        by_status = ", ".join(f"{count} {status}" for status, count in self.statuses.most_common())
        return f"{self.part}{self.statuses.total()} of {self.trials} trials: {by_status or 'none ended'}"
