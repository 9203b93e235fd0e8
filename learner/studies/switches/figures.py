"""The figures of `switches`: the phase diagram, both bounds with games and students, four models under noise."""

from collections.abc import Sequence
from math import comb, log2
from typing import Any

import numpy as np

from hardness.attacks.estimates.low_degree import low_degree_rows
from hardness.engine.store import Row
from hardness.gadgets.nested import blocks_of
from hardness.report.drawing import INK, MUTED, RAMP, Drawing, style
from hardness.sq.bounds.parity import window_bound
from hardness.sq.bounds.switches import bias_degree, biased_bound, biased_enough, both_switches, supervised_bound
from hardness.studies.looks import CEILING, FLOOR
from learner.studies.curves import legend, look, mean
from learner.studies.switches.table import (
    Costs,
    biased_cells,
    chain_cells,
    costs,
    means,
    noise_table,
    student_slope,
)
from learner.studies.switches.tasks import (
    BIAS_BITS,
    BIAS_SIZE,
    BIAS_TOLERANCE,
    BIASES,
    BLOCKS,
    FLIPS,
    NOISY_BITS,
    NOISY_SIZE,
    NOISY_TOLERANCE,
    SIZE,
    TAUGHT_DIMS,
)
from learner.studies.switches.trial import elimination_tries

SHOWN_BITS, SHOWN_TOLERANCE = 63, 0.02  # of the phase diagram
EASY = (
    "inputs of one's own choice: n queries, at every g and μ (proved, run)",
    "no label noise, examples one by one: elimination from little more than n equations (run)",
)
SHADES = ("#f4f1f8", "#e3dcee", "#c9bcdf", "#a793c9", "#7f63ae", "#5d3a90", "#482878")  # light is easy


def phases(rows: Sequence[Row]) -> Drawing:
    """Bias across, block size up: in each cell the exponent that suffices and both bounds in bits; students beside."""
    drawing = Drawing("phases", 9.6, 4.6)
    drawing.kinds = "proved measured"
    drawing.caption = (
        f"The phase diagram of a parity of s = {SIZE} bits for statistical queries, at n = {SHOWN_BITS} and τ = "
        f"{SHOWN_TOLERANCE:g}. Large: the exponent of n in the number of queries that suffices (proved); dark is hard. "
        "Small: log₂ of the queries that are needed, and that suffice (both proved). Left: the exponent of d of the "
        "attention student taught block by block (measured), at no bias. Dots: nothing is proved to suffice. Below: "
        "what is easy whatever the other switches say."
    )
    drawing.alt_summary = (
        "Only the corner without bias and without supervision is dark; every step away from it is lighter."
    )
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for y, g in enumerate(BLOCKS):
            taught = student_slope(chain_cells(rows, g))
            words = "student:\n" + (
                f"{taught.value:.1f}" if taught else "censored" if chain_cells(rows, g) else "not run"
            )
            axes.text(-0.65, y, words, ha="right", va="center", fontsize=8)
            for x, mu in enumerate(BIASES):
                needed, suffice = both_switches(SHOWN_BITS, blocks_of(SIZE, g), SHOWN_TOLERANCE, mu)
                k = bias_degree(g, SHOWN_TOLERANCE, mu)
                low = max(0.0, log2(needed)) if needed > 0 else 0.0
                shade = "#ffffff" if k is None else SHADES[k]
                (cell,) = axes.fill([x - 0.5, x + 0.5, x + 0.5, x - 0.5], [y - 0.5, y - 0.5, y + 0.5, y + 0.5],
                                    facecolor=shade, edgecolor=MUTED, linewidth=0.5,
                                    hatch=".." if k is None else None)  # fmt: skip
                ink = "#ffffff" if k is not None and k >= 4 else INK
                bits = "" if suffice is None else f"{low:.0f} to {log2(suffice):.0f} bits"
                axes.text(x, y + 0.1, "" if k is None else str(k), ha="center", va="center", fontsize=13, color=ink)
                axes.text(x, y - 0.3, bits, ha="center", va="center", fontsize=6.5, color=ink)
                enough = "nothing proved to suffice" if suffice is None else f"{suffice:,} suffice"
                drawing.add_tooltip(cell, f"g = {g}, μ = {mu:g}: {max(needed, 0):,.1f} queries needed, {enough}")
        last = len(BIASES) - 0.5
        for height, words in zip((-1.0, -1.7), EASY, strict=True):
            axes.fill([-0.5, last, last, -0.5], [height - 0.3] * 2 + [height + 0.3] * 2, color=SHADES[0])
            axes.text(last / 2 - 0.25, height, words, ha="center", va="center", fontsize=9)
        axes.set(xlim=(-1.75, last), ylim=(-2.1, len(BLOCKS) - 0.5), xlabel="bias μ of the products")
        axes.set_xticks(range(len(BIASES)), [f"{mu:g}" for mu in BIASES])
        names = [f"g = {g}" + (" (off)" if g == SIZE else "") for g in BLOCKS]
        axes.set_yticks(range(len(BLOCKS)), names)
        axes.set_ylabel("block size of the supervision")
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
    return drawing


def _students(drawing: Drawing, axes: Any, cells: Costs, name: str, i: int) -> None:
    """Mean costs of students against d with intervals; a censored cell is an open triangle at what was spent."""
    marks = look(i)
    solved = {
        d: mean([c for c, _ in runs], logarithmic=True) for (d,), runs in cells.items() if all(o for _, o in runs)
    }
    axes.plot(
        list(solved), [point.value for point in solved.values()], color=marks["color"], linestyle=marks["linestyle"]
    )
    for (d,), runs in cells.items():
        if point := solved.get(d):
            if point.low is not None and point.high is not None:
                axes.plot([d, d], [point.low, point.high], color=marks["color"], linewidth=1.1)
            at = {key: marks[key] for key in ("color", "marker")}
            drawing.point(axes, d, point.value, f"{name}, d = {d}: {point} examples, {point.runs} runs", **at)
        else:
            spent = max(cost for cost, _ in runs)
            tip = f"{name}, d = {d}: censored, {sum(o for _, o in runs)} of {len(runs)} runs solved by {spent:,.0f}"
            drawing.point(axes, d, spent, tip, color=marks["color"], marker="^", markerfacecolor="none")


def blocks(rows: Sequence[Row]) -> Drawing:
    """Supervision: students against d, and games against n between both bounds."""
    drawing = Drawing("blocks", 8.6, 3.9)
    drawing.kinds = "measured proved"
    drawing.caption = (
        "Left: examples until the student taught block by block is right on fresh inputs, geometric means of runs with "
        "95 % intervals; open triangles are censored, they lie at what was spent. Right: queries of the games on "
        f"chains of s = {SIZE} bits with sign batches, and the queries that are needed (dashed)."
    )
    drawing.alt_summary = (
        "Cost rises the more steeply with d the larger the blocks; blocks of six were not learned at all."
    )
    games = costs(rows, "chain", "block", "strategy", "dim", "tolerance")
    with style(drawing.name):
        left, right = drawing.figure.subplots(1, 2)
        for i, g in enumerate(BLOCKS):
            _students(drawing, left, chain_cells(rows, g), f"g = {g}", i)
            played = {d - 1: (r[0][0], tau) for (b, who, d, tau), r in games.items() if (b, who) == (g, "sign-batch")}
            marks = look(i)
            right.plot(list(played), [cost for cost, _ in played.values()], **marks)
            floor = {n: supervised_bound(n, blocks_of(SIZE, g), tau) for n, (_, tau) in played.items()}
            right.plot(list(floor), list(floor.values()), **(FLOOR | {"color": marks["color"]}))
        dims = sorted({d for g in BLOCKS for (d,) in chain_cells(rows, g)})
        left.set(xlabel="d", ylabel="examples")
        if dims:
            left.set(xscale="log", yscale="log")
            left.set_xticks(dims, [str(d) for d in dims])
            left.set_xticks((), minor=True)
        right.set(yscale="log" if games else "linear", xlabel="n", ylabel="queries")
        for axes in (left, right):
            axes.grid(visible=True)
        legend(drawing, {f"g = {g}": look(i) for i, g in enumerate(BLOCKS)})
    return drawing


def biases(rows: Sequence[Row]) -> Drawing:
    """Biased inputs: the games between both bounds, and the students, against μ."""
    drawing = Drawing("biases", 8.6, 3.9)
    drawing.kinds = "proved measured"
    n = BIAS_BITS[-1]
    drawing.caption = (
        f"Left: queries at bias μ for s = {BIAS_SIZE} of n = {n} bits at τ = {BIAS_TOLERANCE:g}: needed (dashed), "
        "enough (dotted), and the games with products of bits. Right: examples until the attention student, "
        "trained on biased inputs, is right on fair ones; open triangles are censored."
    )
    drawing.alt_summary = "What suffices falls in steps as the bias grows, and what is needed falls below it."
    games = costs(rows, "biased", "bias", "dim")
    grid = np.linspace(0, 0.95, 191)
    with style(drawing.name):
        left, right = drawing.figure.subplots(1, 2)
        left.plot(grid, [max(biased_bound(n, BIAS_SIZE, BIAS_TOLERANCE, mu), 1e-2) for mu in grid], **FLOOR)
        enough = [biased_enough(n, BIAS_SIZE, BIAS_TOLERANCE, mu) for mu in grid]
        left.plot(grid, [np.nan if q is None else q for q in enough], **CEILING)
        for (mu, d), runs in sorted(games.items()):
            if d - 1 == n:
                drawing.point(left, mu, runs[0][0], f"μ = {mu:g}: {runs[0][0]:,.0f} queries", color=RAMP[1], marker="o")
        left.set(yscale="log", xlabel="bias μ", ylabel="queries")
        for i, d in enumerate(TAUGHT_DIMS):
            across = {(mu,): runs for mu in BIASES for (at,), runs in biased_cells(rows, mu).items() if at == d}
            _students(drawing, right, across, f"dimension {d}, bias as shown", i)
        scale = "log" if costs(rows, "learner", "bias", "dim", "heads") else "linear"
        right.set(yscale=scale, xlabel="bias μ of the examples", ylabel="examples")
        for axes in (left, right):
            axes.grid(visible=True)
        legend(drawing, {f"student, d = {d}": look(i) for i, d in enumerate(TAUGHT_DIMS)})
    return drawing


def noise(rows: Sequence[Row]) -> Drawing:
    """Label noise: cost of three models against η over their cost without noise's prediction."""
    drawing = Drawing("noise", 8.6, 3.6)
    drawing.kinds = "proved measured estimated"
    drawing.caption = (
        f"Cost against the flip probability η at n = {NOISY_BITS}, s = {NOISY_SIZE}: queries of sign batches over the "
        "proved need (dashed), rows at which the best polynomial of degree s + 1 stands one deviation off (line: "
        "predicted), tries of elimination (line: predicted). Points are means with 95 % intervals."
    )
    drawing.alt_summary = (
        "Statistical queries and low degree pay a small factor for noise, elimination hundreds of tries."
    )
    size, lines = comb(NOISY_BITS, NOISY_SIZE), noise_table(rows)
    queries = [window_bound(size, NOISY_TOLERANCE, flip=eta) for eta in FLIPS]
    rows_of = [low_degree_rows(NOISY_BITS, NOISY_SIZE, eta) for eta in FLIPS]
    plain: dict[str, Any] = {"color": INK}
    predicted = {
        "sq": ("queries", queries, FLOOR),
        "low degree": ("rows", rows_of, plain),
        "elimination": ("tries", [elimination_tries(eta) for eta in FLIPS], plain),
    }
    with style(drawing.name):
        for i, (axes, model) in enumerate(zip(drawing.figure.subplots(1, 3), predicted, strict=True)):
            unit, law, line = predicted[model]
            axes.plot(FLIPS, law, **line)
            for eta, point in (means(rows, model) if lines else {}).items():
                if point.low is not None and point.high is not None:
                    axes.plot([eta, eta], [max(point.low, 0.3), point.high], color=RAMP[2 * i], linewidth=1.1)
                tip = f"{model}, η = {eta:g}: {point} {unit}, {point.runs} runs"
                drawing.point(axes, eta, point.value, tip, color=RAMP[2 * i], marker="osD"[i])
            axes.set(yscale="log", xlabel="η", ylabel=unit, title=model)
            axes.grid(visible=True)
    return drawing
