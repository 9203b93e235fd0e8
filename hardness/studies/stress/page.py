"""The page of the study `stress`: examples to success of every learner, beside the null model and the SQ bound."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.attacks.estimates.low_degree import monomials
from hardness.judging import ACCURATE, EXACT
from hardness.studies.stress.tasks import QUESTION
from hardness.studies.stress.trial import TOLERANCE, sq_bound
from hardness.study.outcome import CRASHED, Outcome
from hardness.study.page.drawing import GRID, INK, RAMP, WHO, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store
from hardness.study.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS, MARKERS = (*RAMP, *WHO.values()), "osDv^<>PXphd"
ACROSS = 4  # panels in a line
STRIP = 8.0  # where what has no height stands, below every number of examples tried
DASHED: dict[str, Any] = {"color": INK, "linestyle": (0, (3, 1.5)), "linewidth": 1}
NOTES = (
    (
        "measured",
        "Every learner is given the first n examples of one stream, for growing n, and is judged on fresh ones: sign "
        f"accuracy {ACCURATE:g} on labels of two values, relative error {EXACT:g} on real labels. The count shown is "
        "the least n of the grid that sufficed, the median over runs; a run that no n sufficed is a lower bound, and "
        "makes the median one if it lies in the upper half. A refusal is the learner's own statement that its "
        "assumptions fail: it costs nothing and says nothing of a cost, so it stands in a strip of its own. All "
        "learners meet the same layers and examples.",
    ),
    (
        "identity",
        "High degree is not hardness. The block-size null model counts the monomials up to the degree of the labels: "
        "about as many examples teach any function of that degree to regression, and fewer leave regression "
        "underdetermined. A learner below that line has found structure; a learner that fails below it has only met a "
        "high degree. Real labels have full degree, 2^(2d) monomials, and no line.",
    ),
    (
        "proved",
        "Hard is said only where it is proved. The SQ bound is the number of queries of tolerance "
        f"{TOLERANCE:g} that every statistical-query learner needs against an adversarial oracle. It counts queries, "
        "not examples, so it has a panel of its own and bounds none of the learners above, which see examples. Nothing "
        "is proved for nondegenerate and interpolation, nor for rounding at so few heads. What no "
        "learner here solves is unsolved by them within these examples, no more.",
    ),
    "sgd is handed the products of the two tokens, in which a parity is one character; it is written for labels of two "
    "values in one column, and shown elsewhere for completeness.",
)


@dataclass(frozen=True)
class Cell:
    """The ended runs of one learner on one instance of the grid."""

    outcomes: tuple[Outcome, ...]

    @property
    def solved(self) -> list[float]:
        """Examples that sufficed, ascending; a run of unknown cost does not count as solved."""
        return sorted(float(o.cost) for o in self.outcomes if o.status == "solved" and o.cost is not None)

    @property
    def median(self) -> float | None:
        """The upper median of the examples that sufficed; None if it is among the runs that were not solved."""
        middle = len(self.outcomes) // 2
        return self.solved[middle] if middle < len(self.solved) else None

    @property
    def bound(self) -> float:
        """A lower bound on the median: that of what was spent."""
        return sorted(float(o.cost or 0) for o in self.outcomes)[len(self.outcomes) // 2]

    @property
    def silent(self) -> bool:
        """Whether the middle run says nothing of a cost: it refused, or crashed."""
        quiet = sum(o.status in (*CRASHED, "refused") for o in self.outcomes)
        return self.median is None and 2 * quiet >= len(self.outcomes)

    @property
    def text(self) -> str:
        if self.silent:
            return "no cost"
        return f"> {self.bound:.0f}" if self.median is None else f"{self.median:.0f}"

    @property
    def ended(self) -> str:
        """Runs by status, solved first."""
        counts = Counter(o.status for o in self.outcomes)
        return ", ".join(f"{counts[name]} {name}" for name in sorted(counts, key=lambda name: (name != "solved", name)))


Entry = tuple[str, int]  # family with its parameters, m
Cells = dict[Entry, dict[str, Cell]]


def write(store: Store, folder: Path) -> str:
    """Write the page of a stress test into `folder`; returns its verdict line. A pure function of the rows."""
    rows = [row for row in store.rows() if row.outcome]
    cells, known = _cells(rows), _references(rows)
    drawings = [_examples(cells, known)] if cells else []
    drawings += [_queries(known)] if any(bound for _, bound in known.values()) else []
    table = [_line(entry, learner, cell, known[entry]) for entry in cells for learner, cell in cells[entry].items()]
    bound = f"SQ bound, queries at τ = {TOLERANCE:g}"
    kinds = {"verdict": "measured", "examples": "measured", "null model, examples": "identity", bound: "proved"}
    return table_page(store, folder, QUESTION, _verdict(cells, known), table, NOTES, drawings, kinds)


def family_of(task: Task) -> str:
    """A family with what tells its instances apart but for m.

    >>> family_of(Task("interpolation", {"dim": 8, "heads": 2, "rho": 0.5}, {}, {}, 0))
    'interpolation ρ = 0.5, d = 8'
    """
    params = task.params
    kind = {"parity": params.get("gadget", "diag"), "interpolation": f"ρ = {params.get('rho', 0):g}"}
    return f"{' '.join(filter(None, [task.family, kind.get(task.family)]))}, d = {params['dim']}"


def learner_of(task: Task) -> str:
    """A learner with its options.

    >>> learner_of(Task("parity", {}, {"learner": "low-degree", "params": {"degree": 5}}, {}, 0))
    'low-degree, degree 5'
    """
    options = (f"{name} {value}" for name, value in task.solver["params"].items())
    return ", ".join([task.solver["learner"].rpartition(":")[2], *options])


def _cells(rows: Iterable[Row]) -> Cells:
    found: dict[Entry, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.outcome:
            entry = family_of(row.task), int(row.task.params["heads"])
            found[entry][learner_of(row.task)].append(row.outcome)
    return {
        entry: {name: Cell(tuple(outcomes)) for name, outcomes in sorted(learners.items())}
        for entry, learners in found.items()
    }


def _references(rows: Iterable[Row]) -> dict[Entry, tuple[int | None, float | None]]:
    """The null model in examples, at the largest degree met, and the SQ bound in queries, of every entry."""
    tasks, degrees = {}, defaultdict(list)
    for row in rows:
        entry = family_of(row.task), int(row.task.params["heads"])
        tasks[entry] = row.task
        if row.outcome and (degree := row.outcome.detail.get("degree")):
            degrees[entry].append(int(degree))
    return {
        entry: (
            monomials(2 * int(task.params["dim"]), max(degrees[entry])) if degrees[entry] else None,
            sq_bound(task),
        )
        for entry, task in tasks.items()
    }


def _line(entry: Entry, learner: str, cell: Cell, known: tuple[int | None, float | None]) -> Mapping[str, Any]:
    null, bound = known
    return {
        "family": entry[0],
        "m": entry[1],
        "learner": learner,
        "examples": cell.text,
        "solved runs": f"{cell.solved[0]:.0f}–{cell.solved[-1]:.0f}" if cell.solved else None,
        "ended": cell.ended,
        "null model, examples": null,
        "examples / null": cell.median / null if null and cell.median is not None else None,
        f"SQ bound, queries at τ = {TOLERANCE:g}": bound,
    }


def _verdict(cells: Cells, known: Mapping[Entry, tuple[int | None, float | None]]) -> str:
    if not cells:
        return "No trial has been run."
    least = {
        entry: min((cell.median for cell in learners.values() if cell.median is not None), default=None)
        for entry, learners in cells.items()
    }
    structured = [entry for entry in cells if known[entry][0]]
    below = [entry for entry in structured if (least[entry] or float("inf")) < float(known[entry][0] or 0)]
    unsolved = [f"{family}, m = {m}" for (family, m) in cells if least[family, m] is None]
    said = (
        f"Some learner solves {len(cells) - len(unsolved)} of {len(cells)} kinds of layers in most runs, "
        f"{len(below)} of the {len(structured)} of known degree with fewer examples than the null model"
    )
    return f"{said}; unsolved here: {'; '.join(unsolved)}." if unsolved else f"{said}."


def _examples(cells: Cells, known: Mapping[Entry, tuple[int | None, float | None]]) -> Drawing:
    """One panel a family: at every m a column of learners, the null model as a dashed line across it."""
    families = list(dict.fromkeys(family for family, _ in cells))
    learners = sorted({name for found in cells.values() for name in found})
    lines = -(-len(families) // ACROSS)
    spent = [cell.median or cell.bound for found in cells.values() for cell in found.values()]
    counts = [4**i for i in range(2, 12) if 4 * STRIP <= 4**i <= 2 * max([64.0, *spent])]
    drawing = Drawing("stress", 1.2 + 2.75 * min(ACROSS, len(families)), 1.1 + 2.75 * lines)
    drawing.caption = (
        "Examples to success at every m, learners side by side in the order of the key. Filled: all runs solved; "
        "the bar, from the least to the most examples, holds the median over such layers with probability "
        "1 − 2^(1−runs). Open: some runs did not meet the target. Open with an arrow: most runs ended at their limit "
        "of examples, a lower bound. In the grey strip, without a height: most runs gave no cost at all, the learner "
        "refused or the run crashed. Dashed: the block-size null model, what the degree of the labels alone would cost."
    )
    drawing.kinds = "measured identity"
    with style(drawing.name):
        from matplotlib.lines import Line2D

        panels = drawing.figure.subplots(lines, min(ACROSS, len(families)), sharey=True, squeeze=False).ravel()
        for axes, family in zip(panels, families, strict=False):
            heads = sorted(m for name, m in cells if name == family)
            for place, m in enumerate(heads):
                null, _ = known[family, m]
                if null:
                    axes.plot(
                        [place - 0.45, place + 0.45], [null, null], color=INK, linestyle=(0, (3, 1.5)), linewidth=1
                    )
                for name, cell in cells[family, m].items():
                    x = place + 0.8 * ((learners.index(name) + 0.5) / len(learners) - 0.5)
                    _mark(drawing, axes, x, cell, f"{name} on {family}, m = {m}", learners.index(name))
            axes.set_title(family)
            axes.set_xticks(range(len(heads)), [f"m = {m}" for m in heads])
            axes.set_xlim(-0.55, len(heads) - 0.45)
            axes.set_yscale("log", base=2)
            axes.set_ylim(STRIP / 2, 3 * max([64.0, *spent]))
            axes.axhspan(STRIP / 2, STRIP * 2, color=GRID, alpha=0.6, linewidth=0)
            axes.set_yticks(counts, [f"{count:,}" for count in counts])
            axes.set_yticks((), minor=True)
            axes.grid(axis="y")
            axes.tick_params(axis="x", length=0)
        for axes in panels[len(families) :]:
            axes.set_visible(False)
        for axes in panels[:: min(ACROSS, len(families))]:
            axes.set_ylabel("examples (grey: no cost)")
        handles = [Line2D([], [], linestyle="none", label=name, **_look(i)) for i, name in enumerate(learners)]
        handles.append(Line2D([], [], label="null model", **DASHED))
        drawing.figure.legend(handles=handles, loc="outside upper center", ncols=6)
    return drawing


def _look(index: int) -> dict[str, Any]:
    return {"color": COLORS[index % len(COLORS)], "marker": MARKERS[index % len(MARKERS)]}


def _mark(drawing: Drawing, axes: "Axes", x: float, cell: Cell, name: str, index: int) -> None:
    """One learner at one m."""
    look = _look(index)
    if len(cell.solved) < len(cell.outcomes):
        look["markerfacecolor"] = "none"
    if cell.silent:
        drawing.point(axes, x, STRIP, f"{name}: {cell.ended}; no cost", markersize=4.6, **look)
        return
    if cell.median is None:
        tip = f"{name}: {cell.ended}; more than {cell.bound:,.0f} examples"
        axes.annotate(
            "", (x, cell.bound or 1), xytext=(0, 13), textcoords="offset points",
            arrowprops={"arrowstyle": "<-", "color": look["color"], "linewidth": 0.8},
        )  # fmt: skip
    else:
        tip = f"{name}: {cell.ended}; {cell.median:,.0f} examples"
        axes.plot([x, x], [cell.solved[0], cell.solved[-1]], color=look["color"], linewidth=1.1)
    drawing.point(axes, x, cell.median or cell.bound or 1, tip, markersize=4.6, **look)


def _queries(known: Mapping[Entry, tuple[int | None, float | None]]) -> Drawing:
    """The proven need of queries against m, for the families that have one."""
    proved = {entry: bound for entry, (_, bound) in known.items() if bound}
    families = list(dict.fromkeys(family for family, _ in proved))
    drawing = Drawing("queries", 7.7, 3.2)
    drawing.caption = (
        f"Lower bounds: statistical queries of tolerance {TOLERANCE:g} that every learner needs to identify the secret "
        "against an adversarial oracle. Queries, not examples: not to be compared with the figure above point by "
        "point. At these sizes they are few; how they grow with m is the study exponential-in-m."
    )
    drawing.kinds = "proved"
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for i, family in enumerate(families):
            at = sorted((m, bound) for (name, m), bound in proved.items() if name == family)
            look = _look(2 * i)
            axes.plot(*zip(*at, strict=True), linestyle=(0, (5, 2)), label=family, **look)
            for m, bound in at:
                drawing.point(axes, m, bound, f"{family}, m = {m}: at least {bound:,.1f} queries", **look)
        axes.set(ylim=(0, 1.1 * max(proved.values())), xlabel="m", ylabel=f"queries at τ = {TOLERANCE:g}")
        axes.set_xticks(sorted({m for _, m in proved}))
        axes.grid(axis="y")
        axes.legend()
    return drawing
