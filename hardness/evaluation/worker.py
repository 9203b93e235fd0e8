"""A user's learner or attack in a process of its own, which is handed arrays and nothing else.

The process keeps accidents away from the run: a crash, a hang, too much memory, `sys.exit`, prints, children that
are left behind. It is no wall against code that means harm (SECURITY.md). It is started by `subprocess` and not by
`multiprocessing`, whose children import a user's script again and may have no children of their own.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError, TrialEnded, one_line
from hardness.evaluation.limits import THREADS, WAITING, alarm, die_with_parent
from hardness.evaluation.solver import LearnerAdapter, Solver, adapted, plain

MEMORY = 0.8  # share of the memory that is free at the start, which a worker may have
LOOK_SECONDS = 0.2  # between two looks whether the worker still lives
EXIT_SECONDS = 2.0  # for a worker that has hung up to end by itself
FOREVER = 30 * 24 * 3600.0  # seconds without a limit


class Worker:
    """A solver in a worker process, with the methods of `hardness.evaluation.solver.LearnerAdapter`.

    A context: leaving it ends the process and the children in its session. `deadline` is a `time.monotonic()` beyond
    which they are ended and the call raises `TimeoutError`; `threads` is what BLAS, OpenMP and numba are told;
    `allowance`, if any, is its CPU time in reference seconds (`hardness.evaluation.limits`). Calls raise `TrialEnded`
    where the solver raised (error, or what a `TrialEnded` of its own says), spent its allowance (budget), died or
    asked for more than its share of memory (killed), or predicted no array of the right shape (refused).
    """

    def __init__(
        self, solver: Solver, seed: int, deadline: float, threads: int = 1, allowance: float | None = None
    ) -> None:
        import psutil

        self._deadline = deadline
        self._connection, theirs = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hardness.evaluation.worker", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=WAITING | os.environ | dict.fromkeys(THREADS, str(threads)),
            start_new_session=True,
        )
        theirs.close()
        paths = [os.path.abspath(entry) for entry in dict.fromkeys([*sys.path, ""])]
        memory = int(MEMORY * psutil.virtual_memory().available)
        try:
            self._ask(paths, registry.pickled(), memory, solver, seed, allowance)
        except BaseException:
            self.stop()
            raise

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Let it learn from tokens X and outputs Y, both (n, k, d)."""
        self._ask("partial_fit", X, Y)

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return its predictions (n, k, d) for tokens X."""
        predicted: NDArray[np.float64] = self._ask("predict", X)
        return predicted

    def report(self) -> dict[str, Any]:
        """Return what its `report_` says of it, or the outcome of an attack."""
        return dict(self._ask("report"))

    def work(self) -> dict[str, Any]:
        """Return what it says of its own work."""
        return dict(self._ask("work"))

    def reference_seconds(self) -> float:
        """Return its CPU time over that of the reference kernel timed in its process."""
        return float(self._ask("reference_seconds"))

    def examine(self, check: str) -> dict[str, Any]:
        """Return the outcome of one check of `hardness.evaluation.conformance`."""
        return dict(self._ask("examine", check))

    def _ask(self, *request: Any) -> Any:
        """Return the answer to a request; the first one makes the solver."""
        try:
            self._connection.send(request)
            self._wait()
            answer, raised = self._connection.recv()
        except TimeoutError:  # an OSError too
            raise
        except (EOFError, OSError) as error:
            raise TrialEnded("killed", f"the learner's process ended with code {self.stop()}") from error
        if raised is not None:
            raise TrialEnded(*raised)
        return answer

    def _wait(self) -> None:
        """Wait for an answer. Raises `TimeoutError` at the deadline and `EOFError` for a process that is gone."""
        while not self._connection.poll(LOOK_SECONDS):
            if time.monotonic() > self._deadline:
                self.stop()
                raise TimeoutError
            # A child of the learner's may hold the other end open after the learner is gone.
            if self._process.poll() is not None and not self._connection.poll():
                raise EOFError

    def stop(self) -> int:
        """End the process and what it started, and return its exit code."""
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_SECONDS if time.monotonic() < self._deadline else 0)
        # The process leads its session, and a group outlives its leader.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(connection: Connection) -> None:
    """Answer the requests of a `Worker` until it hangs up: the solver is made first, then its methods are called."""
    os.dup2(2, 1)  # what the learner prints is no data of the caller's
    die_with_parent()
    paths, provided, memory, solver, seed, allowance = connection.recv()
    sys.path[:] = paths
    registry.provide(provided)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.RLIM_INFINITY))
    adapter: Any = None

    def make() -> None:
        nonlocal adapter
        adapter = adapted(solver, seed, allowance)
        _load_optimizers()

    def examine(check: str) -> dict[str, Any]:
        from hardness.evaluation.conformance import tried

        return tried(solver, check)

    connection.send(_answer(make, memory))
    with suppress(EOFError, BrokenPipeError):
        while True:
            method, *arguments = connection.recv()
            call = examine if method == "examine" else getattr(adapter, method)
            connection.send(_answer(partial(call, *arguments), memory))


def _answer(call: Callable[[], Any], memory: int) -> tuple[Any, tuple[Any, ...] | None]:
    """Return what a call gives, and how it was ended if it raised: status, reason, detail and kind."""
    try:
        return call(), None
    except TrialEnded as error:
        return None, (error.status, error.reason[:1000], plain(dict(error.detail)), error.kind)
    except InputError as error:
        return None, ("error", str(error)[:1000], {}, "InputError")
    except MemoryError:
        return None, ("killed", f"out of memory: more than {memory / 2**30:.1f} GiB", {}, "MemoryError")
    except Exception as error:
        return None, ("error", one_line(error), {}, type(error).__name__)


def _load_optimizers() -> None:
    """Let torch, if the learner's module has loaded it, load now what it loads with the first optimizer.

    That takes seconds of the CPU, which would count as learning.
    """
    torch: Any = sys.modules.get("torch")
    with suppress(Exception):
        if torch is not None:
            torch.optim.SGD([torch.zeros(1, device="cpu", requires_grad=True)])


@contextmanager
def opened(
    solver: Solver, seed: int, deadline: float, threads: int = 1, allowance: float | None = None
) -> Iterator[LearnerAdapter | Worker]:
    """Open a solver, until `deadline` on the monotonic clock: a built-in one here under an alarm, others in a worker.

    Beyond an `allowance` of reference seconds (`hardness.evaluation.limits`) it raises `TrialEnded` (budget).
    """
    if solver.built_in:
        with alarm(deadline - time.monotonic()):
            yield adapted(solver, seed, allowance)
    else:
        with Worker(solver, seed, deadline, threads, allowance) as worker:
            yield worker


def opening(solver: Solver, seed: int, seconds: float) -> Callable[..., AbstractContextManager[Any]]:
    """Return what opens a solver as often as wanted, until `seconds` from now are over."""
    return partial(opened, solver, seed, time.monotonic() + seconds)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
