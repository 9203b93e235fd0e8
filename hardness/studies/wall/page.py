"""The page of `wall`: costs on hard and nice layers, their ratio, cost against the number of concepts, curves."""

from collections.abc import Iterable, Mapping
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.studies.wall.cells import (
    CONTROL,
    HARD,
    NICE,
    Cells,
    Kind,
    Runs,
    cells,
    ratio,
    table,
    width_effect,
)
from hardness.studies.wall.tasks import QUESTION, STUDENT
from hardness.study.growth.calibration import KINDS, calibration
from hardness.study.growth.verdict import GROWS, growth
from hardness.study.page.drawing import INK, LINES, MARKERS, MUTED, RAMP, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADLINE = 16  # the dimension whose ratios are the headline
LOOKS: dict[str, tuple[str, str, Any]] = {HARD: (RAMP[6], "o", "-"), NICE: (RAMP[1], "s", (0, (5, 2)))}
NOTES = (
    "A layer has m heads on k tokens of d signs: F(X) = Σ softmax(X Θᵢ Xᵀ) X Wᵢ, here with k = 2. Hard layers are "
    "hidden parities, whose label is a parity of m unknown coordinates out of d − 1, one of N = C(d−1, m) concepts; "
    "random layers have independent Gaussian entries and are meant to be learnable. Both are computed exactly by a "
    "layer of the same m heads.",
    "The learner is the same everywhere: a layer of M = 16 heads (M = m and 4m where the table says so) that starts "
    "from random weights, sees raw tokens and fresh examples, 64 a step, and takes steps of Adam at rate 3e-3 on the "
    "squared error. Its rate was tuned on parities of two and is frozen. Labels are scaled so that the outputs of a "
    "token have variance 1 in all. Nothing of the problem is handed to it.",
    "The cost of a run is the number of examples at the first look with 90 % of the variance of the labels of 2048 "
    "fresh inputs explained (relative error² ≤ .1). Looks come every 1024 examples and later every 3 %. The column .02 "
    "asks for 98 %. A run that has not arrived at its cap of examples is censored there: it says that the cost is "
    "larger, and nothing else. The median of a cell is drawn if at least half of its runs arrived, with the range of "
    "those that did; else a triangle stands at the cap, and it is not joined to anything.",
    "The linear column is what a least-squares fit of the labels by all tokens explains: a plateau at that height "
    "says that the student has found the linear part and no more. The correlation drawn with a parity's curve is that "
    "between the prediction and the hidden character on the inputs with z₀ ≠ 0: until the drop begins it is near 0.",
    "Random labels are those of a parity times an independent sign an example: nothing can be learned, and a run that "
    "solved them would show that the judge is wrong.",
    "These are costs of one kind of learner at the sizes shown. They prove nothing of other learners, and a larger d "
    "may look different. Whether the costs grow with N is judged by the rule below, not by the eye.",
)


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict line. A pure function of the rows."""
    rows = list(store.rows())
    found = cells(rows)
    verdict = _verdict(found, rows)
    return table_page(
        store, folder, QUESTION, verdict, table(found), (*NOTES, *_growth(found), *_variants(found)), drawings(found)
    )


def _growth(found: Cells) -> list[str]:
    """What the growth fits say of hard and of nice layers, and how often their rule errs on this very grid."""
    said = []
    for layers, plural in ((HARD, "hidden parities"), (NICE, "random layers")):
        judged = growth([runs.cell for runs in _places(found, layers).values()])
        said.append(f"Growth of the costs on {plural}. {judged.sentence}")
        if judged.refusal is None:
            rates = calibration(judged)
            false = {kind: max(row.of(GROWS) for row in rates if row.kind == kind) for kind in KINDS}
            said[-1] += (
                f" {judged.degree_sentence} On costs simulated with this grid, these caps and this scatter, the word "
                f"{GROWS} came up in at most {false['product law']:.1%} of the data sets from any product law, in at "
                f"most {false['sum with a crossover']:.1%} from sums whose terms cross over, which is a blind spot, "
                f"and in {rates[-1].of(GROWS):.1%} of those that grow as N."
            )
    return said


def _variants(found: Cells) -> list[str]:
    """Examples of other widths, batches and optimizers over those of the student as it is, on the same parities."""
    base, said = _places(found, HARD), []
    for kind, places in found.items():
        if kind.layers == HARD and kind.learner.startswith(f"{STUDENT}, "):
            known = {place: ratio(runs, base[place]) for place, runs in places.items() if place in base}
            parts = [f"{value} at d = {d}, m = {m}" for (d, m), value in known.items() if value]
            said += [f"With {kind.learner.partition(', ')[2]}: {'; '.join(parts)}"] if parts else []
    if not said:
        return []
    return [f"Examples on parities relative to the student with M = 16, batch 64 and Adam. {'. '.join(said)}."]


def drawings(found: Cells) -> list[Drawing]:
    """The figures that the rows allow."""
    drawn = []
    if _places(found, HARD) or _places(found, NICE):
        drawn.append(_costs(found))
    if ratios(found):
        drawn.append(ratio_drawing(found))
    if _places(found, HARD):
        drawn.append(_concepts(found))
    if chosen := _chosen(found):
        drawn.append(_curves(chosen))
    return drawn


def ratios(found: Cells) -> dict[tuple[int, int], Any]:
    """Hard over nice at every (d, m) where both were run."""
    hard, nice = _places(found, HARD), _places(found, NICE)
    known = {place: ratio(hard[place], nice[place]) for place in sorted(hard) if place in nice}
    return {place: value for place, value in known.items() if value}


def _places(found: Cells, layers: str) -> Mapping[tuple[int, int], Runs]:
    return found.get(Kind(layers, STUDENT), {})


def _verdict(found: Cells, rows: Iterable[Row]) -> str:
    known = ratios(found)
    if not known:
        return "Too few trials have been run."
    dims = {d for d, _ in known}
    dim = HEADLINE if HEADLINE in dims else max(dims)
    said = [f"{value} at m = {m}" for (d, m), value in known.items() if d == dim]
    word = growth([runs.cell for runs in _places(found, HARD).values()]).word
    text = (
        f"{word} (costs on parities). At d = {dim} the same student needs this many times as many examples on hidden "
        "parities as on random layers of the same size (median over runs, bootstrap interval, nominally 95 %): "
        f"{'; '.join(said)}."
    )
    control = [runs for kind, places in found.items() if kind.layers == CONTROL for runs in places.values()]
    if control:
        won, ended = sum(int(runs.solved.sum()) for runs in control), sum(len(runs.cost) for runs in control)
        text += f" Random labels were solved in {won} of {ended} runs."
    if effect := width_effect(rows):
        value, low, high = effect
        text += f" A doubling of the student's heads changes the exponent of d by {value:.2f} [{low:.2f}, {high:.2f}]."
    return text


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


def _costs(found: Cells) -> Drawing:
    dims = sorted({d for layers in LOOKS for d, _ in _places(found, layers)})
    drawing = Drawing("costs", 1.0 + 2.1 * min(len(dims), 6), 3.4 if len(dims) <= 6 else 5.9)
    drawing.caption = (
        "Examples to 90 % of the variance against m, a panel a dimension, on hidden parities (circles) and on random "
        "layers (squares): medians with the range of the solved runs; open where some runs were censored, a triangle "
        "at the cap where most were."
    )
    with style(drawing.name):
        from matplotlib.lines import Line2D

        lines = -(-len(dims) // 6)
        panels = drawing.figure.subplots(lines, -(-len(dims) // lines), sharey=True, squeeze=False).ravel()
        for axes, dim in zip(panels, dims, strict=False):
            for layers, (color, marker, dash) in LOOKS.items():
                own = {m: runs for (d, m), runs in _places(found, layers).items() if d == dim}
                joined = {m: runs.median for m, runs in own.items() if runs.median}
                axes.plot(list(joined), list(joined.values()), color=color, linestyle=dash)
                for m, runs in own.items():
                    _mark(drawing, axes, m, runs, f"{layers}, d = {dim}, m = {m}", color, marker)
            sizes = sorted({m for layers in LOOKS for d, m in _places(found, layers) if d == dim})
            axes.set_xticks(sizes, list(map(str, sizes)))
            axes.set(yscale="log", title=f"d = {dim}", xlabel="m", xlim=(min(sizes) - 0.5, max(sizes) + 0.5))
            axes.grid(axis="y")
        for axes in panels[len(dims) :]:
            axes.set_visible(False)
        panels[0].set_ylabel("examples")
        handles = [Line2D([], [], label=n, color=c, marker=k, linestyle=dash) for n, (c, k, dash) in LOOKS.items()]
        drawing.figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return drawing


def ratio_drawing(found: Cells) -> Drawing:
    """Hard over nice with intervals, a curve a dimension."""
    known = ratios(found)
    drawing = Drawing("ratios", 6.0, 3.6)
    drawing.caption = (
        "Median examples on parities over those on random layers of the same size, with bootstrap intervals, "
        "nominally 95 %; a triangle is a lower bound, from a cell whose runs were mostly censored. Where runs were "
        "censored an interval may have no upper end; it is drawn to twice the largest ratio."
    )
    with style(drawing.name):
        axes, top = drawing.figure.subplots(), max(value.value for value in known.values())
        for i, dim in enumerate(sorted({d for d, _ in known})):
            color, marker = RAMP[i % len(RAMP)], MARKERS[i % len(MARKERS)]
            own = {m: value for (d, m), value in known.items() if d == dim}
            place = {m: m + 0.05 * (i - 2) for m in own}  # beside each other, or their intervals would hide one another
            exact = {place[m]: value.value for m, value in own.items() if not value.bounded}
            dash: Any = LINES[i % len(LINES)]
            axes.plot(list(exact), list(exact.values()), label=f"d = {dim}", color=color, linestyle=dash)
            for m, value in own.items():
                x = place[m]
                axes.vlines(x, value.low, min(value.high, 2 * top), color=color, linewidth=1.2)
                look: dict[str, Any] = {"marker": marker}
                if value.bounded:
                    look = {"marker": "^", "markerfacecolor": "none"}
                drawing.point(axes, x, value.value, f"d = {dim}, m = {m}: {value}", color=color, **look)
        axes.axhline(1, color=MUTED, linewidth=0.8)
        axes.set_xticks(sorted({m for _, m in known}))
        axes.set(yscale="log", xlabel="m", ylabel="hard / nice")
        axes.grid(axis="y")
        drawing.figure.legend(loc="outside right center")
    return drawing


def _concepts(found: Cells) -> Drawing:
    places = _places(found, HARD)
    drawing = Drawing("concepts", 6.0, 3.6)
    drawing.caption = (
        "Examples on hidden parities against the number of concepts N = C(d−1, m), as they fall: a line is not "
        "promised, and cells of the same N may differ. Marks as above; grey lines join cells of one m."
    )
    with style(drawing.name):
        from matplotlib.lines import Line2D

        axes, handles = drawing.figure.subplots(), []
        for i, size in enumerate(sorted({m for _, m in places})):
            color, marker = RAMP[i % len(RAMP)], MARKERS[i % len(MARKERS)]
            own = {comb(d - 1, m): (d, runs) for (d, m), runs in places.items() if m == size}
            joined = {n: runs.median for n, (_, runs) in own.items() if runs.median}
            axes.plot(list(joined), list(joined.values()), color=MUTED, linewidth=0.7)
            for n, (d, runs) in own.items():
                _mark(drawing, axes, n, runs, f"d = {d}, m = {size}, N = {n}", color, marker)
            handles.append(Line2D([], [], linestyle="none", label=f"m = {size}", color=color, marker=marker))
        axes.set(xscale="log", yscale="log", xlabel="N = C(d−1, m)", ylabel="examples")
        axes.grid(visible=True)
        drawing.figure.legend(handles=handles, loc="outside right center")
    return drawing


def _chosen(found: Cells) -> list[tuple[str, list[list[Any]]]]:
    """One run of each kind of layer: at d = 16 if there is one, with most heads among those that arrived."""
    chosen = []
    for kind, places in found.items():
        usable = {
            p: r for p, r in places.items() if kind.learner == STUDENT and any("curve" in o.detail for o in r.outcomes)
        }
        if usable:
            place = max(usable, key=lambda p: (bool(usable[p].median), p[0] == HEADLINE, p[1], p[0]))
            first = next(o for o in usable[place].outcomes if "curve" in o.detail)
            chosen.append((f"{kind.layers}, d = {place[0]}, m = {place[1]}", first.detail["curve"]))
    return chosen


def _curves(chosen: list[tuple[str, list[list[Any]]]]) -> Drawing:
    drawing = Drawing("curves", 8.2, 3.8)
    drawing.caption = (
        "Learning curves of one run each, the first of its cell: the share of the variance explained on fresh inputs "
        "(lines) and for labels of a few values the correlation with the hidden function where z₀ ≠ 0 (dotted)."
    )
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for i, (name, curve) in enumerate(chosen):
            color = RAMP[i % len(RAMP)]
            for column, dash in ((1, LINES[i % len(LINES)]), (2, (0, (1, 1.5)))):
                points = [(p[0], p[column]) for p in curve if p[column] is not None and p[column] > -0.5]
                own: dict[str, Any] = {"label": name} if column == 1 else {"linewidth": 1.0}
                axes.plot([x for x, _ in points], [y for _, y in points], color=color, linestyle=dash, **own)
        axes.axhline(0.9, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
        axes.set(xscale="log", xlabel="examples", ylabel="explained", ylim=(-0.3, 1.05))
        axes.grid(axis="y")
        drawing.figure.legend(loc="outside right center", fontsize=8)
    return drawing
