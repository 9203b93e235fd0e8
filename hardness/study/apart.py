"""Learners run apart: in a child process that has received arrays through a pipe, and nothing else.

Each process that runs trials keeps one server, started by exec with a bare environment in an empty folder. The
server forks a child a trial; the child owns the pipe until it ends. What goes through are JSON headers and raw
arrays, never pickles: a learner finds neither secret nor seed in its memory, nor runs code on the other side.
This guards against leaks and shortcuts. It is no sandbox: a child has the rights of the user.
"""

import ctypes
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.study.outcome import Ended, one_line

KEPT = ("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "LD_LIBRARY_PATH", "TMPDIR")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SAID = ("wrong", "budget", "refused")  # what a learner may say of itself; solved is for the lab to say
LARGEST = 1 << 30  # bytes of one array in a message


class Apart:
    """A learner in a child process, as the lab sees it. A context: leaving it ends the child.

    `learner` is a registered name or ``package.module:Class``: `partial_fit(X, Y)`, `predict(X)` and, if it takes
    a seed, `random_state`. `deadline` is a `time.monotonic()` beyond which
    a call kills the child and raises `TimeoutError`. Calls raise `Ended` where the learner raised (error, or what an
    `Ended` of its own says, but for solved), died (killed) or answered with no array of the shape asked for (refused).

    >>> import time
    >>> X, Y = np.ones((8, 2, 3), dtype=np.int8), np.ones((8, 2, 3))
    >>> with Apart("hardness.study.apart:Constant", {}, 0, time.monotonic() + 60) as learner:
    ...     learner.partial_fit(X, Y)
    ...     learner.predict(X).shape
    (8, 2, 3)
    """

    def __init__(self, learner: str, params: Mapping[str, Any], seed: int, deadline: float) -> None:
        self._server = _Server.get()
        self._deadline, self._ended = deadline, False  # whether the child has been told to end
        start = {"learner": learner, "params": dict(params), "seed": seed}
        if ":" in learner:
            start["folder"] = os.getcwd()  # where a user's own module lies
        self._tell(start)
        self.source: str | None = self._hear()[0].get("source")

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Let it learn from tokens X and outputs Y, both (n, k, d). Does not wait: what it raises comes later."""
        columns, part = _narrow(Y)
        self._tell({"columns": columns}, X, part)

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Its predictions (n, k, d) for tokens X (n, k, d)."""
        self._tell({}, X)
        header, arrays = self._hear()
        try:
            return _widen(X.shape, header["columns"], arrays[0])
        except (LookupError, ValueError, TypeError) as error:
            self._server.stop()
            raise Ended("refused", f"expected predictions of shape {X.shape}, got {header.get('shape')}") from error

    def work(self) -> dict[str, Any]:
        """What the learner says of its own work, `work_`: names and figures; empty where it says nothing."""
        self._tell({"work": True})
        said = self._hear()[0].get("work")
        return dict(said) if isinstance(said, dict) else {}

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            send(self._server.pipe, {"end": True})
        elif not self._ended:
            self._server.stop()

    def _tell(self, header: Mapping[str, Any], *arrays: NDArray[Any]) -> None:
        with self._watched():
            send(self._server.pipe, header, *arrays)

    def _hear(self) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        with self._watched():
            answer = receive(self._server.pipe, self._deadline)
        if "raised" in answer[0]:
            self._tell({"end": True})
            self._ended = True
            status, reason, said = answer[0]["raised"]
            raise Ended(str(status) if status in SAID else "error", str(reason), dict(said))
        return answer

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self._server.stop()
            raise
        except (EOFError, OSError) as error:
            code = self._server.process.wait()
            self._server.stop()
            raise Ended("killed", f"the learner's process ended with code {code}") from error
        except (LookupError, ValueError, TypeError) as error:
            self._server.stop()
            raise Ended("refused", f"unreadable answer: {error}") from error


class _Server:
    """The process that forks the learners of this process."""

    _kept: "_Server | None" = None

    def __init__(self) -> None:
        here, there = Pipe()
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= dict.fromkeys(THREADS, "1")
        root = Path(__file__).parents[2]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), environment.get("PYTHONPATH")]))
        self.folder = tempfile.TemporaryDirectory(prefix="learner-", ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hardness.study.apart", str(there.fileno())],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=self.folder.name,
            start_new_session=True,
        )
        there.close()
        self.pipe = here
        self.owner = os.getpid()

    @classmethod
    def get(cls) -> "_Server":
        # One a process: a forked copy of this process must not talk into its parent's pipe.
        if cls._kept is None or cls._kept.owner != os.getpid() or cls._kept.process.poll() is not None:
            cls._kept = cls()
        return cls._kept

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.pipe.close()
        self.folder.cleanup()


def send(pipe: Any, header: Mapping[str, Any], *arrays: NDArray[Any]) -> None:
    """One message: a JSON header that lists the arrays, then their bytes."""
    listed = [[array.dtype.str, array.shape] for array in arrays]
    pipe.send_bytes(json.dumps({**header, "arrays": listed}).encode())
    for array in arrays:
        pipe.send_bytes(np.ascontiguousarray(array).data.cast("B") if array.size else b"")


def receive(pipe: Any, deadline: float | None = None) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """The next message. Raises `TimeoutError` beyond the deadline, `EOFError` when the other end is gone."""

    def part() -> bytes:
        if deadline is not None and not pipe.poll(max(0.0, deadline - time.monotonic())):
            raise TimeoutError
        data: bytes = pipe.recv_bytes(LARGEST)
        return data

    header = json.loads(part())
    arrays = [np.frombuffer(part(), dtype=kind).reshape(shape) for kind, shape in header.pop("arrays")]
    return header, arrays


def _narrow(Y: NDArray[np.float64]) -> tuple[list[int], NDArray[np.float64]]:
    """The columns of outputs (n, k, d) that are not all zero, and what they hold: structured families use one."""
    columns = np.flatnonzero((Y != 0).any(axis=(0, 1))).tolist()
    return columns, Y[:, :, columns]


def _widen(shape: tuple[int, ...], columns: list[int], part: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of `_narrow`."""
    Y = np.zeros(shape)
    Y[:, :, columns] = part
    return Y


def source(learner: str) -> str | None:
    """Digest of the file that defines a learner, without running it; rows made by different sources are flagged.

    >>> len(source("hardness.study.apart:Constant"))
    16
    """
    try:
        spec = importlib.util.find_spec(registry.module_of("learner", learner))
        return hashlib.sha256(Path(str(spec and spec.origin)).read_bytes()).hexdigest()[:16]
    except (ImportError, OSError, ValueError):
        return None


class Constant:
    """The learner that predicts zero: the null control, and the shortest example of one."""

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Constant":
        """Learn nothing."""
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Zeros of the shape of X."""
        return np.zeros(X.shape)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, however that ends (Linux; elsewhere nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 = PR_SET_PDEATHSIG


def _serve(pipe: Any) -> None:
    while True:
        start, _ = receive(pipe)
        sys.path[:] = [*filter(None, [start.get("folder")]), *(p for p in sys.path if p != start.get("folder"))]
        for name in (start["learner"], _judged(start)):
            with suppress(Exception):
                registry.get("learner", name)  # imported once here, not in every child; the child reports what fails
        child = os.fork()
        if child == 0:
            die_with_parent()
            _learn(pipe, start)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            os._exit(1)  # closes the pipe: the lab sees that the learner died


def _judged(start: dict[str, Any]) -> str:
    """Whose source counts: the learner's, also where another class wraps it and takes its name as `learner`."""
    return str(start["params"].get("learner", start["learner"]))


def _learn(pipe: Any, start: dict[str, Any]) -> None:
    try:
        kind = registry.get("learner", start["learner"])
        seeded = "random_state" in inspect.signature(kind).parameters
        learner = kind(**start["params"], **({"random_state": start["seed"]} if seeded else {}))
        send(pipe, {"source": source(_judged(start))})
        while "end" not in (message := receive(pipe))[0]:
            if message[0].get("work"):
                send(pipe, {"work": getattr(learner, "work_", {})})
                continue
            header, (X, *rest) = message
            if rest:
                learner.partial_fit(X, _widen(X.shape, header["columns"], rest[0]))
                continue
            Y = np.asarray(learner.predict(X), dtype=np.float64)
            columns, part = _narrow(Y) if Y.shape == X.shape else (None, np.empty(0))
            send(pipe, {"columns": columns, "shape": Y.shape}, part)
    except Exception as error:
        with suppress(OSError, EOFError):
            said: tuple[str, str, dict[str, Any]] = ("error", one_line(error), {})
            if isinstance(error, Ended):
                said = (error.status, error.reason, dict(error.detail))
            send(pipe, {"raised": said})
            while "end" not in receive(pipe)[0]:
                pass  # what the lab still writes must not reach the server


if __name__ == "__main__":
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError):
        _serve(Connection(int(sys.argv[1])))
