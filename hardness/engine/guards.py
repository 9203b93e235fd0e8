"""What holds around trials: signals that end a run once, one thread a process, an alarm that ends a trial."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hardness.apart.lab import THREADS


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM ended a run; the store resumes. `code` is the exit status, 130 or 143."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.code = 128 + signum


@contextmanager
def signals() -> Iterator[None]:
    """SIGINT and SIGTERM raise `Interrupted`, once: the clean-up that follows is not interrupted again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught = (signal.SIGINT, signal.SIGTERM)

    def stop(signum: int, frame: FrameType | None) -> None:
        for each in caught:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(signum)

    before = {each: signal.signal(each, stop) for each in caught}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def single_threaded(children: bool = True) -> Iterator[None]:
    """BLAS and numba use one thread: the processes are the parallelism. `children` inherit that by their environment.

    In this process the libraries are told themselves: numba refuses a change of its variable once it has threads.
    """
    if not children:
        with _one_thread_here():
            yield
        return
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _one_thread_here() -> Iterator[None]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        numba: Any = sys.modules.get("numba")
        before = numba.get_num_threads() if numba else None
        if numba:
            numba.set_num_threads(1)
        try:
            yield
        finally:
            if numba:
                numba.set_num_threads(before)


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in the main thread after `seconds`; a compiled kernel is interrupted when it returns."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
