"""The study `rarity`: how rare are certified rows?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
from learner.studies.curves import rounded, timed
from learner.studies.layers import instance_of, task_of

QUESTION = "Is the share of certified rows eta^((m-1)(k-1))?"
ETAS = (0.3, 0.1, 0.05, 0.02, 0.01)
TAIL_ROWS = 300  # fewer certified rows below 0.05 and the exponent is fitted below 0.1
BATCH = 100_000
Table = Sequence[Mapping[str, Any]]
NOTES = (
    "A row of an output is certified at η if it is a convex combination of the rows of X ΣW up to an error that "
    "moves no log-ratio by more than about η; ΣW is exact, so that nothing but rarity is measured. The law "
    "η^((m-1)(k-1)) counts the equalities that m heads must meet on one row. Exponents are maximum-likelihood "
    "(Hill) below η = 0.05, or 0.1 where fewer than 300 rows lie below that, with 95 % intervals.",
)


def tasks(quick: bool) -> list[Task]:
    """All (m, k) whose predicted exponent (m−1)(k−1) is at most 6, at d = 16, on random layers of tau = 1 and 3."""
    cells = [(m, k) for m in range(2, 8) for k in range(2, 8) if (m - 1) * (k - 1) <= (3 if quick else 6)]
    return [
        task_of(m, k, 16, {"kind": "rarity"}, BATCH, r, scale)
        for scale in (1.0, 3.0)
        for m, k in cells
        for r in range(2 if quick else 8)
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


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per (tau, m, k): the law's exponent, the fitted one with its 95% interval, and the rows it rests on."""
    groups: dict[tuple[float, int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status == "solved":
            p = row.task.params
            groups.setdefault((float(p["scale"]), int(p["heads"]), int(p["tokens"])), []).append(row.outcome.detail)
    lines = []
    for (tau, m, k), details in sorted(groups.items()):
        a, error, n = exponent(details)
        low, high = (a - 1.96 * error, a + 1.96 * error) if a is not None and error is not None else (None, None)
        seen = sum(int(d["rows"]) for d in details)
        shares = {bound: sum(int(d["certified"][bound]) for d in details) / seen for bound in map(str, ETAS)}
        lines.append(
            {"tau": tau, "m": m, "k": k, "law": (m - 1) * (k - 1), "fitted": a, "low": low, "high": high, "rows": n}
            | {f"share {bound}": share for bound, share in shares.items()}
        )
    return lines


def _figure(table: Table) -> Drawing:
    """Share of certified rows against eta, a panel a score spread; dashed, the law through the share at 0.1."""
    spreads = sorted({line["tau"] for line in table})
    drawing = Drawing("rarity", 3.9 * len(spreads) + 1.8, 3.8)
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(spreads), sharey=True, squeeze=False)[0]
        for axes, tau in zip(panels, spreads, strict=True):
            for line in sorted((line for line in table if line["tau"] == tau), key=lambda line: line["law"]):
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
            axes.set(xscale="log", yscale="log", xlabel="η", title=f"τ = {tau:g}")
            axes.grid(visible=True)
        drawing.figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=7.5)
        panels[0].set_ylabel("share of rows certified at η")
    return drawing


def _verdict(table: Table) -> str:
    judged = [line for line in table if line["tau"] == 3 and line["law"] <= 4 and line["fitted"] is not None]
    near = [line for line in judged if abs(line["fitted"] - line["law"]) <= 0.15 * line["law"]]
    return (
        f"At tau = 3 the fitted exponent is within 15% of (m-1)(k-1) in {len(near)} of {len(judged)} cells with a law "
        "of at most 4; other cells are shown with their intervals."
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
