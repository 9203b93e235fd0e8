"""What a user waits for before anything is computed, and what a trial of a study costs that does nothing."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from benchmarks.harness import Row
from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task

HARDNESS = [sys.executable, "-m", "hardness"]
COMMANDS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import hardness": [sys.executable, "-c", "import hardness"],
    "hardness --help": [*HARDNESS, "--help"],
    "hardness --version": [*HARDNESS, "--version"],
    "hardness families": [*HARDNESS, "families"],
}
STARTS, TRIALS = 7, 5_000


def rows() -> Iterator[Row]:
    for case, command in COMMANDS.items():
        seconds = np.median([started(command) for _ in range(STARTS)])
        yield Row("Commands", case, "start", float(seconds), rounds=STARTS, load=os.getloadavg()[0])
    yield Row("Engine", "a trial that does nothing", "trial", trial_seconds(), load=os.getloadavg()[0])


def started(command: list[str]) -> float:
    """Return the processor seconds, of user and system, that a command takes."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run(command, check=True, capture_output=True)
    return spent() - before


def nothing(task: Task, root: int, guard: float) -> Outcome:
    """End at once."""
    return Outcome("solved", 1)


def trial_seconds() -> float:
    """Return the processor seconds a trial of a run that stores every one."""
    tasks = [
        Task("parity", {"dim": 16, "heads": 2}, {"kind": "test"}, {"queries": 9}, r) for r in range(TRIALS)
    ]
    with (
        TemporaryDirectory() as folder,
        Store(Path(folder) / "rows.db", {"study": "benchmark", "seed": 0}) as store,
    ):
        begin = process_time()
        run(tasks, store, nothing, workers=0, guard=60.0)
        return (process_time() - begin) / TRIALS
