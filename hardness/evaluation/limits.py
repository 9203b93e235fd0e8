"""What bounds a computation from outside: threads of libraries, an alarm, the end of the parent process."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Threads of OpenMP that wait sleep. They would spin, and take the CPU from those that they wait for: with two threads
# on two busy CPUs a small network of torch would then learn several times slower.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, however that ends (Linux; elsewhere nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG


@contextmanager
def single_threaded(children: bool = True) -> Iterator[None]:
    """BLAS and numba use one thread: the processes are the parallelism. `children` inherit that by their environment.

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
    """Libraries that this process has loaded use `threads` threads: BLAS, OpenMP, numba and torch."""
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
