"""The chart of any rows: medians of one column against another, with a line for each value of further columns."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from hardness.engine.frames import PARTS
from hardness.engine.outcome import CENSORED
from hardness.errors import InputError, unknown
from hardness.report import plots
from hardness.statistics import Median, median, median_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = ("x", "y")
DESIGN = {PARTS[part] for part in ("params", "solver", "budget")}
PRICED = ("cost", "ratio")  # columns that only a run has that solved, or that a budget or a time limit ended
COLORS = 7  # of the style; further lines have them again, dotted
MOST_LINES = 2 * COLORS
MOST_TICKS = 12
SPREAD = 8.0  # points from the leftmost to the rightmost bar at the same x
BOUND = "#69696a"


def design(rows: "pd.DataFrame") -> list[str]:
    """Return the columns that tell cells apart: family, parameters, solver and budget, where rows differ in them."""
    meanings: Mapping[str, str] = rows.attrs["columns"]
    names = [name for name in rows if name == "family" or meanings[name] in DESIGN]
    return [name for name in names if rows[name].map(printed).nunique() > 1]


def without_implied(rows: "pd.DataFrame", names: Sequence[str], implied: Sequence[str]) -> list[str]:
    """Return the columns `names` without those of `implied` that follow from the rest, tried in the order given."""
    shown, kept = rows[[*names]].map(printed), [*names]
    cells = len(shown.drop_duplicates())
    for name in implied:
        rest = [each for each in kept if each != name]
        if rest and len(shown[rest].drop_duplicates()) == cells:
            kept = rest
    return kept


def select(rows: "pd.DataFrame", where: Mapping[str, Sequence[str]]) -> "pd.DataFrame":
    """Return the rows that have, in every column of `where`, one of the values listed there, as they are printed.

    A text that no row has stands for several values with commas between. Raises `InputError` for an unknown column, and
    for a value that no row has.
    """
    for name, texts in where.items():
        check_column(rows, name)
        shown = rows[name].map(printed)
        known = set(shown)
        values = [value for text in texts for value in ([text] if text in known else text.split(","))]
        for value in values:
            if value not in known:
                raise unknown(f"value of the column {name}", value, known)
        rows = rows[shown.isin(values)]
    return rows


def check_column(rows: "pd.DataFrame", name: str) -> None:
    """Raise `InputError`, with the nearest name as a suggestion, unless the rows have a column of that name."""
    if name not in rows:
        raise unknown("column", name, map(str, rows.columns))


def mixed(rows: "pd.DataFrame", x: str, by: Sequence[str]) -> list[str]:
    """Return the columns of the design that vary within a point of the chart, whose medians then mix several cells."""
    shown = rows.map(printed)
    points = shown.groupby([x, *by])
    names = [name for name in design(rows) if name not in (x, *by)]
    return [name for name in names if (points[name].nunique() > 1).any()]


def chart(
    rows: "pd.DataFrame", x: str, y: str = "cost", by: Sequence[str] = (), log: Sequence[str] = ()
) -> "Figure":
    """Return a figure of the medians of column y against column x, with a line for each value of the columns `by`.

    `rows` are those of `hardness.rows`; those without a value in one of the columns are left out. A bar is an interval
    of order statistics that holds the median with a probability of at least .95; of fewer than six runs it goes from
    the smallest to the largest. A hollow triangle with an arrow is a median that is only known to be larger, because a
    budget or a time limit ended this many runs; a bar with a triangle at its top is open above for the same reason. For
    `cost` and `ratio` only runs count that solved or were ended so. The proved bound on the queries of games, where
    rows have one, is a dashed line. `log` names the axes that have a logarithmic scale.

    Raises `InputError` for an unknown column, for a column y without numbers, and for logarithms that do not exist.
    """
    for name in (x, y, *by):
        check_column(rows, name)
    for axis in log:
        if axis not in AXES:
            raise unknown("axis", axis, AXES)
    kept = _counted(rows, x, y, by)
    lines = dict(_grouped(kept, by))
    if len(lines) > MOST_LINES:
        raise InputError(
            f"--by {','.join(by)} makes {len(lines)} lines, more than {MOST_LINES}; choose some of them with --where"
        )
    places = _places(kept[x])
    for axis, name, values in (("x", x, [*places.values()]), ("y", y, kept[y])):
        if axis in log and (min(values) <= 0 or (axis == "x" and not is_numeric(kept[x]))):
            raise InputError(f"column {name} holds values without a logarithm; leave {axis} out of --log")
    with plots.style():
        figure, axes = plots.panels(height=4.0)
        axes.set(xlabel=x, ylabel=f"median {y}")
        axes.margins(y=0.08)  # room for arrows
        for axis, scale in (("x", axes.set_xscale), ("y", axes.set_yscale)):
            if axis in log:
                scale("log")
        ends = []
        dashes = ["-", ":"] if is_numeric(kept[x]) else ["none", "none"]  # words have no order to join
        for i, (label, group) in enumerate(lines.items()):
            shift = SPREAD * (i / (len(lines) - 1) - 0.5) if len(lines) > 1 else 0.0
            ends.append((_line(axes, group, places, (x, y), shift, dashes[i // COLORS]), label))
        axes.autoscale_view()
        if y == "cost" and "bound" in kept:
            ends += _bounds(axes, lines, places, x)
        _ticks(axes, places, numeric=is_numeric(kept[x]))
        plots.label_ends(axes, [(line, label) for line, label in ends if label])
    return figure


def _counted(rows: "pd.DataFrame", x: str, y: str, by: Sequence[str]) -> "pd.DataFrame":
    """Return the rows that have a value in every column, with y as floats."""
    import pandas as pd

    numbers = pd.to_numeric(rows[y].map(lambda value: None if isinstance(value, list) else value), "coerce")
    rows = rows.assign(**{y: numbers.astype(float)})
    if y in PRICED:
        rows = rows[rows["status"].isin(["solved", *CENSORED])]
    kept = rows.dropna(subset=[x, y, *by])
    if kept.empty:
        others = ", ".join((x, *by))
        raise InputError(
            f"no row has a number in {y} and values in {others}; choose other columns or more rows"
        )
    return kept


def _grouped(rows: "pd.DataFrame", by: Sequence[str]) -> "list[tuple[str, pd.DataFrame]]":
    """Return the rows of every line and its label, in the order of their values."""
    if not by:
        return [("", rows)]
    keys = rows[list(by)].map(printed)
    for name in by:
        if is_numeric(rows[name]):
            keys[name] = f"{name} " + keys[name]
    groups = rows.groupby([keys[name] for name in by])
    labels = {", ".join(key): group for key, group in groups}
    if all(is_numeric(rows[name]) for name in by):
        first = {label: [float(group[name].iloc[0]) for name in by] for label, group in labels.items()}
        return sorted(labels.items(), key=lambda item: first[item[0]])
    return [*labels.items()]


def _places(column: "pd.Series[Any]") -> dict[str, float]:
    """Return where each value of x stands: at itself, or, if x holds words, at its place in their order."""
    shown = sorted({printed(value) for value in column})
    if is_numeric(column):
        return {text: float(text) for text in sorted(shown, key=float)}
    return {text: float(i) for i, text in enumerate(shown)}


def _line(
    axes: "Axes",
    rows: "pd.DataFrame",
    places: Mapping[str, float],
    names: tuple[str, str],
    shift: float,
    dashes: str,
) -> Any:
    """Draw the medians of a line, with bars moved by `shift` points to the right; return the line."""
    from matplotlib.transforms import ScaledTranslation

    x, y = names
    figure = axes.get_figure(root=True)
    assert figure is not None
    moved = axes.transData + ScaledTranslation(shift / 72, 0, figure.dpi_scale_trans)
    cells = {places[text]: cell for text, cell in rows.groupby(rows[x].map(printed))}
    at = sorted(cells)
    middles = {place: _median(cells[place], y) for place in at}
    (line,) = axes.plot(at, [middles[place].value for place in at], linestyle=dashes)
    color = line.get_color()
    for place in at:
        low, high, is_open = median_interval([*cells[place][y]], _censored(cells[place], y))
        if high > low:
            axes.plot([place, place], [low, high], "-", color=color, linewidth=1, marker="", transform=moved)
            axes.update_datalim([(place, low), (place, high)])  # what is moved does not count by itself
        if is_open and high > middles[place].value:
            axes.plot([place], [high], "^", color=color, markersize=4, transform=moved)
        if middles[place].bound:
            plots.bound(axes, place, middles[place].value, color)
    return line


def _censored(rows: "pd.DataFrame", y: str) -> "Sequence[bool]":
    return [bool(value) and y in PRICED for value in rows["censored"]]


def _median(rows: "pd.DataFrame", y: str) -> Median:
    return median([*rows[y]], _censored(rows, y))


def _bounds(
    axes: "Axes", lines: "Mapping[str, pd.DataFrame]", places: Mapping[str, float], x: str
) -> list[tuple[Any, str]]:
    """Draw the proved bounds that are one number at every x, each once; return their lines and labels."""
    drawn: dict[tuple[tuple[float, float], ...], str] = {}
    for label, rows in lines.items():
        known = rows[rows["bound"].notna()]
        cells = known.groupby(known[x].map(printed))["bound"]
        if len(known) and (cells.nunique() == 1).all():
            curve = tuple(sorted((places[text], float(value)) for text, value in cells.first().items()))
            drawn[curve] = "proved bound" if curve in drawn else f"proved bound, {label}".removesuffix(", ")
    ends = []
    for curve, label in drawn.items():
        (line,) = axes.plot(*zip(*curve, strict=True), "--", color=BOUND, marker="", linewidth=1.2)
        ends.append((line, label))
    return ends


def _ticks(axes: "Axes", places: Mapping[str, float], numeric: bool) -> None:
    """Label the values of x, where they are words or few."""
    if numeric and len(places) > MOST_TICKS:
        return
    axes.set_xticks([*places.values()], [*places])
    axes.set_xticks([], minor=True)
    if not numeric and sum(map(len, places)) > 60:
        axes.tick_params("x", labelrotation=30)


def is_numeric(column: "pd.Series[Any]") -> bool:
    """Return whether a column holds numbers alone."""
    return all(isinstance(value, Real) and not isinstance(value, bool) for value in column)


def printed(value: Any) -> str:
    """Return a value as it is printed and asked for: whole numbers without a point, nothing for what is missing.

    >>> printed(16.0), printed(0.1), printed(None), printed(float("nan")), printed("mlp")
    ('16', '0.1', '', '', 'mlp')
    """
    import pandas as pd

    if isinstance(value, list | dict):
        return str(value)
    if pd.isna(value):
        return ""
    return f"{value:.12g}" if isinstance(value, float) else str(value)
