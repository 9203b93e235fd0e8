"""How far a job is: in place on a terminal, on a plain line now and then elsewhere; the same words on both."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from hardness.io.texts import printable

EVERY = 10.0  # seconds between plain lines
PATIENCE = 3.0  # seconds for which a job keeps its plain lines back: what fails at once says why, and no more


@contextmanager
def steps(name: str, stream: TextIO | None = None, total: float | None = None) -> Iterator[Callable[..., None]]:
    """What a single long job is at: yields what is to be told each step, and how much more of `total` is done.

    On a terminal the last step stands in place, with the time. Elsewhere each step has a line, or, with a `total`, one
    in `EVERY` seconds has. Lines of a job that raises within `PATIENCE` are never shown.

    >>> with steps("direct", stream=sys.stdout) as tell:
    ...     tell("fitting 1000 examples")
    fitting 1000 examples
    """
    stream = stream or sys.stderr
    console = Console(file=stream, force_terminal=stream.isatty())  # a file is none, whatever the environment says
    in_place = console.is_interactive
    first = [SpinnerColumn()] if total is None else [BarColumn(bar_width=12), TimeRemainingColumn()]
    text = TextColumn("{task.description}", markup=False)
    bars = Bars(*first, TimeElapsedColumn(), text, console=console, transient=True, disable=not in_place)
    task = bars.add_task(printable(name), total=total)
    lines = list[str]()
    began = last = monotonic()

    def tell(line: str, done: float = 0.0) -> None:
        nonlocal last
        bars.update(task, description=printable(line), advance=done)
        if not in_place and (total is None or monotonic() - last >= EVERY):
            lines.append(printable(line))
            last = monotonic()
            if last - began >= PATIENCE:
                flush()

    def flush() -> None:
        print("".join(f"{line}\n" for line in lines), end="", file=stream, flush=True)
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
        self.statuses: Counter[str] = Counter()

    @contextmanager
    def of(self, work: float, trials: int) -> Iterator[None]:
        """Report on `trials` trials of `work` predicted seconds for the length of this context."""
        self.trials = trials
        print(f"{trials} trials to run, about {work:.0f} s of one process", file=self.stream, flush=True)
        try:
            with steps(self.line(), self.stream, total=work) as self._tell:
                yield
        finally:
            print(self.line(), file=self.stream, flush=True)

    def advance(self, work: float, status: str) -> None:
        """One trial of `work` predicted seconds ended."""
        self.statuses[status] += 1
        self._tell(self.line(), work)

    def line(self) -> str:
        """Trials ended, by status."""
        by_status = ", ".join(f"{count} {status}" for status, count in self.statuses.most_common())
        return f"{self.statuses.total()} of {self.trials} trials: {by_status or 'none ended'}"
