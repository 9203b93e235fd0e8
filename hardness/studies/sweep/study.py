"""Running a sweep: `run_grid` for a grid, `sweep` for notebooks and scripts."""

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness import families
from hardness.engine.frames import frame
from hardness.engine.pickled import PREFIX, importable_name
from hardness.engine.rows import read
from hardness.engine.run import run
from hardness.engine.store import STORE, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.engine.tuning import Results
from hardness.families.base import types_of
from hardness.report import dashboard
from hardness.studies.sweep.grid import GUARD, MOST_TRIALS, Grid
from hardness.studies.trials import solving_cost

if TYPE_CHECKING:
    import pandas as pd

NAME = "sweep"
QUESTION = "What does each cell of this grid cost?"
STUDY = Study(NAME, QUESTION, lambda quick: [], lambda task: 1.0, solving_cost)


def run_grid(
    grid: Grid,
    out: Path,
    workers: int | None = None,
    scheduler: str | None = None,
    command: str = "",
) -> tuple[str, int]:
    """Run what the store in `out` lacks of a grid, write its dashboard; return a line on it and how many trials ran.

    On `workers` processes, or the Dask cluster at `scheduler`; the dashboard names `command`. Runs of a tuning come
    first, and are rows too. Cells of other grids that the store holds stay on it.
    """
    tasks, rounds, ran = grid.tasks(), count(1), 0  # a grid that is refused makes no folder
    with Store(out / STORE, {"study": NAME, "seed": grid.seed, "quick": False}) as store:
        store.made_by(*filter(None, [command]))

        def run_tasks(tasks: Sequence[Task]) -> Results:
            nonlocal ran
            part = f"tuning, round {next(rounds)}" if tasks[0].tuning else "results" if grid.tune else ""
            ran += run(
                tasks,
                store,
                solving_cost,
                root=grid.seed,
                guard=grid.guard,
                workers=workers,
                scheduler=scheduler,
                shown=True,
                part=part,
            )
            return {row.task.identity: row.outcome for row in store.rows() if row.outcome}

        run_tasks(grid.tuned(run_tasks) if grid.tune else tasks)
        return dashboard.write(STUDY, store.table(), out), ran


def missing(grid: Grid, out: Path) -> int:
    """Return how many trials a run of the grid would run: those that the store in `out` lacks."""
    tasks = grid.tasks()
    if not (out / STORE).exists():
        return len(tasks)
    with Store(out / STORE) as store:
        return len({task.identity for task in tasks} - {*store.done()})


def sweep(
    family: Any,
    *,
    strategy: Any = None,
    learner: Any = None,
    attack: Any = None,
    oracle: Any = "window",
    tolerance: Any = 0.1,
    options: Mapping[str, Any] | None = None,
    queries: int | None = None,
    samples: int | None = None,
    work: int | None = None,
    runs: int = 5,
    seed: int = 0,
    guard: float = GUARD,
    workers: int | None = None,
    scheduler: str | None = None,
    out: str | Path | None = None,
    zip: Sequence[str] = (),
    tune: Mapping[str, Any] | None = None,
    **params: Any,
) -> "pd.DataFrame":
    """Run any family with any solver on a grid; return the rows as a DataFrame, one per cell and run, in its order.

    `params` are parameters of the family. One of `strategy` (with `oracle`, `tolerance`, and at most `queries`),
    `learner` (with `options`, and at most `samples` examples) and `attack` (`samples`, `work`) solves. Each, and the
    family, is a name, ``module:Name``, or the function or class itself. A list, a range or an array is an axis, of
    parameters, solvers and options; the grid is their product. A parameter may be an expression of others,
    ``dim="4*heads"``, and the axes named in `zip` go in step. `tune` holds lists of values by option, ``{"menu":
    {"rate": [0.01, 0.03]}}`` for all learners or under the name of one; ``"settings"`` (24) and ``"seeds"`` (3) beside
    them bound what is tried.

    It runs on `workers` processes, or on the Dask cluster at `scheduler`. Store and dashboard lie in the folder `out`
    (default ``sweeps/FAMILY-SOLVER``); the same call goes on where it was interrupted. The columns are those of
    `hardness.rows`, but for times, provenance and what no two cells differ in; `attrs` hold the path of the `page`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = sweep("parity", dim=[8, 9], heads=range(2, 4), strategy="flat", runs=1, workers=0, out=folder)
    >>> rows[["dim", "heads", "status", "cost"]].values.tolist()[0]
    [8, 2, 'solved', 4]
    """

    def name_of(thing: Any) -> Any:
        return [*map(name_of, thing)] if isinstance(thing, list | tuple) else importable_name(thing)

    named = name_of(family)
    if isinstance(named, str):  # a misspelt keyword is said before what the grid then lacks
        kind = families.get(named)
        known = {*types_of(kind), *signature(sweep).parameters} - {"family", "params"}
        families.check_names(f"keyword of a sweep of {kind.name}", params, known)
    solvers = {"strategy": strategy, "learner": learner, "attack": attack}
    solver = {kind: name_of(thing) for kind, thing in solvers.items() if thing is not None}
    if "strategy" in solver:
        solver |= {"oracle": name_of(oracle), "tolerance": _axis(tolerance)}
    elif "learner" in solver:
        solver["options"] = _axis(options or {})
    limits = {"queries": queries, "samples": samples, "work": work}
    budget = {name: value for name, value in limits.items() if value is not None}
    grid = Grid(named, _axis(params), solver, budget, runs, seed, guard, _axis(tune or {}), list(zip))
    folder = Path(out) if out is not None else Path("sweeps") / grid.name
    run_grid(grid, folder, workers, scheduler, f"hardness.sweep: {grid.name}")
    stored = {row.task.identity: row for row in read(folder).rows}
    ended = {identity: row.outcome for identity, row in stored.items() if row.outcome}
    tasks = grid.tuned(lambda _: ended) if grid.tune else grid.tasks()
    table = frame(stored[task.identity] for task in tasks)
    left_out = ("identity", "seconds", "kind", "online", "tuning")
    shown = [name for name in table if name not in left_out and not name.startswith("provenance.")]
    table = table[shown].map(_bare)
    table.attrs["page"] = str(folder / dashboard.PAGE)
    return table


def _bare(value: Any) -> Any:
    """Return the name of a class of a notebook without where it was pickled; another value is its own."""
    return value.rpartition(":")[2] if isinstance(value, str) and value.startswith(PREFIX) else value


def _axis(value: Any) -> Any:
    """Return plain values: a list of what lists several, a mapping by its entries."""
    if isinstance(value, Mapping):
        return {name: _axis(each) for name, each in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, Iterable) or isinstance(value, str):
        return value
    entries = list(islice(value, MOST_TRIALS + 1))
    return entries if len(entries) > MOST_TRIALS else [_axis(each) for each in entries]  # more are no grid
