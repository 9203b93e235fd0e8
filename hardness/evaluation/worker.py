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
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any

from hardness import registry
from hardness.errors import InputError, TrialEnded, one_line
from hardness.evaluation.conformance import examined
from hardness.evaluation.limits import LOOK_SECONDS, THREADS, alarm, clock, die_with_parent
from hardness.evaluation.solver import Fitted, Solver, plain

MEMORY = 0.8  # share of the memory that is free at the start, which a worker may have
EXIT_SECONDS = 2.0  # for a worker that has hung up to end by itself
FOREVER = 30 * 24 * 3600.0  # seconds without a limit
# Threads of OpenMP that wait sleep: they would take the CPU from those that they wait for.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}


class Worker:
    """Run a learner or attack (`solver`) in a process of its own, by the methods of `Fitted` (partial_fit, predict).

    Another method, `examine`, checks a learner on small data. Leaving the context ends the process and its children, as
    does a call after `deadline`, by `clock`, which raises `TimeoutError`. BLAS, OpenMP and numba use `threads` threads.
    An `InputError` or `TrialEnded` of the solver is raised here too. Any other exception becomes `TrialEnded` with
    status "error"; if the process died or lacked memory, the status is "killed".
    """

    def __init__(self, solver: Solver, seed: int, deadline: float, threads: int = 1) -> None:
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
        self._connection.send((paths, registry.pickled(), memory, solver, seed))

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return partial(self._ask, method)

    def _ask(self, *request: Any) -> Any:
        """Return what the learner's process answers to `request` (method, *arguments); raise what it raises."""
        try:
            self._connection.send(request)
            while not self._connection.poll(LOOK_SECONDS):
                if clock() > self._deadline:
                    self.stop()
                    raise TimeoutError
                # A child of the learner's may hold the other end open after the learner is gone.
                if self._process.poll() is not None and not self._connection.poll():
                    raise EOFError
            answer, raised = self._connection.recv()
        except TimeoutError:  # an OSError too
            raise
        except (EOFError, OSError) as error:
            raise TrialEnded("killed", f"the learner's process ended with code {self.stop()}") from error
        if raised is not None:
            raise raised
        return answer

    def stop(self) -> int:
        """End the learner's process and what it started, and return its exit code."""
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_SECONDS if clock() < self._deadline else 0)
        # The process leads its session, and a group outlives its leader.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(connection: Connection) -> None:
    """Answer the requests of a `Worker`, in the process that it started, until it closes `connection`."""
    os.dup2(2, 1)  # what the learner prints is no data of the caller's
    die_with_parent()
    paths, provided, memory, solver, seed = connection.recv()
    sys.path[:] = paths
    registry.provide(provided)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.RLIM_INFINITY))
    made: list[Fitted] = []
    with suppress(EOFError, BrokenPipeError):
        while True:
            method, *arguments = connection.recv()
            answer: Any = None
            raised: Exception | None = None
            try:
                if method == "examine":
                    answer = examined(solver)
                else:
                    made = made or [Fitted(solver, seed)]
                    answer = getattr(made[0], method)(*arguments)
            except TrialEnded as error:
                raised = TrialEnded(error.status, error.reason[:1000], plain(dict(error.detail)))
            except MemoryError:
                raised = TrialEnded("killed", f"out of memory: more than {memory / 2**30:.1f} GiB")
            except InputError as error:
                raised = InputError(str(error)[:1000])
            except Exception as error:
                raised = TrialEnded("error", one_line(error))
            connection.send((answer, raised))


@contextmanager
def opened(solver: Solver, seed: int, deadline: float, threads: int = 1) -> Iterator[Fitted | Worker]:
    """Yield a new learner or attack, in its own process unless built in; it is ended at `deadline`, by `clock()`."""
    if solver.built_in:
        fitted = Fitted(solver, seed)  # before `clock`, which must know numba when it begins to compile
        with alarm(deadline - clock()):
            yield fitted
    else:
        with Worker(solver, seed, deadline, threads) as worker:
            yield worker


def opening(
    solver: Solver, seed: int, seconds: float, threads: int = 1
) -> Callable[[], AbstractContextManager[Any]]:
    """Return a function that starts a new learner or attack at each call; all must end within `seconds` from now."""
    if solver.built_in:  # its modules are loaded before the clock begins
        solver = replace(solver, name=solver.thing)
    return partial(opened, solver, seed, clock() + seconds, threads)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
