"""The study `query-frontier`: how many queries does each strategy need at each tolerance?"""

from collections import Counter
from itertools import product
from math import comb, inf
from pathlib import Path

from hardness.engine.store import Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report.drawing import Drawing, style
from hardness.report.report import table_page
from hardness.studies.games import (
    frontier_table,
    game,
    runs_of,
    seconds,
)
from hardness.studies.looks import CEILING, FLOOR, NAMES, NOTHING, Table, counted, curve, legend

QUESTION = "How many queries does each strategy need at each tolerance, and how far is that from the proven bound?"

TOLERANCES = (0.03, 0.05, 0.0624, 0.08, 0.1, 0.1249, 0.16, 0.2)  # those of bent blocks lie just below 2^-r/4
FRONTIER_DIM = 21
PLAYED = ("characters", "sign-batch", "bent", "adaptive")
DRIFT = 5  # queries by which games of sign batches on one class and tolerance differ, over what they draw
SHOWN = (0.05, 0.1, 0.2)  # tolerances at which the need is drawn against m


def tasks(quick: bool) -> list[Task]:
    """Games against the greedy window on parities at d = 21."""
    found = []
    for m in range(2, 5 if quick else 6):
        params = {"dim": FRONTIER_DIM, "heads": m, "gadget": "diag"}
        budget = {"queries": 2 * comb(FRONTIER_DIM - 1, m) + 64}
        for strategy, tau in product(PLAYED, TOLERANCES):
            if _affordable(strategy, m, tau, quick):
                solver = {"kind": "frontier", "strategy": strategy, "tolerance": tau}
                found += [Task("parity", params, solver, budget, r) for r in range(runs_of(strategy, quick))]
    return found


def _affordable(strategy: str, m: int, tau: float, quick: bool) -> bool:
    """Games of seconds: exact losses of many candidates on many sets take minutes at small tolerance."""
    if strategy == "adaptive":
        return tau >= 0.05 if m == 2 else m == 3 and tau in ((0.1249,) if quick else (0.1, 0.1249, 0.16))
    return strategy != "bent" or m <= (3 if quick else 4)


def write(store: Store, folder: Path) -> str:
    """Write the page of `query-frontier` into `folder`; returns its verdict line."""
    table = frontier_table(store.rows())
    notes = (
        ("proved", "For every strategy, the broken lower bounds: 8τ²(N−1) queries with N = C(d−1, m) hidden sets "
         "(theory 2.5). At τ < 1/4 it is proved, too, that N − 1 queries suffice (dotted), one character a query."),
        ("identity", "Characters pay N − 1, and sign batches (N−1)/⌊K/2⌋ queries up to the end game on the last K sets "
         "(theory 2.5e): the games only check that. Characters, sign batches and bent blocks have one run and no "
         f"interval: the oracle draws nothing, and which sets are drawn changes a game by {DRIFT} queries at most."),
        ("measured", "The adaptive strategy looks at what it drew: a point is the mean over the runs that identified, "
         "with the 95 % interval of that mean (Student's t, from three runs on; often smaller than the marker). Points "
         "are upper bounds on what the cheapest strategy needs, not lower ones. Where no run identified nothing is "
         "drawn; the table says at how many queries the strategy gave up. Bent blocks and the "
         "adaptive strategy weigh exact means of every live set and are slow, so they are played for few m."),
        "How near a strategy can come to the bound at all, with sharper floors, is the study exact-games; at small "
        "tolerances and for more heads it is needs; rounded inner products have rounding-games.",
    )  # fmt: skip
    shown = [counted(line) | {"tolerance": f"{line['tolerance']:g}"} for line in table]
    kinds = {"verdict": "proved identity measured", "proven bound": "proved", "exhaustive": "proved"}
    terms = {
        "m or n": "The number of heads m; parities only are played here.",
        "exhaustive": "The number of queries that ask every concept but one: N − 1.",
        "ratio": "Queries over the proven bound.",
    }
    return table_page(store, folder, QUESTION, _verdict(table), shown, notes, _drawings(table), kinds, terms)


def _verdict(table: Table) -> str:
    """By how much the cheapest strategy misses the bound, at each end of the tolerances, and what it gains with m."""
    if not table:
        return NOTHING
    judged = [line for line in table if line["ratio"] is not None and line["proven bound"] >= 1]
    if not judged:
        return "No run identified above a bound of one query: nothing is measured."
    ratios: dict[tuple[int, float], float] = {}
    for line in judged:
        key = line["m or n"], line["tolerance"]
        ratios[key] = min(ratios.get(key, inf), float(line["ratio"]))
    (_, widest), most = max(ratios.items(), key=lambda item: item[1])
    # Strategies often tie, and none of those is left out.
    cheapest = [line for line in judged if line["ratio"] <= ratios[line["m or n"], line["tolerance"]]]
    winners = Counter(str(line["strategy"]) for line in cheapest).most_common()
    who = ", ".join(f"{name} in {count}" for name, count in winners)
    always = winners[0][1] == len(ratios)
    first = f"None is cheaper than {winners[0][0]} anywhere" if always else "No strategy is best everywhere"
    below = sum(line["least"] < line["proven bound"] for line in judged)
    return (
        f"The bound is tight within a factor of {most:.2g} at every tolerance played, and of "
        f"{min(ratios.values()):.2g} at the best; it is widest at τ = {widest:g}. {first}: of "
        f"{len(ratios)} pairs of m and τ the least is paid, ties counted for each, by {who}."
        + (f" {below} games ended below the bound, which must not be." if below else "")
    )


def _drawings(table: Table) -> list[Drawing]:
    sizes = sorted({int(line["m or n"]) for line in table if line["proven bound"]})
    if not sizes:
        return []
    shown = [name for name in NAMES if any(line["strategy"] == name for line in table)]
    curves = [("proved to be needed", FLOOR), ("proved to suffice, N − 1", CEILING)]
    columns = min(2, len(sizes))
    rows = -(-len(sizes) // columns)
    frontier = Drawing("frontier", 0.9 + 3.2 * columns, 0.9 + 2.8 * rows)
    frontier.caption = (
        "Queries until one set is left, against the greedy window, at every tolerance; a panel a number of heads m. "
        "Broken: proved to be needed; dotted: proved to suffice. Between them the strategies, with 95 % intervals "
        "where they draw."
    )
    frontier.seen = "The need of every strategy rises with the tolerance, above the broken bound in every panel."
    taus = [tau for tau in SHOWN if any(line["tolerance"] == tau for line in table)]
    heads = Drawing("heads", 0.9 + 2.6 * max(1, len(taus)), 3.7)
    heads.caption = (
        f"The same needs against m at d = {FRONTIER_DIM}, a panel a tolerance, between what is proved to be needed and "
        "what is proved to suffice."
    )
    heads.seen = "All lines rise with m, by the same factors: strategies and bounds stay a constant factor apart."
    for drawing, shape, variable, symbol, panels in (
        (frontier, (rows, columns), "tolerance", "τ", [("m or n", m, f"m = {m}") for m in sizes]),
        (heads, (1, max(1, len(taus))), "m or n", "m", [("tolerance", tau, f"τ = {tau:g}") for tau in taus]),
    ):
        drawing.kinds = "proved identity measured"
        with style(drawing.name):
            grid = drawing.figure.subplots(*shape, squeeze=False, sharey=drawing is heads).ravel()
            for axes, (key, value, title) in zip(grid, panels, strict=False):
                lines = [line for line in table if line[key] == value]
                for column, look in (("proven bound", FLOOR), ("exhaustive", CEILING)):
                    known = sorted({(line[variable], line[column]) for line in lines if line[column] is not None})
                    axes.plot([x for x, _ in known], [y for _, y in known], **look)
                for name in NAMES:
                    curve(drawing, axes, name, [e for e in lines if e["strategy"] == name], variable, symbol)
                axes.set(title=title, xlabel=symbol, yscale="log")
                axes.grid(axis="y")
                if drawing is frontier:
                    axes.set_xscale("log")
                    axes.set_xticks((0.03, 0.05, 0.1, 0.2), ("0.03", "0.05", "0.1", "0.2"))
                    axes.set_xticks((), minor=True)
                else:
                    axes.set_xticks(sizes)
            for axes in grid[len(panels) :]:
                axes.set_visible(False)
            for i in range(0, len(panels), shape[1]):
                grid[i].set_ylabel("queries")
            legend(drawing, shown, curves, 3)
    return [frontier, heads] if taus else [frontier]


STUDY = Study("query-frontier", QUESTION, tasks, seconds, game, write, role="proved")
