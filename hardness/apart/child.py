"""The other side: a server that forks a child a trial, and the child that does what the lab asks."""

import ctypes
import hashlib
import importlib.machinery
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.apart import actors, fence
from hardness.apart.wire import receive, send
from hardness.errors import Ended, one_line

OWN = ("HOME", "TMPDIR", "NUMBA_CACHE_DIR", "MPLCONFIGDIR")  # variables that name the child's own folder
REAPED = 5.0  # seconds to end what a child left behind


def die_with_parent(signum: int = signal.SIGKILL) -> None:
    """Ask the kernel to signal this process when its parent ends, however that ends (Linux; elsewhere nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signum)  # 1 = PR_SET_PDEATHSIG


def source(learner: str, kind: str = "learner") -> str | None:
    """Digest of the file that defines a learner, found without running it or the packages that it lies in.

    >>> len(source("hardness.engine.apart:Constant"))
    16
    """
    path, spec = None, None
    try:
        parts = registry.module_of(kind, learner).split(".")
        for i in range(len(parts)):
            spec = importlib.machinery.PathFinder.find_spec(".".join(parts[: i + 1]), path)
            path = list(spec.submodule_search_locations or []) if spec else []
        return hashlib.sha256(Path(str(spec and spec.origin)).read_bytes()).hexdigest()[:16]
    except (ImportError, OSError, ValueError):
        return None


def main() -> None:
    """Serve the lab at the other end of the socket that the first argument names, until it hangs up."""
    die_with_parent(signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what children leave behind comes here
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGTERM, _leave)
    with suppress(OSError):
        while True:
            message, handles, _, _ = socket.recv_fds(control, 1 << 16, 1)
            if not message:
                break
            if handles:
                _trial(control, json.loads(message), handles[0])
    _reap()


def _leave(*_: object) -> None:
    _reap()
    os._exit(1)


def _trial(control: socket.socket, start: dict[str, Any], handle: int) -> None:
    """One child, from its fork to the end of all that it started; the lab hears how it ended."""
    sys.path[:] = start["paths"]
    for name in start["preload"]:
        with suppress(Exception):
            for module in getattr(registry.get("learner", name), "loads", ()):
                import_module(module)  # of the house: loaded once here, not in every child
    folder = Path(tempfile.mkdtemp(dir="."))
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        die_with_parent()
        with suppress(OSError):
            os.setsid()
        control.close()
        with suppress(Exception):
            _work(socket.socket(fileno=handle), folder.absolute(), start)
        os._exit(0)
    os.close(handle)
    code = _wait(child, control)
    _reap()
    shutil.rmtree(folder, ignore_errors=True)
    control.send(json.dumps({"ended": code}).encode())


def _wait(child: int, control: socket.socket) -> int:
    """The exit code of the child, which is killed as soon as the lab says so or is gone."""
    try:
        watched = [control.fileno(), os.pidfd_open(child)]
    except (AttributeError, OSError):  # not Linux, or an old one
        watched = [control.fileno()]
    try:
        while True:
            ready = select.select(watched, [], [], None if len(watched) > 1 else 0.05)[0]
            if control.fileno() in ready:
                control.recv(1 << 16)  # stop, or nothing: the lab is gone
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
    finally:
        for handle in watched[1:]:
            os.close(handle)


def _reap() -> None:
    """End all that still runs below this process."""
    deadline = time.monotonic() + REAPED
    while time.monotonic() < deadline:
        for pid in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _children() -> list[int]:
    own, found = str(os.getpid()), []
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdecimal() and (entry / "stat").read_text().rpartition(")")[2].split()[1] == own:
                    found.append(int(entry.name))
    return found


def _work(pipe: socket.socket, folder: Path, start: dict[str, Any]) -> None:
    """Do what the lab asks, in a fenced process if the code is a stranger's; what is raised is told."""
    if start["guest"]:
        os.environ.update(dict.fromkeys(OWN, str(folder)))
        fence.limits(start["seconds"])
        fence.close(folder, start["paths"], start["guest"])
    os.chdir(folder)
    try:
        asked = receive(pipe)[0]
        task, arguments = asked["task"], asked["arguments"]
        if task == "learner":
            _learn(pipe, arguments)
        else:
            _, arrays = receive(pipe)
            answer = getattr(actors, task)(arguments.pop("name"), *arrays, **arguments)
            send(pipe, {"answer": actors.plain(answer)})
    except Exception as error:
        with suppress(OSError, ValueError):
            said = (error.status, error.reason) if isinstance(error, Ended) else ("error", one_line(error))
            own = actors.plain(dict(error.detail)) if isinstance(error, Ended) else {}
            send(pipe, {"raised": [str(word)[:1000] for word in said], "kind": type(error).__name__, "detail": own})
        with suppress(OSError, EOFError, ValueError):
            while True:
                receive(pipe)  # what the lab still writes, so that it hears what was said


def _learn(pipe: socket.socket, arguments: dict[str, Any]) -> None:
    judged = str(arguments["params"].get("learner", arguments["learner"]))  # where another class wraps it
    learner = actors.Learner(**arguments)
    send(pipe, {"source": source(judged), "streamed": learner.streamed})
    while True:
        try:
            header, arrays = receive(pipe)
        except EOFError:
            return
        if header["do"] == "learn":
            learner.partial_fit(arrays[0], widen(arrays[0].shape, header["columns"], arrays[1]))
        elif header["do"] == "predict":
            Y = learner.predict(arrays[0])
            columns, part = narrow(Y) if Y.shape == arrays[0].shape else (None, np.empty(0))
            send(pipe, {"columns": columns, "shape": Y.shape}, part)
        elif header["do"] == "work":
            send(pipe, {"work": actors.plain(getattr(learner.learner, "work_", {}))})
        else:
            send(pipe, {"report": learner.report()})


def narrow(Y: Any) -> tuple[list[int], Any]:
    """The columns of outputs (n, k, d) that are not all zero, and what they hold: structured families use one."""
    columns = np.flatnonzero((Y != 0).any(axis=(0, 1))).tolist()
    return columns, np.ascontiguousarray(Y[:, :, columns], dtype="<f8")


def widen(shape: tuple[int, ...], columns: list[int], part: Any) -> NDArray[np.float64]:
    """The inverse of `narrow`."""
    Y: NDArray[np.float64] = np.zeros(shape)
    Y[:, :, columns] = part
    return Y
