"""The page of the study rounding-games: verdict, what is proved and what measured, figure and table."""

from pathlib import Path

from hardness.studies.looks import CEILING, FLOOR, NAMES, NOTHING, Table, counted, curve, legend
from hardness.studies.rounding_games import TOLERANCE, games_table
from hardness.study.page.drawing import Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Store


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
    return table_page(store, folder, _verdict(table), [counted(line) for line in table], notes, _drawings(table))


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
