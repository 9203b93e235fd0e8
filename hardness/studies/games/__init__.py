"""The study `games`: how many queries a hidden secret takes, exactly or between two bounds.

From the top: the grid, the trials, the lines of the article's tables, its numbers and its figures.
"""

from itertools import pairwise, product
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.io.rounding import at_most
from hardness.report import plots
from hardness.sq.bounds.floors import exact_floor
from hardness.statistics import mean
from hardness.studies.trials import concepts_of, played

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SMALL = ((4, 2), (4, 3), (5, 2), (5, 3))  # n, s: solved exactly
LARGE, QUICK = ((20, 4), (16, 6), (24, 6)), (12, 4)  # bracketed
TOLERANCES = (0.2, 0.16, 0.14, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04)
SLOWEST = 2_000  # queries of a game worth playing set by set, and sets of a class
CROWD = 10_000
SEARCH = 300  # seconds for the value of a small class
BRACKETING = ("sign-batch", "flat")

TOLERANCE, QUERIES = 0.1, 20_000  # of the games on rounding
IDEAL, UP_TO = (5, 5), 7  # modulus and levels of ideal labels, and their largest n
# The largest n that a strategy affords, and its limit of queries
INNER = {
    "sign-batch": (UP_TO, QUERIES),
    "adaptive": (UP_TO, QUERIES),
    "characters": (4, QUERIES),
    "gradient": (5, 300),
    "low-degree": (6, 100),
}


def tasks(quick: bool) -> list[Task]:
    """Return the searches for V of small classes, two strategies on these and on large ones, and on inner products."""
    games = []
    small, large = (SMALL[:2], (QUICK,)) if quick else (SMALL, LARGE)
    for (n, s), tau in product((*small, *large), TOLERANCES[:: 2 if quick else 1]):
        params = {"dim": n + 1, "heads": s, "gadget": "diag"}
        if (n, s) in small:
            games.append(Task("parity", params, {"kind": "value", "tolerance": tau}, {"seconds": SEARCH}, 0))
        for strategy in BRACKETING:
            if strategy != "flat" or (exact_floor(comb(n, s), tau) <= SLOWEST and comb(n, s) <= CROWD):
                games += _games("parity", params, strategy, tau, 2 * comb(n, s) + 64, 1)
    runs, largest = (2, 4) if quick else (10, UP_TO)
    for n, (strategy, (up_to, queries)) in product(range(2, largest + 1), INNER.items()):
        if n <= up_to:
            params = {"dim": n + 1, "modulus": IDEAL[0], "levels": IDEAL[1]}
            repeated = 1 if strategy == "low-degree" else runs
            games += _games("rounding", params, strategy, TOLERANCE, queries, repeated)
    return games


def _games(
    family: str, params: dict[str, Any], strategy: str, tolerance: float, queries: int, runs: int
) -> list[Task]:
    solver = {"kind": "frontier", "strategy": strategy, "tolerance": tolerance}
    return [Task(family, params, solver, {"queries": queries}, run) for run in range(runs)]


def game(task: Task, root: int, guard: float) -> Outcome:
    """Play a strategy against the greedy window: deterministic in the task and the root seed."""
    result = played(task, root)
    detail = {"bound": result.bound, "concepts": result.concepts, "remaining": result.remaining}
    if task.family == "parity":
        detail["exhaustive"] = result.concepts - 1
    return Outcome(result.status, result.queries, detail)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Search for V of a small class, or play a game."""
    if task.solver["kind"] != "value":
        return game(task, root, guard)
    from hardness.exact.small_games import value

    concepts: Any = concepts_of(task)
    worth = value(concepts, float(task.solver["tolerance"]), float(task.budget["seconds"]))
    detail = {"concepts": concepts.size, "lower": worth.lower, "upper": worth.upper}
    return Outcome("budget" if worth.exact is None else "solved", worth.lower, detail)


def seconds(task: Task) -> float:
    """Return the seconds that a trial is expected to take."""
    n, strategy = int(task.params["dim"]) - 1, task.solver.get("strategy", "value")
    if task.family == "rounding":
        return 0.05 + 0.5 * 10.0 ** (n - 6)
    sets = comb(n, int(task.params["heads"]))
    if strategy == "flat":
        return 6.0 + 0.012 * exact_floor(sets, float(task.solver["tolerance"]))
    return 0.8


SEVERAL = 100  # sets from which on a class is large
SHOWN = (0.2, 0.16, 0.1, 0.04)  # tolerances of the table that is not folded
CELL = ["n", "s", "tau"]


def named(rows: "DataFrame") -> "DataFrame":
    """Return the rows with n, s, tau and N as the article has them."""
    return rows.assign(n=rows.dim - 1, s=rows.heads, tau=rows.tolerance, N=rows.concepts)


def brackets(rows: "DataFrame") -> "DataFrame":
    """Return a line a class of parities and tolerance: n, s, tau, N, floor, sign-batch, flat, lower, upper.

    `floor` is that of theorem B, of V and of G; `lower` and `upper` are of V: by search in small classes, elsewhere the
    floor and what is surely enough (theory 2.7). A game that was not played has no number of queries.
    """
    from hardness.exact.dependent import certain_queries

    parity = named(rows[(rows.family == "parity") & rows.tolerance.isin(TOLERANCES)])
    classes = {*SMALL, *LARGE, QUICK}
    parity = parity[[place in classes for place in zip(parity.n, parity.s, strict=True)]]
    won = parity[parity.strategy.isin(BRACKETING) & (parity.status == "solved")]
    lines = won.pivot_table("cost", CELL, "strategy").astype(float).reindex(columns=list(BRACKETING))
    searched = parity[parity.kind == "value"].set_index(CELL)[["lower", "upper"]].astype(float)
    lines = lines.join(searched, how="outer").reset_index()
    lines["N"] = [comb(n, s) for n, s in zip(lines.n, lines.s, strict=True)]
    at = list(zip(lines.N, lines.tau, strict=True))
    lines["floor"] = [exact_floor(*place) for place in at]
    lines["lower"] = lines.lower.fillna(lines.floor)
    lines["upper"] = lines.upper.fillna(
        {i: certain_queries(*place) for i, place in zip(lines.index, at, strict=True)}
    )
    lines["G"] = lines[[*BRACKETING, "upper"]].min(axis=1)
    return lines.sort_values(["N", *CELL])


def products(rows: "DataFrame") -> "DataFrame":
    """Return a line an n and strategy on inner products: floor (theory 2.6), games, and the mean of queries.

    The mean is of the games that identified the secret, if these are at least half of all; else there is none.
    """
    import pandas as pd

    lines = []
    for (n, strategy), games in named(rows[rows.family == "rounding"]).groupby(["n", "strategy"]):
        won = games.cost[games.status == "solved"].astype(float).tolist()
        paid = mean(won) if 2 * len(won) >= len(games) else None
        ends = (None,) * 3 if paid is None else (paid.value, paid.low, paid.high)
        lines.append((int(n), strategy, float(games["bound"].iloc[0]), len(games), *ends))
    return pd.DataFrame(lines, columns=["n", "strategy", "floor", "games", "queries", "low", "high"])


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return every number of the article; ratios to a floor are rounded up."""
    lines = brackets(rows)
    known, large = lines[lines.lower == lines.upper], lines[lines.N > SEVERAL]
    small = lines[lines.N <= SEVERAL]
    flat = large[large.flat.notna()]
    inner = products(rows)
    best = inner[inner.n == UP_TO].sort_values("queries").iloc[0]
    grown = inner[inner.strategy == best.strategy].sort_values("n").queries.tolist()
    return {
        "pairs": len(lines),
        "known": len(known),
        "small": {
            "classes": len(small.drop_duplicates(["n", "s"])),
            "known": int((small.lower == small.upper).sum()),
            "sets": int(small.N.max()),
        },
        "large": {
            "classes": len(large.drop_duplicates(["n", "s"])),
            "V": at_most(float((large.upper / large.lower).max())),
            "G": at_most(float((large.G / large.floor).max())),
            "flat": at_most(float((flat.G / flat.floor).max())),
        },
        "inner": {
            "n": UP_TO,
            "q": IDEAL[0],
            "tau": TOLERANCE,
            "strategy": best.strategy,
            "queries": round(best.queries),
            "interval": [round(best.low), round(best.high)],
            "floor": round(best.floor, 1),
            "ratio": at_most(best.queries / best.floor),
            "runs": int(best.games),
            "factors": ", ".join(f"{after / before:.2f}" for before, after in pairwise(grown)),
        },
    }


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the brackets of large classes."""
    lines = brackets(rows)
    shown = lines[(lines.N > SEVERAL) & lines.tau.isin(SHOWN)]
    shown = shown.sort_values(["N", "tau"], ascending=[True, False])
    order = ["n", "s", "N", "tau", "floor", "sign-batch", "flat", "upper"]
    heads = {"tau": "τ", "floor": "V and G at least", "upper": "V at most"}
    return {"bounds": shown[order].rename(columns=heads)}


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return what is known of V and G on large classes, over the floor, and the games on inner products."""
    return {"brackets": _brackets(brackets(rows)), "products": _products(products(rows))}


def _brackets(lines: "DataFrame") -> "Figure":
    figure, axes = plots.panels(1, len(LARGE), height=3.0, sharey=True)
    for axis, (n, s) in zip(axes, LARGE, strict=True):
        part = lines[(lines.n == n) & (lines.s == s)].sort_values("tau", ascending=False)
        over = part[["sign-batch", "flat", "upper"]].div(part.floor, axis=0)
        (upper,) = axis.plot(part.tau, over.upper, "-", color="0.35", linewidth=1.2)
        (least,) = axis.plot(part.tau, [1.0] * len(part), "-", color="0.35", linewidth=1.2)
        axis.fill_between(part.tau, 1, over.upper, color="0.93", zorder=0)
        ends = [(upper, "V at most"), (least, "floor")]
        for name, color, marker in (("sign-batch", "C0", "o"), ("flat", "C5", "s")):
            (line,) = axis.plot(part.tau, over[name], marker, color=color)
            if over[name].notna().iloc[-1]:
                ends.append((line, name))
        axis.set(
            xscale="log", yscale="log", title=f"{s} of {n} bits: {comb(n, s):,} sets", xlabel="tolerance τ"
        )
        axis.set_xticks([0.2, 0.1, 0.05], ["0.2", "0.1", "0.05"])
        axis.set_yticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
        axis.minorticks_off()
        axis.set_xlim(0.22, 0.036)
        plots.label_ends(axis, ends)
    axes[0].set_ylabel("queries over the floor")
    return figure


def _products(lines: "DataFrame") -> "Figure":
    figure, axis = plots.panels(height=3.0)
    ends = []
    for name, color, marker in (
        ("characters", "C3", "P"),
        ("sign-batch", "C0", "o"),
        ("adaptive", "C2", "D"),
    ):
        part = lines[(lines.strategy == name) & lines.queries.notna()]
        (line,) = axis.plot(part.n, part.queries, marker, linestyle="-", color=color)
        ends.append((line, name))
    floors = lines.drop_duplicates("n")
    (line,) = axis.plot(floors.n, floors.floor, "--", color="0.35")
    for at in floors.itertuples():
        plots.bound(axis, at.n, at.floor, "0.35")
    ends.append((line, "floor (proved)"))
    axis.set(yscale="log", xlabel="coordinates n", ylabel="queries")
    axis.set_xticks(range(2, UP_TO + 1))
    plots.label_ends(axis, ends)
    return figure


STUDY = Study(
    "games",
    "How many queries does a hidden secret take, exactly or between what bounds?",
    tasks,
    seconds,
    trial,
    guard=3600.0,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
