"""Runs tasks on an engine: in this process, in a pool of processes, or on a Dask cluster. The rows are the same."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

from hardness.apart.lab import stranger
from hardness.engine.apart import THREADS, die_with_parent
from hardness.engine.guards import Interrupted as Interrupted
from hardness.engine.guards import alarm, signals, single_threaded
from hardness.engine.outcome import Outcome, Trial, ended, settle
from hardness.engine.pickled import check_main
from hardness.engine.progress import Progress
from hardness.engine.provenance import provenance
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import InputError, missing_extra

Settled = tuple[Task, Outcome, Mapping[str, Any]]
GRACE = 10.0  # seconds beyond the guard before a trial that does not end by itself is ended with its worker
AHEAD = 8  # tasks handed to the engine per worker: enough to keep it busy, few enough to keep memory flat
CONNECT = "10s"  # to a Dask scheduler
FAULTS = ("out of memory", "its worker died", "ended with code -9")  # -9: killed, as a system short of memory does
GUESSED = 2**64  # root seeds below are tried by a stranger who wants the instance
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
        for seed, part in _rooted(missing, store, root):
            faults: dict[str, str] = {}  # by identity: what the machine did to a trial, which runs once more
            for task, outcome, provenance in _engine(part, trial, seed, guard, workers, scheduler):
                if fault := _fault(outcome):
                    faults[task.identity] = fault
                else:
                    store.add(task, outcome, provenance)
                    progress.advance(seconds(task), outcome.status)
            again = [task for task in part if task.identity in faults]
            for task, outcome, provenance in _engine(again, trial, seed, guard, workers, scheduler) if again else ():
                store.add(task, outcome, {**provenance, "retried": f"once: {faults[task.identity]}"})
                progress.advance(seconds(task), outcome.status)
    return len(missing)


def _fault(outcome: Outcome) -> str:
    """What the machine did to a trial, if it was not the trial's own doing: memory, or a worker that was killed."""
    reason = str(outcome.detail.get("reason", ""))
    return reason if outcome.status == "killed" and reason.endswith(FAULTS) else ""


def _rooted(tasks: Sequence[Task], store: Store, root: int) -> Iterator[tuple[int, list[Task]]]:
    """The tasks with their root seed: strangers, who know the grid, could guess `root` unless it has 64 bits."""
    guests = [task for task in tasks if foreign(task)] if root < GUESSED else []
    known = {id(task) for task in guests}
    yield root, [task for task in tasks if id(task) not in known]
    if guests:
        yield store.guest_seed(), guests


def foreign(task: Task) -> bool:
    """Whether a stranger's learner or attack solves a task.

    >>> foreign(Task("parity", {}, {"kind": "fit", "learner": "mine:Net"}, {}, 0))
    True
    """
    return any(stranger(kind, str(task.solver[kind])) for kind in ("learner", "attack") if task.solver.get(kind))


def _engine(
    tasks: Sequence[Task], trial: Trial, root: int, guard: float, workers: int | None, scheduler: str | None
) -> Iterator[Settled]:
    if scheduler is not None:
        return _cluster(tasks, trial, root, guard, scheduler)
    workers = (os.cpu_count() or 1) if workers is None else workers
    if workers:
        check_main()
    if workers < 0:
        raise InputError(f"workers must be at least 0, got {workers}")
    return _pool(tasks, trial, root, guard, min(workers, len(tasks))) if workers else _here(tasks, trial, root, guard)


def _here(tasks: Sequence[Task], trial: Trial, root: int, guard: float) -> Iterator[Settled]:
    """One after the other, easy to debug; a trial that kills its process takes the run with it."""
    for task in tasks:
        with alarm(guard + GRACE):
            outcome = settle(trial, task, root, guard)
        yield task, outcome, provenance(root)


def _pool(tasks: Sequence[Task], trial: Trial, root: int, guard: float, workers: int) -> Iterator[Settled]:
    """In processes that may die or hang without harm to the rest."""
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool

    from pebble import ProcessPool

    _steady()
    waiting = deque(tasks)
    for _ in range(RESTARTS):
        pool: Any = ProcessPool(workers, initializer=die_with_parent, context=multiprocessing.get_context("spawn"))
        finished: SimpleQueue[Any] = SimpleQueue()
        running: dict[Any, Task] = {}
        broken = False
        try:
            while running or (waiting and not broken):
                while waiting and not broken and len(running) < AHEAD * workers:
                    try:
                        future = pool.schedule(_job, (trial, waiting[0].text, root, guard), timeout=guard + GRACE)
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
                    yield task, ended(error, guard), provenance(root)
                else:
                    yield (task, *future.result())
        finally:
            pool.stop()
            pool.join()
        if not broken:
            return
    raise InputError("the worker processes die at once; try --workers 0 to see why")


def _steady() -> None:
    """Have pebble time its tasks by a clock that nobody sets: a jump of the one on the wall would end them."""
    from pebble.pool import process

    vars(process)["time"] = SimpleNamespace(**{**vars(time), "time": time.monotonic})


def _cluster(tasks: Sequence[Task], trial: Trial, root: int, guard: float, address: str) -> Iterator[Settled]:
    """On the workers of a Dask cluster. There the guard is the trial's own: a learner's ends it, a game has none."""
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
        waiting, running = iter(tasks), {}

        def submit(task: Task) -> Any:
            future = client.submit(_guarded, trial, task.text, root, guard, guard + GRACE, pure=False, retries=0)
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
                    yield task, ended(failure, guard), provenance(root)
        finally:
            client.cancel(list(running))
            client.run(_release)


_POOLS: dict[int, Any] = {}  # on a Dask worker: one process for each of its threads


def _guarded(trial: Trial, text: str, root: int, guard: float, limit: float) -> tuple[Outcome, Mapping[str, Any]]:
    """`_job` in a process that this thread of a Dask worker keeps; ended with it if it takes more than `limit` s."""
    import multiprocessing

    from pebble import ProcessPool

    _steady()
    thread = threading.get_ident()
    if thread not in _POOLS or not _POOLS[thread].active:
        os.environ.update(dict.fromkeys(THREADS, "1"))
        # Dask's workers are daemons, to which multiprocessing forbids children; these die with their parent.
        vars(multiprocessing.current_process())["_config"]["daemon"] = False
        context = multiprocessing.get_context("spawn")
        _POOLS[thread] = ProcessPool(1, initializer=die_with_parent, context=context)
    try:
        settled: tuple[Outcome, Mapping[str, Any]] = (
            _POOLS[thread].schedule(_job, (trial, text, root, guard), timeout=limit).result()
        )
    except Exception as error:
        return ended(error, guard), provenance(root)
    return settled


def _release() -> None:
    """End the processes of `_guarded` on this worker."""
    while _POOLS:
        _, pool = _POOLS.popitem()
        pool.stop()
        pool.join()


def _job(trial: Trial, text: str, root: int, guard: float) -> tuple[Outcome, Mapping[str, Any]]:
    return settle(trial, Task.parse(text), root, guard), provenance(root)
