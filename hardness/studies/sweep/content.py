"""What the rows of a sweep say: what every cell costs, and how that changes along one axis."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from hardness.engine.bounds import proved_bound
from hardness.engine.outcome import FINISHED, Row
from hardness.engine.plugins import SOLVERS
from hardness.engine.table import data_frame
from hardness.engine.task import canonical
from hardness.report import Axis, Content, Curves, Panel, Point, Series, line, lines_of

if TYPE_CHECKING:
    import pandas as pd

Settings = dict[str, Any]
UNITS = {"game": "queries", "sweep": "examples"}
ALL = "all runs"  # of a panel with one curve
BOUNDED = 4  # curves up to which the bounds are drawn too; the table has them all
LEAST, TICKS = 2, 12  # values that an axis needs for a figure, and may have for a tick at each


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figure and table of the rows."""
    runs = ended(rows)
    named = runs.drop_duplicates("cell")[["cell", "settings", "bound"]]
    cells = summarised(runs, "cell").merge(named, on="cell")
    statuses = runs.status.value_counts().to_dict()
    priced = cells[cells["median"].notna() & ~cells.censored]
    unit = UNITS[str(rows[0].task.solver["kind"])] if rows else ""
    numbers = {
        "tuning": sum(row.task.tuning for row in rows),
        "trials": len(runs),
        "cells": len(cells),
        "solved": statuses.pop("solved", 0),
        "rest": ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())),
        "priced": len(priced),
        "bounded": bool(cells.bound.notna().any()),
        "unit": unit,
        "least": _line(priced.nsmallest(1, "median")),
        "most": _line(priced.nlargest(1, "median")),
    }
    return Content(numbers, [figure(cells, unit)], {"cells": shown(cells)})


def ended(rows: Sequence[Row]) -> "pd.DataFrame":
    """A line per trial that ended and is a result: the settings of its cell, how it ended, what it cost.

    `cell` names the cell: its settings and its budget. `bound` is what is proved of the queries of a game.
    """
    import pandas as pd

    lines = []
    for row in rows:
        if row.outcome and not row.task.tuning:
            named = settings(row)
            cell = repr([*named.items(), *row.task.budget.items()])
            lines.append((cell, named, row.outcome.status, row.outcome.cost, proved_bound(row.task)))
    columns = ["cell", "settings", "status", "cost", "bound"]
    return pd.DataFrame(lines, columns=columns).astype({"cost": float, "bound": float})


def settings(row: Row) -> Settings:
    """What names a cell: family, solver with its options, parameters.

    >>> from hardness.engine.task import Task
    >>> solver = {"kind": "sweep", "learner": "direct", "params": {"starts": 2}}
    >>> settings(Row(Task("parity", {"dim": 9}, solver, {}, 0), None))
    {'family': 'parity', 'solver': 'direct', 'starts': 2, 'dim': 9}
    """
    solver = row.task.solver
    named = next((str(solver[kind]) for kind in SOLVERS if kind in solver), "")
    options = {name: solver[name] for name in ("oracle", "tolerance") if name in solver}
    bare = {"family": row.task.family.rpartition(":")[2], "solver": named.rpartition(":")[2]}
    return {**bare, **options, **solver.get("params", {}), **row.task.params}


def summarised(runs: "pd.DataFrame", key: str) -> "pd.DataFrame":
    """A line per value of `key`, in order: the median cost of the runs that ended by themselves, and how all ended.

    A run that did not solve is only known to cost more than it spent; so is the median, where half the runs are such
    (`censored`). `low` is the least cost of a run that solved; `high` the largest, if all solved.
    """
    import pandas as pd

    finished, solved = runs.status.isin(FINISHED), runs.status == "solved"
    groups = runs.assign(spent=runs.cost.where(finished), paid=runs.cost.where(solved)).groupby(
        key, sort=False
    )
    table = groups.agg(
        runs=("status", "size"),
        low=("paid", "min"),
        high=("paid", "max"),
        solved=("paid", "count"),
        finished=("spent", "count"),
        ended=("status", _endings),
    )
    medians = [_median(group.spent.dropna(), group.paid.dropna()) for _, group in groups]
    table[["median", "censored"]] = pd.DataFrame(medians, table.index, ["median", "censored"])
    table["high"] = table.high.where(table.solved == table.finished)
    return (
        table.astype({"median": float, "censored": bool}).drop(columns=["solved", "finished"]).reset_index()
    )


def _endings(statuses: "pd.Series[str]") -> str:
    return ", ".join(f"{count} {status}" for status, count in statuses.value_counts().sort_index().items())


def _median(spent: "pd.Series[float]", paid: "pd.Series[float]") -> tuple[float, bool]:
    """The middle of what was spent, and whether it is only known to lie above: less than half of the runs solved."""
    middle = len(spent) // 2
    if middle < len(paid):
        return paid.sort_values().iloc[middle], False
    return spent.sort_values().iloc[middle] if len(spent) else nan, True


def _line(cells: "pd.DataFrame") -> dict[str, Any] | None:
    """The only line of a table, None if there is none."""
    lines = lines_of(cells.drop(columns="cell"))
    return lines[0] if lines else None


def shown(cells: "pd.DataFrame") -> "pd.DataFrame":
    """The table of the page: a column per setting, what the cell costs, and for games how near that is to the bound."""
    medians = zip(cells["median"], cells.censored, strict=True)
    cost = ["–" if median != median else f"{'> ' * censored}{median:,.0f}" for median, censored in medians]
    columns = {"cost": cost, "runs": cells.runs.tolist(), "ended": cells.ended.tolist()}
    if cells.bound.notna().any():
        ratio = (cells["median"] / cells.bound).where(~cells.censored)
        columns |= {"bound": cells.bound.tolist(), "ratio": ratio.tolist()}
    return data_frame(cells.settings.tolist()).assign(**columns)


def axis_of(cells: "pd.DataFrame") -> str | None:
    """What the figure is drawn against: heads if they have several values, else the first number that has."""
    values: dict[str, set[Any]] = {}
    for named in cells.settings:
        for name, value in named.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(name, set()).add(value)
    several = [name for name, entries in values.items() if len(entries) >= LEAST]
    return "heads" if "heads" in several else next(iter(several), None)


def figure(cells: "pd.DataFrame", unit: str) -> Curves:
    """Median cost against one axis: a panel per solver, a curve per setting of the rest, each over its bound."""
    x = axis_of(cells)
    placed = cells[cells.settings.map(lambda named: x in named).astype(bool)]
    other = _varying(cells.settings.tolist()) - {"solver", x}
    places = placed.assign(
        x=[named[x] for named in placed.settings],
        solver=[named["solver"] for named in placed.settings],
        label=[_label(named, other) for named in placed.settings],
    )
    places["style"] = places.label.factorize()[0]
    if places["style"].nunique() > BOUNDED:
        places["bound"] = nan
    panels = [
        Panel(solver, [one for _, curve in panel.groupby("style") for one in _series(curve)])
        for solver, panel in places.groupby("solver", sort=False)
    ]
    values = sorted(set(places.x.tolist()))
    across = Axis(x or "", ticks=values if len(values) <= TICKS else ())
    return Curves("sweep", panels, across, Axis(unit, log=True), columns=2, height=3.0)


def _varying(named: Sequence[Settings]) -> set[str]:
    """The settings that are not the same in all cells that have them."""
    values: dict[str, set[str]] = {}
    for settings in named:
        for name, value in settings.items():
            values.setdefault(name, set()).add(canonical(value))
    return {name for name, entries in values.items() if len(entries) > 1}


def _label(named: Mapping[str, Any], other: set[str]) -> str:
    """What tells a cell from others beside solver and axis."""
    return ", ".join(f"{name} {value}" for name, value in named.items() if name in other) or ALL


def _series(curve: "pd.DataFrame") -> list[Series]:
    """The medians of a curve, and the bound that is proved of them, where there is one."""
    label, style = curve.label.iloc[0], int(curve["style"].iloc[0])
    cells = lines_of(curve.sort_values("x", kind="stable"))
    proved = [(cell["x"], cell["bound"]) for cell in cells if cell["bound"] is not None]
    name = "proved bound" if label == ALL else f"proved bound, {label}"
    bounds = [line(name, proved, "lower bound", style=None if label == ALL else style)] if proved else []
    return [Series(label, [_point(cell) for cell in cells], style=style), *bounds]


def _point(cell: Mapping[str, Any]) -> Point:
    """A median with the range of its runs; a gap where no run ended by itself."""
    if cell["median"] is None:
        return Point(cell["x"], nan)
    if cell["censored"]:
        return Point(cell["x"], cell["median"], censored="above")
    low = cell["low"] if cell["high"] is not None else None
    return Point(cell["x"], cell["median"], low, cell["high"])
