"""A user's learner or attack in a process of its own, which is handed arrays and nothing else.

The process is started afresh for every trial (`subprocess`, not `multiprocessing`: workers of pools and of Dask are
daemons, which may have no children, and a learner may want some). Requests and replies are JSON headers and arrays
without pickle. Closing the *lifeline*, a pipe of which only the parent holds the writing end, kills the worker and all
that it started: so does the parent's death, whatever its cause.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import BufferedReader
from math import prod
from typing import IO, TYPE_CHECKING, Any

from hardness import registry
from hardness.errors import InputError, TrialEnded, one_line
from hardness.evaluation.limits import THREADS, alarm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hardness.evaluation.adapters import Adapter

SAID = ("wrong", "budget", "refused")  # what a learner may say of itself; solved is for the judge to say
NAMING = ("_", "PWD", "OLDPWD")  # variables that may name a folder or a command of the lab's
MEMORY = 0.8  # share of the memory that is free at the start, beyond which a worker is ended
WATCH_SECONDS = 0.1  # between two checks of a worker
HEADER_BYTES = 1 << 20
ABANDONED: ContextVar[Callable[[], bool]] = ContextVar("abandoned", default=lambda: False)  # nobody waits any more
SAME = 1e-4  # of the largest prediction: what rounding may change where rows come in another order, in float32 too


def send(stream: IO[bytes], header: Mapping[str, Any], *arrays: "NDArray[Any]") -> None:
    """One message: a line of JSON that lists types and shapes, then the arrays' own bytes."""
    listed = [[array.dtype.str, array.shape] for array in arrays]
    line = json.dumps({**header, "arrays": listed}, allow_nan=False).encode() + b"\n"
    if len(line) > HEADER_BYTES:
        raise ValueError(f"a header of {len(line)} bytes; the most is {HEADER_BYTES}")
    stream.write(line)
    for array in arrays:
        stream.write(array.tobytes())
    stream.flush()


def receive(stream: BufferedReader) -> tuple[dict[str, Any], "list[NDArray[Any]]"]:
    """The next message. Raises `EOFError` when the other end is gone."""
    import numpy as np

    line = stream.readline(HEADER_BYTES + 1)
    if not line.endswith(b"\n"):
        raise EOFError
    header, found = json.loads(line), []
    for kind, shape in header.pop("arrays"):
        data = bytearray(np.dtype(kind).itemsize * prod(shape))
        if stream.readinto(data) < len(data):
            raise EOFError
        found.append(np.frombuffer(data, kind).reshape(shape))
    return header, found


class Worker:
    """A solver (`hardness.evaluation.adapters`) in a worker process: `partial_fit`, `predict`, `report`, `work`.

    A context: leaving it ends the process and its children. `deadline` is a `time.monotonic()` beyond which they are
    ended and the call raises `TimeoutError`; `threads` is what BLAS, OpenMP and numba are told. Calls raise
    `TrialEnded` where the solver raised (error, or what a `TrialEnded` of its own says, but for solved), died or took
    more than its share of memory (killed), or predicted no array of the right shape, or not the same for the same rows
    (refused).
    """

    def __init__(self, solver: Mapping[str, Any], seed: int, deadline: float, threads: int = 1) -> None:
        self._why, self._deadline, self._abandoned = "", deadline, ABANDONED.get()
        lifeline, self._lifeline = os.pipe()
        environment = {k: v for k, v in os.environ.items() if k not in NAMING} | dict.fromkeys(THREADS, str(threads))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "hardness.evaluation.worker", str(lifeline)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[lifeline], env=environment,
                start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(lifeline)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        paths = [os.path.abspath(entry) for entry in dict.fromkeys([*sys.path, ""])]
        made = {"paths": paths, "solver": solver, "seed": seed, "provided": registry.pickled()}
        try:
            self.streamed = bool(self._ask(made)[0]["streamed"])
        except BaseException:
            self.stop()
            raise

    def partial_fit(self, X: "NDArray[np.int8]", Y: "NDArray[np.float64]") -> None:
        """Let it learn from tokens X and outputs Y, both (n, k, d)."""
        self._ask({"do": "learn"}, X, Y)

    def predict(self, X: "NDArray[np.int8]") -> "NDArray[np.float64]":
        """Its predictions (n, k, d) for tokens X, asked for twice: a prediction is a function of its own row, not of
        the place or the number of the rows."""
        import numpy as np

        predicted: NDArray[np.float64] = self._ask({"do": "predict"}, X)[1][0]
        order = np.random.default_rng(np.random.SeedSequence()).permutation(len(X))
        again = np.empty_like(predicted)
        for part in np.array_split(order, 2):
            again[part] = self._ask({"do": "predict"}, X[part])[1][0] if len(part) else again[part]
        scale = float(np.abs(predicted).max(initial=1.0, where=np.isfinite(predicted)))
        if not np.allclose(again, predicted, rtol=0, atol=SAME * scale, equal_nan=True):
            raise TrialEnded(
                "refused", "its predictions depend on the order or the number of the rows it is asked about"
            )
        return predicted

    def report(self) -> dict[str, Any]:
        """What its `report_` says of it, or the outcome of an attack."""
        return dict(self._ask({"do": "report"})[0]["said"])

    def work(self) -> dict[str, Any]:
        """What it says of its own work."""
        return dict(self._ask({"do": "work"})[0]["said"])

    def _ask(self, header: Mapping[str, Any], *arrays: Any) -> tuple[dict[str, Any], list[Any]]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert isinstance(stdout, BufferedReader)
        try:
            send(stdin, header, *arrays)
            reply, found = receive(stdout)
        except (EOFError, OSError) as error:
            code = self.stop()
            if self._why == "time":
                raise TimeoutError from error
            raise TrialEnded("killed", self._why or f"the learner's process ended with code {code}") from error
        if "raised" in reply:
            status, reason, kind, detail = reply["raised"]
            raise TrialEnded(status if status in SAID else "error", reason, detail, kind)
        return reply, found

    def _watch(self) -> None:
        """End the worker at its deadline, with its memory, with the run that asked, or where it left children
        behind when it ended."""
        import psutil

        most = MEMORY * psutil.virtual_memory().available
        process = psutil.Process(self._process.pid)
        while self._process.poll() is None:
            if time.monotonic() > self._deadline:
                self._why = "time"
            elif self._abandoned():
                self._why = "the run that asked for it has ended"
            with suppress(psutil.Error):  # one that has just ended: the next look counts again
                if sum(each.memory_info().rss for each in [process, *process.children(recursive=True)]) > most:
                    self._why = f"out of memory: more than {most / 2**30:.1f} GiB"
            if self._why:
                break
            time.sleep(WATCH_SECONDS)
        self._cut()

    def _cut(self) -> None:
        """Let go of the lifeline."""
        handle, self._lifeline = self._lifeline, -1
        if handle >= 0:
            os.close(handle)

    def stop(self) -> int:
        """End the process and all that it started; its exit code."""
        self._cut()
        code = self._process.wait()
        self._watcher.join()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream.close() if stream else None
        return code

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextmanager
def opened(solver: Mapping[str, Any], seed: int, deadline: float, threads: int = 1) -> "Iterator[Adapter | Worker]":
    """A solver: what is built in, or no name, in this process under an alarm; any other in a worker.

    >>> import numpy as np
    >>> X = np.ones((8, 2, 3), dtype=np.int8)
    >>> with opened({"learner": "hardness.evaluation.adapters:Constant"}, 0, time.monotonic() + 60) as solver:
    ...     solver.partial_fit(X, X.astype(float))
    ...     solver.predict(X).shape
    (8, 2, 3)
    """
    from hardness.evaluation.adapters import adapted

    kind = "attack" if "attack" in solver else "learner"
    if not isinstance(solver[kind], str) or registry.is_builtin(kind, solver[kind]):
        with alarm(deadline - time.monotonic()):
            yield adapted(solver, seed)
    else:
        with Worker(solver, seed, deadline, threads) as worker:
            yield worker


def main() -> None:
    """Serve one solver until the other end hangs up. Called with the number of the lifeline's reading end."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    lifeline = int(sys.argv[1])
    if os.fork() == 0:
        _guard(lifeline)
    os.close(lifeline)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)  # what the learner prints is no reply
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the parent decides
    sys.argv[1:] = []
    made, _ = receive(requests)
    sys.path[:] = made["paths"]
    registry.provide(made["provided"])
    adapter: Any = None
    with suppress(EOFError, BrokenPipeError):
        header: dict[str, Any] = {"do": "make"}
        arrays: list[Any] = []
        while True:
            try:
                if header["do"] == "make":
                    from hardness.evaluation.adapters import adapted

                    adapter = adapted(made["solver"], made["seed"])
                    send(replies, {"streamed": adapter.streamed})
                elif header["do"] == "learn":
                    adapter.partial_fit(*arrays)
                    send(replies, {})
                elif header["do"] == "predict":
                    send(replies, {}, adapter.predict(*arrays))
                else:
                    send(replies, {"said": getattr(adapter, header["do"])()})
            except Exception as error:
                send(replies, {"raised": _raised(error)})
            header, arrays = receive(requests)


def _raised(error: Exception) -> list[Any]:
    from hardness.evaluation.adapters import plain

    if isinstance(error, TrialEnded):
        return [error.status, error.reason[:1000], error.kind, plain(dict(error.detail))]
    return ["error", str(error)[:1000] if isinstance(error, InputError) else one_line(error), type(error).__name__, {}]


def _guard(lifeline: int) -> None:
    """Wait for the end of the lifeline, then kill the worker's session; this runs in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.closerange(0, lifeline)
    os.closerange(lifeline + 1, 1024)
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
