"""Learners that cheat, each in its own way. What one finds goes out as a prediction: 0 if it has won nothing."""

import contextlib
import gc
import json
import os
import signal
import socket
import sqlite3
import sys
import time
from pathlib import Path

import numpy as np


class Cheat:
    """Predicts the number of things that it should not have found, everywhere."""

    def __init__(self, target: str = "", random_state: int = 0) -> None:
        self.target, self.seen, self.found = target, [], None

    def partial_fit(self, X, Y):
        self.seen.append((X, Y))
        return self

    def won(self, X) -> float:
        raise NotImplementedError

    def predict(self, X):
        if self.found is None:
            self.found = float(self.won(X))
        return np.full(X.shape, self.found)


class Regenerates(Cheat):
    """Makes the instance of a public grid again, from root seeds that anybody would try."""

    def won(self, X):
        from hardness.engine.task import Task
        from hardness.families.parity import Parity
        from hardness.instance import Instance

        solver = {"kind": "learner", "learner": "cheats:Regenerates", "params": {}}
        task = Task("parity", {"dim": 30, "heads": 6}, solver, {"samples": 64}, 0)
        X0, Y0 = self.seen[0]
        for root in range(20):
            for asked in (task, task.shared()):
                instance = Instance.generate(Parity(30, 6), asked.seed(root, "instance"))
                if (instance.teacher(X0) == Y0).all():
                    return 1.0
        return 0.0


class WalksFrames(Cheat):
    """Looks for an instance in the frames above it and in all that the collector knows."""

    def won(self, X):
        frame, found = sys._getframe(), 0
        while frame is not None:
            found += sum(type(v).__name__ in ("Instance", "Gadget", "Parity") for v in list(frame.f_locals.values()))
            frame = frame.f_back
        return found + sum(type(each).__name__ in ("Instance", "Gadget", "Parity") for each in gc.get_objects())


class ReadsProc(Cheat):
    """Reads environment, memory and descriptors of every other process."""

    def won(self, X):
        found = 0
        for entry in Path("/proc").glob("[0-9]*") if os.access("/proc", os.R_OK) else map(Path, _parents()):
            if entry.name != str(os.getpid()):
                for name in ("environ", "mem", "maps", "cmdline", "fd/3"):
                    try:
                        (entry / name).open("rb").read(1)
                        found += 1
                    except OSError:
                        continue
        return found


def _parents():
    return [f"/proc/{pid}" for pid in (os.getppid(), 1)]


class ReadsEnvironment(Cheat):
    """Looks for what the lab's shell holds."""

    def won(self, X):
        text = json.dumps(dict(os.environ)) + Path("/proc/self/environ").read_bytes().decode(errors="replace")
        return float("SECRET" in text or "HOME=/root" in text or "rows.db" in text)


class ReadsDescriptors(Cheat):
    """Whatever is open but its own end of the line and nothing."""

    def won(self, X):
        links = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        return float(sum(not each.startswith(("socket:", "/dev/null", "/proc/")) for each in links)
                     + (sum(each.startswith("socket:") for each in links) > 1))  # fmt: skip


class OpensStore(Cheat):
    """Has been told where the store lies, reads it, and writes a row."""

    def won(self, X):
        found = 0
        with contextlib.suppress(OSError):
            found += bool(Path(self.target).read_bytes())
        try:
            with sqlite3.connect(self.target) as db:
                db.execute("UPDATE trials SET status = 'solved'")
            found += 1
        except sqlite3.Error:
            pass
        return found


class PlantsEntryPoint(Cheat):
    """Leaves a module where Python and the lab would import it later."""

    def won(self, X):
        found = 0
        for folder in {*filter(None, sys.path), str(Path(__file__).parent), sys.prefix}:
            try:
                (Path(folder) / "planted.pth").write_text("import os")
                (Path(folder) / "planted.pth").unlink()
                found += 1
            except OSError:
                continue
        return found


class PatchesLab(Cheat):
    """Changes the judge, the wire and the cheat's neighbours in its process; the next trial must not notice."""

    def won(self, X):
        import hardness.apart.actors as actors
        import hardness.evaluation.judge as judging

        judging.solved = judging.judge = lambda *_, **__: True
        actors.Learner.predict = lambda self, X: np.full(X.shape, 7.0)
        return 0.0


class Counts(Cheat):
    """Predicts by the place of a row among those that it is asked about."""

    def predict(self, X):
        return np.broadcast_to(np.arange(len(X), dtype=float)[:, None, None], X.shape).copy()


class KnowsTheNumber(Cheat):
    """Predicts by how many rows it is asked about."""

    def predict(self, X):
        return np.full(X.shape, float(len(X)))


class AnswersLater(Cheat):
    """Leaves a process that answers in the next trial."""

    def won(self, X):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            for _ in range(200):
                time.sleep(0.05)
                for handle in range(3, 20):
                    try:
                        os.write(handle, b"\x10\0\0\0\0\0\0\0" + b"7" * 4096)
                    except OSError:
                        continue
        return 0.0


class KillsLab(Cheat):
    """Ends the server, the lab and whatever else it can name."""

    def won(self, X):
        found = 0
        for pid in (os.getppid(), int(self.target or 0)):
            try:
                os.kill(pid, 0 if pid else signal.SIGTERM) if pid else None
                found += bool(pid)
            except OSError:
                continue
        return found


class Dials(Cheat):
    """Sends what it knows to the network."""

    def won(self, X):
        try:
            socket.create_connection(("127.0.0.1", int(self.target)), timeout=2).close()
            return 1.0
        except OSError:
            return 0.0


class Huge(Cheat):
    """Says that its answer has a thousand million entries."""

    def predict(self, X):
        return np.zeros((1000, 1000, 1000), dtype=np.int8)


class Garbage(Cheat):
    """Writes into its pipe, whichever that is, and closes its streams."""

    def predict(self, X):
        for handle in range(20):
            try:
                os.write(handle, b"\xff" * 64)
            except OSError:
                continue
        os.closerange(0, 20)
        return np.zeros(X.shape)


class Leaves(Cheat):
    """Ends its process with success."""

    def predict(self, X):
        os._exit(0)


class Eats(Cheat):
    """Takes all memory there is."""

    def predict(self, X):
        return np.ones((1 << 34,), dtype=np.int8)[: X.size].reshape(X.shape).astype(float)


class Shouts(Cheat):
    """Ends with a reason that is markup, control characters, a formula and megabytes."""

    def predict(self, X):
        raise ValueError("=cmd|'/C calc'!A0<script>alert(1)</script>\x1b[2J\u202e\ud800" + "x" * 5_000_000)


class ClaimsVictory(Cheat):
    """Says that it has solved it, in every way it can."""

    def predict(self, X):
        from hardness.errors import Ended

        raise Ended("solved", "I have won")


def lies(X, Y, public, *, budget=None, seed=0, progress=None):
    """An attack that says it has won, with the secret that `public` tells or a made-up one."""
    from hardness.attacks import Outcome

    secret = {"support": public.get("told", [1, 2, 3, 4, 5, 6])}
    return Outcome("solved", secret, 10**9, -1.0, {"=1+1": "\x1b[2J" + "x" * 10**6, "instance": _held(10)})


def _held(depth):
    return [_held(depth - 1)] if depth else []


def shouts(X, Y, public, *, budget=None, seed=0, progress=None):
    """An attack that raises."""
    raise ValueError("no")
