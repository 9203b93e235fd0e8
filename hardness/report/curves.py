"""Curves as drawings: one grid of panels, one legend, every point with its words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from hardness.report.content import Axis, Curves, Panel, Point, Series
from hardness.report.drawing import GRID, INK, LINES, MARKERS, MUTED, RAMP, Drawing, style
from hardness.report.rounding import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.2  # inches: a page's column of text and a journal's page, so that labels keep their size
NARROW = 5.4  # of a figure with one panel
CHARACTER, HANDLE = 0.073, 0.62  # inches of the legend
BEYOND = {"above": ("^", "only known to be larger"), "below": ("v", "only known to be smaller")}
BOUNDS = {  # line, colour without a style, tick: matplotlib's tick up says that the truth lies above
    "lower bound": ((0, (5, 2)), INK, 2),
    "upper bound": ((0, (1.2, 1.5)), MUTED, 3),
}
LAW = (0, (4, 1.5, 1, 1.5))
Styles = Mapping[str, Mapping[str, Any]]


def curves(figure: Curves) -> Drawing:
    """The drawing of a figure of panels."""
    panels = figure.panels
    columns = min(figure.columns, len(panels))
    rows = -(-len(panels) // columns)
    styles = _styles([one for panel in panels for one in panel.series])
    entries = _entries(figure, styles)
    width = WIDTH if columns > 1 else NARROW
    across = _across([str(entry.get_label()) for entry in entries], width)
    height = figure.height * rows + 0.35 + 0.22 * -(-len(entries) // across)
    drawing = Drawing(figure, width, height)
    with style(figure.name):
        grid = list(drawing.figure.subplots(rows, columns, squeeze=False).flat)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        x, y = figure.x, figure.y
        heights = [height for panel in panels for _, height in panel.reached]
        if heights and y.high is None:
            y = replace(y, high=1.05 * max(heights))
        first: dict[str, Axes] = {}
        for i, (axes, panel) in enumerate(zip(grid, panels, strict=False)):
            _share(axes, panel, first)
            _draw(drawing, axes, panel, styles, panel.x or x, panel.y or y)
            _label(
                axes, figure, panel, left=i % columns == 0, bottom=(i // columns + 2) * columns > len(panels)
            )
        for axes, panel in zip(grid, panels, strict=False):  # when all is drawn that shares them
            for limit, axis in ((axes.set_xlim, panel.x or x), (axes.set_ylim, panel.y or y)):
                if axis.low is not None or axis.high is not None:
                    limit(axis.low, axis.high)
            _plain(axes)
        if entries:
            drawing.figure.legend(
                handles=entries, loc="outside upper center", ncols=across, handlelength=2.6, columnspacing=1.4
            )
    return drawing


def _share(axes: "Axes", panel: Panel, first: dict[str, "Axes"]) -> None:
    """Panels without axes of their own have the same ones."""
    for name, share in (("x", axes.sharex), ("y", axes.sharey)):
        if getattr(panel, name) is None:
            if name in first:
                share(first[name])
            else:
                first[name] = axes


def _draw(drawing: Drawing, axes: "Axes", panel: Panel, styles: Styles, x: Axis, y: Axis) -> None:
    for scale, axis in ((axes.set_xscale, x), (axes.set_yscale, y)):
        if axis.log:
            scale("log")
    if panel.floor:
        _regions(axes, panel, y)
    for one in panel.series:
        _series(drawing, axes, one, styles[one.label], x.label, y.label)
    axes.set_title(panel.title)
    axes.grid(axis="y")
    for ticks, axis in ((axes.set_xticks, x), (axes.set_yticks, y)):
        if axis.ticks:
            ticks(axis.ticks, axis.names or [short(tick) if axis.log else f"{tick:g}" for tick in axis.ticks])
            ticks((), minor=True)


def _regions(axes: "Axes", panel: Panel, y: Axis) -> None:
    """Impossible: plain grey, below a line; reached: hatched; open: the paper between them."""
    bottom = y.low if y.low is not None else 0.0
    x, floor = [at for at, _ in panel.floor], [height for _, height in panel.floor]
    axes.fill_between(x, bottom, floor, color=GRID, linewidth=0, step="pre")
    if panel.barred:
        axes.axvspan(*panel.barred, color=GRID, linewidth=0)
    axes.plot(x, floor, color=INK, linewidth=1.1, drawstyle="steps-pre")
    above = [at for at, _ in panel.reached], [height for _, height in panel.reached]
    dots: dict[str, Any] = {"facecolor": "none", "edgecolor": RAMP[2], "hatch": "...", "linewidth": 0}
    axes.fill_between(*above, y.high or max(floor), step="post", **dots)


def _series(drawing: Drawing, axes: "Axes", series: Series, pens: Mapping[str, Any], x: str, y: str) -> None:
    mark = {key: value for key, value in pens.items() if key in ("color", "marker")}
    pen = {key: value for key, value in pens.items() if key not in ("marker", "markersize")}
    if series.kind != "points":
        axes.plot([p.x for p in series.points], [p.y for p in series.points], **pen)
        for p in series.points if series.kind in BOUNDS else ():
            drawing.point(
                axes, p.x, p.y, p.tip or _tip(series.label, p, x, y), **mark, markersize=pens["markersize"]
            )
        return
    if series.join:
        for run in _runs(series.points):
            axes.plot([p.x for p in run], [p.y for p in run], **pen)
    for p in (p for p in series.points if not isnan(p.y)):
        low, high = p.low if p.low is not None else p.y, p.high if p.high is not None else p.y
        if high > low:
            axes.vlines(p.x, max(low, 1e-300), min(high, 1e300), color=pens["color"], linewidth=1.1)
        shape = {**mark, "markerfacecolor": "none"} if p.hollow or p.censored else mark
        if p.censored:
            shape |= {"marker": BEYOND[p.censored][0], "markersize": 7}
        # Above the ticks of bounds, which may stand at the same place
        drawing.point(axes, p.x, p.y, p.tip or _tip(series.label, p, x, y), **shape, zorder=2.5)
        if p.note:
            axes.annotate(p.note, (p.x, p.y), (5, 4), textcoords="offset points", fontsize=8)


def _runs(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Stretches of points that may be joined: a censored one, or one that is not there (y is nan), ends a stretch."""
    run: list[Point] = []
    for point in sorted(points, key=lambda p: p.x):
        if point.censored or isnan(point.y):
            yield run
            run = []
        else:
            run.append(point)
    yield run


def _tip(label: str, p: Point, x: str, y: str) -> str:
    more = {"above": "more than ", "below": "less than "}.get(p.censored, "")
    spread = f" ({p.low:.4g} to {p.high:.4g})" if p.low is not None and p.high is not None else ""
    return f"{label}, {x} {p.x:g}: {more}{p.y:,.4g}{spread} {y}"


def _styles(series: Sequence[Series]) -> Styles:
    """Colour, marker and line of every label: by its style, or by the order of first appearance."""
    styles: dict[str, dict[str, Any]] = {}
    free = count(
        1 + max((one.style for one in series if one.style is not None and one.kind not in BOUNDS), default=-1)
    )
    for line in series:
        if line.label in styles:
            continue
        if line.kind in BOUNDS:
            dash: Any
            dash, color, tick = BOUNDS[line.kind]
            if line.style is not None:  # several bounds of one kind
                dash, color = LINES[line.style % len(LINES)], RAMP[2 * line.style % len(RAMP)]
            styles[line.label] = {
                "color": color,
                "linestyle": dash,
                "marker": tick,
                "markersize": 5.5,
                "linewidth": 1.1,
            }
            continue
        i = line.style if line.style is not None else next(free)
        law: Any = LAW if line.style is None else LINES[1 + line.style % (len(LINES) - 1)]
        pen: Any = law if line.kind == "law" else LINES[1] if line.dashed else "-"
        pens: dict[str, Any] = {"color": RAMP[2 * i % len(RAMP)], "linestyle": pen}
        pens |= {"marker": MARKERS[i % len(MARKERS)]} if line.kind == "points" else {}
        pens |= {"linewidth": 1.0} if line.kind == "law" else {}
        styles[line.label] = pens
    return styles


def _entries(figure: Curves, styles: Styles) -> list[Any]:
    """The legend: regions, series, and what a triangle means where one is drawn."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[Any] = []
    if any(panel.floor for panel in figure.panels):
        entries = [Patch(facecolor=GRID, edgecolor=INK, linewidth=0.5, label="impossible")]
    if any(panel.reached for panel in figure.panels):
        entries += [
            Patch(facecolor="none", edgecolor=INK, linewidth=0.5, label="open"),
            Patch(facecolor="none", edgecolor=RAMP[2], hatch="...", linewidth=0.5, label="reached"),
        ]
    series = [one for panel in figure.panels for one in panel.series]
    joined = {one.label for one in series if one.kind != "points" or one.join}
    for label, pens in styles.items():
        entries.append(
            Line2D([], [], label=label, **{**pens, **({} if label in joined else {"linestyle": "none"})})
        )
    for side, (marker, words) in BEYOND.items():
        if any(p.censored == side for one in series for p in one.points):
            entries.append(
                Line2D(
                    [],
                    [],
                    color=INK,
                    marker=marker,
                    markerfacecolor="none",
                    linestyle="none",
                    markersize=7,
                    label=figure.labels.get(side, words),
                )
            )
    return entries


def _across(labels: Sequence[str], width: float) -> int:
    """How many entries of a legend fit side by side in a figure of that width in inches."""
    return max(1, min(4, len(labels), int(width / (HANDLE + CHARACTER * max(map(len, labels), default=1)))))


def _label(axes: "Axes", figure: Curves, panel: Panel, left: bool, bottom: bool) -> None:
    """Axes are labelled once: at the left and below, and wherever a panel has its own."""
    if left or panel.y:
        axes.set_ylabel((panel.y or figure.y).label)
    else:
        axes.tick_params(labelleft=False)
    if bottom or panel.x:
        axes.set_xlabel((panel.x or figure.x).label)
    else:
        axes.tick_params(labelbottom=False)


def _plain(axes: "Axes") -> None:
    """Ticks of logarithmic axes as plain numbers: an exponent in small print could not be read."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() != "log" or isinstance(axis.get_major_locator(), FixedLocator):
            continue
        low, high = sorted(axis.get_view_interval())
        decades = inf if low <= 0 else high / low
        subs = (1, 2, 5) if decades < 50 else (1, 3) if decades < 1000 else (1,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=9))
        axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())
