"""Learners of a user's own, well-behaved and not, as a worker process meets them."""

import ctypes
import os
import subprocess
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np


class Mean:
    """Predicts the mean of the labels; prints; reads a file beside its module; uses a child process."""

    def fit(self, X: Any, Y: Any) -> "Mean":
        print("fitting", len(X), flush=True)
        assert Path(__file__).read_text().startswith('"""Learners')
        with get_context("fork").Pool(1) as pool:  # as a DataLoader with one worker does
            self.mean = pool.apply(np.mean, (Y, 0))
        return self

    def predict(self, X: Any) -> Any:
        return np.broadcast_to(self.mean, X.shape).copy()


class NotFinite(Mean):
    def predict(self, X: Any) -> Any:
        return np.full(X.shape, np.nan)


class Sleeps(Mean):
    """Starts a child, whose number it writes down beside its module, and never ends."""

    def fit(self, X: Any, Y: Any) -> "Sleeps":
        child = subprocess.Popen(["sleep", "987.654"])
        Path(__file__).with_name("child").write_text(str(child.pid))
        ctypes.PyDLL(None).sleep(3600)  # holds the interpreter
        return self


class Nan(Mean):
    """Says of its own work what is no figure."""

    work_ = {"loss": float("nan"), "huge": 10**400}  # noqa: RUF012


class Exits(Mean):
    def fit(self, X: Any, Y: Any) -> "Exits":
        os._exit(3)


class Hungry(Mean):
    def fit(self, X: Any, Y: Any) -> "Hungry":
        kept = []
        while True:
            kept.append(np.ones(1 << 22))
            time.sleep(0.01)


class Raises(Mean):
    def fit(self, X: Any, Y: Any) -> "Raises":
        raise RuntimeError("I give up\nwith a second line")


class Shapeless(Mean):
    def predict(self, X: Any) -> Any:
        return np.zeros((len(X), 3))


class Batchwise(Mean):
    """Normalizes by the batch that it is asked about."""

    def predict(self, X: Any) -> Any:
        return X - X.mean(axis=0) + 0.0


class Tunable:
    """Predicts its level everywhere; one of its options is annotated."""

    def __init__(self, level: float = 0.0, anything: Any = None):
        self.level, self.anything = level, anything

    def fit(self, X: Any, Y: Any) -> "Tunable":
        return self

    def predict(self, X: Any) -> Any:
        return np.full(X.shape, self.level)


class Slow(Tunable):
    """Spends this many seconds of the CPU on a fit."""

    def __init__(self, seconds: float = 0.1):
        super().__init__()
        self.seconds = seconds

    def fit(self, X: Any, Y: Any) -> "Slow":
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            pass
        return self


class Costly(Tunable):
    """Counts a thousand multiply-adds an example."""

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        return 1000.0 * examples


class Online(Costly):
    def partial_fit(self, X: Any, Y: Any) -> "Online":
        return self


class Late(Tunable):
    """Refuses fewer than 1000 examples, then learns."""

    def fit(self, X: Any, Y: Any) -> "Late":
        from hardness.errors import InputError

        if len(X) < 1000:
            raise InputError("too few")
        from learner.networks import OnlineMLP  # here, since every process of a learner imports this module

        self.inner = OnlineMLP().fit(X, Y)
        return self

    def predict(self, X: Any) -> Any:
        return self.inner.predict(X)


class Tires(Tunable):
    def fit(self, X: Any, Y: Any) -> "Tires":
        if len(X) > 300:
            raise RuntimeError("no luck")
        return self
