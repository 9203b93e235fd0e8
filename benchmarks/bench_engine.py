"""What a trial costs that does nothing: its processor time in the engine, its bytes in the store, and by how much the
memory of a long run grows. One run each. The goals of 1 ms and 600 bytes are set for trials that do nothing: a learner
that crashes, which runs apart in a process that must be started anew, costs that start, and its row the reason.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.harness import Row
from hardness.engine.outcome import Outcome, Trial
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task

TOPIC = "12 Engine of studies"
TRIALS, CRASHES = 20_000, 100
LEARNER = {"kind": "learner", "learner": "benchmarks.bench_engine:Leaves", "params": {}}
TIME, BYTES, GROWTH = 1e-3, 600, 4 << 20  # goals: seconds and bytes a trial, bytes that the process grows by


class Leaves:
    """A learner that ends its process."""

    def partial_fit(self, X: object, Y: object) -> None:
        os._exit(3)

    def predict(self, X: object) -> None: ...


def nothing(task: Task, root: int, guard: float) -> Outcome:
    """A trial that ends at once."""
    return Outcome("solved", 1)


class Watched(Store):
    """A store that notes what this process holds in memory, by how many trials are stored."""

    def add(self, task: Task, outcome: Outcome, provenance: Mapping[str, Any]) -> None:
        super().add(task, outcome, provenance)
        self.held = getattr(self, "held", [])
        self.held.append(resident())


def resident() -> int:
    """Bytes of memory that this process holds (Linux; elsewhere 0)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def rows() -> Iterator[Row]:
    from hardness.studies.trials import online as trial

    tiny = [
        Task("parity", {"dim": 16, "heads": 2}, {"kind": "test"}, {"queries": 9}, r) for r in range(TRIALS)
    ]
    yield _row("trials that do nothing", tiny, nothing)
    crash = [Task("parity", {"dim": 16, "heads": 2}, LEARNER, {"samples": 400}, r) for r in range(CRASHES)]
    yield _row("learners that crash, apart", crash, trial)


def _row(case: str, tasks: list[Task], trial: Trial) -> Row:
    for task in tasks:
        len(task.identity + task.text)  # both are kept: no growth of the run
    with TemporaryDirectory() as folder:
        with Watched(Path(folder) / "rows.db", {"study": "benchmark", "seed": 0}) as store:
            begin = process_time()
            run(tasks, store, trial, workers=0, guard=60.0)
            seconds, held = (process_time() - begin) / len(tasks), store.held
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / len(tasks)
    grown = held[-1] - held[len(held) // 4 - 1]
    note = f"{len(tasks):,} trials; {size:.0f} bytes of store each; {grown / 1e6:+.1f} MB from a quarter of them on"
    goals = {f"memory grows by <= {GROWTH >> 20} MiB": grown <= GROWTH}
    if case == "trials that do nothing":
        goals |= {f"<= {TIME * 1e3:g} ms": seconds <= TIME, f"<= {BYTES} bytes": size <= BYTES}
    return Row(TOPIC, case, 1, "trial", seconds, note=note).judged(goals, miss=note)
