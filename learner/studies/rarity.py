"""The study `rarity`: how rare are certified rows?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.adapters import plain
from hardness.report.drawing import INK, LINES, MARKERS, MUTED, RAMP, Drawing, style
from hardness.report.report import Note, table_page
from learner.provable import sculpt
from learner.studies.curves import Mean, curve, legend, mean, panels, rounded, timed
from learner.studies.layers import instance_of, task_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
LAW = (0, (4, 2))  # the line of what is proved
QUESTION = "Is the share of certified rows η^((m−1)(k−1))?"
ETAS = (0.3, 0.1, 0.05, 0.02, 0.01)
TAIL_ROWS = 300  # fewer certified rows below 0.05 and the exponent is fitted below 0.1
FEW = 30  # certified rows of a layer below which nothing is estimated
LEAST_LAYERS = 3
BATCH = 100_000
Table = Sequence[Mapping[str, Any]]
KINDS = {"verdict": "measured", "law": "proved"}
NOTES: tuple[Note, ...] = (
    (
        "proved",
        "A row of an output is certified at η if it is a convex combination of the rows of X ΣW up to an error that "
        "moves no log-ratio by more than about η. ΣW is exact here, so that nothing but rarity is measured. Over "
        "random layers at a fixed input the chance of agreement within η is a constant times η^((m−1)(k−1)) as η → 0, "
        "the number of equalities that m heads must meet on one row (learner 1.10). The theorem does not say for which "
        "η this is near, nor what one fixed layer does over random inputs.",
    ),
    (
        "measured",
        "“slope below η” is the slope of the logarithm of the share in that of η, between η and the next smaller one: "
        "the law is a statement on its limit. “farthest slope” is the one at the smallest η at which every layer still "
        f"has {FEW} certified rows, “fitted” the maximum-likelihood (Hill) exponent of all rows below one threshold. "
        "All are means over layers with 95 % intervals by Student's t, since rows of one layer share its bias: a layer "
        f"is one observation. With fewer than {LEAST_LAYERS} layers, or fewer than {FEW} rows in any of them, nothing "
        "is estimated, and the cell is empty.",
    ),
)


def tasks(quick: bool) -> list[Task]:
    """All (m, k) whose predicted exponent (m−1)(k−1) is at most 6, at d = 16, on layers of score spread 1 and 3."""
    cells = [(m, k) for m in range(2, 8) for k in range(2, 8) if (m - 1) * (k - 1) <= (3 if quick else 6)]
    return [
        task_of(m, k, 16, {"kind": "rarity"}, BATCH, r, scale)
        for scale in (1.0, 3.0)
        for m, k in cells
        for r in range(3 if quick else 8)
    ]


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial. Deterministic in the task and the root seed.

    >>> outcome = trial(tasks(True)[0], 0, 60.0)
    >>> 0.6 < outcome.detail["exponent"] < 1.4
    True
    """
    outcome = _trial(task, root)
    return replace(outcome, detail=rounded(plain(outcome.detail)))


def _trial(task: Task, root: int) -> Outcome:
    """With the exact ΣW: the share of rows certified at each η, and the exponent of their law."""
    instance = instance_of(task, root)
    count = int(task.budget["samples"])
    data = instance.examples(count, task.seed(root, "examples"))
    eta = sculpt.certify(data.X.astype(np.float64), data.Y, instance.layer().w.sum(axis=0))[1]
    tail = np.sort(eta[eta < 0.1])
    detail: dict[str, Any] = {
        "rows": len(eta),
        "certified": {str(bound): int((eta < bound).sum()) for bound in ETAS},
        "logs": {str(top): float(np.sum(np.log(top / tail[tail < top]))) for top in (0.05, 0.1)},
    }
    detail["exponent"] = exponent([detail])[0]
    return Outcome("solved", count, detail)


def exponent(details: Iterable[Mapping[str, Any]]) -> tuple[float | None, float | None, int]:
    """Maximum-likelihood exponent a of P(η < t) ~ t^a below a threshold, its standard error a/√n, and n.

    Hill's estimator n / Σ ln(top/η), pooled over trials, with top = 0.05, or 0.1 if too few rows lie below that.

    >>> a, error, n = exponent([{"certified": {"0.05": 400, "0.1": 900}, "logs": {"0.05": 200.0, "0.1": 1.0}}])
    >>> a, error, n
    (2.0, 0.1, 400)
    """
    parts = list(details)
    total = {top: sum(part["certified"][top] for part in parts) for top in ("0.05", "0.1")}
    top = "0.05" if total["0.05"] >= TAIL_ROWS else "0.1"
    n, logs = total[top], sum(part["logs"][top] for part in parts)
    return (n / logs, n**0.5 / logs, n) if n and logs else (None, None, n)


def _over_layers(values: Sequence[float | None]) -> Mean | None:
    """Mean over layers; None if there are too few of them, or if any has too few rows for a value."""
    known = [value for value in values if value is not None]
    return mean(known) if len(known) == len(values) >= LEAST_LAYERS else None


def slopes(details: Sequence[Mapping[str, Any]]) -> dict[float, Mean]:
    """Slope of log share on log η between neighbouring η, by the upper one, where every layer has rows enough."""
    found = {}
    for high, low in pairwise(ETAS):
        counts = [(int(d["certified"][str(high)]), int(d["certified"][str(low)])) for d in details]
        own = [log(more / less) / log(high / low) if less >= FEW else None for more, less in counts]
        if slope := _over_layers(own):
            found[high] = slope
    return found


def clustered(details: Sequence[Mapping[str, Any]]) -> Mean | None:
    """Exponent with a 95 % interval over layers, fitted below one threshold for all of them.

    Rows of one layer share its bias, and are one observation; from a handful of rows nothing is estimated.
    """
    top = "0.05" if min(d["certified"]["0.05"] for d in details) >= TAIL_ROWS else "0.1"
    return _over_layers([d["certified"][top] / d["logs"][top] if d["certified"][top] >= FEW else None for d in details])


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per (spread, m, k): the law's exponent, fitted and farthest slopes over layers, slopes and shares by η."""
    groups: dict[tuple[float, int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status == "solved":
            p = row.task.params
            groups.setdefault((float(p["scale"]), int(p["heads"]), int(p["tokens"])), []).append(row.outcome.detail)
    lines = []
    for (spread, m, k), details in sorted(groups.items()):
        local = slopes(details)
        seen = sum(int(d["rows"]) for d in details)
        total = {bound: sum(int(d["certified"][bound]) for d in details) for bound in map(str, ETAS)}
        line: dict[str, Any] = {"spread": spread, "m": m, "k": k, "law": (m - 1) * (k - 1), "layers": len(details)}
        line |= {"farthest slope": list(local.values())[-1] if local else None, "fitted": clustered(details)}
        line |= {f"slope below {high:g}": local.get(high) for high in ETAS[:-1]}
        lines.append(line | {f"share {bound}": count / seen for bound, count in total.items()})
    return lines


def _panels(drawing: Drawing, laws: Sequence[int]) -> dict[int, "Axes"]:
    found = panels(drawing, laws, sharex=True)
    for law, axes in found.items():
        axes.set(xscale="log", xlabel="η", title=f"law η{SUPERSCRIPTS[law]}" if law > 1 else "law η")
        axes.set_xticks(ETAS, [f"{eta:g}" for eta in ETAS])
        axes.minorticks_off()
        axes.grid(visible=True)
    return found


def _look(line: Mapping[str, Any]) -> dict[str, Any]:
    """Colour and line tell the spread, the marker tells the heads."""
    i = int(line["spread"] > 1)
    return {"color": RAMP[1 + 4 * i], "linestyle": LINES[i], "marker": MARKERS[line["m"] - 2]}


def _key(drawing: Drawing, table: Table) -> None:
    spreads, heads = ({line[name] for line in table} for name in ("spread", "m"))
    keys = {
        f"score spread {s:g}": _look({"spread": s, "m": 2}) | {"marker": "", "linestyle": LINES[int(s > 1)]}
        for s in sorted(spreads)
    }
    keys |= {f"m = {m}": {"color": MUTED, "linestyle": "", "marker": MARKERS[m - 2]} for m in sorted(heads)}
    legend(drawing, keys | {"law": {"color": INK, "linestyle": LAW}}, 5)


def _shares(table: Table) -> Drawing:
    """Share of certified rows against η, a panel a law; dashed, the law through the share at the smallest η."""
    laws = sorted({line["law"] for line in table})
    drawing = Drawing("rarity", 1.0 + 2.7 * min(3, len(laws)), 1.2 + 2.3 * -(-len(laws) // 3))
    drawing.kinds = "measured proved"
    drawing.caption = (
        "Share of rows certified at η, all layers together, a panel a law; dashed: the slope of the law, drawn through "
        f"the share at the smallest η that has {FEW} rows. The law speaks of the left end."
    )
    with style(drawing.name):
        panels = _panels(drawing, laws)
        for line in table:
            look = _look(line)
            mark = {name: value for name, value in look.items() if name != "linestyle"}
            enough = FEW / (BATCH * line["k"] * line["layers"])
            shares = {eta: line[f"share {eta}"] for eta in ETAS if line[f"share {eta}"] >= enough}
            axes = panels[line["law"]]
            axes.plot(list(shares), list(shares.values()), color=look["color"], linestyle=look["linestyle"])
            for eta, share in shares.items():
                tip = f"m = {line['m']}, k = {line['k']}, spread {line['spread']:g}, η = {eta:g}: {share:.3g}"
                drawing.point(axes, eta, share, tip, **mark)
            if shares:
                low = min(shares)
                ends = [low, min(1.0, 8 * low)]
                axes.plot(
                    ends, [shares[low] * (x / low) ** line["law"] for x in ends], color=INK, linestyle=LAW, lw=0.8
                )
        for axes in panels.values():
            axes.set(yscale="log", ylabel="share of rows")
        _key(drawing, table)
    return drawing


def _tails(table: Table) -> Drawing:
    """Slope between neighbouring η, with its interval over layers, a panel a law; dashed, the law."""
    laws = sorted({line["law"] for line in table})
    drawing = Drawing("rarity-slopes", 1.0 + 2.7 * min(3, len(laws)), 1.2 + 2.3 * -(-len(laws) // 3))
    drawing.kinds = "measured proved"
    drawing.caption = (
        "Slope of the share below η, with 95 % intervals over layers; dashed: the law, which is the limit for η → 0. "
        "Where slopes still move at the smallest η the tail is not reached."
    )
    with style(drawing.name):
        panels = _panels(drawing, laws)
        for line in table:
            points = {eta: line[f"slope below {eta:g}"] for eta in ETAS[:-1] if line[f"slope below {eta:g}"]}
            name = f"m = {line['m']}, k = {line['k']}, spread {line['spread']:g}"
            curve(drawing, panels[line["law"]], points, name, _look(line), "η =")
        for law, axes in panels.items():
            axes.axhline(law, color=INK, linestyle=LAW, linewidth=0.8)
            axes.set(ylabel="slope", ylim=(0, 1.6 * law))
        _key(drawing, table)
    return drawing


def _verdict(table: Table) -> str:
    said = []
    for spread in sorted({line["spread"] for line in table}):
        own = [line for line in table if line["spread"] == spread]
        known = [line["farthest slope"].side(line["law"]) for line in own if line["farthest slope"] is not None]
        text = f"at score spread {spread:g} {known.count(0)} of {len(known)}"
        if known:
            text += f", the slope being smaller in {known.count(-1)} and larger in {known.count(1)}"
        said.append(
            text + (f" ({len(own) - len(known)} cells have too few certified rows)" if len(own) > len(known) else "")
        )
    return (
        "Cells of m and k in which the law (m−1)(k−1) lies within the 95 % interval of the slope farthest in the tail: "
        f"{'; '.join(said)}."
    )


def write(store: Store, folder: Path) -> str:
    """Write the page of `rarity` into `folder`: a pure function of the rows. Returns its verdict."""
    lines = table(store.rows())
    drawings = [_shares(lines), _tails(lines)] if lines else []
    verdict = _verdict(lines) if lines else "No trial has been run."
    shown = [{name: str(v) if isinstance(v, Mean) else v for name, v in line.items()} for line in lines]
    return table_page(store, folder, QUESTION, verdict, shown, NOTES, drawings, KINDS)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    k = int(task.params["tokens"])
    return 0.03 + 0.025 * k * k


STUDY = Study("rarity", QUESTION, tasks, seconds, trial, write, guard=600.0)
