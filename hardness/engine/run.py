"""Runs tasks on an engine: in this process, in a pool of processes, or on a Dask cluster. The rows are the same."""

import multiprocessing
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from io import StringIO
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from hardness import registry
from hardness.engine.outcome import Outcome, Trial, outcome_of, run_trial
from hardness.engine.pickled import pickle_by_value
from hardness.engine.progress import trials
from hardness.engine.store import Store
from hardness.engine.task import Task, named_in
from hardness.errors import InputError, missing_extra
from hardness.evaluation.limits import alarm, die_with_parent, single_threaded, threads_limited
from hardness.io.fields import whole

Ran = tuple[Task, Outcome, Mapping[str, Any]]
GRACE_SECONDS = 10.0  # beyond the guard before a trial that does not end by itself is ended with its worker
AHEAD = 8  # tasks handed to the engine per worker: enough to keep it busy, few enough to keep memory flat
CONNECT = "10s"  # to a Dask scheduler
BROKEN = (
    'the worker processes died: in a script put the call under `if __name__ == "__main__":`, since they import it; '
    "workers=0 shows other causes"
)


def run(
    tasks: Sequence[Task],
    store: Store,
    trial: Trial,
    *,
    root: int = 0,
    guard: float = 120.0,
    workers: int | None = None,
    scheduler: str | None = None,
    seconds: Callable[[Task], float] = lambda task: 1.0,
    shown: bool = False,
    part: str = "",
) -> int:
    """Run `trial` on those of `tasks` whose outcome is not yet in the store; return the number of tasks run.

    They run on `workers` processes (None: one per CPU; 0: this process), or on the Dask cluster at `scheduler`. `root`
    is the root seed and `guard` the wall-clock limit of a trial in seconds; `seconds` predicts the duration of a task,
    so that long ones start first. `shown` reports progress on stderr, and `part` names these tasks in it. After an
    interruption every finished trial is stored, and the same call runs the rest.
    """
    store.plan(tasks)
    done = store.done()
    # Longest first: a long trial that starts last would leave all other workers idle. Rows do not depend on it.
    missing = sorted((task for task in tasks if task.identity not in done), key=seconds, reverse=True)
    if not missing:
        return 0
    workers = (os.cpu_count() or 1) if workers is None else workers
    whole("workers", workers, 0)
    with (
        single_threaded() if workers else threads_limited(1),
        trials(len(missing), part, None if shown else StringIO()) as advance,
    ):
        if scheduler is not None:
            ended = _on_cluster(missing, trial, root, guard, scheduler)
        elif workers:
            ended = _in_pool(missing, trial, root, guard, min(workers, len(missing)))
        else:
            ended = _serially(missing, trial, root, guard)
        for task, outcome, note in ended:
            store.add(task, outcome, note)
            advance(outcome.status)
    return len(missing)


def _serially(tasks: Sequence[Task], trial: Trial, root: int, guard: float) -> Iterator[Ran]:
    """Run tasks in this process and yield (task, outcome, provenance); a trial that kills it ends the whole run."""
    for task in tasks:
        with alarm(guard + GRACE_SECONDS):
            outcome = run_trial(trial, task, root, guard)
        yield task, outcome, provenance(root)


def _in_pool(tasks: Sequence[Task], trial: Trial, root: int, guard: float, workers: int) -> Iterator[Ran]:
    """Run tasks in processes and yield (task, outcome, provenance); one that dies or hangs ends its own trial only."""
    from pebble import ProcessPool

    # A fork would inherit locks of threads and the state of libraries; a spawned process begins as on a cluster.
    context = multiprocessing.get_context("spawn")
    pool: Any = ProcessPool(workers, initializer=die_with_parent, context=context)
    finished: SimpleQueue[Any] = SimpleQueue()
    waiting, running = iter(tasks), dict[Any, Task]()
    job = partial(_job, trial, root, guard, registry.pickled())
    try:
        while True:
            for task in islice(waiting, AHEAD * workers - len(running)):
                future = pool.schedule(job, (task.text,), timeout=guard + GRACE_SECONDS)
                running[future] = task
                future.add_done_callback(finished.put)
            if not running:
                return
            future = finished.get()
            if isinstance(future.exception(), BrokenExecutor):
                raise future.exception()
            yield _ended(running.pop(future), future, root, guard)
    # A worker died with no trial of its own: one that imports an unguarded script, say.
    except RuntimeError as error:
        raise InputError(BROKEN) from error
    finally:
        pool.stop()
        pool.join()


def _ended(task: Task, future: Any, root: int, guard: float) -> Ran:
    """Return task, outcome and provenance of a finished future of a worker, also if the trial killed its process."""
    if (failure := future.exception()) is None:
        return (task, *future.result())
    return task, outcome_of(failure, guard), provenance(root)


def _on_cluster(tasks: Sequence[Task], trial: Trial, root: int, guard: float, address: str) -> Iterator[Ran]:
    """Run tasks on Dask workers; yield (task, outcome, provenance). `guard` ends only learners in their own process."""
    try:
        import distributed
    except ImportError as error:
        raise missing_extra("dask[distributed]", "cluster", "--scheduler") from error
    dask: Any = distributed
    try:
        client = dask.Client(address, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler at {address}: {error}") from error
    with client:
        for kind, name in {named for task in tasks for named in named_in(task)}:
            pickle_by_value(kind, name)
        job = partial(_job, trial, root, guard, registry.pickled())
        futures = client.map(job, [task.text for task in tasks], pure=False, retries=0)
        running = dict(zip(futures, tasks, strict=True))
        try:
            for future in dask.as_completed(futures):
                yield _ended(running.pop(future), future, root, guard)
        finally:
            client.cancel(list(running))


def _job(
    trial: Trial, root: int, guard: float, pickles: Mapping[str, str], text: str
) -> tuple[Outcome, Mapping[str, Any]]:
    """Return outcome and provenance of the task in JSON `text`; `pickles` has, by name, what no worker can import."""
    registry.provide(pickles)
    return run_trial(trial, Task.parse(text), root, guard), provenance(root)


@cache
def provenance(root: int) -> Mapping[str, Any]:
    """Return what is stored with every row: versions, commit, processor and root seed, by name."""
    import numpy as np

    return {
        "package": version("attention-hardness"),
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpu": cpu(),
        "seed": str(root),  # text: it may have 128 bits
    }


def _commit() -> str | None:
    """Return the commit of the source tree of this package, with + if files were changed; None outside of a tree."""
    tree = Path(__file__).parents[2]
    if not (tree / ".git").exists():
        return None

    words = ["git", "-C", str(tree), "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+"]
    with suppress(OSError):
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() or None
    return None


def cpu() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return model[1].strip() if model else platform.processor() or "unknown"
