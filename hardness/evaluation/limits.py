"""What bounds a computation from outside: threads of libraries, an alarm, the parent process, CPU time as a budget.

CPU time is counted in *reference seconds*: that of a solver over that of a small kernel, timed in its process. The
kernel is tanh(X U) V in 64-bit numpy, all three of shape (16, 16): a step of a small network, called from Python as
learners are. A reference second is the CPU time in which it does 10⁹ multiply-adds. The kernel is slow on purpose:
most of the lab's own learners do between half and six times as many in a reference second, by their own count.
"""

import ctypes
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from types import FrameType
from typing import Any

import numpy as np

from hardness.errors import TrialEnded

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Threads of OpenMP that wait sleep. They would spin, and take the CPU from those that they wait for: with two threads
# on two busy CPUs a small network of torch would then learn several times slower.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}
MULTIPLY_ADDS = 10**9  # of the kernel, in a reference second
SIZE = 16  # of the matrices of the kernel
PASSES = 100  # of the kernel between two looks at the clock
TIMED_SECONDS = 0.005  # of the CPU for a timing of the kernel


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, however that ends (Linux; elsewhere nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG


@contextmanager
def single_threaded(children: bool = True) -> Iterator[None]:
    """Let BLAS and numba use one thread: the processes are the parallelism. `children` inherit the environment.

    In this process the libraries are told themselves: numba refuses a change of its variable once it has threads.
    """
    if not children:
        with threads_limited(1):
            yield
        return
    before = {name: os.environ[name] for name in THREADS if name in os.environ}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name in THREADS:
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def threads_limited(threads: int) -> Iterator[None]:
    """Let libraries that this process has loaded use `threads` threads: BLAS, OpenMP, numba and torch."""
    from threadpoolctl import threadpool_limits

    loaded: list[Any] = [sys.modules[name] for name in ("numba", "torch") if name in sys.modules]
    with threadpool_limits(threads):
        before = [library.get_num_threads() for library in loaded]
        for library in loaded:
            library.set_num_threads(min(threads, library.get_num_threads()))
        try:
            yield
        finally:
            for library, count in zip(loaded, before, strict=True):
                library.set_num_threads(count)


class OutOfCpuTime(TimeoutError):
    """This process has spent the CPU time of an `alarm`."""


@contextmanager
def alarm(seconds: float, cpu: bool = False) -> Iterator[None]:
    """Raise `TimeoutError` in the main thread after `seconds`; a compiled kernel is interrupted when it returns.

    With `cpu` they are seconds of the CPU time of this process, all its threads, and it is `OutOfCpuTime`. Alarms nest;
    in other threads there are none.

    >>> with alarm(60), alarm(0.01):
    ...     while True: pass
    Traceback (most recent call last):
    ...
    TimeoutError
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    timer, number = (signal.ITIMER_PROF, signal.SIGPROF) if cpu else (signal.ITIMER_REAL, signal.SIGALRM)
    end = time.process_time() + seconds

    def ring(signum: int, frame: FrameType | None) -> None:
        # This timer charges a whole tick of the clock to whoever runs at its end: on a busy machine it rings early.
        if cpu and (early := end - time.process_time()) > 0:
            signal.setitimer(timer, early)
            return
        raise OutOfCpuTime if cpu else TimeoutError

    before = signal.signal(number, ring)
    left, _ = signal.setitimer(timer, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(timer, left)  # of an alarm around this one: from now on, at the latest
        signal.signal(number, before)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended.

    Beside the main thread it is that of this thread alone: others may run other trials.
    """
    if threading.current_thread() is not threading.main_thread():
        return time.thread_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def kernel_seconds() -> float:
    """Return the CPU seconds of a reference second, in this process and now."""
    x, u, v = np.random.default_rng(0).standard_normal((3, SIZE, SIZE))

    def run() -> None:
        for _ in range(PASSES):
            np.tanh(x @ u) @ v

    run()  # warms up
    passes, begin, spent = 0, cpu_seconds(), 0.0
    while spent < TIMED_SECONDS:
        run()
        passes, spent = passes + PASSES, cpu_seconds() - begin
    return spent * MULTIPLY_ADDS / (passes * 2 * SIZE**3)


class Meter:
    """CPU `seconds` that a solver spends, and, where it has an `allowance` of reference seconds, its end there."""

    def __init__(self, allowance: float | None = None) -> None:
        self.seconds = 0.0
        self.limit = None if allowance is None else allowance * self.kernel

    @cached_property
    def kernel(self) -> float:
        """Return the CPU seconds of a reference second, timed when they are first asked for."""
        return kernel_seconds()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count what is spent inside. Raises `TrialEnded` (budget) when that is more than the allowance.

        It does so at the latest at its end: a kernel in C is interrupted when it returns, and children are not.
        """
        begin, ended = cpu_seconds(), False
        try:
            with nullcontext() if self.limit is None else alarm(self.limit - self.seconds, cpu=True):
                yield
        except OutOfCpuTime:
            ended = True
        finally:
            self.seconds += cpu_seconds() - begin
        if ended or (self.limit is not None and self.seconds > self.limit):
            raise TrialEnded("budget", "over its budget of CPU time", {"limit": "CPU time"})

    def reference_seconds(self) -> float:
        """Return what was spent, in units of the kernel."""
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
                try:
                    self.reference_seconds += solver.reference_seconds()
                except (TrialEnded, TimeoutError):
                    self.complete = False
