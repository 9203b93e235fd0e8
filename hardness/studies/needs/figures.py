"""The maps of `needs`, a panel a number of heads, and what they come to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any

from hardness.report.drawing import GRID, INK, LINES, MARKERS, RAMP, Drawing, style
from hardness.studies.looks import LOOKS
from hardness.studies.needs.formulas import inverse, samples
from hardness.studies.needs.tasks import EXPONENTS, FINEST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IMPOSSIBLE, REACHED, PER_ROW = GRID, RAMP[2], 4
CERTAIN, INDEPENDENT = ("surely suffices", RAMP[5], LINES[1]), ("independent batches", RAMP[0], LINES[2])
QUARTER = 2.0  # log2 1/tau at which parities begin to be told apart


@dataclass(frozen=True)
class Panel:
    """One class: floors and formulas by exponent, and the cheapest game at each: (exponent, queries, who)."""

    title: str
    floor: Sequence[tuple[float, float]]
    certain: Sequence[tuple[float, float]]
    independent: Sequence[tuple[float, float]]
    games: Sequence[tuple[float, int, str]]
    barred: bool = True  # whether nothing is identifiable from 1/4 on

    @property
    def reached(self) -> list[tuple[float, float]]:
        """The least that is known to suffice: games where there are any, and formulas elsewhere."""
        if self.games:
            return [(e, q) for e, q, _ in self.games]
        known = dict(self.certain)
        return sorted((known | {e: min(q, known.get(e, q)) for e, q in self.independent}).items())


def map_drawing(name: str, panels: Sequence[Panel], caption: str, seen: str) -> Drawing:
    """The plane of tolerance and queries, a panel a class: impossible, open, reached."""
    columns = min(PER_ROW, len(panels))
    rows = -(-len(panels) // columns)
    drawing = Drawing(name, 1.0 + 2.3 * columns, 1.3 + 2.3 * rows)
    drawing.caption, drawing.seen = caption, seen
    top = max(log2(q) for panel in panels for _, q in panel.reached) * 1.05
    with style(name):
        grid = drawing.figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _plane(drawing, axes, panel, top)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        for axes in list(grid.flat)[max(0, len(panels) - columns) : len(panels)]:
            axes.set_xlabel("log₂ 1/τ")
            axes.tick_params(labelbottom=True)
        for axes in grid[:, 0]:
            axes.set_ylabel("log₂ of the queries")
        _key(drawing, panels)
    return drawing


def _plane(drawing: Drawing, axes: "Axes", panel: Panel, top: float) -> None:
    x, y = [e for e, _ in panel.floor], [log2(q) for _, q in panel.floor]
    axes.fill_between(x, 0, y, color=IMPOSSIBLE, linewidth=0)
    if panel.barred:
        axes.axvspan(1.0, QUARTER, color=IMPOSSIBLE, linewidth=0)
    axes.plot(x, y, color=INK, linewidth=1.1)
    reached = panel.reached
    axes.fill_between(
        [e for e, _ in reached], [log2(q) for _, q in reached], top, color=REACHED, alpha=0.2, linewidth=0
    )
    for points, (_, color, dash) in ((panel.certain, CERTAIN), (panel.independent, INDEPENDENT)):
        axes.plot([e for e, _ in points], [log2(q) for _, q in points], color=color, linestyle=dash, linewidth=1.1)
    for e, q, who in panel.games:
        color, marker, _ = LOOKS[who]
        drawing.point(axes, e, log2(q), f"{who}, τ = 2^−{e:g}: {q:,} queries", color=color, marker=marker, markersize=4)
    axes.set(title=panel.title, xlim=(1 if panel.barred else min(x), FINEST if panel.barred else max(x)), ylim=(0, top))
    axes.set_xticks([2, 4, 6, 8, 10, 12] if panel.barred else [3, 4, 5, 6, 7, 8])


def _key(drawing: Drawing, panels: Sequence[Panel]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown = list(dict.fromkeys(who for panel in panels for _, _, who in panel.games))
    handles: list[Patch | Line2D] = [
        Patch(facecolor=IMPOSSIBLE, edgecolor=INK, label="impossible"),
        Patch(facecolor="none", edgecolor=INK, linewidth=0.5, label="open"),
        Patch(facecolor=REACHED, alpha=0.2, label="reached"),
    ]
    for points, (label, color, dash) in zip(
        ([p for q in panels for p in q.certain], [p for q in panels for p in q.independent]),
        (CERTAIN, INDEPENDENT),
        strict=True,
    ):
        handles += [Line2D([], [], label=label, color=color, linestyle=dash)] if points else []
    for who in shown:
        color, marker, _ = LOOKS[who]
        handles.append(Line2D([], [], label=who, color=color, marker=marker, linestyle="none"))
    drawing.figure.legend(handles=handles, loc="outside upper center", ncols=4, handlelength=2.4, columnspacing=1.6)


@dataclass(frozen=True)
class Least:
    """At one (d, m): the least max(q, price) proved and reached (None: nothing was), and at which tolerance."""

    dim: int
    heads: int
    price: str
    proved: float
    reached: float | None
    tolerance: float | None


PRICES: dict[str, Callable[[float], float]] = {"max(q, 1/τ²)": samples, "max(q, 1/τ)": inverse}


def summary_drawing(found: Sequence[Least]) -> Drawing:
    """The least of max(q, 1/tau^2) and of max(q, 1/tau) against m, a line a dimension."""
    drawing = Drawing("summary", 7.6, 4.0)
    drawing.caption = (
        "The cheapest tolerance for each m. Left: max(q, 1/τ²), what a simulation by examples would draw; right: "
        "max(q, 1/τ). Lines: no strategy needs less. Markers: reached, by games or, for the dimension that has no "
        "games, by formula. Along each line the count N of hidden sets enters as its square root, or its cube root."
    )
    drawing.seen = "All lines rise with m, and the markers lie just above their lines, except where there are no games."
    with style(drawing.name):
        panels = drawing.figure.subplots(1, 2, sharey=True)
        for axes, price in zip(panels, PRICES, strict=True):
            for i, d in enumerate(dict.fromkeys(one.dim for one in found)):
                own = [one for one in found if (one.dim, one.price) == (d, price)]
                color, dash, marker = RAMP[2 * i % len(RAMP)], LINES[i % len(LINES)], MARKERS[i]
                axes.plot([o.heads for o in own], [log2(o.proved) for o in own], color=color, linestyle=dash)
                for one in own:
                    if one.reached is not None:
                        tip = f"d = {d}, m = {one.heads}: {one.reached:,.0f} at τ = {one.tolerance:.3g}"
                        drawing.point(axes, one.heads, log2(one.reached), tip, color=color, marker=marker)
            axes.set(title=price, xlabel="m")
            axes.set_xticks(sorted({one.heads for one in found}))
            axes.grid(axis="y")
        panels[0].set_ylabel("log₂ of the cost")
        from matplotlib.lines import Line2D

        dims = list(dict.fromkeys(one.dim for one in found))
        looks: list[dict[str, Any]] = [
            {"color": RAMP[2 * i % len(RAMP)], "linestyle": LINES[i % len(LINES)], "marker": MARKERS[i]}
            for i in range(len(dims))
        ]
        handles = [Line2D([], [], label=f"d = {d}", **look) for d, look in zip(dims, looks, strict=True)]
        drawing.figure.legend(handles=handles, loc="outside upper center", ncols=4, handlelength=3.4)
    return drawing


def points(of: Callable[[float], float | None]) -> list[tuple[float, float]]:
    """A formula at every exponent where it says something."""
    return [(e, q) for e in EXPONENTS if (q := of(e)) is not None]
