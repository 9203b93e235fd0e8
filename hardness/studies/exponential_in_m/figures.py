"""The figures of `exponential-in-m`: what is proved, what was measured."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hardness.report.drawing import INK, LINES, MUTED, RAMP, Drawing, style
from hardness.statistics.cells import Cell
from hardness.studies.exponential_in_m.proved import Need
from hardness.studies.exponential_in_m.series import ELIMINATION, PRODUCTS, STUDENT_HARD, STUDENT_NICE, Series
from hardness.studies.wall.figures import SKIPPED, drawn
from hardness.studies.wall.tasks import SMALL_RUNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colour, marker and line of everyone who is drawn: each tells the series alone.
LOOKS: dict[str, tuple[str, str, Any]] = {
    STUDENT_HARD: (RAMP[6], "o", "-"),
    STUDENT_NICE: (RAMP[1], "s", (0, (5, 2))),
    PRODUCTS: (RAMP[5], "D", (0, (6, 1.5, 1, 1.5))),
    ELIMINATION: (RAMP[2], "v", (0, (1.2, 1))),
}


def limits() -> str:
    """What the bars of a median are: order statistics, whose coverage follows from the number of runs."""
    return (
        f"the range of its {SMALL_RUNS} runs, which holds the median of the law with probability "
        f"{1 - 2.0 ** (1 - SMALL_RUNS):.1%}"
    )


def proved(needs: Sequence[Need]) -> Drawing:
    """log2 of the proven need against m, a line a family: arithmetic, so no points and no bars."""
    drawing = Drawing("proved", 6.4, 3.6)
    drawing.caption = (
        "Queries that every statistical-query learner needs to be sure of the hidden parity or secret, by theorem, "
        "against the number of heads m. Along d = 4m the need is exponential in m; at fixed d it grows only while m "
        "is below about half of d, a quarter with 2m − 1 bits; rounding is drawn at the largest dimension whose labels "
        "m heads hold."
    )
    with style(drawing.name):
        axes = drawing.figure.subplots()
        looks = zip((RAMP[6], INK, RAMP[4], MUTED, RAMP[2]), LINES, strict=False)
        for (line, own), (color, dash) in zip(groupby(needs, key=lambda need: need.line), looks, strict=False):
            points = list(own)
            axes.plot(
                [p.heads for p in points], [p.log2_queries for p in points], color=color, linestyle=dash, label=line
            )
        axes.set(xlabel="m", ylabel="log₂ of the queries needed")
        axes.set_yscale("symlog", base=2, linthresh=16)
        axes.set_yticks(
            [0, 4, 8, 16, 32, 64, 128, 256, 512, 1024], list(map(str, (0, 4, 8, 16, 32, 64, 128, 256, 512, 1024)))
        )
        axes.set_ylim(0, 2 * max(need.log2_queries for need in needs))
        axes.grid(axis="y")
        axes.legend(loc="upper left", handlelength=3)
    return drawing


def measured(found: Mapping[str, Series]) -> Drawing:
    """Examples against m, a panel a dimension: the student on hard and nice layers beside the controls."""
    shown = {name: found[name] for name in LOOKS if name in found}
    dims = drawn(place for name in (STUDENT_HARD, STUDENT_NICE) if name in found for place in found[name].cells)
    drawing = Drawing("measured", max(6.4, 1.0 + 1.9 * len(dims)), 3.8)
    drawing.caption = (
        f"Examples to success against m, a panel a dimension{SKIPPED}: medians over runs; bars are {limits()}. A "
        "marker is open where some runs were censored; a triangle stands at the cap where most were, and says only "
        "that the cost is larger. Lines join measured cells."
    )
    with style(drawing.name):
        from matplotlib.lines import Line2D

        for axes, dim in zip(
            drawing.figure.subplots(1, max(1, len(dims)), sharey=True, squeeze=False)[0], dims, strict=False
        ):
            for i, (name, series) in enumerate(shown.items()):
                own = {m: cell for (d, m), cell in sorted(series.cells.items()) if d == dim}
                _curve(drawing, axes, name, own, 0.07 * (i - 1.5))
            sizes = sorted({m for series in shown.values() for d, m in series.cells if d == dim})
            axes.set_xticks(sizes, list(map(str, sizes)))
            axes.set(yscale="log", title=f"d = {dim}", xlabel="m", xlim=(min(sizes) - 0.5, max(sizes) + 0.5))
            axes.grid(axis="y")
        drawing.figure.axes[0].set_ylabel("examples")
        handles = [
            Line2D([], [], label=name, color=color, marker=marker, linestyle=dash)
            for name, (color, marker, dash) in LOOKS.items()
            if name in shown
        ]
        drawing.figure.legend(handles=handles, loc="outside upper center", ncols=2, handlelength=3)
    return drawing


def _curve(drawing: Drawing, axes: "Axes", name: str, cells: Mapping[int, Cell], aside: float) -> None:
    color, marker, dash = LOOKS[name]
    whole = {m: cell.median for m, cell in cells.items() if not cell.censored}
    axes.plot([m + aside for m in whole], list(whole.values()), color=color, linestyle=dash)
    for m, cell in cells.items():
        won = int(cell.solved.sum())
        tip = f"{name}, d = {cell.dim}, m = {m}: {won} of {len(cell.cost)} runs solved, median "
        if cell.censored:
            tip += f"above {cell.median:,.0f}"
            drawing.point(
                axes, m + aside, cell.median, tip, color=color, marker="^", markerfacecolor="none", markersize=7
            )
            continue
        low, high = cell.limits
        axes.vlines(m + aside, low, min(high, cell.cap, cell.cost.max()), color=color, linewidth=1.2)
        hollow = {} if cell.solved.all() else {"markerfacecolor": "none"}
        drawing.point(axes, m + aside, cell.median, tip + f"{cell.median:,.0f}", color=color, marker=marker, **hollow)


def broken(found: Mapping[str, Series]) -> Drawing:
    """Elimination along d = 4m: as many examples as there are unknowns, twice over, and no more."""
    cells = {m: cell for (d, m), cell in sorted(found[ELIMINATION].cells.items()) if d == 4 * m}
    drawing = Drawing("broken", 5.2, 3.2)
    drawing.caption = (
        "Examples from which Gaussian elimination names the hidden set along d = 4m: medians over layers; bars are "
        f"{limits()}. The broken line is 2(d − 1), two examples for every unknown, since half of all examples say "
        "nothing; the rest are rows by which the attack checks its answer."
    )
    with style(drawing.name):
        axes = drawing.figure.subplots()
        sizes = list(cells)
        axes.plot(sizes, [2 * (4 * m - 1) for m in sizes], color=MUTED, linestyle=(0, (4, 2)), label="2(d − 1)")
        _curve(drawing, axes, ELIMINATION, cells, 0.0)
        axes.set(xlabel="m, at d = 4m", ylabel="examples")
        axes.set_xticks(sizes)
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.legend(loc="upper left", handlelength=3)
    return drawing
