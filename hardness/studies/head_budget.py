"""The study `head-budget`: how much hardness against statistical queries do m heads buy?"""

from collections import defaultdict
from collections.abc import Iterable
from math import log2
from pathlib import Path
from statistics import NormalDist
from typing import Any

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.families.concepts import RoundingConcepts
from hardness.report.drawing import LINES, RAMP, Drawing, style
from hardness.report.sections import Section, sections_page
from hardness.studies.games import (
    Line,
)
from hardness.studies.looks import NOTHING, Table, legend

QUESTION = "How much hardness against statistical queries do m heads buy?"

BUDGET_DIM, BUDGET_TOLERANCES = 256, (0.1, 0.01, 0.001)
MODULUS, LEVELS = 97, 2
SDA_LARGEST = 128  # n up to which the SDA convolution takes about a second
NAMED = 32  # the number of heads that the headline names, or the largest below it
PARITY, ROUNDING = f"parity, d = {BUDGET_DIM}", "rounding, d = n + 1"


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


# Column of a trial, layers, name in the legend, whether it is proved for m heads, look.
BOUGHT: tuple[tuple[str, str, str, bool, dict[str, Any]], ...] = (
    ("exact", PARITY, "exact parity, s = m", True, {"color": RAMP[0], "marker": "o"}),
    ("truncated", PARITY, "truncated parity, best s > m", True, {
        "color": RAMP[5], "marker": "D", "linestyle": LINES[1]}),
    ("rounding", ROUNDING, "labels of m heads", True, {"color": RAMP[2], "marker": "s"}),
    ("sda", ROUNDING, "SDA, ideal labels only", False, {
        "color": RAMP[1], "marker": "v", "markerfacecolor": "none", "linestyle": LINES[2]}),
    ("estimated", ROUNDING, "at n = 12(m/(λp))², estimate", False, {
        "color": RAMP[4], "marker": "P", "markerfacecolor": "none", "linestyle": LINES[4], "linewidth": 1.0}),
)  # fmt: skip


def budget_table(rows: Iterable[Row]) -> list[Line]:
    """One line a kind of layers, bound, tolerance and m: its sizes, and log2 of the queries."""
    found: dict[tuple[float, int], Line] = defaultdict(dict)
    for row in rows:
        if row.outcome and row.outcome.status == "solved":
            found[float(row.task.solver["tolerance"]), int(row.task.params["heads"])] |= row.outcome.detail
    return [
        {
            "layers": layers, "bound": name, "kind": "proved" if proved else "estimated", "tolerance": tau, "m": m,
            "s or n": {"exact": m, "truncated": d.get("s"), "estimated": d.get("n_estimated")}.get(key, d.get("n")),
            "log₂ queries": d[key], "leak": d.get("leak") if key == "truncated" else None,
        }
        for key, layers, name, proved, _ in BOUGHT
        for (tau, m), d in sorted(found.items(), key=lambda item: (-item[0][0], item[0][1]))
        if (d.get(key) or 0) >= 1
    ]  # fmt: skip


def write(store: Store, folder: Path) -> str:
    """Write the page of `head-budget` into `folder`; returns its verdict line."""
    table = budget_table(store.rows())
    drawn = {drawing.name: [drawing] for drawing in _drawings(table)}

    def lines(layers: str, kind: str) -> list[Line]:
        return [
            {key: value for key, value in line.items() if key not in ("layers", "kind") and value is not None}
            for line in table
            if (line["layers"], line["kind"]) == (layers, kind)
        ]

    sections = [
        Section(
            "proved",
            f"Parities at d = {BUDGET_DIM}",
            (
                "log₂ of a lower bound on the queries that any strategy needs at tolerance τ to identify: 8τ²(C(d−1, "
                "s)−1) with s = m (theory 2.5); and, where labels are truncated to what m heads hold of a parity of s "
                "> m bits, the same with τ − ε for τ, ε the mass of the inputs on which they are wrong (theory 2.2). "
                "It holds at a fixed tolerance above ε, no lower, and stops growing where s reaches half of d − 1.",
                "The leak is the largest mean of a query of degree below s on truncated parity: at a tolerance below "
                "it a search over pairs of coordinates wins.",
            ),
            drawn.get("budget", []),
            [("Parities: log₂ of the queries", lines(PARITY, "proved"))],
        ),
        Section(
            "proved",
            "Rounding, in a dimension of its own",
            (
                f"The labels of m heads of rounded inner products, q = {MODULUS} and p = {LEVELS}: 8(τ−ε)²2ⁿ(π−q⁻ⁿ) "
                "queries (theory 2.6), where the labels of a share π of the secrets are wrong on a mass of at most ε "
                "of the inputs, and n is a size that so many heads hold. The number is the one that every page and "
                "command prints for so many heads. It holds at a fixed tolerance above ε, no lower.",
                "Here d = n + 1 grows with the square of m, and two to the power O(d) queries are brute force: these "
                "numbers and those of parities at one d do not compare, and stand in no figure or table together.",
            ),
            drawn.get("rounding", []),
            [("Rounding: log₂ of the queries", lines(ROUNDING, "proved"))],
        ),
        Section(
            "estimated",
            "Beside rounding: not proved for m heads",
            (
                "The bound by SDA, which is for ideal labels and not for those of m heads, and the need at the size n "
                "= 12(m/(λp))² of a normal tail of mass τ/2, λ its quantile. Nothing on this page is measured by a "
                "game. That these families are the best for m heads, or these bounds tight, is not proved.",
            ),
            (),
            [("Estimates: log₂ of the queries", lines(ROUNDING, "estimated"))],
        ),
    ]
    lead = () if table else (NOTHING.capitalize(),)
    return sections_page(store, folder, QUESTION, _verdict(table), lead, sections, "proved")


def _verdict(table: Table) -> str:
    """What parities of m heads need at one m and the extremes of τ; rounding has no figure in the same sentence."""
    parity = [line for line in table if line["layers"] == PARITY]
    if not parity:
        return NOTHING
    m = max((line["m"] for line in parity if line["m"] <= NAMED), default=parity[0]["m"])
    said = []
    for name in dict.fromkeys(line["bound"] for line in parity):
        own = [line for line in parity if (line["bound"], line["m"]) == (name, m)]
        said += (
            [f"{name}: " + ", ".join(f"2^{e['log₂ queries']:.0f} at τ = {e['tolerance']:g}" for e in own)]
            if own
            else []
        )
    return (
        f"Proved at d = {BUDGET_DIM}: a layer of m = {m} heads can hide a parity that no statistical-query strategy "
        f"identifies with fewer queries than the following. {'; '.join(said)}."
    )


def _drawings(table: Table) -> list[Drawing]:
    return [_bits(table, layers) for layers in (PARITY, ROUNDING) if any(e["layers"] == layers for e in table)]


def _bits(table: Table, layers: str) -> Drawing:
    """Proved bits against m, a panel a tolerance, of one kind of layers."""
    tolerances = list(dict.fromkeys(line["tolerance"] for line in table))
    drawing = Drawing("budget" if layers == PARITY else "rounding", 0.8 + 3.1 * len(tolerances), 3.9)
    drawing.kinds = "proved" if layers == PARITY else "proved estimated"
    drawing.caption = {
        PARITY: f"Parities at d = {BUDGET_DIM}: log₂ of the queries proved to be needed, a panel a tolerance.",
        ROUNDING: "Rounding, each point in its own d = n + 1: log₂ of the queries. Filled and solid: proved for the "
        "labels of m heads. Open and broken: not proved for them.",
    }[layers]
    drawing.seen = "The bounds rise with m in every panel, and are lower at smaller tolerances."
    shown = [(key, name, look) for key, kind, name, _, look in BOUGHT if kind == layers]
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(tolerances), sharey=True, squeeze=False)[0]
        for axes, tau in zip(panels, tolerances, strict=True):
            for _, name, look in shown:
                lines = [e for e in table if (e["layers"], e["bound"], e["tolerance"]) == (layers, name, tau)]
                line = {k: v for k, v in look.items() if not k.startswith("marker")}
                marks = {k: v for k, v in look.items() if not k.startswith("line")}
                axes.plot([e["m"] for e in lines], [e["log₂ queries"] for e in lines], **line)
                for e in lines:
                    drawing.point(
                        axes, e["m"], e["log₂ queries"], f"{name}, m = {e['m']}: 2^{e['log₂ queries']:.1f}", **marks
                    )
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_ylim(bottom=1)
            axes.yaxis.set_major_formatter("{x:g}")
            sizes = [m for m in sorted({line["m"] for line in table}) if m & (m - 1) == 0]
            axes.set_xticks(sizes, [str(m) for m in sizes])
            axes.set_xticks((), minor=True)
            axes.set_xlabel("m")
            axes.set_title(f"τ = {tau:g}")
            axes.grid(axis="y")
        panels[0].set_ylabel("log₂ of the queries needed")
        legend(drawing, (), [(name, look) for _, name, look in shown], 3)
    return drawing


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    return 0.5


STUDY = Study("head-budget", QUESTION, tasks, seconds, trial, write, role="proved")
