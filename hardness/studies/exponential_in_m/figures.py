"""The figures of `exponential-in-m`: one axis style, readable in grey, every point with its trial counts."""

from collections.abc import Iterable, Sequence
from math import comb, inf, log2, log10
from typing import TYPE_CHECKING, Any

from hardness.sq.bounds.parity import window_bound
from hardness.studies.exponential_in_m.answer import Answer, Series
from hardness.study.growth.cells import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

from hardness.study.page.drawing import GRID, INK, LINES, MARKERS, MUTED, RAMP, WHO, Drawing, style

MOST = 20  # panels or curves in one figure


def draw(answer: Answer) -> list[Drawing]:
    """The figures that the rows allow, in the order of the page."""
    drawings = []
    if answer.adversary.cells:
        drawings.append(_adversary(answer))
    if any(series.cells for series in (answer.honest, *answer.learners)):
        drawings.append(_others(answer))
    if any(series.growth.exponents for series in (answer.adversary, answer.honest, *answer.learners)):
        drawings.append(_exponents(answer))
    return drawings


def _adversary(answer: Answer) -> Drawing:
    """One panel a dimension: the cheapest strategy between the proven bound and C(d-1, m)."""
    cells, tau = answer.adversary.cells, answer.adversary.tolerance or 0.0
    dims = sorted({dim for dim, _ in cells})[:MOST]
    columns = min(5, len(dims))
    lines = -(-len(dims) // columns)
    drawing = Drawing("adversary", 0.9 + 2.05 * columns, 0.75 + 2.75 * lines)
    with style(drawing.name):
        panels = drawing.figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, dim in zip(panels, dims, strict=False):
            sizes = sorted(size for d, size in cells if d == dim)
            floor = [window_bound(comb(dim - 1, s), tau) for s in sizes]
            ceiling = [comb(dim - 1, s) for s in sizes]
            axes.fill_between(sizes, floor, ceiling, color=GRID, alpha=0.45, linewidth=0)
            axes.plot(sizes, ceiling, color=MUTED, linestyle=(0, (1.2, 1.5)), linewidth=1.1)
            axes.plot(sizes, floor, color=INK, linestyle=(0, (5, 2)), linewidth=1.1)
            for size in sizes:
                if (dim, size) in answer.reference.cells:
                    axes.plot(size, answer.reference.cells[dim, size].median, "x", color=MUTED, markersize=4.5)
            _curve(drawing, axes, [cells[dim, s] for s in sizes], WHO["cheapest strategy"], "o", "-", "queries")
            axes.set_title(f"d = {dim}")
            _frame(axes, "m", cells)
        for axes in panels[len(dims) :]:
            axes.set_visible(False)
        panels[0].set_ylabel(f"queries at tolerance {tau:g}")
        _name_lines(drawing.figure, tau)
    return drawing


def _name_lines(figure: "Figure", tau: float) -> None:
    from matplotlib.lines import Line2D

    looks: list[tuple[str, dict[str, Any]]] = [
        ("C(d−1, m), all concepts", {"color": MUTED, "linestyle": (0, (1.2, 1.5)), "linewidth": 1.1}),
        ("characters (reference)", {"color": MUTED, "linestyle": "none", "marker": "x", "markersize": 4.5}),
        ("cheapest strategy, measured", {"color": WHO["cheapest strategy"], "marker": "o"}),
        (f"proven bound 8τ²(N−1), τ = {tau:g}", {"color": INK, "linestyle": (0, (5, 2)), "linewidth": 1.1}),
    ]
    handles = [Line2D([], [], label=label, **look) for label, look in looks]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, handlelength=2.6, columnspacing=1.6)


def _others(answer: Answer) -> Drawing:
    """Honest oracle and learners: a panel each, a curve a dimension, named at its end."""
    shown = [series for series in (answer.honest, *answer.learners) if series.cells]
    drawing = Drawing("honest", 0.6 + 4.6 * len(shown), 4.0)
    with style(drawing.name):
        for axes, series in zip(drawing.figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
            dims = sorted({dim for dim, _ in series.cells})[:MOST]
            for i, dim in enumerate(dims):
                cells = [series.cells[key] for key in sorted(series.cells) if key[0] == dim]
                look = RAMP[i % len(RAMP)], MARKERS[i % len(MARKERS)], LINES[i % len(LINES)]
                _curve(drawing, axes, cells, *look, series.unit)
            if series is answer.honest and series.tolerance:
                _worst_case_only(axes, series, dims)
            _name_ends(axes, series, dims)
            axes.set_title(f"{series.label}, exhaustive" if series is answer.honest else f"{series.label} on examples")
            axes.set_ylabel(f"{series.unit} to success")
            _frame(axes, "m", series.cells)
    return drawing


def _worst_case_only(axes: "Axes", series: Series, dims: Sequence[int]) -> None:
    for dim in {dims[0], dims[-1]}:
        sizes = sorted(s for d, s in series.cells if d == dim)
        floor = [window_bound(comb(dim - 1, s), series.tolerance or 0.0) for s in sizes]
        (line,) = axes.plot(sizes, floor, color=MUTED, linestyle=(0, (5, 2)), linewidth=1.0)
    label = f"8τ²(N−1), τ = {series.tolerance:g}, at d = {dims[0]} and {dims[-1]}:\nworst-case oracle only"
    axes.legend([line], [label], loc="lower right", labelcolor=MUTED, fontsize=8.5, handlelength=3)


def _name_ends(axes: "Axes", series: Series, dims: Sequence[int]) -> None:
    """Write each d to the right of the end of its curve, or above it where a longer curve passes there."""
    last = max(size for _, size in series.cells)
    costs = [log2(cell.median) for cell in series.cells.values()]
    gap, below = max(max(costs) - min(costs), 1.0) * 0.055, -1.0
    ends = {dim: max(key for key in series.cells if key[0] == dim) for dim in dims}
    for dim in sorted(dims, key=lambda dim: log2(series.cells[ends[dim]].median)):
        height, size = log2(series.cells[ends[dim]].median), ends[dim][1]
        aside: dict[str, Any] = {"xytext": (0, 8), "ha": "center", "va": "bottom"}
        if not any(_passes(series, other, size, height) for other in dims):
            if size == last:
                height = below = max(height, below + gap)  # pushed apart where ends are close
            aside = {"xytext": (8, 0), "va": "center"}
        color = RAMP[dims.index(dim) % len(RAMP)]
        axes.annotate(f"d = {dim}", (size, 2**height), textcoords="offset points", color=color, fontsize=9, **aside)


def _passes(series: Series, dim: int, size: int, height: float) -> bool:
    here, there = series.cells.get((dim, size)), series.cells.get((dim, size + 1))
    return bool(here and there and log2(here.median) < height < log2(there.median))


def _exponents(answer: Answer) -> Drawing:
    """alpha(m) with intervals, and the fitted line, for every series that has them."""
    drawing = Drawing("exponents", 6.4, 4.2)
    with style(drawing.name):
        axes = drawing.figure.subplots()
        shown = [s for s in (answer.adversary, answer.honest, *answer.learners) if s.growth.exponents]
        for i, series in enumerate(shown):
            color = WHO.get(series.label, WHO["learner"])
            sizes, found = list(series.growth.exponents), list(series.growth.exponents.values())
            x = [size + 0.09 * (i - (len(shown) - 1) / 2) for size in sizes]
            slope = series.growth.slope
            if slope is None or slope.high == inf:
                continue
            centre, level = sum(sizes) / len(sizes), sum(a.value for a in found) / len(found)
            line = [level + slope.value * (size - centre) for size in (sizes[0], sizes[-1])]
            look: Any = {"color": color, "linestyle": LINES[i % len(LINES)], "linewidth": 1.2}
            axes.plot([sizes[0], sizes[-1]], line, **look)
            axes.plot([], [], marker=MARKERS[i % len(MARKERS)], label=f"{series.label}: slope {slope}", **look)
            for at, size, alpha in zip(x, sizes, found, strict=True):
                axes.plot([at, at], [alpha.low, alpha.high], color=color, linewidth=1.4)
                tip = f"{series.label}, m = {size}: alpha = {alpha}"
                drawing.point(axes, at, alpha.value, tip, color=color, marker=MARKERS[i % len(MARKERS)])
        axes.axhline(0, color=MUTED, linewidth=0.7)
        axes.set_ylabel("α(m): exponent of d in the cost")
        axes.set_xlabel("m")
        axes.set_xticks(sorted({size for series in shown for size in series.growth.exponents}))
        axes.grid(axis="y")
        axes.legend(loc="upper left", handlelength=3)
    return drawing


def _curve(
    drawing: Drawing, axes: "Axes", cells: Sequence[Cell], color: str, marker: str, line: Any, unit: str
) -> None:
    """Medians with their limits; a censored cell is an open triangle: at least this much."""
    measured = [cell for cell in cells if not cell.censored]
    axes.plot([c.size for c in measured], [c.median for c in measured], color=color, linestyle=line)
    for cell in cells:
        cost = cell.median
        runs = f"{int(cell.solved.sum())} of {len(cell.solved)} runs solved"
        if cell.censored:
            tip = f"d = {cell.dim}, m = {cell.size}: {runs}; at least {cost:,.0f} {unit}"
            drawing.point(axes, cell.size, cost, tip, color=color, marker="^", markerfacecolor="none", markersize=8)
            axes.annotate(
                "", (cell.size, cost), xytext=(0, 22), textcoords="offset points",
                arrowprops={"arrowstyle": "<-", "color": color},
            )  # fmt: skip
            continue
        if not cell.deterministic and cell.limits[1] < inf:
            axes.plot([cell.size] * 2, cell.limits, color=color, linewidth=1.1)
        hollow = {} if cell.solved.all() else {"markerfacecolor": "none"}
        tip = f"d = {cell.dim}, m = {cell.size}: {runs}; median {cost:,.0f} {unit}"
        drawing.point(axes, cell.size, cost, tip, color=color, marker=marker, **hollow)


def _frame(axes: "Axes", label: str, cells: Iterable[tuple[int, int]]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(10, numticks=12))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(_power_of_ten))
    axes.xaxis.set_major_locator(FixedLocator(sorted({size for _, size in cells})))
    axes.set_xlabel(label)
    axes.grid(axis="y")


SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power_of_ten(y: float, _: int) -> str:
    return f"10{str(round(log10(y))).translate(SUPERSCRIPT)}" if y > 0 else ""
