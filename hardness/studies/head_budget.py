"""The study `head-budget`: how much hardness against statistical queries do m heads buy?"""

from collections import defaultdict
from collections.abc import Iterable
from math import log2
from pathlib import Path
from statistics import NormalDist
from typing import Any

from hardness.concepts import RoundingConcepts
from hardness.studies.games import (
    Line,
)
from hardness.studies.looks import NOTHING, Table, legend
from hardness.study.outcome import Outcome
from hardness.study.page.drawing import LINES, MUTED, RAMP, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store
from hardness.study.study import Study
from hardness.study.task import Task

QUESTION = "How much hardness against statistical queries do m heads buy?"

BUDGET_DIM, BUDGET_TOLERANCES = 256, (0.1, 0.01, 0.001)
MODULUS, LEVELS = 97, 2
SDA_LARGEST = 128  # n up to which the SDA convolution takes about a second


def tasks(quick: bool) -> list[Task]:
    """What m heads buy: no game, only the bounds; one task a family, m and tolerance."""
    heads = (2, 4, 8, 16, 32, 64, 128) if quick else (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    found = []
    for tau in BUDGET_TOLERANCES:
        for m in heads:
            solver = {"kind": "budget", "tolerance": tau}
            parity = {"dim": BUDGET_DIM, "heads": m, "gadget": "diag"}
            found.append(Task("parity", parity, solver, {}, 0))
            found.append(Task("rounding", {"modulus": MODULUS, "levels": LEVELS, "heads": m}, solver, {}, 0))
    return found


def trial(task: Task, root: int, guard: float) -> Outcome:
    """The bounds of one family at m heads and one tolerance; no game."""
    from hardness.sq.bounds import head_budget
    from hardness.sq.bounds.parity import sda_tolerance
    from hardness.sq.bounds.rounding import label_log2_sda

    m, tau = int(task.params["heads"]), float(task.solver["tolerance"])
    if task.family == "parity":
        dim = int(task.params["dim"])
        exact = head_budget.exact_parity(m, dim, tau)
        best = head_budget.truncated_parity(m, dim, tau, (dim - 1) // 2)
        return Outcome("solved", None, {
            "exact": exact.log2_queries, "truncated": best.log2_queries, "s": best.size, "leak": best.leak,
            "reference": head_budget.reference(m, dim),
        })  # fmt: skip
    q, p = int(task.params["modulus"]), int(task.params["levels"])
    bought = head_budget.rounding(m, tau, q, p)
    detail: Line = {"n": bought.size, "rounding": bought.log2_queries} | _estimated(m, p, tau)
    average = sda_tolerance(tau)
    if average and 0 < bought.size <= SDA_LARGEST:
        detail["sda"] = label_log2_sda(RoundingConcepts(bought.size, q, p), average)
    return Outcome("solved", None, detail)


def _estimated(m: int, p: int, tau: float) -> Line:
    """n = 12 (m/(lambda p))^2 at a normal tail mass of tau/2 (theory 1.4), and the bound 8 (tau/2)^2 2^n there."""
    n = int(12 * (m / (NormalDist().inv_cdf(1 - tau / 4) * p)) ** 2)
    return {"n_estimated": n, "estimated": max(0.0, n + log2(8 * (tau / 2) ** 2))}


def budget_table(rows: Iterable[Row]) -> list[Line]:
    """One line a tolerance and m: log2 of the proven query bounds, and what stands beside them."""
    found: dict[tuple[float, int], Line] = defaultdict(dict)
    for row in rows:
        if row.outcome and row.outcome.status == "solved":
            found[float(row.task.solver["tolerance"]), int(row.task.params["heads"])] |= row.outcome.detail
    return [
        {
            "tolerance": tau, "m": m, "exact parity": d.get("exact"), "truncated parity": d.get("truncated"),
            "best s": d.get("s"), "leak": d.get("leak"), "rounding": d.get("rounding"), "n": d.get("n"),
            "SDA, ideal labels": d.get("sda"), "rounding, estimated": d.get("estimated"),
            "n estimated": d.get("n_estimated"), "m log2 d, reference": d.get("reference"),
        }
        for (tau, m), d in sorted(found.items(), key=lambda item: (-item[0][0], item[0][1]))
    ]  # fmt: skip


# Column, name in the legend, look: proven lines are solid and filled, all others broken or open.
BOUGHT: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("exact parity", "exact parity, s = m, d = 256 (proved)", {"color": RAMP[0], "marker": "o"}),
    ("truncated parity", "truncated parity, best s, d = 256 (proved)", {"color": RAMP[5], "marker": "D"}),
    ("rounding", "rounding, own d = n + 1 (proved)", {"color": RAMP[2], "marker": "s"}),
    ("SDA, ideal labels", "SDA at that n, ideal labels only", {
        "color": RAMP[1], "marker": "v", "markerfacecolor": "none", "linestyle": LINES[2]}),
    ("rounding, estimated", "rounding at n = 12(m/(λp))², estimate", {
        "color": RAMP[4], "marker": "P", "markerfacecolor": "none", "linestyle": LINES[4], "linewidth": 1.0}),
    ("m log2 d, reference", "m log₂ d, reference only", {"color": MUTED, "linestyle": LINES[3], "linewidth": 1.1}),
)  # fmt: skip


def write(store: Store, folder: Path) -> str:
    """Write the page of `head-budget` into `folder`; returns its verdict line."""
    table = budget_table(store.rows())
    notes = (
        "Proved here: every number called proved is log₂ of a lower bound on the queries any strategy needs at STAT(τ) "
        "to identify against the window adversary: 8τ²(C(d−1, s)−1) for parity, with τ − ε for τ where m heads are "
        "right but for a mass ε of inputs (truncated parity, s > m), and 8(τ−ε)²2ⁿ(1−10⁻³−q⁻ⁿ) for rounding "
        "(q = 97, p = 2), with n the largest whose labels m heads hold, ε by Hoeffding, for all but 1 in 1000 secrets.",
        "Computed, not proved for m heads: the SDA bound, which is for ideal labels (drawn for n ≤ 128), and the "
        "estimate n = 12(m/(λp))² with a normal tail of mass τ/2. Nothing on this page is measured by a game; that "
        "these families are the best for m heads, or these bounds tight, is not proved.",
        "Not comparable: parity is at d = 256 throughout, rounding grows its own d = n + 1 = Θ(m²), where 2^O(d) is "
        "brute force. The known bound d^Ω(m) also covers tolerances d^−Ω(m) and has a constant we do not know; "
        "the line m log₂ d (constant 1, d = 256) is for the eye only. The rounding and truncated bounds hold at a "
        "fixed tolerance above ε, no lower.",
        "The leak is the largest mean of a query of degree below s on truncated parity: at a tolerance below it a "
        "search over pairs of coordinates wins. Truncated parity stops growing where s reaches (d−1)/2.",
    )
    return table_page(store, folder, QUESTION, _verdict(table), table, notes, _drawings(table))


def _verdict(table: Table) -> str:
    if not table:
        return NOTHING
    said = []
    for tau in dict.fromkeys(line["tolerance"] for line in table):
        lines = [e for e in table if e["tolerance"] == tau]
        line = max((e for e in lines if e["m"] <= 32), key=lambda e: e["m"], default=lines[-1])
        bits = [f"{key} 2^{line[key]:.0f}" for key in ("exact parity", "truncated parity", "rounding")
                if line[key] is not None]  # fmt: skip
        said.append(f"at τ = {tau:g}, m = {line['m']}: " + ", ".join(bits or ["nothing"]))
    return "Queries proved necessary: " + "; ".join(said) + "."


def _drawings(table: Table) -> list[Drawing]:
    tolerances = list(dict.fromkeys(line["tolerance"] for line in table))
    if not tolerances:
        return []
    drawing = Drawing("budget", 0.8 + 3.4 * len(tolerances), 4.6)
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(tolerances), sharey=True, squeeze=False)[0]
        for axes, tau in zip(panels, tolerances, strict=True):
            lines = [line for line in table if line["tolerance"] == tau]
            for key, name, look in BOUGHT:
                known = [line for line in lines if line[key]]
                plain = {k: v for k, v in look.items() if not k.startswith("marker")}
                axes.plot([line["m"] for line in known], [line[key] for line in known], **plain)
                for line in known if "marker" in look else ():
                    marks = {k: v for k, v in look.items() if not k.startswith("line")}
                    drawing.point(axes, line["m"], line[key], f"{name}, m = {line['m']}: 2^{line[key]:.1f}", **marks)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_ylim(bottom=1)
            sizes = [m for m in sorted({line["m"] for line in lines}) if m & (m - 1) == 0]
            axes.set_xticks(sizes, [str(m) for m in sizes])
            axes.set_xlabel("m")
            axes.set_title(f"τ = {tau:g}")
            axes.grid(axis="y")
        panels[0].set_ylabel("log₂ of the query bound")
        legend(drawing, (), [(name, look) for _, name, look in BOUGHT], 3)
    return [drawing]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    return 0.5


STUDY = Study("head-budget", QUESTION, tasks, seconds, trial, write, role="proved")
