"""What the rows of a sweep say: what every cell costs, and how that changes along one axis."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from hardness.engine.outcome import FINISHED, Row
from hardness.engine.plugins import SOLVERS
from hardness.report import Axis, Content, Curves, Panel, Point, Series, grouped

Settings = dict[str, Any]
UNITS = {"game": "queries", "sweep": "examples"}
LEAST, TICKS = 2, 12  # values that an axis needs for a figure, and may have for a tick at each


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figure and table of the rows."""
    ended = [row for row in rows if row.outcome and not row.task.tuning]
    runs = grouped(ended, lambda row: repr([*settings(row).items(), *row.task.budget.items()]))
    cells = [cell(some) for some in runs.values()]
    whole = [cell for cell in cells if cell["median"] is not None and not cell["censored"]]
    statuses = Counter(row.outcome.status for row in ended if row.outcome)
    unit = UNITS[str(rows[0].task.solver["kind"])] if rows else ""
    numbers = {
        "tuning": sum(row.task.tuning for row in rows),
        "trials": len(ended),
        "cells": len(cells),
        "solved": statuses["solved"],
        "rest": ", ".join(
            f"{count} {status}" for status, count in sorted(statuses.items()) if status != "solved"
        ),
        "priced": len(whole),
        "unit": unit,
        "least": min(whole, key=lambda cell: cell["median"], default=None),
        "most": max(whole, key=lambda cell: cell["median"], default=None),
    }
    table = [
        {**cell["settings"], "cost": _cost(cell), "runs": cell["runs"], "ended": cell["ended"]}
        for cell in cells
    ]
    return Content(numbers, figures(cells, unit), {"cells": table})


def settings(row: Row) -> Settings:
    """What names a cell: family, solver with its options, parameters.

    >>> from hardness.engine.task import Task
    >>> solver = {"kind": "sweep", "learner": "direct", "params": {"starts": 2}}
    >>> settings(Row(Task("parity", {"dim": 9}, solver, {}, 0), None))
    {'family': 'parity', 'solver': 'direct', 'starts': 2, 'dim': 9}
    """
    solver = row.task.solver
    named = next((str(solver[kind]) for kind in SOLVERS if kind in solver), "")
    options = {name: solver[name] for name in ("oracle", "tolerance") if name in solver} | solver.get(
        "params", {}
    )
    bare = {"family": row.task.family.rpartition(":")[2], "solver": named.rpartition(":")[2]}
    return {**bare, **options, **row.task.params}


def cell(rows: Sequence[Row]) -> dict[str, Any]:
    """The median cost of a cell over the runs that ended by themselves, and how all of them ended.

    A run that did not solve is only known to cost more than it spent; so is the median, where half the runs are such.
    """
    outcomes = [row.outcome for row in rows if row.outcome]
    solved = sorted(float(o.cost) for o in outcomes if o.status == "solved" and o.cost is not None)
    spent = sorted(float(o.cost) for o in outcomes if o.status in FINISHED and o.cost is not None)
    middle = len(spent) // 2
    censored = middle >= len(solved)
    return {
        "settings": settings(rows[0]),
        "runs": len(outcomes),
        "censored": censored,
        "median": None if not spent else spent[middle] if censored else solved[middle],
        "low": solved[0] if solved else None,
        "high": solved[-1] if len(solved) == len(spent) and solved else None,
        "ended": ", ".join(
            f"{n} {status}" for status, n in sorted(Counter(o.status for o in outcomes).items())
        ),
    }


def axis_of(cells: Sequence[Mapping[str, Any]]) -> str | None:
    """What the figure is drawn against: heads if they have several values, else the first number that has."""
    values: dict[str, set[Any]] = {}
    for one in cells:
        for name, value in one["settings"].items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(name, set()).add(value)
    several = [name for name, entries in values.items() if len(entries) >= LEAST]
    return "heads" if "heads" in several else next(iter(several), None)


def figures(cells: Sequence[Mapping[str, Any]], unit: str) -> list[Curves]:
    """Median cost against one axis: a panel per solver, a curve per setting of the rest."""
    x = axis_of(cells) or ""
    placed = [place for place in cells if x in place["settings"]]
    styles = {label: i for i, label in enumerate(grouped(placed, lambda place: _rest(place, cells, x)))}
    panels = []
    for solver, some in grouped(placed, lambda place: place["settings"]["solver"]).items():
        curves = grouped(
            sorted(some, key=lambda place: float(place["settings"][x])),
            lambda place: _rest(place, cells, x),
        )
        panels.append(
            Panel(
                solver,
                [
                    Series(label, [_point(place, x) for place in curves[label]], style=style)
                    for label, style in styles.items()
                    if label in curves
                ],
            )
        )
    values = sorted({place["settings"][x] for place in placed})
    axis = Axis(x, ticks=values if len(values) <= TICKS else ())
    return [Curves("sweep", panels, axis, Axis(unit, log=True), columns=2, height=3.0)]


def _rest(cell: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], x: str) -> str:
    """What tells a cell from others beside solver and axis."""
    vary = [
        name
        for name, value in cell["settings"].items()
        if name not in ("solver", x) and any(other["settings"].get(name, value) != value for other in cells)
    ]
    return ", ".join(f"{name} {cell['settings'][name]}" for name in vary) or "all runs"


def _point(cell: Mapping[str, Any], x: str) -> Point:
    if cell["median"] is None:
        return Point(cell["settings"][x], nan)
    known = not cell["censored"] and cell["high"] is not None
    low, high = (cell["low"], cell["high"]) if known else (None, None)
    return Point(cell["settings"][x], cell["median"], low, high, censored="above" if cell["censored"] else "")


def _cost(cell: Mapping[str, Any]) -> str:
    return "–" if cell["median"] is None else f"{'> ' * cell['censored']}{cell['median']:,.0f}"
