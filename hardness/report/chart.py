"""The chart of any rows: medians of one column against another, with a line for each value of further columns."""

import re
from collections.abc import Mapping, Sequence
from math import floor, log10
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from hardness.engine.outcome import CENSORED
from hardness.errors import InputError, unknown
from hardness.report import plots
from hardness.statistics import median, median_interval

DESIGN = ("params", "solver", "budget")
PRICED = ("cost", "ratio")  # columns that only a run has that solved, was stuck or was ended by a limit
# What is proved of the queries of a game, the strongest first. All are bounds from below, and no other column is drawn.
FLOORS = ("exact_floor", "bound")
COLORS = 7  # of the style; further lines have them again, dotted
MOST_LINES = 2 * COLORS
MOST_TICKS = 12
CLOSE = 0.035  # of the width: places with less between them have no ticks of their own
SHORT = 100  # an axis of logarithms that spans less has ticks at 1, 2 and 5, in plain numbers


def design(rows: pd.DataFrame) -> list[str]:
    """Return the columns of the rows' design (family, parameters, solver and budget) in which the rows differ."""
    part: Mapping[str, str] = rows.attrs["parts"]
    names = [name for name in rows if name == "family" or part[name] in DESIGN]
    return [name for name in names if rows[name].map(printed).nunique() > 1]


def select(rows: pd.DataFrame, where: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the rows that have, in every column of `where`, one of the values listed for it.

    Values are compared as texts (see `printed`), and one text may list several with commas between. Raises `InputError`
    for an unknown column, and for a value that no row has.
    """
    for name, texts in where.items():
        check_columns(rows, name)
        shown = rows[name].map(printed)
        values = {value for text in texts for value in text.split(",")}
        if strange := sorted(values - {*shown}):
            raise unknown(f"value of the column {name}", strange[0], {*shown})
        rows = rows[shown.isin(values)]
    return rows


def check_columns(rows: pd.DataFrame, *names: str) -> None:
    """Raise `InputError`, with the nearest name as a suggestion, unless the rows have columns of these names."""
    for name in names:
        if name not in rows:
            raise unknown("column", name, map(str, rows.columns))


def chart(
    rows: pd.DataFrame, x: str, y: str = "cost", by: Sequence[str] = (), log: Sequence[str] = ()
) -> Figure:
    """Return a figure of the medians of column y against column x, with a line for each value of the columns `by`.

    `rows` are those of `hardness.rows`; rows without a value in one of these columns are left out. The bar at a median
    is an interval of order statistics that holds it with a probability of at least .95; for fewer than six runs it is
    the range. A hollow triangle with an arrow is a median that is only known to be larger, because too many runs were
    stuck or ended by a budget or time limit; its bar ends there. For `cost` and `ratio` only these runs and solved ones
    count, and a median only known to be at least 0 is left out. A dash with an arrow is a proved lower bound on a
    strategy's queries, from `exact_floor` or else `bound`; where lines differ in it, it has the colour of its line.
    `log` names the logarithmic axes.

    Raises `InputError` for an unknown column, for a column y without numbers, and for logarithms of negative numbers.
    """
    check_columns(rows, x, y, *by)
    kept = counted(rows, x, y, by)
    if kept.empty:
        others = ", ".join((x, *by))
        raise InputError(f"no row has a number in {y} (one known to be more than 0) and values in {others}")
    numeric = is_numeric(kept[x])
    kept["at"] = kept[x].astype(float) if numeric else kept[x].map(printed)
    scales: dict[str, dict[str, Any]] = {}
    for axis in log:
        if axis not in ("x", "y"):
            raise unknown("axis", axis, ("x", "y"))
        column = kept["at" if axis == "x" else y]
        if not (is_numeric(column) and column.min() >= 0 and column.max() > 0):
            raise InputError(f"column {x if axis == 'x' else y} has no logarithms; leave {axis} out of --log")
        # A zero stands below all other values.
        least = 10 ** floor(log10(column[column > 0].min()))
        zero = {"value": "symlog", "linthresh": least, "linscale": 0.4}
        scales[axis] = zero if column.min() == 0 else {"value": "log"}
    lines = [*kept.groupby([kept[name].map(_sortable) for name in by] or [0] * len(kept))]
    if len(lines) > MOST_LINES:
        raise InputError(f"more than {MOST_LINES} lines, {len(lines)}: choose some of them with --where")
    places = kept.sort_values("at").drop_duplicates("at").set_index("at")[x].map(printed)
    with plots.style():
        figure, axes = plots.panels(height=4.0)
        axes.set(xlabel=x, ylabel=f"median {y}")
        for axis, scale in scales.items():
            getattr(axes, f"set_{axis}scale")(**scale)
        axes.margins(y=0.08)  # room for arrows
        if not numeric:
            axes.xaxis.update_units([*places])  # words stand in their order, and no line joins them
        ends = []
        for i, (_, group) in enumerate(lines):
            style = ("-", ":")[i // COLORS] if numeric else "none"
            ends.append((_line(axes, group, y, style), _label(group, by)))
        if y == "cost":
            _floors(axes, [(end[0].get_color(), group) for end, (_, group) in zip(ends, lines, strict=True)])
        apart = np.diff(axes.xaxis.get_transform().transform(places.index)) if numeric else np.zeros(0)
        if numeric and len(places) <= MOST_TICKS and apart.min(initial=1) >= CLOSE * apart.sum():
            axes.set_xticks(places.index, places)
            axes.set_xticks([], minor=True)
        elif not numeric and places.str.len().sum() > 60:
            axes.set_xticks([*places], [*places], rotation=30, ha="right", rotation_mode="anchor")
        axes.autoscale_view()
        low, high = axes.get_ylim()
        if scales.get("y", {}).get("value") == "symlog":
            axes.set_ylim(bottom=-scales["y"]["linthresh"] / 2)
        elif "y" in log and high < SHORT * low:
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:,.12g}")
            axes.yaxis.set_minor_formatter("")
        plots.label_ends(axes, ends)
    return figure


def counted(rows: pd.DataFrame, x: str, y: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the rows that count in medians of y (as floats) by x and `by`, but for medians that are only known ≥ 0."""
    numbers = pd.to_numeric(rows[y].map(lambda value: None if isinstance(value, list) else value), "coerce")
    rows = rows.assign(**{y: numbers.astype(float)})
    rows = rows[rows["status"].isin(["solved", *CENSORED])] if y in PRICED else rows.assign(censored=False)
    kept = rows.dropna(subset=[x, y, *by])
    points = kept.groupby([kept[name].map(printed) for name in (x, *by)])
    return points.filter(lambda cell: median(cell[y], cell["censored"]).known)


def _label(group: pd.DataFrame, by: Sequence[str]) -> str:
    """Return the label of a line: its values of the columns `by`, numbers preceded by the name of their column."""
    first = group.iloc[0]
    return ", ".join(f"{name} " * isinstance(first[name], Real) + printed(first[name]) for name in by)


def _line(axes: Axes, group: pd.DataFrame, y: str, style: str) -> Any:
    """Draw the medians of column y of a group of rows as one line in `style`, with intervals; return the line."""
    cells = {at: ([*cell[y]], [*cell["censored"]]) for at, cell in group.groupby("at")}
    middles = {at: median(*cell) for at, cell in cells.items()}
    (line,) = axes.plot([*cells], [middle.value for middle in middles.values()], linestyle="none")
    color = line.get_color()
    exact = [np.nan if middle.bound else middle.value for middle in middles.values()]
    axes.plot([*cells], exact, color=color, linestyle=style, marker="")  # bounds are not joined
    for at, cell in cells.items():
        low, high, unknown_end = median_interval(*cell)
        high = middles[at].value if unknown_end else high
        if high > low:
            axes.plot([at, at], [low, high], "-", color=color, linewidth=1, marker="")
        if middles[at].bound:
            plots.bound(axes, at, middles[at].value, color)
    return line


def _floors(axes: Axes, lines: Sequence[tuple[Any, pd.DataFrame]]) -> None:
    """Draw lower bounds for `lines` (colour, rows) as dashes, in their colours if lines differ at some x, else in grey.

    Where runs at one point differ in theirs, the smallest is drawn, which holds for all. Bounds below 1 are left out.
    """
    colors: dict[tuple[Any, float], Any] = {}  # by place and bound
    for color, group in lines:
        least = floors(group).groupby(group["at"]).agg(lambda proved: proved.min(skipna=False))
        for mark in least[least >= 1].items():
            colors.setdefault(mark, color)
    shared = len({at for at, _ in colors}) == len(colors)
    look: dict[str, Any] = {"marker": "_", "markersize": 13, "markeredgewidth": 1.6, "zorder": 1.5}
    for (at, value), color in colors.items():
        dash = plots.bound(axes, at, value, plots.GREY if shared else color, **look)
    if colors:
        axes.legend([dash], ["proved lower bound"])


def floors(rows: pd.DataFrame) -> "pd.Series[float]":
    """Return for each row the strongest proved lower bound on its strategy's queries, nan for rows without."""
    proved = pd.Series(float("nan"), rows.index)
    for name in FLOORS:
        if {name, "strategy"} <= {*rows}:
            numbers = pd.to_numeric(rows[name], "coerce").astype(float)
            proved = proved.fillna(numbers.where(rows["strategy"].notna()))
    return proved


def _sortable(value: Any) -> tuple[float, str]:
    """Return a key that sorts values: numbers come first, by size, then texts, by the size of numbers in them."""
    text = re.sub(r"\d+", lambda digits: digits[0].zfill(12), printed(value))
    return float(value) if isinstance(value, Real) else float("inf"), text


def is_numeric(column: "pd.Series[Any]") -> bool:
    """Return whether a column holds numbers alone."""
    return all(isinstance(value, Real) and not isinstance(value, bool) for value in column)


def printed(value: Any) -> str:
    """Return a value of a row as text: whole numbers without a point, a missing value as "".

    >>> printed(16.0), printed(0.1), printed(None), printed(float("nan")), printed("mlp")
    ('16', '0.1', '', '', 'mlp')
    """
    if isinstance(value, list | dict):
        return str(value)
    if pd.isna(value):
        return ""
    return f"{value:.12g}" if isinstance(value, float) else str(value)
