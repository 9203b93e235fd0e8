"""The study `rounding-games`: games over all 5^n secrets."""

from collections.abc import Iterable
from math import log
from pathlib import Path

from hardness.concepts import RoundingConcepts
from hardness.studies.games import (
    RUNS,
    Line,
    frontier_table,
    game,
    seconds,
)
from hardness.studies.looks import CEILING, FLOOR, NAMES, NOTHING, Table, counted, curve, legend
from hardness.study.page.drawing import Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store
from hardness.study.study import Study
from hardness.study.task import Task

QUESTION = "How far from tight is the bound for rounded inner products? Games over all 5^n secrets."

TOLERANCE = 0.1
# Largest n a strategy affords, and its limit of queries.
UP_TO = {
    "adaptive": (8, 20_000), "sign-batch": (8, 20_000), "characters": (5, 20_000), "gradient": (6, 300),
    "low-degree": (8, 100),
}  # fmt: skip


def tasks(quick: bool) -> list[Task]:
    """Rounding with q = p = 5 against the window adversary, over all 5^n secrets; n up to 8 for those that end."""
    found = []
    for n in range(3, 6 if quick else 9):
        params = {"dim": n + 1, "modulus": 5, "levels": 5}
        for strategy, (largest, queries) in UP_TO.items():
            if n <= largest:
                solver = {"kind": "frontier", "strategy": strategy, "tolerance": TOLERANCE}
                runs = 1 if strategy == "low-degree" or n == 8 else 2 if quick or n == 7 else RUNS
                found += [Task("rounding", params, solver, {"queries": queries}, r) for r in range(runs)]
    return found


def games_table(rows: Iterable[Row]) -> list[Line]:
    """The frontier's lines on rounding with SDA beside them, and the ratio over n ln q, what geometric losses cost."""
    from hardness.sq.bounds.rounding import rounding_bounds

    found = list(rows)
    classes = {row.task.params["dim"] - 1 for row in found}
    bounds = {n: rounding_bounds(RoundingConcepts(n, 5, 5), TOLERANCE) for n in classes}
    hidden = ("family", "m or n", "tolerance", "least", "exhaustive", "exact", "entropy")
    table = []
    for line in frontier_table(found):
        n = line["m or n"]
        ratio, decay = line["ratio"], n * log(5)
        table.append(
            {"n": n} | {key: value for key, value in line.items() if key not in hidden}
            | {"SDA": bounds[n].get("sda"), "n ln q": decay, "ratio/(n ln q)": ratio and ratio / decay}
        )  # fmt: skip
    return sorted(table, key=lambda line: (line["strategy"], line["n"]))


def write(store: Store, folder: Path) -> str:
    """Write the page of `rounding-games` into `folder`; returns its verdict line."""
    table = games_table(store.rows())
    notes = (
        "Games over all 5ⁿ secrets, q = p = 5 (no two secrets share their labels), ideal labels, best-window "
        f"adversary, τ = {TOLERANCE:g}. Proved, for every strategy: 8τ²2ⁿ(1−q⁻ⁿ) queries (theory 2.6; dashed). "
        "SDA (theory 2.4) stands in the table where it says anything; where empty, τ²/3 is below the bound on the "
        "labels' mean correlation.",
        "Measured: mean queries of the runs that identified, with the 95 % interval of the mean (Student's t); a "
        "single run has none. Open triangles: none identified; the strategy gave up or met its limit, with the "
        "secrets left in the table. Characters and gradients are not played beyond n = 5 and 6 (each query moves few "
        "secrets, or none).",
        "How far from tight? The bound charges every query the share 1/(8τ²2ⁿ) of all secrets. If every query lost "
        "just that share of the secrets still live, losses would be geometric and the need n ln q = ln(qⁿ) times the "
        "bound (dotted; not a bound). The last column is the need over that: below 1 a strategy loses more than that "
        "share of the live secrets on average, above 1 less. That no query loses more than its share of the live "
        "secrets is not proved; a strategy that leaves the live secrets bunched, or a better bound, may close the gap.",
        "The adaptive strategy exploits neighbours: secrets that differ in one coordinate agree on half of the inputs, "
        "so it starts from votes of one secret, a neighbourhood or a batch and climbs Σ a_w⁴ by votes weighted with "
        "a_w³.",
    )
    return table_page(
        store, folder, QUESTION, _verdict(table), [counted(line) for line in table], notes, _drawings(table)
    )


def _verdict(table: Table) -> str:
    if not table:
        return NOTHING
    judged = [line for line in table if line["ratio"] is not None and line["proven bound"] >= 1]
    if not judged:
        return f"none of {len(table)} points identified above a bound of one query, nothing is measured."
    best = {n: min((e for e in judged if e["n"] == n), key=lambda e: e["ratio"]) for n in {e["n"] for e in judged}}
    said = [f"n = {n}: {line['ratio']:.1f} ({line['strategy']})" for n, line in sorted(best.items())]
    share = [line["ratio/(n ln q)"] for line in best.values()]
    return (
        f"Queries over the proven bound, cheapest strategy: {', '.join(said)}; that is {min(share):.2f} to "
        f"{max(share):.2f} of n ln q times the bound."
    )


def _drawings(table: Table) -> list[Drawing]:
    if not table:
        return []
    drawing = Drawing("games", 7.2, 4.6)
    with style(drawing.name):
        axes = drawing.figure.subplots()
        known = sorted({(e["n"], e["proven bound"], e["n ln q"]) for e in table if e["proven bound"]})
        axes.plot([n for n, _, _ in known], [bound for _, bound, _ in known], **FLOOR)
        axes.plot([n for n, _, _ in known], [bound * decay for _, bound, decay in known], **CEILING)
        shown = [name for name in NAMES if any(line["strategy"] == name for line in table)]
        for name in shown:
            curve(drawing, axes, name, [line for line in table if line["strategy"] == name], "n", "n")
        axes.set_yscale("log")
        axes.set_xticks(sorted({line["n"] for line in table}))
        axes.set_xlabel("n (5ⁿ secrets)")
        axes.set_ylabel(f"queries at τ = {TOLERANCE:g}")
        axes.grid(axis="y")
        legend(drawing, shown, [("proven lower bound", FLOOR), ("bound × n ln q", CEILING)], 3)
    return [drawing]


STUDY = Study("rounding-games", QUESTION, tasks, seconds, game, write, guard=900.0, role="proved")
