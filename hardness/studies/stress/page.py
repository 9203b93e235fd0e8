"""The page of `stress`: which learner solves which layers within equal budgets, and what those that do have paid."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardness.attacks.estimates.low_degree import monomials
from hardness.engine.outcome import CRASHED, Outcome
from hardness.engine.store import Row, Store
from hardness.engine.task import Task
from hardness.evaluation import judge
from hardness.report.drawing import GRID, INK, MUTED, RAMP, Drawing, style
from hardness.report.report import table_page, thousands
from hardness.studies.stress.tasks import HANDED, QUESTION

EXPLAINED = judge.EXPLAINED.threshold
LAYERS = {"parity": "hidden parities", "nondegenerate": "random layers"}
NOTES = (
    (
        "measured",
        "Every run may spend the same number of examples and the same number of multiply-adds, and ends where it "
        f"explains {EXPLAINED:.0%} of the variance of the labels of fresh inputs, or where it would exceed either "
        "budget: there it is censored, and nothing is said of what it would have done later. A learner that can see "
        "each example once is streamed to; any other is fitted anew on twice as many examples each time, and pays for "
        "all of its fits. All learners meet the same layers and examples. Multiply-adds are the learner's own count, "
        "for a search the most that it may take; where a learner has no count, examples alone bound it. Seconds are "
        "those of a whole run, examples included, on the machine named below, whatever else it did.",
    ),
    (
        "measured",
        "A refusal is the learner's own statement that its assumptions fail. It costs nothing and says nothing of a "
        "cost, so it is written out and has no number.",
    ),
    (
        "identity",
        "Each learner stands beside its own null model, the number of features of at most the label's degree in the "
        "inputs that it is handed. A parity of m heads has degree 2m + 1 in the 2d signs of two tokens; handed the "
        "products of the tokens and the gate, it has degree m in d − 1 signs, at either value of the gate. A learner "
        "that is far below its null has found structure; one that is censored below it has met a high degree, and no "
        "more is known of it. Labels of random layers have full degree, and no null.",
    ),
    "The learner sgd is handed the products of the two tokens, in which a parity is one character: a best case that is "
    "written for parities alone. All others see raw tokens. The student and mlp start from random weights and are told "
    "nothing; direct, lbfgs, adam and provable are told m.",
)


@dataclass(frozen=True)
class Cell:
    """The runs of one learner on one kind of layers at one m, with the seconds of each."""

    outcomes: tuple[Outcome, ...]
    null: int | None = None

    @property
    def solved(self) -> list[float]:
        """Examples that sufficed, ascending."""
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
    def silent(self) -> str:
        """How most runs ended that say nothing of a cost; empty if it is not most of them."""
        quiet = Counter(o.status for o in self.outcomes if o.status in (*CRASHED, "refused", "timeout"))
        word, count = quiet.most_common(1)[0] if quiet else ("", 0)
        return word if 2 * count > len(self.outcomes) else ""

    @property
    def ended(self) -> str:
        """Runs by status, solved first."""
        counts = Counter(o.status for o in self.outcomes)
        return ", ".join(f"{counts[name]} {name}" for name in sorted(counts, key=lambda name: (name != "solved", name)))

    def middle(self, values: Iterable[float | None]) -> float | None:
        """The median of a number of the runs, of those that have it."""
        known = [value for value in values if value is not None]
        return float(np.median(known)) if known else None


Places = dict[tuple[str, str, int], Cell]  # layers, learner, m


def write(store: Store, folder: Path) -> str:
    """Write the page of a stress test into `folder`; returns its verdict line. A pure function of the rows."""
    rows = [row for row in store.rows() if row.outcome]
    found = places(rows)
    kinds = {"verdict": "measured", "solved": "measured", "examples": "measured", "null model": "identity"}
    drawings = [_outcomes(found)] if found else []
    return table_page(store, folder, QUESTION, _verdict(found, rows), _table(found), NOTES, drawings, kinds)


def learner_of(task: Task) -> str:
    """A learner with the options that are not all of its variants'.

    >>> learner_of(Task("parity", {}, {"learner": "student", "params": {"optimizer": "sgd"}}, {}, 0))
    'student with optimizer sgd'
    """
    name, options = task.solver["learner"], task.solver["params"]
    shown = (f"{key} {value}" for key, value in options.items() if key == "optimizer")
    return " with ".join([name.rpartition(":")[2] + " (products)" * (name in HANDED), *shown])


def null(task: Task) -> int | None:
    """The learner's own null: features of at most the label's degree in the inputs that it is handed.

    >>> base = Task("parity", {"dim": 16, "heads": 2}, {"learner": "mlp", "params": {}}, {}, 0)
    >>> null(base), null(Task(base.family, base.params, {"learner": "sgd", "params": {}}, {}, 0))
    (242825, 242)
    """
    d, m = int(task.params["dim"]), int(task.params["heads"])
    if task.family != "parity":
        return None
    return 2 * monomials(d - 1, m) if task.solver["learner"] in HANDED else monomials(2 * d, 2 * m + 1)


def places(rows: Iterable[Row]) -> Places:
    """The cells of the rows that ended."""
    found: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        layers = f"{LAYERS.get(row.task.family, row.task.family)}, d = {row.task.params['dim']}"
        found.setdefault((layers, learner_of(row.task), int(row.task.params["heads"])), []).append(row)
    return {
        place: Cell(tuple(row.outcome for row in own if row.outcome), null(own[0].task)) for place, own in found.items()
    }


def _table(found: Places) -> list[Mapping[str, Any]]:
    lines: list[Mapping[str, Any]] = []
    for (layers, learner, m), cell in sorted(found.items(), key=lambda item: (item[0][0], item[0][2], item[0][1])):
        quiet, known = cell.silent, cell.median
        spent = thousands(known) if known is not None else f"> {cell.bound:,.0f}"
        work = cell.middle(o.detail.get("multiply_adds") for o in cell.outcomes)
        lines.append(
            {
                "layers": layers,
                "m": m,
                "learner": learner,
                "solved": f"{len(cell.solved)}/{len(cell.outcomes)}",
                "examples": None if quiet else spent,
                "solved runs": f"{cell.solved[0]:,.0f} to {cell.solved[-1]:,.0f}" if cell.solved else None,
                "multiply-adds": None if quiet or not work else f"{work:.1e}",
                "seconds": cell.middle(o.seconds for o in cell.outcomes),
                "ended": cell.ended,
                "null model": cell.null,
                "examples / null": known / cell.null if known is not None and cell.null else None,
            }
        )
    return lines


def _verdict(found: Places, rows: Iterable[Row]) -> str:
    if not found:
        return "No trial has been run."
    budget = next(iter(rows)).task.budget
    said = [
        f"Within {budget['samples']:,} examples and {float(budget['work']):.0e} multiply-adds a run, these learners "
        "solve most of their runs."
    ]
    for layers in dict.fromkeys(layers for layers, _, _ in found):
        sizes = {m for name, _, m in found if name == layers}
        won: dict[str, list[int]] = {}
        for (name, learner, m), cell in found.items():
            if name == layers:
                won.setdefault(learner, []).extend([m] if cell.median is not None else [])
        whole = [learner for learner, own in won.items() if set(own) == sizes]
        parts = [f"{', '.join(whole)} at every m"] if whole else []
        parts += [f"{learner} at m = {', '.join(map(str, sorted(own)))}" for learner, own in won.items()
                  if own and learner not in whole]  # fmt: skip
        none = [learner for learner, own in won.items() if not own]
        parts += [f"{', '.join(none)} nowhere"] if none else []
        said.append(f"On {layers}: {'; '.join(parts)}.")
    return " ".join(said)


def _outcomes(found: Places) -> Drawing:
    """A panel a kind of layers: a line a learner, a column a size m; in every field, what came out."""
    layers = list(dict.fromkeys(name for name, _, _ in found))
    learners = sorted({learner for _, learner, _ in found}, key=lambda name: (-_won(found, name), name))
    sizes = [sorted({m for name, _, m in found if name == one}) for one in layers]
    drawing = Drawing("stress", 2.4 + 0.78 * sum(map(len, sizes)), 1.0 + 0.42 * len(learners))
    drawing.caption = (
        "What came out at every m: runs solved of all runs, and the median number of examples where most runs were "
        "solved; the darker, the more runs were solved. A field with no number of examples is censored: more than "
        "either budget allows. A refusal or a crash is written out; an empty field is not part of the grid."
    )
    drawing.kinds = "measured"
    with style(drawing.name):
        panels = drawing.figure.subplots(
            1, len(layers), sharey=True, squeeze=False, gridspec_kw={"width_ratios": [len(own) for own in sizes]}
        )[0]
        for axes, name, own in zip(panels, layers, sizes, strict=True):
            for y, learner in enumerate(learners):
                for x, m in enumerate(own):
                    if cell := found.get((name, learner, m)):
                        _field(drawing, axes, x, y, cell, f"{learner} on {name}, m = {m}")
            axes.set(title=name, xlabel="m", xlim=(-0.5, len(own) - 0.5), ylim=(len(learners) - 0.5, -0.5))
            axes.set_xticks(range(len(own)), list(map(str, own)))
            axes.set_yticks(range(len(learners)), learners)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
    return drawing


def _won(found: Places, learner: str) -> int:
    return sum(len(cell.solved) for (_, name, _), cell in found.items() if name == learner)


def _field(drawing: Drawing, axes: Any, x: int, y: int, cell: Cell, name: str) -> None:
    from matplotlib.patches import Rectangle

    share = len(cell.solved) / len(cell.outcomes)
    color, alpha = (RAMP[1], 0.45 * share) if share else (GRID, 0.35)
    field = axes.add_patch(Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, linewidth=0, facecolor=color, alpha=alpha))
    counted = f"{len(cell.solved)}/{len(cell.outcomes)}"
    text, tip = counted, f"{name}: {cell.ended}"
    if cell.silent:
        text = cell.silent
    elif cell.median is not None:
        text, tip = f"{counted}\n{_short(cell.median)}", f"{tip}; median {cell.median:,.0f} examples"
    else:
        tip = f"{tip}; more than {cell.bound:,.0f} examples"
    drawing.add_tooltip(field, tip)
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color=INK if share else MUTED)


def _short(count: float) -> str:
    """A count in three characters or four.

    >>> _short(512), _short(115_712), _short(1_048_576)
    ('512', '116k', '1.0M')
    """
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if count >= 0.9995 * unit:
            return f"{count / unit:.1f}{name}" if count < 9.95 * unit else f"{count / unit:.0f}{name}"
    return f"{count:.0f}"
