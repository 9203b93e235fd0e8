"""Trials and learners for the tests of the engine, well-behaved or not (crash, hang, lie, spy); who is still alive."""

import ctypes
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task

Tokens = NDArray[np.int8]
Outputs = NDArray[np.float64]


def numbered(count: int, solver: dict[str, object] | None = None) -> list[Task]:
    """`count` tasks that differ in their repetition."""
    params, solver = {"dim": 16, "heads": 2}, solver or {"kind": "test"}
    return [Task("parity", params, solver, {"queries": 9}, r) for r in range(count)]


def trivial(task: Task, root: int, guard: float) -> Outcome:
    """Ends at once; its cost follows from the task's seed."""
    return Outcome("solved", task.seed(root, "solver") % 1000)


def brief(task: Task, root: int, guard: float) -> Outcome:
    """Takes 20 ms."""
    time.sleep(0.02)
    return trivial(task, root, guard)


def troubled(task: Task, root: int, guard: float) -> Outcome:
    """Every fifth trial dies, hangs, raises or runs out of memory."""
    match task.repetition % 10:
        case 1:
            os._exit(3)
        case 3:
            time.sleep(3600)
        case 5:
            raise RuntimeError("no luck")
        case 7:
            raise MemoryError
    return trivial(task, root, guard)


def frozen(task: Task, root: int, guard: float) -> Outcome:
    """The second trial hangs in C and holds the interpreter: no thread and no handler of its process runs."""
    if task.repetition == 1:
        ctypes.PyDLL(None).sleep(3600)
    return trivial(task, root, guard)


class Quiet:
    """Predicts zeros."""

    def partial_fit(self, X: Tokens, Y: Outputs) -> object:
        return self

    def predict(self, X: Tokens) -> Outputs:
        return np.zeros(X.shape)


class Raises(Quiet):
    def partial_fit(self, X: Tokens, Y: Outputs) -> object:
        raise RuntimeError("I give up\nwith a second line")


class Sleeps(Quiet):
    def predict(self, X: Tokens) -> Outputs:
        time.sleep(3600)
        return np.zeros(X.shape)


class Exits(Quiet):
    def partial_fit(self, X: Tokens, Y: Outputs) -> object:
        os._exit(3)


class NotANumber(Quiet):
    def predict(self, X: Tokens) -> Outputs:
        return np.full(X.shape, np.nan)


class WrongShape(Quiet):
    def predict(self, X: Tokens) -> Outputs:
        return np.zeros(len(X))


class NeedsMore(Quiet):
    def __init__(self, missing: int) -> None:
        pass


def threads(task: Task, root: int, guard: float) -> Outcome:
    """Its cost is the number of threads BLAS was told to use."""
    return Outcome("solved", float(os.environ["OPENBLAS_NUM_THREADS"]))


def learns(task: Task, root: int, guard: float) -> Outcome:
    """Starts a learner in its own process, which hangs from the sixth trial on."""
    from hardness.studies.trials import trial

    name = "Quiet" if task.repetition < 8 else "Sleeps"
    solver = {"kind": "learner", "learner": f"study_trials:{name}", "params": {}}
    return trial(Task("parity", {"dim": 16, "heads": 2}, solver, {"samples": 400}, task.repetition), root, guard)


def exits(task: Task, root: int, guard: float) -> Outcome:
    """A learner in its own process that dies in every trial."""
    from hardness.studies.trials import trial

    solver = {"kind": "learner", "learner": "study_trials:Exits", "params": {}}
    return trial(Task("parity", {"dim": 16, "heads": 2}, solver, {"samples": 400}, task.repetition), root, guard)


def descendants(pid: int) -> set[int]:
    """Process ids of the children of `pid`, and of theirs."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, new = set(), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def alive(pids: set[int]) -> set[int]:
    def state(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return "X"

    return {pid for pid in pids if state(pid) not in "XZ"}
