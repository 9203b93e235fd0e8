"""The figures of `wall`: costs on hard and nice layers with learning curves under them, and cost against N."""

from collections.abc import Iterable
from math import comb
from typing import TYPE_CHECKING, Any

from hardness.evaluation import judge
from hardness.report.drawing import INK, LINES, MARKERS, MUTED, RAMP, Drawing, style
from hardness.studies.wall.cells import HARD, NICE, Cells, Runs, places
from hardness.studies.wall.tasks import STUDENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPLAINED = judge.EXPLAINED.threshold
HEADLINE = 16  # the dimension whose ratios are the headline, and whose curves are drawn
LOOKS: dict[str, tuple[str, str, Any]] = {HARD: (RAMP[6], "o", "-"), NICE: (RAMP[1], "s", (0, (5, 2)))}
APART = 4  # the dimensions that are drawn: its multiples
SKIPPED = " (multiples of four with several m; the table has all)"
Curves = list[tuple[str, list[list[Any]]]]  # a name, and points (examples, explained, correlation)


def drawn(places: Iterable[tuple[int, int]]) -> list[int]:
    """Of cells (d, m), the dimensions that are drawn against m: multiples of four with several m; all if there is none.

    >>> drawn([(8, 2), (8, 3), (10, 2), (10, 3), (12, 2), (12, 3), (32, 2)]), drawn([(32, 2)])
    ([8, 12], [32])
    """
    sizes: dict[int, set[int]] = {}
    for d, m in places:
        sizes.setdefault(d, set()).add(m)
    return sorted(d for d, own in sizes.items() if d % APART == 0 and len(own) > 1) or sorted(sizes)


def _mark(drawing: Drawing, axes: "Axes", x: float, runs: Runs, name: str, color: str, marker: str) -> None:
    """The median of a cell with the range of its solved runs, or a triangle at the cap."""
    won = runs.cost[runs.solved]
    tip = f"{name}: {len(won)} of {len(runs.cost)} runs solved, median {'' if runs.median else '> '}{runs.bound:,.0f}"
    if runs.median is None:
        drawing.point(axes, x, runs.bound, tip, color=color, marker="^", markerfacecolor="none", markersize=7)
        return
    axes.vlines(x, won.min(), won.max(), color=color, linewidth=1.2)
    filled = {} if runs.solved.all() else {"markerfacecolor": "none"}
    drawing.point(axes, x, runs.median, tip, color=color, marker=marker, **filled)


def costs(found: Cells) -> Drawing:
    """A panel a dimension, and under them one learning curve of each kind of layer."""
    dims = drawn(place for layers in LOOKS for place in places(found, layers))
    curves = chosen(found)
    drawing = Drawing("costs", max(6.4, 1.2 + 1.55 * len(dims)), 3.3 + 2.7 * bool(curves))
    drawing.caption = (
        f"Examples to {EXPLAINED:.0%} of the variance against m, a panel a dimension{SKIPPED}, on hidden parities "
        "(circles) and on random layers (squares): medians with the range of the solved runs; open where some runs "
        "were censored, a triangle at the cap where most were. Below, one run of each kind, the first of its cell: "
        "the share of the variance explained on fresh inputs, and dotted the correlation with the hidden parity where "
        "z₀ ≠ 0. The broken line is the target; a curve that ends below it was censored there."
    )
    with style(drawing.name):
        from matplotlib.lines import Line2D

        grid = drawing.figure.add_gridspec(1 + bool(curves), len(dims))
        panels = [drawing.figure.add_subplot(grid[0, i]) for i in range(len(dims))]
        for axes in panels[1:]:
            axes.sharey(panels[0])
            axes.tick_params(labelleft=False)
        for axes, dim in zip(panels, dims, strict=False):
            for layers, (color, marker, dash) in LOOKS.items():
                own = {m: runs for (d, m), runs in places(found, layers).items() if d == dim}
                joined = {m: runs.median for m, runs in own.items() if runs.median}
                axes.plot(list(joined), list(joined.values()), color=color, linestyle=dash)
                for m, runs in own.items():
                    _mark(drawing, axes, m, runs, f"{layers}, d = {dim}, m = {m}", color, marker)
            sizes = sorted({m for layers in LOOKS for d, m in places(found, layers) if d == dim})
            axes.set_xticks(sizes, list(map(str, sizes)))
            axes.set(yscale="log", title=f"d = {dim}", xlabel="m", xlim=(min(sizes) - 0.5, max(sizes) + 0.5))
            axes.grid(axis="y")
        panels[0].set_ylabel("examples")
        handles = [Line2D([], [], label=n, color=c, marker=k, linestyle=dash) for n, (c, k, dash) in LOOKS.items()]
        drawing.figure.legend(handles=handles, loc="outside upper center", ncols=2)
        if curves:
            _curves(drawing.figure.add_subplot(grid[1, :]), curves)
    return drawing


def concepts(found: Cells) -> Drawing:
    """Cost on parities against the number of concepts."""
    cells = places(found, HARD)
    drawing = Drawing("concepts", 6.0, 3.6)
    drawing.caption = (
        "Examples on hidden parities against the number of concepts N = C(d−1, m), as they fall: a line is not "
        "promised, and cells of the same N may differ. Marks as above; grey lines join cells of one m."
    )
    with style(drawing.name):
        from matplotlib.lines import Line2D

        axes, handles = drawing.figure.subplots(), []
        for i, size in enumerate(sorted({m for _, m in cells})):
            color, marker = RAMP[i % len(RAMP)], MARKERS[i % len(MARKERS)]
            own = {comb(d - 1, m): (d, runs) for (d, m), runs in cells.items() if m == size}
            joined = {n: runs.median for n, (_, runs) in own.items() if runs.median}
            axes.plot(list(joined), list(joined.values()), color=MUTED, linewidth=0.7)
            for n, (d, runs) in own.items():
                _mark(drawing, axes, n, runs, f"d = {d}, m = {size}, N = {n}", color, marker)
            handles.append(Line2D([], [], linestyle="none", label=f"m = {size}", color=color, marker=marker))
        axes.set(xscale="log", yscale="log", xlabel="N = C(d−1, m)", ylabel="examples")
        axes.grid(visible=True)
        drawing.figure.legend(handles=handles, loc="outside right center")
    return drawing


def chosen(found: Cells) -> Curves:
    """One run of each kind of layer: at d = 16 if there is one, with most heads among those that arrived."""
    curves = []
    for kind, cells in found.items():
        usable = {
            p: r for p, r in cells.items() if kind.learner == STUDENT and any("curve" in o.detail for o in r.outcomes)
        }
        if usable:
            place = max(usable, key=lambda p: (bool(usable[p].median), p[0] == HEADLINE, p[1], p[0]))
            first = next(o for o in usable[place].outcomes if "curve" in o.detail)
            curves.append((f"{kind.layers}, d = {place[0]}, m = {place[1]}", first.detail["curve"]))
    return curves


def _curves(axes: "Axes", curves: Curves) -> None:
    for i, (name, curve) in enumerate(curves):
        color = RAMP[i % len(RAMP)]
        columns = [(1, LINES[i % len(LINES)])] + [(2, (0, (1, 1.5)))] * name.startswith(HARD)
        for column, dash in columns:
            points = [(p[0], p[column]) for p in curve if p[column] is not None and p[column] > -0.5]
            own: dict[str, Any] = {"label": name} if column == 1 else {"linewidth": 1.0}
            axes.plot([x for x, _ in points], [y for _, y in points], color=color, linestyle=dash, **own)
    axes.axhline(EXPLAINED, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
    axes.set(xscale="log", xlabel="examples", ylabel="explained", ylim=(-0.3, 1.05))
    axes.grid(axis="y")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
