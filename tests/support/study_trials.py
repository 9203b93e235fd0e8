"""Trials for the tests of the engine, well-behaved or not; studies of them in processes."""

import ctypes
import os
import sys
import time
from pathlib import Path

from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import InputError

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)])}
COMMAND = [sys.executable, "-c", "import study_trials; study_trials.main()"]
ABOUT = {"study": "test", "seed": 0}


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


def stalls(task: Task, root: int, guard: float) -> Outcome:
    """Takes 20 ms, and from the twentieth trial on an hour: whoever runs it is always in the middle."""
    if task.repetition >= 20:
        time.sleep(3600)
    return brief(task, root, guard)


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


def threads(task: Task, root: int, guard: float) -> Outcome:
    """Its cost is the number of threads BLAS was told to use."""
    return Outcome("solved", float(os.environ["OPENBLAS_NUM_THREADS"]))


def imports(task: Task, root: int, guard: float) -> Outcome:
    """Says which modules its process has."""
    return Outcome("solved", 0, {"modules": sorted(sys.modules)})


def learns(task: Task, root: int, guard: float) -> Outcome:
    """Starts a learner in its own process, which hangs from the ninth trial on."""
    from hardness.studies.trials import online as trial

    name = "Tunable" if task.repetition < 8 else "Sleeps"
    return trial(learning(f"trial_learners:{name}", task.repetition), root, guard)


def learning(name: str, repetition: int = 0) -> Task:
    """A task of a learner, by its name."""
    solver = {"kind": "learner", "learner": name, "params": {}}
    return Task("parity", {"dim": 16, "heads": 2}, solver, {"samples": 400}, repetition)


def exported(path: Path, count: int = 0) -> bytes:
    """The rows of a store without times; of `count` undisturbed trials run first."""
    from hardness.engine.frames import export  # workers import this module, and no data frames

    with Store(path, ABOUT) as store:
        run(numbered(count), store, trivial, workers=0)
        export([*store.rows()], path.with_suffix(".csv"), timing=False)
    return path.with_suffix(".csv").read_bytes()


def main():
    """A study in a process of its own, by COMMAND: says `ready` past its imports, and how its trials ended."""
    path, count, workers, trial = sys.argv[1:]
    try:
        with Store(Path(path), ABOUT) as store:
            print("ready", flush=True)
            run(numbered(int(count)), store, globals()[trial], workers=int(workers), guard=60.0)
            print(store.table().counts())
    except KeyboardInterrupt:
        sys.exit(130)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
