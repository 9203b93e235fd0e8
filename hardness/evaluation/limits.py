"""What bounds a computation from outside: threads of libraries, an alarm, the parent process; its CPU time.

CPU time is told in *reference seconds*: that of a solver over that of a small kernel, timed in its process. The
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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
MULTIPLY_ADDS = 10**9  # of the kernel, in a reference second
SIZE = 16  # of the matrices of the kernel
PASSES = 2000  # of the kernel, in which it is timed
LOOK_SECONDS = 0.2  # between two looks whether an alarm is due or a worker still lives


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, however that ends (Linux; elsewhere nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let BLAS and numba use one thread in processes that are started inside this context."""
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
    """Limit BLAS, OpenMP, numba and torch, where loaded in this process, to `threads` threads inside this context."""
    from threadpoolctl import threadpool_limits

    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(threads))
        for library in (sys.modules[name] for name in ("numba", "torch") if name in sys.modules):
            before = library.get_num_threads()
            stack.callback(library.set_num_threads, before)
            library.set_num_threads(min(threads, before))
        yield


@cache
def _compilations() -> Any:
    """Return the timer of numba's compilations in this process, which counts from the first call on."""
    from numba.core import event

    timer = event.TimingListener()
    event.register("numba:compile", timer)
    return timer


def clock() -> float:
    """Return the seconds of a clock that leaves out compilations by numba, which happen once on a machine."""
    if "numba" not in sys.modules or not _compilations().done:
        return time.monotonic()
    return time.monotonic() - float(_compilations().duration)


def _compiling() -> bool:
    lock = sys.modules.get("numba.core.compiler_lock")
    return lock is not None and bool(lock.global_compiler_lock.is_locked())


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` inside this context after `seconds`; compiled code that runs then returns first.

    Time in which numba compiles does not count. Alarms nest. Outside the main thread this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> None:
        if clock() >= deadline and not _compiling():
            raise TimeoutError
        signal.setitimer(signal.ITIMER_REAL, max(deadline - clock(), LOOK_SECONDS))

    deadline = clock() + seconds
    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)  # of an alarm around this one: from now on, at the latest
        signal.signal(signal.SIGALRM, before)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended.

    Called outside the main thread, return those of the calling thread alone, as others may run other trials.
    """
    if threading.current_thread() is not threading.main_thread():
        return time.thread_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@cache
def kernel_seconds() -> float:
    """Return the CPU seconds in which a small numpy computation does 10⁹ multiply-adds here; they are measured once."""
    x, u, v = np.random.default_rng(0).standard_normal((3, SIZE, SIZE))
    np.tanh(x @ u) @ v  # warms up
    begin = time.thread_time()
    for _ in range(PASSES):
        np.tanh(x @ u) @ v
    return (time.thread_time() - begin) * MULTIPLY_ADDS / (PASSES * 2 * SIZE**3)
