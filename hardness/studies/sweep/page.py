"""What a sweep says: cells of its rows, the growth verdict of each series or why there is none, figure and page."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.plugins import solver_of
from hardness.engine.store import Row, Store
from hardness.engine.task import Task
from hardness.report.drawing import MARKERS, RAMP, Drawing, style
from hardness.report.report import table_page
from hardness.statistics.cells import Cell
from hardness.statistics.verdict import Growth, growth

QUESTION = "What does a grid of the user's own cost?"
ENDED = ("solved", "budget", "wrong")  # a crash, a refusal and a guard are no data
UNITS = {"game": "queries", "sweep": "examples"}
NOTE = (
    "measured",
    "Cost is what a trial spent: queries of a game; of a learner or an attack the least number of examples tried with "
    "which it solved the instance. A run that did not solve is censored: its cost is only known to exceed what it "
    "spent. The verdict on growth is the lab's rule for costs in d and m; where it does not apply, the page says why.",
)
Place = tuple[int, int]


def series_of(task: Task) -> str:
    """The series of a task: solver, and whatever tells its instances apart but for d and m.

    >>> series_of(Task("parity", {"dim": 9, "heads": 2, "flip": 0.1}, {"kind": "game", "strategy": "flat"}, {}, 0))
    'flat on parity, flip 0.1'
    """
    rest = (f"{name} {value}" for name, value in task.params.items() if name not in ("dim", "heads"))
    solver = str(solver_of(task)).rpartition(":")[2]
    return ", ".join([f"{solver} on {task.family.rpartition(':')[2]}", *rest])


def verdicts(rows: Iterable[Row]) -> dict[str, Growth]:
    """The growth of every series of rows."""
    found: dict[str, dict[Place, list[Row]]] = {}
    for row in rows:
        places = found.setdefault(series_of(row.task), {})
        plane = {"dim", "heads"} <= set(row.task.params)
        if plane and row.outcome and row.outcome.status in ENDED and row.outcome.cost:
            place = int(row.task.params["dim"]), int(row.task.params["heads"])
            places.setdefault(place, []).append(row)
    return {name: growth([_cell(place, own) for place, own in places.items()]) for name, places in found.items()}


def _cell(place: Place, rows: list[Row]) -> Cell:
    outcomes = [row.outcome for row in rows if row.outcome]
    budget = rows[0].task.budget
    cap = float(budget.get("queries") or budget.get("samples") or np.inf)
    costs = np.array([float(o.cost or 0) for o in outcomes])
    return Cell(*place, costs, np.array([o.status == "solved" for o in outcomes]), cap=cap)


def write(store: Store, folder: Path) -> str:
    """Write the page of a sweep into `folder`; returns its verdict line. A pure function of the rows."""
    rows = list(store.rows())
    found = verdicts(rows)
    verdict = " ".join(f"{name}: {each.sentence}" if len(found) > 1 else each.sentence for name, each in found.items())
    drawings = [_draw(name, each, rows, i) for i, (name, each) in enumerate(found.items()) if each.cells]
    verdict, kinds = verdict or "No trial has been run.", {"verdict": "measured", "cost": "measured"}
    return table_page(store, folder, QUESTION, verdict, _table(rows), [NOTE], drawings, kinds, growth=found)


def _table(rows: list[Row]) -> list[dict[str, Any]]:
    """One line a cell: what its runs cost."""
    cells: dict[str, list[Row]] = {}
    for row in rows:
        cells.setdefault(f"{series_of(row.task)} {sorted(row.task.params.items())}", []).append(row)
    table = []
    for own in cells.values():
        ended: list[Outcome] = [row.outcome for row in own if row.outcome]
        counted = Counter(outcome.status for outcome in ended)
        costs = sorted(float(o.cost) for o in ended if o.status == "solved" and o.cost is not None)
        # The upper median; that of runs of which as many did not solve is only known to exceed what these spent.
        middle = len(ended) // 2
        spent = sorted(float(o.cost or 0) for o in ended)
        cost = f"{costs[middle]:,.0f}" if middle < len(costs) else f"> {spent[middle]:,.0f}" if spent else None
        table.append({
            "series": series_of(own[0].task), **own[0].task.params, "cost": cost,
            "solved runs": f"{costs[0]:,.0f}–{costs[-1]:,.0f}" if costs else None,
            "ended": ", ".join(f"{count} {status}" for status, count in sorted(counted.items())) or "not run",
        })  # fmt: skip
    return table


def _draw(name: str, found: Growth, rows: list[Row], index: int) -> Drawing:
    """Median cost against m, one curve a dimension; a triangle is a lower bound."""
    drawing = Drawing(f"sweep-{index + 1}", 5.6, 3.6)
    unit = UNITS.get(next(row.task.solver["kind"] for row in rows), "cost")
    drawing.caption = (
        f"{name}: {unit} against m, one curve a dimension; medians over runs. A triangle is a cost that is only known "
        "to be larger."
    )
    drawing.kinds = "measured"
    with style(drawing.name):
        axes = drawing.figure.subplots()
        dims = sorted({cell.dim for cell in found.cells})
        for i, dim in enumerate(dims):
            own = sorted((cell for cell in found.cells if cell.dim == dim), key=lambda cell: cell.size)
            color, marker = RAMP[i % len(RAMP)], MARKERS[i % len(MARKERS)]
            whole = [cell for cell in own if not cell.censored]
            points = [c.size for c in whole], [c.median for c in whole]
            axes.plot(*points, color=color, marker=marker, label=f"d = {dim}")
            for cell in own:
                if cell.censored:
                    tip = f"d = {dim}, m = {cell.size}: above {cell.median:,.0f}"
                    look = {"color": color, "marker": "^", "markerfacecolor": "none"}
                    drawing.point(axes, cell.size, cell.median, tip, **look)
        axes.set(xlabel="m", ylabel=unit, yscale="log")
        axes.set_xticks(sorted({cell.size for cell in found.cells}))
        axes.grid(axis="y")
        axes.legend()
    return drawing
