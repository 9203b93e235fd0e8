"""How far a run is: a bar with the time left on a terminal, a plain line now and then elsewhere."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from hardness.io.texts import printable

EVERY = 10.0  # seconds between plain lines
PATIENCE = 3.0  # seconds for which a job keeps its plain lines back: what fails at once says why, and no more


class Progress:
    """Reports to `stream` (stderr); time left is work left over work done, in predicted seconds.

    >>> progress = Progress(stream=sys.stdout)
    >>> with progress.of(work=2.0, trials=2):
    ...     progress.advance(1.0, "solved")
    ...     progress.advance(1.0, "budget")
    2 trials to run, about 2 s of one process
    2 of 2 trials: 1 solved, 1 budget
    """

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.statuses: Counter[str] = Counter()

    @contextmanager
    def of(self, work: float, trials: int) -> Iterator[None]:
        """Report on `trials` trials of `work` predicted seconds for the length of this context."""
        self.work, self.trials, self.done = work, trials, 0.0
        self.began = self.said = time.monotonic()
        if self.quiet:
            yield
        elif self.stream.isatty():
            with self._bar():
                yield
        else:
            print(f"{trials} trials to run, about {work:.0f} s of one process", file=self.stream, flush=True)
            try:
                yield
            finally:
                print(self.line(), file=self.stream, flush=True)

    def advance(self, work: float, status: str) -> None:
        """One trial of `work` predicted seconds ended."""
        self.done += work
        self.statuses[status] += 1
        if self.quiet:
            return
        if self.stream.isatty():
            self._show()
        elif time.monotonic() - self.said > EVERY and self.done < self.work:
            self.said = time.monotonic()
            print(f"{self.line()}; about {self.left():.0f} s left", file=self.stream, flush=True)

    def line(self) -> str:
        """Trials ended, by status."""
        by_status = ", ".join(f"{count} {status}" for status, count in self.statuses.most_common())
        return f"{self.statuses.total()} of {self.trials} trials: {by_status or 'none ended'}"

    def left(self) -> float:
        """Seconds left, if the rest goes like what is done."""
        return (time.monotonic() - self.began) * (self.work - self.done) / max(self.done, 1e-9)

    @contextmanager
    def _bar(self) -> Iterator[None]:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        columns = (BarColumn(), TextColumn("{task.percentage:>3.0f}%  {task.description}"))
        with Bars(*columns, console=Console(file=self.stream), transient=True) as self._bars:
            self._task = self._bars.add_task(f"0 of {self.trials} trials", total=self.work)
            yield
        print(self.line(), file=self.stream, flush=True)

    def _show(self) -> None:
        text = f"{self.line()}; about {self.left():.0f} s left"
        self._bars.update(self._task, completed=self.done, description=text)


@contextmanager
def steps(name: str, stream: TextIO | None = None, every: float = EVERY) -> Iterator[Callable[[str], None]]:
    """What a single long job is at: yields what is to be told each step, in a word.

    On a terminal the last step stands on one line with the time that has passed; elsewhere each has a line of its own,
    and one more says every `every` seconds that the job goes on. Lines of a job that raises within `PATIENCE` are
    never shown.

    >>> with steps("direct", stream=sys.stdout) as tell:
    ...     tell("fitting 1000 examples")
    fitting 1000 examples
    """
    stream = stream or sys.stderr
    if stream.isatty():
        with _clock(name, stream) as tell:
            yield tell
        return
    ended, lock, began, patience = threading.Event(), threading.Lock(), time.monotonic(), min(PATIENCE, every)
    last, waiting = name, list[str]()

    def say(*lines: str, hold: bool = False) -> None:
        with lock:
            waiting.extend(map(printable, lines))
            while waiting and not hold:
                print(waiting.pop(0), file=stream, flush=True)

    def tell_line(line: str) -> None:
        nonlocal last
        last = line
        say(line, hold=time.monotonic() - began < patience)

    def remind() -> None:
        if not ended.wait(patience):
            say()
        while not ended.wait(every):
            say(f"{last}; {time.monotonic() - began:.0f} s so far")

    reminder = threading.Thread(target=remind, daemon=True)
    reminder.start()
    try:
        yield tell_line
    except BaseException:
        with lock:
            waiting.clear()
        raise
    finally:
        ended.set()
        reminder.join()
        say()


@contextmanager
def _clock(name: str, stream: TextIO) -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    words = TextColumn("{task.description}", markup=False)
    with Bars(SpinnerColumn(), TimeElapsedColumn(), words, console=Console(file=stream), transient=True) as bars:
        task = bars.add_task(printable(name), total=None)
        yield lambda line: bars.update(task, description=printable(line))
