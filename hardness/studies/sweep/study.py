"""Running a sweep: `run_grid` for a grid, `sweep` for notebooks and scripts."""

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hardness import families
from hardness.engine.frames import frame
from hardness.engine.pickled import PREFIX, importable_name
from hardness.engine.rows import read
from hardness.engine.run import run
from hardness.engine.store import STORE, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.errors import check_names
from hardness.families.base import types_of
from hardness.report import dashboard
from hardness.studies.sweep.grid import GUARD, Grid
from hardness.studies.trials import solving_cost

NAME = "sweep"
QUESTION = "What does each cell of this grid cost?"
STUDY = Study(NAME, QUESTION, lambda quick: [], lambda task: 1.0, solving_cost)


def run_grid(
    grid: Grid, out: Path, workers: int | None = None, scheduler: str | None = None, command: str = ""
) -> tuple[str, int, list[Task]]:
    """Run the trials of a grid that the store in `out` lacks; return how they ended, how many ran, and all tasks.

    They run on `workers` processes, or on the Dask cluster at `scheduler`. The dashboard is written to `out` and names
    `command`. Runs that tune come first and are stored too. Rows of other grids in the same store stay.
    """
    tasks = grid.tasks()  # a grid that is refused makes no folder
    with Store(out / STORE, {"study": NAME, "seed": grid.seed, "quick": False}) as store:
        store.made_by(*filter(None, [command]))
        engine: dict[str, Any] = {
            "root": grid.seed,
            "guard": grid.guard,
            "workers": workers,
            "scheduler": scheduler,
        }
        ran = 0
        if grid.tune:
            tuning = [task for cell in grid.tuning() for runs in cell for task in runs]
            ran = run(tuning, store, solving_cost, part="tuning", shown=True, **engine)
            tasks = grid.tuned({row.task.identity: row.outcome for row in store.rows() if row.outcome})
        ran += run(tasks, store, solving_cost, shown=True, **engine)
        return dashboard.write(STUDY, store.table(), out), ran, tasks


def missing(grid: Grid, out: Path) -> int:
    """Return how many trials a run of the grid would still have to run: those that the store in `out` lacks."""
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
) -> pd.DataFrame:
    """Run any family with any solver on a grid; return a DataFrame with a row per cell and run, in the grid's order.

    `params` are parameters of the family. The solver is one of `strategy` (with `oracle`, `tolerance`, and at most
    `queries`), `learner` (with `options`, and at most `samples` examples) and `attack` (`samples`, `work`). It and the
    family are given as a name, ``module:Name``, or the function or class itself. Lists, ranges and arrays are axes,
    whose product is the grid. A parameter may be an expression of others, ``dim="4*heads"``; the axes named in `zip`
    are paired index by index. `tune` lists values by option, ``{"menu": {"rate": [0.01, 0.03]}}`` for all learners or
    under the name of one; ``"settings"`` (24) and ``"seeds"`` (3) limit what is tried.

    It runs on `workers` processes, or on the Dask cluster at `scheduler`; `guard` ends a trial, in seconds. Store and
    dashboard are in the folder `out` (default ``sweeps/FAMILY-SOLVER``); the same call resumes an interrupted run.
    Columns are those of `hardness.rows` without times, provenance and kind of trial; `attrs["page"]` is the dashboard's
    path.

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
        check_names(f"keyword of a sweep of {kind.name}", params, known)
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
    tasks = run_grid(grid, folder, workers, scheduler, f"hardness.sweep: {grid.name}")[2]
    stored = {row.task.identity: row for row in read(folder).rows}
    table = frame(stored[task.identity] for task in tasks)
    left_out = ("identity", "seconds", "kind", "online", "tuning")
    table = table[[name for name in table if name not in left_out and not name.startswith("provenance.")]]
    table = table.replace(rf"^{PREFIX}\w+:", "", regex=True)  # a class of a notebook has its own name
    table.attrs["page"] = str(folder / dashboard.PAGE)
    return table


def _axis(value: Any) -> Any:
    """Return a value for a grid: iterables as lists and numpy numbers as Python's, also inside of mappings."""
    if isinstance(value, Mapping):
        return {name: _axis(each) for name, each in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, Iterable) or isinstance(value, str):
        return value
    return [_axis(each) for each in value]
