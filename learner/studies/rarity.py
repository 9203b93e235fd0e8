"""The study `rarity`: how rare are certified rows?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from hardness.learning import plain
from hardness.study.outcome import Outcome
from hardness.study.page.drawing import INK, LINES, MARKERS, RAMP, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store
from hardness.study.study import Study
from hardness.study.task import Task
from learner.provable import sculpt
from learner.studies.curves import Mean, mean, rounded, timed
from learner.studies.layers import instance_of, task_of

QUESTION = "Is the share of certified rows eta^((m-1)(k-1))?"
ETAS = (0.3, 0.1, 0.05, 0.02, 0.01)
TAIL_ROWS = 300  # fewer certified rows below 0.05 and the exponent is fitted below 0.1
FEW = 30  # certified rows below which nothing is estimated
BATCH = 100_000
Table = Sequence[Mapping[str, Any]]
NOTES = (
    "A row of an output is certified at η if it is a convex combination of the rows of X ΣW up to an error that "
    "moves no log-ratio by more than about η; ΣW is exact, so that nothing but rarity is measured. The law "
    "η^((m-1)(k-1)) counts the equalities that m heads must meet on one row.",
    "Exponents are maximum-likelihood (Hill) below η = 0.05, or 0.1 where fewer than 300 rows lie below that, one a "
    "layer; intervals are Student's over layers, because rows of one layer share its bias. Nothing is estimated from "
    "fewer than 30 rows a layer, or three layers. The columns “slope below η” show where the tail is a power "
    "law: there "
    "neighbouring slopes agree. Where slopes still rise at the smallest η that has rows, an exponent below "
    "the law is a "
    "tail not yet reached, not a refutation.",
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


def _local(certified: Mapping[str, int]) -> dict[float, float | None]:
    """Slope of log share on log η between neighbouring η, by the upper one; None on fewer than `FEW` rows."""
    pairs = pairwise(ETAS)
    return {
        high: log(certified[str(high)] / certified[str(low)]) / log(high / low) if certified[str(low)] >= FEW else None
        for high, low in pairs
    }


def clustered(details: Sequence[Mapping[str, Any]]) -> Mean | None:
    """Exponent with a 95 % interval over layers: rows of one layer share its bias, and are one observation.

    None with fewer than three layers of `FEW` certified rows each: nothing is estimated from a handful.
    """
    own = [exponent([detail]) for detail in details]
    values = [a for a, _, n in own if a is not None and n >= FEW]
    return mean(values) if len(values) >= 3 else None


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per (spread, m, k): the law's exponent, the fitted one with its interval over layers, and local slopes."""
    groups: dict[tuple[float, int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status == "solved":
            p = row.task.params
            groups.setdefault((float(p["scale"]), int(p["heads"]), int(p["tokens"])), []).append(row.outcome.detail)
    lines = []
    for (spread, m, k), details in sorted(groups.items()):
        fitted = clustered(details)
        seen = sum(int(d["rows"]) for d in details)
        total = {bound: sum(int(d["certified"][bound]) for d in details) for bound in map(str, ETAS)}
        line: dict[str, Any] = {"spread": spread, "m": m, "k": k, "law": (m - 1) * (k - 1), "layers": len(details)}
        line |= {"fitted": fitted.value if fitted else None, "rows": exponent(details)[2]}
        line |= {"low": fitted.low if fitted else None, "high": fitted.high if fitted else None}
        line |= {f"slope below {high:g}": slope for high, slope in _local(total).items()}
        lines.append(line | {f"share {bound}": count / seen for bound, count in total.items()})
    return lines


def _figure(table: Table) -> Drawing:
    """Share of certified rows against eta, a panel a score spread; dashed, the law through the share at 0.1."""
    spreads = sorted({line["spread"] for line in table})
    drawing = Drawing("rarity", 3.9 * len(spreads) + 1.8, 3.8)
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(spreads), sharey=True, squeeze=False)[0]
        for axes, spread in zip(panels, spreads, strict=True):
            for line in sorted((line for line in table if line["spread"] == spread), key=lambda line: line["law"]):
                shares = {eta: line[f"share {eta}"] for eta in ETAS if line[f"share {eta}"]}
                if not shares:
                    continue
                # Colour and line tell the law, the marker tells the heads.
                look: dict[str, Any] = {
                    "color": RAMP[line["law"] - 1],
                    "linestyle": LINES[(line["law"] - 1) % len(LINES)],
                }
                name = f"law {line['law']}: m = {line['m']}, k = {line['k']}"
                axes.plot(list(shares), list(shares.values()), marker=MARKERS[line["m"] - 2], label=name, **look)
                if 0.1 in shares:
                    low = min(shares)
                    law = [shares[0.1], shares[0.1] * (low / 0.1) ** line["law"]]
                    axes.plot([0.1, low], law, color=INK, linewidth=0.7, linestyle=(0, (4, 2)))
            axes.set(xscale="log", yscale="log", xlabel="η", title=f"score spread {spread:g}")
            axes.grid(visible=True)
        drawing.figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=7.5)
        panels[0].set_ylabel("share of rows certified at η")
    return drawing


def _verdict(table: Table) -> str:
    judged = [line for line in table if line["fitted"] is not None]
    near = [line for line in judged if line["low"] <= line["law"] <= line["high"]]
    above = [line for line in judged if line["law"] < line["low"]]
    left = len(table) - len(judged)
    return (
        f"The law (m-1)(k-1) lies within the 95% interval over layers in {len(near)} of {len(judged)} cells; the "
        f"exponent is above it in {len(above)} and below it in {len(judged) - len(near) - len(above)}"
        + (f"; {left} cells have too few certified rows or layers to say." if left else ".")
    )


def write(store: Store, folder: Path) -> str:
    """Write the page of `rarity` into `folder`: a pure function of the rows. Returns its verdict."""
    lines = table(store.rows())
    drawings = [_figure(lines)] if lines else []
    verdict = _verdict(lines) if lines else "No trial has been run."
    return table_page(store, folder, QUESTION, verdict, lines, NOTES, drawings)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    k = int(task.params["tokens"])
    return 0.03 + 0.025 * k * k


STUDY = Study("rarity", QUESTION, tasks, seconds, trial, write, guard=600.0)
