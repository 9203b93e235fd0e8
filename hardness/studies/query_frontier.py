"""The study `query-frontier`: how many queries does each strategy need at each tolerance?"""

from collections import Counter
from collections.abc import Mapping
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

from hardness.studies.games import (
    RUNS,
    frontier_table,
    game,
    runs_of,
    seconds,
)
from hardness.studies.looks import CEILING, FLOOR, NAMES, NOTHING, Table, counted, curve, legend
from hardness.study.page.drawing import Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Store
from hardness.study.study import Study
from hardness.study.task import Task

QUESTION = "How many queries does each strategy need at each tolerance, and how far is that from the proven bound?"

TOLERANCES = (0.03, 0.05, 0.0624, 0.08, 0.1, 0.1249, 0.16, 0.2)  # those of bent blocks lie just below 2^-r/4
FRONTIER_DIM = 21
MODULUS = 5
PLAYED = ("characters", "sign-batch", "bent", "adaptive")
ROUNDING_PLAYED = ("characters", "sign-batch", "adaptive")
ROUNDING_QUERIES = 20_000


def tasks(quick: bool) -> list[Task]:
    """Games against the window adversary: parity at d = 21, and rounding with q = 5 in small n."""
    found = []
    for m in range(2, 5 if quick else 6):
        params = {"dim": FRONTIER_DIM, "heads": m, "gadget": "diag"}
        budget = {"queries": 2 * comb(FRONTIER_DIM - 1, m) + 64}
        for strategy, tau in product(PLAYED, TOLERANCES):
            if _affordable(strategy, m, tau, quick):
                solver = {"kind": "frontier", "strategy": strategy, "tolerance": tau}
                found += [Task("parity", params, solver, budget, r) for r in range(runs_of(strategy, quick))]
    for n in (3, 4) if quick else (4, 5):
        params = {"dim": n + 1, "modulus": MODULUS, "levels": MODULUS}
        for strategy, tau in product(ROUNDING_PLAYED, TOLERANCES):
            solver = {"kind": "frontier", "strategy": strategy, "tolerance": tau}
            runs = 1 if quick else RUNS
            found += [Task("rounding", params, solver, {"queries": ROUNDING_QUERIES}, r) for r in range(runs)]
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
        ("proved", "For every strategy, the dashed lower bounds: 8τ²(N−1) queries for parity with N = C(d−1, m) hidden "
         "sets (theory 2.5), and 8τ²2ⁿ(1−q⁻ⁿ) for rounding (theory 2.6). For parity at τ < 1/4 it is proved, too, that "
         "N − 1 queries suffice (dotted), one character a query."),
        ("identity", "Sign batches pay (N−1)/⌊K/2⌋ queries up to the end game on the last K sets (theory 2.5e), and "
         "characters N − 1: the games only check that. Characters and bent blocks draw nothing on parities, nor does "
         "the oracle, so that one run is all there is to know."),
        ("measured", "The adaptive strategy, and every strategy on rounding: a point is the mean over the runs that "
         "identified, with the 95 % interval of that mean (Student's t; often smaller than the marker). Points are "
         "upper bounds on what the cheapest strategy needs, not lower ones. Where no run identified nothing is "
         "drawn; the table says at how many queries the strategy gave up. Bent blocks and the adaptive strategy weigh "
         "exact means of every live set and are slow, so they are played for few m."),
        "Rounding is drawn apart: its bound counts the 2ⁿ public vectors, not the qⁿ secrets, and N − 1 queries are "
        "not proved to suffice there. It is played with p = q levels, so that no two secrets have the same labels. A "
        "bound below one query says nothing.",
    )  # fmt: skip
    shown = [counted(line) | {"tolerance": f"{line['tolerance']:g}"} for line in table]
    kinds = {"verdict": "proved identity", "proven bound": "proved", "exhaustive": "proved"}
    terms = {
        "exhaustive": "The number of queries that ask every concept but one: N − 1.",
        "ratio": "Queries over the proven bound.",
    }
    return table_page(store, folder, QUESTION, _verdict(table), shown, notes, _drawings(table), kinds, terms)


def _verdict(table: Table) -> str:
    """The cheapest strategy at every class and tolerance, against the bound: the range of the ratios."""
    if not table:
        return NOTHING
    said = []
    for family in ("parity", "rounding"):
        lines = [line for line in table if line["family"] == family]
        judged = [line for line in lines if line["ratio"] is not None and line["proven bound"] >= 1]
        best: dict[tuple[int, float], Mapping[str, Any]] = {}
        for line in sorted(judged, key=lambda line: float(line["ratio"])):
            best.setdefault((line["m or n"], line["tolerance"]), line)
        if best:
            ratios = [float(line["ratio"]) for line in best.values()]
            winners = Counter(str(line["strategy"]) for line in best.values()).most_common()
            who = ", ".join(f"{name} at {count}" for name, count in winners)
            below = sum(line["least"] < line["proven bound"] for line in judged)
            said.append(
                f"For {family} the cheapest strategy needs {min(ratios):.2g} to {max(ratios):.2g} times the proved "
                f"number of queries, over {len(best)} pairs of a class and a tolerance (cheapest: {who})"
                + (f"; {below} games ended below the bound, which must not be" if below else "")
            )
        elif lines:
            said.append(f"For {family} no run identified above a bound of one query: nothing is measured")
    return ". ".join(said) + "."


def _drawings(table: Table) -> list[Drawing]:
    panels = sorted({(str(line["family"]), int(line["m or n"])) for line in table if line["proven bound"]})
    if not panels:
        return []
    columns = min(4, max(1, -(-len(panels) // 2)))
    rows = -(-len(panels) // columns)
    drawing = Drawing("frontier", 0.9 + 2.7 * columns, 0.8 + 2.9 * rows)
    drawing.kinds = "proved identity measured"
    drawing.caption = (
        "Queries until one concept is left, against the greedy window, at every tolerance; a panel a class. Dashed: "
        "proved to be needed; dotted: proved to suffice. Between them the strategies, with 95 % intervals."
    )
    drawing.seen = "The need of every strategy rises with the tolerance, above the dashed bound in every panel."
    with style(drawing.name):
        grid = drawing.figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (family, size) in zip(grid, panels, strict=False):
            lines = [line for line in table if (line["family"], line["m or n"]) == (family, size)]
            for key, look in (("proven bound", FLOOR), ("exhaustive", CEILING)):
                known = sorted({(line["tolerance"], line[key]) for line in lines if line[key] is not None})
                axes.plot([x for x, _ in known], [y for _, y in known], **look)
            for name in NAMES:
                curve(drawing, axes, name, [line for line in lines if line["strategy"] == name])
            axes.set_title(f"parity, m = {size}" if family == "parity" else f"rounding, q = p = {MODULUS}, n = {size}")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks((0.03, 0.05, 0.1, 0.2), ("0.03", "0.05", "0.1", "0.2"))
            axes.set_xticks((), minor=True)
            axes.set_xlabel("tolerance τ")
            axes.grid(axis="y")
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for i in range(0, len(panels), columns):
            grid[i].set_ylabel("queries")
        shown = [name for name in NAMES if any(line["strategy"] == name for line in table)]
        legend(drawing, shown, [("proven lower bound", FLOOR), ("proven upper bound N − 1 (parity)", CEILING)])
    return [drawing]


STUDY = Study("query-frontier", QUESTION, tasks, seconds, game, write, role="proved")
