"""The study `tolerance-in-m`: the largest tolerance at which a strategy still identifies."""

from collections import defaultdict
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from statistics import mean
from typing import Any

from hardness.concepts import ParityConcepts
from hardness.studies.games import (
    DETERMINISTIC,
    Line,
    runs_of,
    spread_of,
)
from hardness.studies.looks import CEILING, LOOKS, NAMES, NOTHING, Table, bar, legend, spread
from hardness.study.outcome import Outcome
from hardness.study.page.drawing import GRID, INK, LINES, MUTED, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store
from hardness.study.study import Study
from hardness.study.task import Task

QUESTION = "What is the largest tolerance at which each strategy still identifies the hidden parity of m heads?"

NEED_QUERIES = 1500
# Heads a strategy affords.
NEED_UP_TO = {
    "sign-batch": 6, "bent": 4, "mlp-gradient": 4, "attention-gradient": 4, "characters": 6, "low-degree": 6,
}  # fmt: skip
PRECISION = 0.05


def tasks(quick: bool) -> list[Task]:
    """Bisections at n = 14 (quick) or 18 public bits and 1500 queries, one a seed; theory 3.3 asks n >= 18."""
    n, heads = (14, range(1, 6)) if quick else (18, range(1, 7))
    return [
        Task("parity", {"dim": n + 1, "heads": m, "gadget": "diag"}, {"kind": "need", "strategy": strategy},
             {"queries": NEED_QUERIES}, r)
        for m in heads for strategy, largest in NEED_UP_TO.items() if m <= largest
        for r in range(runs_of(strategy, quick))
    ]  # fmt: skip


def concepts_of(task: Task) -> ParityConcepts:
    """Parities of m bits; from m = 1 on, which is no layer of the lab, so not by way of the family."""
    return ParityConcepts(int(task.params["dim"]) - 1, int(task.params["heads"]))


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One bisection on the tolerance."""
    from hardness.sq.frontier import size_floor, tolerance_need

    concepts, queries = concepts_of(task), int(task.budget["queries"])
    need = tolerance_need(
        concepts,
        task.solver["strategy"],
        max_queries=queries,
        seed=task.seed(root, "solver"),
        smallest=size_floor(concepts.n) / 4,
        precision=PRECISION,
    )
    detail = {
        "tolerance": need.tolerance,
        "floor": need.floor,
        "meaningful": need.meaningful,
        "ceiling": ceiling(concepts.size, queries),
    }
    return Outcome("budget" if need.tolerance is None else "solved", queries, detail)


def ceiling(concepts: int, queries: int) -> float:
    """No strategy identifies within `queries` at a larger tolerance: 8 tau^2 (N-1) > Q (theory 2.5d). At most 1.

    >>> round(ceiling(8008, 1500), 3)
    0.153
    """
    return min(1.0, sqrt(queries / (8 * (concepts - 1)))) if concepts > 1 else 1.0


def need_table(rows: Iterable[Row]) -> list[Line]:
    """One line a strategy and m: the largest tolerance seen to work, between the floor and the proven ceiling."""
    groups: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        if row.outcome and "floor" in row.outcome.detail:
            groups[row.task.solver["strategy"], concepts_of(row.task).s].append(row)
    table = []
    for (strategy, m), found in sorted(groups.items()):
        task, details = found[0].task, [row.outcome.detail for row in found if row.outcome]
        works = [float(detail["tolerance"]) for detail in details if detail["tolerance"] is not None]
        tolerance, floor = mean(works) if works else None, details[0]["floor"]
        table.append({
            "strategy": strategy, "m": m, "n": task.params["dim"] - 1, "concepts": concepts_of(task).size,
            "queries": task.budget["queries"], "runs": f"{len(works)}/{len(details)}", "tolerance": tolerance,
            **spread_of(works, strategy in DETERMINISTIC), "floor": floor, "ceiling": details[0]["ceiling"],
            "reading": "fails" if tolerance is None
            else "" if tolerance > floor else "meaningless: below the finite-size floor",
        })  # fmt: skip
    return table


def write(store: Store, folder: Path) -> str:
    """Write the page of `tolerance-in-m` into `folder`; returns its verdict line."""
    table = need_table(store.rows())
    notes = (
        "Measured: the largest tolerance at which a strategy was seen to identify, by bisection on log τ to 5 %, "
        "against the window adversary within the queries of the table; the mean over seeds and its 95 % interval "
        "(Student's t). Characters, bent blocks and low degree draw nothing: one bisection is exact. Gradients: every "
        "coordinate of the gradient of a random student (an MLP neuron, an attention head) is one query. "
        "Success need not be monotone at "
        "the last few per cent. A cross at the lower edge: the strategy fails at every tolerance tried, down to a "
        "quarter of the floor. For "
        "low-degree this is exact: monomials below degree m have mean 0 under every hidden set, at any tolerance "
        "(at m = 1 it asks degree 1).",
        "The finite-size floor 0.5·2^(−n/2) is the typical mean of a random ±1 function on n bits: results below it "
        "(shaded, open markers) are meaningless, for there any function tells the sets apart.",
        "Proved (dotted): no strategy identifies within Q queries at a tolerance above √(Q/(8(N−1))), from "
        "8τ²(N−1) ≤ Q (theory 2.5). Single characters work up to τ < 1/4 if Q ≥ N − 1, and not at all with fewer.",
    )
    return table_page(store, folder, QUESTION, _verdict(table), table, notes, _drawings(table))


def _verdict(table: Table) -> str:
    if not table:
        return NOTHING
    works = [line for line in table if line["tolerance"] is not None]
    real = [line for line in works if not line["reading"]]
    counts = (
        f"{len(real)} of {len(table)} points give a tolerance above the finite-size floor, "
        f"{len(works) - len(real)} below it (meaningless), {len(table) - len(works)} none at all"
    )
    if not real:
        return f"{counts}: nothing is measured."
    last = max(line["m"] for line in real)
    best = max((line for line in real if line["m"] == last), key=lambda line: line["tolerance"])
    return f"{counts}. At m = {last} the best is {best['strategy']}, τ = {best['tolerance']:.3g}."


def _drawings(table: Table) -> list[Drawing]:
    if not table:
        return []
    drawing = Drawing("tolerance", 7.2, 4.6)
    with style(drawing.name):
        axes = drawing.figure.subplots()
        sizes = sorted({line["m"] for line in table})
        floor = min(line["floor"] for line in table)
        bottom = floor / 4
        axes.axhspan(bottom, floor, color=GRID, alpha=0.45, linewidth=0)
        axes.axhline(floor, color=INK, linestyle=LINES[3], linewidth=1.0)
        top = dict(sorted((line["m"], line["ceiling"]) for line in table))
        axes.plot(list(top), list(top.values()), **CEILING)
        shown = [name for name in NAMES if any(line["strategy"] == name for line in table)]
        for i, name in enumerate(shown):
            color, marker, dash = LOOKS[name]
            lines = [line for line in table if line["strategy"] == name]
            found = [line for line in lines if line["tolerance"] is not None]
            axes.plot([e["m"] for e in found], [e["tolerance"] for e in found], color=color, linestyle=dash)
            for line in found:
                open_ = {"markerfacecolor": "none"} if line["reading"] else {}
                tip = f"{name}, m = {line['m']}: τ = {line['tolerance']:.3g} {line['reading']}{spread(line)}"
                bar(axes, line["m"], line, color)
                drawing.point(axes, line["m"], line["tolerance"], tip, color=color, marker=marker, **open_)
            for line in lines:
                if line["tolerance"] is None:
                    x = line["m"] + 0.1 * (i - len(shown) / 2)
                    drawing.point(axes, x, bottom * 1.15, f"{name}, m = {line['m']}: fails", color=color, marker="x")
        axes.set_yscale("log")
        axes.set_ylim(bottom, 1.1)
        axes.set_xticks(sizes)
        axes.set_xlabel("m")
        axes.set_ylabel("largest tolerance τ that identifies")
        axes.grid(axis="y")
        below: dict[str, Any] = {"color": INK, "linestyle": LINES[3], "linewidth": 1.0}
        legend(
            drawing,
            shown,
            [("finite-size floor 0.5·2^(−n/2)", below), ("proven ceiling √(Q/(8(N−1)))", CEILING),
             ("fails at every τ tried", {"color": MUTED, "linestyle": "none", "marker": "x"})],
            3,
        )  # fmt: skip
    return [drawing]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    bits, m = int(task.params["dim"]) - 1, int(task.params["heads"])
    match task.solver["strategy"]:
        case "mlp-gradient" | "attention-gradient":
            return 12.0 * 2.0 ** (bits - 18)
        case "sign-batch" | "bent":
            return 0.5 * m * 2.0 ** (bits - 14) / 4
    return 0.5


STUDY = Study("tolerance-in-m", QUESTION, tasks, seconds, trial, write, role="proved")
