"""The process that forks the learners of this process: started by exec, in an empty folder, with a bare environment."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from hardness.errors import Ended
from hardness.io.texts import shown

KEPT = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "LD_LIBRARY_PATH", "TMPDIR")  # of the house's own
BARE = ("LD_LIBRARY_PATH",)  # of a stranger's: what the loader needs
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Server:
    """A process that forks the learners of this process: one for the house's own, one for strangers'."""

    _kept: ClassVar[dict[bool, "Server"]] = {}

    def __init__(self, guests: bool) -> None:
        here, there = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM
        )
        environment = {name: os.environ[name] for name in (BARE if guests else KEPT) if name in os.environ}
        environment |= dict.fromkeys(THREADS, "1")
        self.folder = tempfile.TemporaryDirectory(prefix="learner-", ignore_cleanup_errors=True)
        root = str(Path(__file__).parents[2])
        program = f"import sys; sys.path.insert(0, {root!r}); from hardness.apart.child import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", "-c", program, str(there.fileno())],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=self.folder.name,
            start_new_session=True,
        )
        there.close()
        self.control, self.owner = here, os.getpid()

    @classmethod
    def get(cls, guests: bool) -> "Server":
        """The server of this process; a forked copy of it must not talk into its parent's."""
        kept = cls._kept.get(guests)
        if kept is None or kept.owner != os.getpid() or kept.process.poll() is not None:
            cls._kept[guests] = cls(guests)
        return cls._kept[guests]

    def start(self, message: Mapping[str, Any], there: socket.socket) -> None:
        """Have a child forked that talks to the other end of `there`."""
        try:
            socket.send_fds(self.control, [json.dumps(message).encode()], [there.fileno()])
        except OSError as error:
            self.end()
            raise Ended("killed", f"the server of learners has ended ({shown(error)})") from error
        finally:
            there.close()

    def finish(self) -> int | None:
        """Wait for the end of the child, which is killed; its code."""
        try:
            self.control.settimeout(20.0)
            self.control.send(b'"stop"')
            told = json.loads(self.control.recv(1 << 12))
            return int(told["ended"])
        except (OSError, ValueError, LookupError, TypeError):
            self.end()
            return None

    def end(self) -> None:
        """End the server and all that it started."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5.0)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.control.close()
        self.folder.cleanup()


@atexit.register
def _end_all() -> None:
    for server in Server._kept.values():
        if server.owner == os.getpid():
            server.control.close()
