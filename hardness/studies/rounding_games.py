"""The study `rounding-games`: games over all 5^n secrets."""

from collections.abc import Iterable
from pathlib import Path

from hardness.concepts import RoundingConcepts
from hardness.studies.games import (
    RUNS,
    Line,
    frontier_table,
    game,
    seconds,
)
from hardness.studies.looks import FLOOR, NAMES, NOTHING, Table, counted, curve, legend
from hardness.study.page.drawing import Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store
from hardness.study.study import Study
from hardness.study.task import Task

QUESTION = "How far from tight is the bound for rounded inner products? Games over all 5^n secrets."

TOLERANCE = 0.1
Q = 5  # modulus and levels
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
    """The frontier's lines on rounding, SDA beside them."""
    from hardness.sq.bounds.rounding import rounding_bounds

    found = list(rows)
    classes = {row.task.params["dim"] - 1 for row in found}
    bounds = {n: rounding_bounds(RoundingConcepts(n, Q, Q), TOLERANCE) for n in classes}
    hidden = ("family", "m or n", "tolerance", "least", "exhaustive", "exact", "entropy")
    table = [
        {"n": line["m or n"]} | {key: value for key, value in line.items() if key not in hidden}
        | {"SDA": bounds[line["m or n"]].get("sda")}
        for line in frontier_table(found)
    ]  # fmt: skip
    return sorted(table, key=lambda line: (line["strategy"], line["n"]))


def write(store: Store, folder: Path) -> str:
    """Write the page of `rounding-games` into `folder`; returns its verdict line."""
    table = games_table(store.rows())
    notes = (
        ("proved", f"For every strategy: 8τ²2ⁿ(1−q⁻ⁿ) queries (theory 2.6; dashed), at τ = {TOLERANCE:g} for all qⁿ "
         f"secrets with p = q = {Q}, so that no two secrets share their labels, and ideal labels. SDA (theory 2.4) "
         "stands in the table where it says anything; where it is empty, τ²/3 is below the bound on the "
         "labels' mean correlation."),
        ("measured", "Mean queries of the runs that identified against the greedy window, with the 95 % interval of "
         "the mean (Student's t); a single run has none. Where no run identified nothing is drawn: the table says "
         "after how many queries the strategy gave up, and how many secrets were left. Characters and gradients are "
         "not played on the largest n, since each of their queries moves few secrets, or none."),
        "How far from tight? The bound doubles with every coordinate, the number of secrets grows q-fold. If the need "
        "grew as the bound does, the factor a coordinate would settle at two; a factor that settles above two says "
        "that the strategy, or the bound, can be improved. Which of them is not known.",
        "The adaptive strategy exploits neighbours: secrets that differ in one coordinate agree on half of the inputs, "
        "so it starts from votes of one secret, a neighbourhood or a batch and climbs Σ a_w⁴ by votes weighted with "
        "a_w³, where a_w is the mean of the query under the secret w.",
    )  # fmt: skip
    kinds = {"verdict": "measured", "proven bound": "proved", "SDA": "proved", "queries": "measured"}
    shown = [counted(line) for line in table]
    terms = {"ratio": "Queries over the proven bound."}
    return table_page(store, folder, QUESTION, _verdict(table), shown, notes, _drawings(table), kinds, terms)


def _verdict(table: Table) -> str:
    """The ratio to the bound, and the factor a coordinate, of the cheapest strategy at every n."""
    if not table:
        return NOTHING
    judged = [line for line in table if line["ratio"] is not None and line["proven bound"] >= 1]
    if not judged:
        return f"None of {len(table)} points identified above a bound of one query: nothing is measured."
    best = {
        n: min((e for e in judged if e["n"] == n), key=lambda e: e["ratio"]) for n in sorted({e["n"] for e in judged})
    }
    said = ", ".join(f"{line['ratio']:.1f} at n = {n} ({line['strategy']})" for n, line in best.items())
    factors = [
        f"{best[n]['queries'] / best[n - 1]['queries']:.2g} from n = {n - 1} to {n}" for n in best if n - 1 in best
    ]
    grown = f" Its need grows by a factor of {', '.join(factors)}; the bound by two." if factors else ""
    return f"The cheapest strategy needs the proved number of queries times {said}.{grown}"


def _drawings(table: Table) -> list[Drawing]:
    if not table:
        return []
    drawing = Drawing("games", 7.2, 4.6)
    drawing.kinds = "proved measured"
    drawing.caption = (
        f"Queries until one of the {Q}ⁿ secrets is left, against the greedy window at τ = {TOLERANCE:g}, with 95 % "
        "intervals. Dashed: proved to be needed. A strategy that did not identify at some n has no point there."
    )
    drawing.seen = "Every strategy lies above the dashed bound, and rises faster than it at the largest n."
    with style(drawing.name):
        axes = drawing.figure.subplots()
        known = sorted({(e["n"], e["proven bound"]) for e in table if e["proven bound"]})
        axes.plot([n for n, _ in known], [bound for _, bound in known], **FLOOR)
        shown = [name for name in NAMES if any(e["strategy"] == name and e["queries"] is not None for e in table)]
        for name in shown:
            curve(drawing, axes, name, [line for line in table if line["strategy"] == name], "n", "n")
        axes.set_yscale("log")
        axes.set_xticks(sorted({line["n"] for line in table}))
        axes.set_xlabel("n (5ⁿ secrets)")
        axes.set_ylabel(f"queries at τ = {TOLERANCE:g}")
        axes.grid(axis="y")
        legend(drawing, shown, [("proven lower bound", FLOOR)], 3)
    return [drawing]


STUDY = Study("rounding-games", QUESTION, tasks, seconds, game, write, guard=900.0, role="proved")
