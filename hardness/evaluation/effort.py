"""CPU time as a currency: that of a solver over that of a small kernel, timed in the same process.

The reference kernel is tanh(X U) V in 64-bit numpy, all three of shape (16, 16): a step of a small network, called
from Python as learners are. A *reference second* is the CPU time in which the kernel does 10⁹ multiply-adds, so that
a budget of W of these is one of W / 10⁹ reference seconds. The kernel is slow on purpose: most of the lab's own
learners do between half and six times as many in a reference second, by their own count, so that who does not count
is not ended sooner for that.
"""

import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import TrialEnded
from hardness.evaluation.limits import OutOfCpuTime, alarm

MULTIPLY_ADDS = 10**9  # of the kernel, in a reference second
SIZE = 16  # of the matrices of the kernel
PASSES = 100  # of the kernel between two looks at the clock
TIMED_SECONDS = 0.005  # of the CPU for a timing of the kernel
Array = NDArray[np.float64]
CPU_TIME = "CPU time"  # the limit that a solver met, in the detail of a trial


def kernel_seconds() -> float:
    """CPU seconds of a reference second, in this process and now."""
    rng = np.random.default_rng(0)
    x, u, v = rng.standard_normal((3, SIZE, SIZE))
    _passes(x, u, v)  # warms up
    passes, begin, spent = 0, _own_seconds(), 0.0
    while spent < TIMED_SECONDS:
        _passes(x, u, v)
        passes, spent = passes + PASSES, _own_seconds() - begin
    return spent * MULTIPLY_ADDS / (passes * 2 * SIZE**3)


def _passes(x: Array, u: Array, v: Array) -> None:
    for _ in range(PASSES):
        np.tanh(x @ u) @ v


def _own_seconds() -> float:
    """CPU seconds of this process, or, beside its main thread, of this thread: others may run other trials."""
    main = threading.current_thread() is threading.main_thread()
    return time.process_time() if main else time.thread_time()


def _child_seconds() -> float:
    """CPU seconds of child processes, those that have ended and those that run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(map(_spent, _descendants()))


def _descendants() -> list[int]:
    """Process ids of the children that run, and of theirs."""
    with suppress(OSError):  # of a thread that ended just now
        if Path("/proc/thread-self/children").exists():
            return [*_listed("self")]
    import psutil  # it looks at every process of the machine: two milliseconds, where a solver's step may take less

    return [child.pid for child in psutil.Process().children(recursive=True)]


def _listed(process: str) -> Iterator[int]:
    """The descendants of a process, where the kernel lists the children of every thread in a file (Linux)."""
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        for child in file.read_text().split():
            yield int(child)
            yield from _listed(child)


def _spent(process: int) -> float:
    """CPU seconds of a process, in user and system mode, and of what it has waited for; 0 if it has ended."""
    import psutil

    try:
        return float(sum(psutil.Process(process).cpu_times()[:4]))
    except psutil.Error:
        return 0.0


class Meter:
    """CPU `seconds` that a solver spends, and, where it has an `allowance` of reference seconds, its end there."""

    def __init__(self, allowance: float | None = None) -> None:
        self.seconds = 0.0
        self.limit = None if allowance is None else allowance * self.kernel

    @cached_property
    def kernel(self) -> float:
        """CPU seconds of a reference second, timed when they are first asked for."""
        return kernel_seconds()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count what is spent inside. Raises `TrialEnded` (budget) when that is more than the allowance, at the
        latest at its end: a kernel in C is interrupted when it returns, and children are not.

        >>> with Meter(allowance=0.01).running():
        ...     while True: pass
        Traceback (most recent call last):
        ...
        hardness.errors.TrialEnded: budget: over its budget of CPU time
        """
        children, begin = _child_seconds(), _own_seconds()
        ended = False
        try:
            with nullcontext() if self.limit is None else alarm(self.limit - self.seconds, cpu=True):
                yield
        except OutOfCpuTime:
            ended = True
        finally:
            self.seconds += _own_seconds() - begin
            self.seconds += _child_seconds() - children
        if ended or (self.limit is not None and self.seconds > self.limit):
            raise TrialEnded("budget", "over its budget of CPU time", {"limit": CPU_TIME})

    def reference_seconds(self) -> float:
        """What was spent, in units of the kernel."""
        return self.seconds / self.kernel


class Metered:
    """What opens a solver (`hardness.evaluation.worker.opening`), with the reference seconds of all that it opened.

    `allowance` is what these may spend together; None binds nothing. `complete` is false when a process ended before
    it could be asked.
    """

    def __init__(
        self, opened: Callable[..., AbstractContextManager[Any]], allowance: float | None = None
    ) -> None:
        self.opened, self.allowance = opened, allowance
        self.reference_seconds, self.complete = 0.0, True

    @contextmanager
    def __call__(self) -> Iterator[Any]:
        """Open it, with what is left of the allowance."""
        left = None if self.allowance is None else max(self.allowance - self.reference_seconds, 0.0)
        with self.opened(allowance=left) as solver:
            try:
                yield solver
            finally:
                self._add(solver)

    def _add(self, solver: Any) -> None:
        try:
            self.reference_seconds += solver.reference_seconds()
        except (TrialEnded, TimeoutError):
            self.complete = False
