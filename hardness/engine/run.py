"""Runs tasks on an engine: in this process, in a pool of processes, or on a Dask cluster. The rows are the same."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from queue import SimpleQueue
from typing import Any

from hardness import registry
from hardness.engine.guards import Interrupted as Interrupted
from hardness.engine.guards import signals
from hardness.engine.outcome import Outcome, Trial, outcome_of, run_trial
from hardness.engine.pickled import check_main, pickle_by_value
from hardness.engine.progress import Progress
from hardness.engine.provenance import provenance
from hardness.engine.store import Store
from hardness.engine.task import Task, named_in
from hardness.errors import InputError, missing_extra
from hardness.evaluation.limits import alarm, die_with_parent, single_threaded
from hardness.evaluation.worker import ABANDONED

Ran = tuple[Task, Outcome, Mapping[str, Any]]
GRACE_SECONDS = 10.0  # beyond the guard before a trial that does not end by itself is ended with its worker
AHEAD = 8  # tasks handed to the engine per worker: enough to keep it busy, few enough to keep memory flat
CONNECT = "10s"  # to a Dask scheduler
MACHINE = ("out of memory", "its worker died", "ended with code -9")  # -9: killed, as a system short of memory does
RESTARTS = 5  # of a pool whose workers die before they take a task


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
    progress: Progress | None = None,
) -> int:
    """Run what the store lacks of `tasks`; returns how many trials that was.

    `workers` processes (None: one a CPU; 0: this process), or the Dask cluster at `scheduler`. `guard` is the
    wall-clock limit of a trial in seconds; `seconds` predicts what a task takes, so that long ones start first.
    Raises `Interrupted` on SIGINT or SIGTERM (from the main thread): then every finished trial is stored.
    """
    store.plan(tasks)
    done = store.done()
    missing = sorted((task for task in tasks if task.identity not in done), key=seconds, reverse=True)
    progress = progress or Progress(quiet=True)
    if not missing:
        return 0
    with signals(), single_threaded(workers != 0), progress.of(sum(map(seconds, missing)), len(missing)):
        faults: dict[str, str] = {}  # by identity: what the machine did to a trial, which runs once more
        for task, outcome, note in _engine(missing, trial, root, guard, workers, scheduler):
            if fault := _fault(outcome):
                faults[task.identity] = fault
            else:
                store.add(task, outcome, note)
                progress.advance(seconds(task), outcome.status)
        again = [task for task in missing if task.identity in faults]
        for task, outcome, note in _engine(again, trial, root, guard, workers, scheduler) if again else ():
            store.add(task, outcome, {**note, "retried": f"once: {faults[task.identity]}"})
            progress.advance(seconds(task), outcome.status)
    return len(missing)


def _fault(outcome: Outcome) -> str:
    """What the machine did to a trial, if it was not the trial's own doing: memory, or a worker that was killed."""
    reason = str(outcome.detail.get("reason", ""))
    return reason if outcome.status == "killed" and reason.endswith(MACHINE) else ""


def _engine(
    tasks: Sequence[Task], trial: Trial, root: int, guard: float, workers: int | None, scheduler: str | None
) -> Iterator[Ran]:
    if scheduler is not None:
        return _on_cluster(tasks, trial, root, guard, scheduler)
    workers = (os.cpu_count() or 1) if workers is None else workers
    if workers < 0:
        raise InputError(f"workers must be at least 0, got {workers}")
    if workers:
        check_main()
        return _in_pool(tasks, trial, root, guard, min(workers, len(tasks)))
    return _serially(tasks, trial, root, guard)


def _serially(tasks: Sequence[Task], trial: Trial, root: int, guard: float) -> Iterator[Ran]:
    """One after the other, easy to debug; a trial that kills its process takes the run with it."""
    for task in tasks:
        with alarm(guard + GRACE_SECONDS):
            outcome = run_trial(trial, task, root, guard)
        yield task, outcome, provenance(root)


def _in_pool(tasks: Sequence[Task], trial: Trial, root: int, guard: float, workers: int) -> Iterator[Ran]:
    """In processes that may die or hang without harm to the rest."""
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool

    from pebble import ProcessPool

    waiting = deque(tasks)
    for _ in range(RESTARTS):
        pool: Any = ProcessPool(
            workers, initializer=_begin, initargs=(registry.pickled(),), context=multiprocessing.get_context("spawn")
        )
        finished: SimpleQueue[Any] = SimpleQueue()
        running: dict[Any, Task] = {}
        broken = False
        try:
            while running or (waiting and not broken):
                while waiting and not broken and len(running) < AHEAD * workers:
                    limit = guard + GRACE_SECONDS
                    try:
                        future = pool.schedule(_job, (trial, waiting[0].text, root, guard), timeout=limit)
                    except RuntimeError:
                        broken = True
                        break
                    running[future] = waiting.popleft()
                    future.add_done_callback(finished.put)
                if not running:
                    break
                future = finished.get()
                task = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    broken = True  # a worker died with no trial of its own: start afresh and run these again
                    waiting.appendleft(task)
                elif error is not None:
                    yield task, outcome_of(error, guard), provenance(root)
                else:
                    yield (task, *future.result())
        finally:
            pool.stop()
            pool.join()
        if not broken:
            return
    raise InputError("the worker processes die at once; try --workers 0 to see why")


def _begin(pickles: Mapping[str, str]) -> None:
    """What a worker process does first."""
    die_with_parent()
    registry.provide(pickles)


def _on_cluster(tasks: Sequence[Task], trial: Trial, root: int, guard: float, address: str) -> Iterator[Ran]:
    """On the threads of Dask workers, where the guard ends only a learner that has a process of its own."""
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
        waiting, running, carried = iter(tasks), {}, registry.pickled()

        def submit(task: Task) -> Any:
            future = client.submit(_dask_job, trial, task.text, root, guard, carried, pure=False, retries=0)
            running[future] = task
            return future

        ahead = AHEAD * max(1, sum(client.nthreads().values()))
        finished = dask.as_completed([submit(task) for task in islice(waiting, ahead)])
        try:
            for future in finished:
                task, failure = running.pop(future), future.exception()
                for following in islice(waiting, 1):
                    finished.add(submit(following))
                if failure is None:
                    yield (task, *future.result())
                else:
                    yield task, outcome_of(failure, guard), provenance(root)
        finally:
            client.cancel(list(running))


def _job(
    trial: Trial, text: str, root: int, guard: float, pickles: Mapping[str, str] | None = None
) -> tuple[Outcome, Mapping[str, Any]]:
    registry.provide(pickles or {})
    return run_trial(trial, Task.parse(text), root, guard), provenance(root)


def _dask_job(*job: Any) -> tuple[Outcome, Mapping[str, Any]]:
    """`_job` in a thread of a Dask worker: no client can stop it, but a learner ends with the client that asked."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    ABANDONED.set(lambda: getattr(worker.state.tasks.get(key), "state", "cancelled") == "cancelled")
    return _job(*job)
