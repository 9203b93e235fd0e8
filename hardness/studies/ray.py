"""How cost grows with the number of heads, along d = c m or at a fixed d: `hardness ray`, and `ray` as a data frame."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hardness.engine.frames import data_frame
from hardness.engine.outcome import FINISHED, Row, Table
from hardness.engine.pickled import PREFIX, importable_name
from hardness.engine.plugins import SOLVERS
from hardness.engine.run import run
from hardness.engine.store import STORE, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.evaluation.solver import Solver, is_streamed, make
from hardness.families.parity import Parity
from hardness.report import dashboard
from hardness.statistics import median
from hardness.studies.trials import solving_cost

NAME, HEADS, LEARNER = "ray", (2, 3, 4), "diagonal"
REACH, TOLERANCE = 10**8, 0.1  # sets at most; of the games
GAMES = {"sign-batch": REACH, "flat": 5000}  # strategies, and the sets up to which each is played
FAMILIES = {"parity": "hidden sets", "random-diagonal": "random layers"}
RUNS = 3
STREAMED_CAP, FITTED_CAP = 2_000_000, 4096  # examples, seen once or fitted anew
COLUMNS = (
    *("heads", "dim", "concepts", "what", "name", "layer", "cost", "unit"),
    *("low", "high", "censored", "runs", "ended", "tolerance"),
)
PRINTED = ("heads", "dim", "what", "name", "layer", "cost", "unit", "ended")  # of them in a terminal
QUESTION = "How does cost grow with the number of heads?"
STUDY = Study(NAME, QUESTION, lambda quick: [], lambda task: 5.0, solving_cost, guard=600.0)


def named(seed: int, ratio: int | None, dim: int | None = None) -> tuple[dict[str, Any], Path]:
    """Return what identifies a study of cost against heads m at d = `ratio` m or d = `dim`, and its default folder."""
    line, name = ({"ray": ratio}, f"{ratio}m") if dim is None else ({"dim": dim}, f"d{dim}")
    return {"study": NAME, "seed": seed, "quick": False, **line}, Path("rays") / name


def places_of(heads: Iterable[int], ratio: int | None, dim: int | None = None) -> list[tuple[int, int]]:
    """Return the pairs (m, d) with d = `ratio` m, or d = `dim` if that is None, for each m of `heads`, ascending.

    Raises `InputError` for `ratio` < 2, d too small to hide m coordinates, and more than 10^8 possible hidden sets.
    """
    if ratio is not None and ratio < 2:
        raise InputError(f"a ray d = C m has C >= 2, got {ratio}: fewer features leave nothing to hide")
    places = [(m, int(dim or 0) if ratio is None else ratio * m) for m in sorted(set(heads))]
    for m, d in places:
        Parity(dim=d, heads=m)
        if (sets := comb(d - 1, m)) > REACH:
            raise InputError(
                f"{m} heads at dim {d} hide one of {sets:.2g} sets, beyond the reach of {REACH:,}"
            )
    return places


def tasks_at(
    places: Sequence[tuple[int, int]], learners: Iterable[str] = (LEARNER,), width: int | None = None
) -> list[Task]:
    """Return trials of query strategies, Gaussian elimination and learners at all (heads m, dimension d) of `places`.

    `width` is the number of heads of the learners, None for their default. Raises `InputError` for what is no learner.
    """
    trials = []
    for strategy, most in GAMES.items():
        game = {"kind": "game", "strategy": strategy, "oracle": "window", "tolerance": TOLERANCE}
        small = [(m, d) for m, d in places if comb(d - 1, m) <= most]
        trials += [Task("parity", {"dim": d, "heads": m}, game, {}, 0) for m, d in small]
    elimination, runs = {"kind": "sweep", "attack": "gaussian"}, range(RUNS)
    for (m, d), repetition in product(places, runs):
        trials.append(Task("parity", {"dim": d, "heads": m}, elimination, {"samples": 100 * d}, repetition))
    options = {} if width is None else {"heads": width}
    for learner in dict.fromkeys(learners):
        streamed = is_streamed(learner)
        if options:  # a learner without them is said before anything runs
            make(Solver("learner", learner, options, heads_known=1), 0)
        solver: dict[str, Any] = {"kind": "sweep", "learner": learner, "params": options}
        solver |= {"online": True} if streamed else {}
        budget = {"samples": STREAMED_CAP if streamed else FITTED_CAP}
        for family, (m, d), repetition in product(FAMILIES, places, runs):
            trials.append(Task(family, {"dim": d, "heads": m}, solver, budget, repetition))
    return trials


def ray(
    ratio: int,
    heads: Sequence[int] = HEADS,
    learner: Any = LEARNER,
    *,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
) -> pd.DataFrame:
    """Return how cost grows with the number of heads m along d = `ratio` m: a line per m and bound, strategy or solver.

    The numbers m are `heads`. `learner` is a registered name, ``module:Class`` or a class, or a list of such, each run
    with its defaults on hidden sets and on random layers of the same form. Trials run on `workers` processes (None: one
    per CPU; 0: this one). Rows and dashboard are written to the folder `out`; the same call resumes an interrupted run.
    `attrs["page"]` is the path of the dashboard.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = ray(4, heads=[2, 3], learner=[], workers=0, out=folder)
    >>> table[table.unit == "queries"][["heads", "dim", "concepts", "what", "name", "cost"]].values.tolist()[:2]
    [[2, 8, 21, 'floor', 'statistical queries', 4.0], [2, 8, 21, 'strategy', 'sign-batch', 5.0]]
    """
    learners = list(map(importable_name, learner if isinstance(learner, list | tuple) else [learner]))
    heads = np.atleast_1d(heads).tolist()
    tasks = tasks_at(places_of(heads, ratio), learners)
    about, folder = named(seed, ratio)
    folder = folder if out is None else Path(out)
    with Store(folder / STORE, about) as store:
        store.made_by(f"hardness.ray({ratio}, heads={heads}, learner={learners})")
        run(tasks, store, STUDY.trial, root=seed, guard=STUDY.guard, workers=workers, shown=True)
        rows = store.table()
    dashboard.write(STUDY, rows, folder)
    asked = {task.identity for task in tasks}
    table = table_of([row for row in rows.rows if row.task.identity in asked])
    table.attrs["page"] = str(folder / dashboard.PAGE)
    return table


def table_of(rows: Sequence[Row]) -> pd.DataFrame:
    """Return the table of `ray` from its trials: for every (heads, dimension) lower bounds, then a line per solver."""

    def place(row: Row) -> tuple[int, int]:
        return row.task.params["heads"], row.task.params["dim"]

    lines = []
    for (m, d), here in groupby(sorted(rows, key=place), key=place):
        series: dict[tuple[str, str, str], list[Row]] = {}
        for row in here:
            what = next(kind for kind in SOLVERS if kind in row.task.solver)
            series.setdefault((row.task.family, what, row.task.solver[what]), []).append(row)
        measured = [_measured(runs, *key) for key, runs in series.items()]
        for entry in (*_floors(m, d), *measured):
            line = {"heads": m, "dim": d, "concepts": comb(d - 1, m)} | entry
            lines.append({name: line.get(name) for name in COLUMNS})
    table = data_frame(lines)
    table["censored"] = table["censored"].astype("boolean")  # no value where nothing was run
    return table


def text_of(rows: Sequence[Row]) -> list[str]:
    """Return the table that `ray` returns as lines of text; ≥ stands before a cost that is only known to be larger."""
    table = table_of(rows)
    signs = table["censored"].map({True: "≥ "}).fillna("")
    table["cost"] = signs + table["cost"].map("{:,.0f}".format, na_action="ignore")
    text: str = table[[*PRINTED]].to_string(index=False, na_rep="")
    return text.splitlines()


def _floors(m: int, d: int) -> Iterator[dict[str, Any]]:
    """Yield lower bounds at m heads, dimension d: on queries (theory 2.7), on examples kept as one bit each (2.10)."""
    from hardness.sq.bounds.floors import exact_floor
    from hardness.sq.bounds.messages import message_examples

    layer, sets = {"what": "floor", "layer": FAMILIES["parity"]}, comb(d - 1, m)
    queries = exact_floor(sets, TOLERANCE)
    yield {**layer, "name": "statistical queries", "cost": queries, "unit": "queries", "tolerance": TOLERANCE}
    examples = 2 * message_examples(sets)  # two for every informative one
    yield {**layer, "name": "one bit an example", "cost": examples, "unit": "examples"}


def _measured(rows: Sequence[Row], family: str, what: str, name: str) -> dict[str, Any]:
    """Return a solver's line in the table of `ray` from its runs: median cost, range and more; `what` is its kind."""
    finished = [row.outcome for row in rows if row.outcome and row.outcome.status in FINISHED]
    costs, missed = [float(end.cost or 0) for end in finished], [end.status != "solved" for end in finished]
    solved = [cost for cost, cut in zip(costs, missed, strict=True) if not cut]
    middle = median(costs, missed) if finished else None
    return {
        "low": min(solved, default=None),
        "high": max(solved) if solved and not any(missed) else None,
        "censored": middle is None or middle.bound,
        "runs": len(rows),
        "ended": ", ".join(f"{n} {status}" for status, n in Table({}, [], rows).counts().items()),
        "what": what,
        "name": name.rpartition(":")[2] if name.startswith(PREFIX) else name,
        "layer": FAMILIES[family],
        "cost": middle.value if middle and middle.known else None,
        "unit": "queries" if what == "strategy" else "examples",
        "tolerance": rows[0].task.solver.get("tolerance"),
    }
