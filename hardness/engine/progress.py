"""How far a job is: a bar on a terminal, elsewhere a plain line now and then."""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hardness.io.texts import printable

EVERY = 10.0  # seconds between plain lines of a job whose length is known
PATIENCE = 3.0  # seconds for which a job keeps its plain lines back: what fails at once says why, and no more


@contextmanager
def steps(name: str, stream: TextIO | None = None, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show the progress of the job `name`; yield a function `tell(line, done=0)` to call at each step.

    `done` is how many more of `total` are finished. A terminal shows a bar, the remaining time and the last line;
    without `total`, a line that says "n of m" moves the bar. Another `stream` (stderr unless given) gets every line, or
    one in ten seconds if there is a `total`, but none if the job raises within its first three seconds.

    >>> with steps("direct", stream=sys.stdout) as tell:
    ...     tell("fitting 1000 examples")
    fitting 1000 examples
    """
    stream = stream or sys.stderr
    # A file is no terminal, whatever the environment says
    console = Console(file=stream, force_terminal=stream.isatty())
    text = TextColumn("{task.description}", markup=False)
    columns = [BarColumn(bar_width=12), TimeRemainingColumn(), text, TimeElapsedColumn()]
    bars = Progress(*columns, console=console, transient=True, disable=not console.is_interactive)
    bar = bars.add_task(printable(name), total=total)
    begun, lines = time.monotonic(), list[str]()
    shown = begun

    def tell(line: str, done: int = 0) -> None:
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


@contextmanager
def trials(count: int, part: str = "", stream: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Show the progress of `count` trials; yield a function to call with the status of each trial that ended.

    `part` is put before each line, for runs of several parts. `stream` is stderr by default.

    >>> with trials(2, stream=sys.stdout) as advance:
    ...     advance("solved")
    ...     advance("budget")
    2 trials to run
    2 of 2 trials: 1 solved, 1 budget
    """
    stream, named = stream or sys.stderr, f"{part}: " if part else ""
    statuses = Counter[str]()

    def line() -> str:
        by_status = ", ".join(f"{number} {status}" for status, number in statuses.most_common())
        return f"{named}{statuses.total()} of {count} trials: {by_status or 'none ended'}"

    def advance(status: str) -> None:
        statuses[status] += 1
        tell(line(), 1)

    print(f"{named}{count} trials to run", file=stream, flush=True)
    try:
        with steps(line(), stream, count) as tell:
            yield advance
    finally:
        print(line(), file=stream, flush=True)
