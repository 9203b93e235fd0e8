"""A user's learner or attack in a process of its own, which is handed arrays and nothing else.

The process is started afresh for every trial (`subprocess`, not `multiprocessing`: workers of pools and of Dask are
daemons, which may have no children, and a learner may want some). Requests and replies are JSON headers and arrays
without pickle (`hardness.evaluation.messages`). Closing the *lifeline*, a pipe of which only the parent holds the
writing end, kills the worker and all that it started (`hardness.evaluation.serving`): so does the parent's death,
whatever its cause. What the parent has seen of the worker's processes it ends itself, should one of them get in the
way of that.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict
from functools import partial
from io import BufferedReader
from typing import TYPE_CHECKING, Any

from hardness import registry
from hardness.errors import TrialEnded
from hardness.evaluation.limits import THREADS, WAITING, alarm
from hardness.evaluation.messages import receive, send
from hardness.evaluation.solver import Solver
from hardness.io.texts import sanitize

if TYPE_CHECKING:
    import numpy as np
    import psutil
    from numpy.typing import NDArray

    from hardness.evaluation.adapters import Adapter

CLAIMS = ("wrong", "budget", "refused")  # what a learner may claim of itself; solved is for the judge to say
NAMING = ("_", "PWD", "OLDPWD")  # variables that may name a folder or a command of the lab's
MEMORY = 0.8  # share of the memory that is free at the start, beyond which a worker is ended
WATCH_SECONDS = 0.1  # between two checks of a worker
FOREVER = 30 * 24 * 3600.0  # seconds without a limit
END_SECONDS = 5.0  # that the end of the lifeline may take
# Nobody waits any more
ABANDONED: ContextVar[Callable[[], bool]] = ContextVar("abandoned", default=lambda: False)
SAME = 1e-4  # of the largest prediction: what rounding may change where rows come in another order, in float32 too


class Worker:
    """A solver (`hardness.evaluation.adapters`) in a worker process: `partial_fit`, `predict`, `report`, `work`.

    A context: leaving it ends the process and its children. `deadline` is a `time.monotonic()` beyond which they are
    ended and the call raises `TimeoutError`; `threads` is what BLAS, OpenMP and numba are told; `allowance`, if any, is
    its CPU time in reference seconds (`hardness.evaluation.effort`). Calls raise `TrialEnded` where the solver raised
    (error, or what a `TrialEnded` of its own says, but for solved), spent its allowance (budget), died or took more
    than its share of memory (killed), or predicted no array of the right shape, or not the same for the same rows
    (refused).
    """

    def __init__(
        self, solver: Solver, seed: int, deadline: float, threads: int = 1, allowance: float | None = None
    ) -> None:
        self._why, self._deadline, self._abandoned = "", deadline, ABANDONED.get()
        self._over = threading.Event()
        lifeline, self._lifeline = os.pipe()
        inherited = {name: value for name, value in os.environ.items() if name not in NAMING}
        environment = WAITING | inherited | dict.fromkeys(THREADS, str(threads))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "hardness.evaluation.serving", str(lifeline)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[lifeline],
                env=environment,
                start_new_session=True,
            )
        finally:
            os.close(lifeline)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        paths = [os.path.abspath(entry) for entry in dict.fromkeys([*sys.path, ""])]
        made = {"paths": paths, "solver": asdict(solver), "seed": seed, "allowance": allowance}
        made["provided"] = registry.pickled()
        try:
            self.streamed = bool(self._ask(made)[0]["streamed"])
        except BaseException:
            self.stop()
            raise

    def partial_fit(self, X: "NDArray[np.int8]", Y: "NDArray[np.float64]") -> None:
        """Let it learn from tokens X and outputs Y, both (n, k, d)."""
        self._ask({"do": "learn"}, X, Y)

    def predict(self, X: "NDArray[np.int8]") -> "NDArray[np.float64]":
        """Its predictions (n, k, d) for tokens X, `asked_twice`."""
        return asked_twice(self._predicted, X)

    def _predicted(self, X: "NDArray[np.int8]", again: bool = False) -> "NDArray[np.float64]":
        arrays = self._ask({"do": "predict", "again": again}, X, allowed=8 * X.size)[1]
        if [array.shape for array in arrays] != [X.shape]:
            raise self._forged()
        predicted: NDArray[np.float64] = arrays[0]
        return predicted

    def report(self) -> dict[str, Any]:
        """What its `report_` says of it, or the outcome of an attack."""
        return dict(self._ask({"do": "report"})[0]["answer"])

    def device(self) -> str:
        """Where a learner ran, if it says so."""
        return sanitize(self._ask({"do": "device"})[0]["answer"], 60)

    def work(self) -> dict[str, Any]:
        """What it says of its own work."""
        return dict(self._ask({"do": "work"})[0]["answer"])

    def reference_seconds(self) -> float:
        """The CPU time that it has spent, over that of the reference kernel timed in its process."""
        return float(self._ask({"do": "reference_seconds"})[0]["answer"])

    def examine(self, solver: Solver, check: str) -> dict[str, Any]:
        """One check of `hardness.evaluation.conformance` on another learner."""
        return dict(self._ask({"do": "examine", "solver": asdict(solver), "check": check})[0]["answer"])

    def _ask(
        self, header: Mapping[str, Any], *arrays: Any, allowed: int = 0
    ) -> tuple[dict[str, Any], list[Any]]:
        """The answer to a request; its arrays have at most `allowed` bytes."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert isinstance(stdout, BufferedReader)
        try:
            send(stdin, header, *arrays)
            reply, answer = receive(stdout, allowed)
            status, reason, kind, detail = reply.get("raised") or ("", "", "", {})
            detail = dict(detail)
        except (EOFError, OSError) as error:
            code = self.stop()
            if self._why == "time":
                raise TimeoutError from error
            raise TrialEnded(
                "killed", self._why or f"the learner's process ended with code {code}"
            ) from error
        except (ValueError, TypeError) as error:
            raise self._forged() from error
        if status:
            raise TrialEnded(status if status in CLAIMS else "error", str(reason), detail, str(kind))
        return reply, answer

    def _forged(self) -> TrialEnded:
        """The end of a worker on whose pipe something else was written than its replies."""
        self.stop()
        return TrialEnded("error", "what came back is no reply of the lab's: the learner wrote into its pipe")

    def _watch(self) -> None:
        """End the worker at its deadline, with its memory, or with the run that asked, and what it leaves behind."""
        import psutil

        watcher = psutil.Process(self._process.pid)
        seen, allowed = {watcher}, MEMORY * psutil.virtual_memory().available
        try:
            while self._process.poll() is None and not self._why:
                with suppress(psutil.Error):  # one that has just ended: the next look counts again
                    seen.update(watcher.children(recursive=True))
                self._why = self._reason_to_end(_resident(seen), allowed)
                if self._over.wait(0 if self._why else WATCH_SECONDS):
                    break
        finally:
            self._end(seen)

    def _reason_to_end(self, resident: float, allowed: float) -> str:
        if time.monotonic() > self._deadline:
            return "time"
        if self._abandoned():
            return "the run that asked for it has ended"
        return f"out of memory: more than {allowed / 2**30:.1f} GiB" if resident > allowed else ""

    def _end(self, seen: "set[psutil.Process]") -> None:
        """Let go of the lifeline, and kill of `seen` what has outlived that: the watching process may be gone."""
        self._cut()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        kill_all(seen)

    def _cut(self) -> None:
        self._over.set()
        handle, self._lifeline = self._lifeline, -1
        if handle >= 0:
            os.close(handle)

    def stop(self) -> int:
        """End the process and all that it started; its exit code."""
        self._cut()
        self._watcher.join()
        code = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream.close() if stream else None
        return code

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def asked_twice(
    predict: "Callable[..., NDArray[np.float64]]", X: "NDArray[np.int8]"
) -> "NDArray[np.float64]":
    """What `predict` says of tokens X (n, k, d), asked `again` in another order and in halves.

    A prediction is a function of its own row, not of the place or the number of the rows.

    Raises `TrialEnded` (refused) where it is not.

    >>> import numpy as np
    >>> def centred(X, again=False):
    ...     return X - X.mean(axis=0)
    >>> asked_twice(centred, np.array([1, 2, 4, 8], dtype=np.int8).reshape(4, 1, 1))  # no halves have equal means
    Traceback (most recent call last):
    ...
    hardness.errors.TrialEnded: refused: its predictions depend on the order or the number of the rows it is asked about
    """
    import numpy as np

    predicted = np.array(predict(X))  # a learner in this process may use its array again
    order = np.random.default_rng(np.random.SeedSequence()).permutation(len(X))
    again = np.empty_like(predicted)
    for part in np.array_split(order, 2):
        again[part] = predict(X[part], again=True) if len(part) else again[part]
    scale = float(np.abs(predicted).max(initial=1.0, where=np.isfinite(predicted)))
    if not np.allclose(again, predicted, rtol=0, atol=SAME * scale, equal_nan=True):
        raise TrialEnded(
            "refused", "its predictions depend on the order or the number of the rows it is asked about"
        )
    return predicted


def _resident(processes: "set[psutil.Process]") -> float:
    """Bytes of memory of those that still run; the others are forgotten."""
    import psutil

    total = 0.0
    for process in list(processes):
        try:
            total += process.memory_info().rss
        except psutil.Error:
            processes.discard(process)
    return total


def kill_all(processes: "set[psutil.Process]") -> None:
    """Kill the processes and what descends from them, as often as there is any."""
    import psutil

    while processes := {process for process in processes if _lives(process)}:
        for process in list(processes):
            with suppress(psutil.Error):
                processes.update(process.children(recursive=True))
        for process in processes:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(processes, timeout=WATCH_SECONDS)


def _lives(process: "psutil.Process") -> bool:
    """Whether it runs; one that has ended and that nobody has asked about does not."""
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


@contextmanager
def opened(
    solver: Solver, seed: int, deadline: float, threads: int = 1, allowance: float | None = None
) -> "Iterator[Adapter | Worker]":
    """A solver, until `deadline` on the monotonic clock: `built_in` in this process under an alarm, or in a worker.

    Beyond an `allowance` of reference seconds (`hardness.evaluation.effort`) it raises `TrialEnded` (budget).

    >>> import numpy as np
    >>> X = np.ones((8, 2, 3), dtype=np.int8)
    >>> constant = Solver("learner", "hardness.evaluation.adapters:Constant")
    >>> with opened(constant, 0, time.monotonic() + 60) as solver:
    ...     solver.partial_fit(X, X.astype(float))
    ...     solver.predict(X).shape
    (8, 2, 3)
    """
    from hardness.evaluation.adapters import adapted

    if solver.built_in:
        with alarm(deadline - time.monotonic()):
            yield adapted(solver, seed, allowance)
    else:
        with Worker(solver, seed, deadline, threads, allowance) as worker:
            yield worker


def opening(solver: Solver, seed: int, seconds: float) -> Callable[..., AbstractContextManager[Any]]:
    """What opens a solver as often as wanted, until `seconds` from now are over."""
    return partial(opened, solver, seed, time.monotonic() + seconds)
