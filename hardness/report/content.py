"""What a study makes of its rows: numbers, figures and tables, as plain data that the kit draws and prints."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hardness.engine.table import data_frame

if TYPE_CHECKING:
    import pandas as pd

    from hardness.engine.store import Row
    from hardness.statistics.means import Mean

Kind = Literal["points", "curve", "law", "lower bound", "upper bound"]  # of a series
T = TypeVar("T")


def frame(rows: "Iterable[Row]", *statuses: str, **solver: Any) -> "pd.DataFrame":
    """Trials that ended as one of `statuses` (none: in any way) and whose solver says `solver`, a line a trial.

    The columns are the parameters, solver, budget and detail, then family, repetition, status, cost and seconds; a
    study groups, pivots and merges them. Integers stay integers beside missing values (`Int64`); lists and mappings
    stay as they are.

    >>> from hardness.engine.outcome import Outcome, Row
    >>> from hardness.engine.task import Task
    >>> tasks = [Task("parity", {"dim": dim}, {}, {}, repetition) for dim in (8, 9) for repetition in (0, 1)]
    >>> ended = [Row(task, Outcome("solved", 10 * i)) for i, task in enumerate(tasks)]
    >>> frame(ended).groupby("dim").cost.median().to_dict()
    {8: 5.0, 9: 25.0}
    """
    lines = []
    for row in rows:
        task, end = row.task, row.outcome
        if end and (not statuses or end.status in statuses) and solver.items() <= dict(task.solver).items():
            named = {"family": task.family, "repetition": task.repetition, "status": end.status}
            columns = {**task.params, **task.solver, **task.budget, **end.detail}
            lines.append({**columns, **named, "cost": end.cost, "seconds": end.seconds})
    return data_frame(lines)


def lines_of(table: "pd.DataFrame | Sequence[Mapping[str, Any]]") -> list[dict[str, Any]]:
    """The lines of a table as mappings of plain values, None where one is missing.

    >>> import pandas as pd
    >>> lines_of(pd.DataFrame({"d": [8, 9], "q": [1.5, None]}))
    [{'d': 8, 'q': 1.5}, {'d': 9, 'q': None}]
    """
    if isinstance(table, Sequence):
        return [dict(line) for line in table]
    plain = table.astype(object).where(table.notna(), None)
    return [{str(name): value for name, value in line.items()} for line in plain.to_dict("records")]


def grouped(items: Iterable[T], *keys: str | int | Callable[[T], Any]) -> dict[Any, list[T]]:
    """Items by a key, in order of its first appearance; of several `keys`, by a tuple. A word or number is looked up.

    >>> grouped([{"d": 8, "q": 3}, {"d": 9, "q": 4}, {"d": 8, "q": 5}], "d")
    {8: [{'d': 8, 'q': 3}, {'d': 8, 'q': 5}], 9: [{'d': 9, 'q': 4}]}
    >>> grouped("bat", str.isupper, ord).keys()
    dict_keys([(False, 98), (False, 97), (False, 116)])
    """
    groups: dict[Any, list[T]] = {}
    for item in items:
        at: Any = item
        key = tuple(one(item) if callable(one) else at[one] for one in keys)
        groups.setdefault(key if len(key) > 1 else key[0], []).append(item)
    return groups


@dataclass(frozen=True)
class Axis:
    """An axis: its label, whether it is logarithmic, and, where the data do not say it, ticks (with names) and ends."""

    label: str
    log: bool = False
    ticks: Sequence[float] = ()
    names: Sequence[str] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Point:
    """A value with its interval, if it has one. `censored`: the truth is only known to lie "above" or "below" it.

    A `y` that is nan leaves a gap. `hollow` marks a point that holds for a part of its runs. `tip` is what hovering
    shows; without one, the series and the numbers. `note` is written beside the point.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    censored: Literal["", "above", "below"] = ""
    hollow: bool = False
    tip: str = ""
    note: str = ""


@dataclass(frozen=True)
class Series:
    """Points of one label: everything of that label in a figure looks the same.

    `kind`: "points" (markers, joined unless `join` is false; a censored point is never joined), "curve" (a line alone),
    "law" (a fitted or predicted line), "lower bound" and "upper bound" (lines whose ticks point to the side on which
    the truth lies). `style` fixes colour and marker by number, so that several figures agree; `dashed` tells two
    series of one style apart.
    """

    label: str
    points: Sequence[Point]
    kind: Kind = "points"
    join: bool = True
    style: int | None = None
    dashed: bool = False


def line(label: str, points: Sequence[tuple[float, float]], kind: Kind = "curve", **more: Any) -> Series:
    """A series of bare points (x, y): a curve, a law or a bound.

    >>> line("8τ²(N−1)", [(2, 7.0), (3, 36.4)], "lower bound").points[1].y
    36.4
    """
    return Series(label, [Point(x, y) for x, y in points], kind, **more)


def mean_points(means: "Iterable[tuple[float, Mean | None]]") -> list[Point]:
    """Points of means with their intervals; where there is none, there is no point.

    >>> from hardness.statistics.means import mean
    >>> [(point.x, round(point.low, 1), point.tip) for point in mean_points([(8, mean([1.0, 2.0, 3.0])), (16, None)])]
    [(8, -0.5, '8: 2 [-0.484, 4.48], 3 runs')]
    """
    return [Point(x, at.value, at.low, at.high, tip=f"{x:g}: {at}, {at.runs} runs") for x, at in means if at]


def mean_series(
    lines: "Sequence[Mapping[str, Any]] | pd.DataFrame", x: str, y: str, *keys: str, label: str
) -> list[Series]:
    """The means `y` of lines against their `x`: one series per value of `keys`, in order, which `label` names.

    >>> from hardness.statistics.means import mean
    >>> lines = [{"d": d, "n": 1, "q": mean([3.0])} for d in (8, 9)]
    >>> [series.label for series in mean_series(lines, "n", "q", "d", label="d = {}")]
    ['d = 8', 'd = 9']
    """
    cells = grouped(lines_of(lines), *keys).items()
    names = [label.format(*(key if len(keys) > 1 else (key,))) for key, _ in cells]
    points = [mean_points((line[x], line[y]) for line in some) for _, some in cells]
    return [Series(name, dots, style=i) for i, (name, dots) in enumerate(zip(names, points, strict=True))]


@dataclass(frozen=True)
class Panel:
    """A part of a figure. Axes of its own are not shared with the other panels.

    Where `floor` is given, nothing is possible below it, everything above `reached`, and between them it is open. Both
    are points (x, y) in order of x whose heights fall: between two of them the floor is as high as the right one, and
    what is reached as the left one, so that neither claims more than its points. From `barred[0]` to `barred[1]`
    nothing is possible at any height.
    """

    title: str
    series: Sequence[Series]
    x: Axis | None = None
    y: Axis | None = None
    floor: Sequence[tuple[float, float]] = ()
    reached: Sequence[tuple[float, float]] = ()
    barred: tuple[float, float] | None = None


@dataclass(frozen=True)
class Curves:
    """Panels of series over common axes. `alt_summary` says what is to be seen to who cannot see it.

    `kinds` are the kinds of its statements: words of `hardness.report.glossary.KINDS` with blanks between them. What
    the template gives of both stands in their place. `labels` says what it means that a point is censored "above" or
    "below" where the usual words do not fit.
    """

    name: str
    panels: Sequence[Panel]
    x: Axis
    y: Axis
    alt_summary: str = ""
    kinds: str = "measured"
    columns: int = 3
    height: float = 2.3  # inches of a panel
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """A field of a `HeatMap`: a status of `hardness.report.heatmap.FILLS`, or a `shade` from 0 (light) to 1 (dark)."""

    row: str
    column: str
    status: str = ""
    shade: float | None = None
    text: str = ""
    tip: str = ""


@dataclass(frozen=True)
class HeatMap:
    """Categories against categories: one panel a title of `panels`, side by side as far as the page is wide.

    Rows and columns stand in the order in which they first occur, or as `rows` lists them. `labels` says what a status
    means where its usual words do not fit. Words as of `Curves`.
    """

    name: str
    panels: Mapping[str, Sequence[Field]]
    alt_summary: str = ""
    x: str = ""
    rows: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    kinds: str = "measured"


Figure = Curves | HeatMap


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of its values, its heading, of which kind they are, and how they are written.

    `form` is a name of `hardness.report.rounding.FORMS` ("thousands", "at_least", …), or a function to text.
    """

    key: str
    head: str = ""
    kind: str = ""
    form: str | Callable[[Any], str] = "plain"


@dataclass(frozen=True)
class Table:
    """Rows as mappings or a DataFrame, shown by `columns` (a word is a key that is its own heading), or, if there are
    none, all their values but lists, in order of appearance."""

    caption: str
    rows: "Sequence[Mapping[str, Any]] | pd.DataFrame"
    columns: Sequence[Column | str] = ()


@dataclass(frozen=True)
class Content:
    """All that a page shows of its rows: JSON-able `numbers`, `figures`, and `tables` by name.

    `missing` says in one sentence why the rows do not answer the question, if they do not: it then stands for the
    headline, and figures and tables for the text. `grid` holds what the study was set to, as attributes (its module of
    tasks, say), which the template names. Captions and columns of bare rows stand in the template.
    """

    numbers: Mapping[str, Any] = field(default_factory=dict)
    figures: Sequence[Figure] = ()
    tables: "Mapping[str, Table | Sequence[Mapping[str, Any]] | pd.DataFrame]" = field(default_factory=dict)
    missing: str = ""
    grid: object = None
