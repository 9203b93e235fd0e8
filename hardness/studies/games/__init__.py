"""The study `games`: how many queries a hidden secret takes, exactly or between two bounds."""

from itertools import product
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.io.rounding import at_most
from hardness.report import plots
from hardness.sq.bounds.floors import exact_floor
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


def tasks(quick: bool) -> list[Task]:
    """Return trials on classes of parities: games, and on the small ones a search for the least number of queries."""
    games = []
    small, large = (SMALL[:2], (QUICK,)) if quick else (SMALL, LARGE)
    for (n, s), tau in product((*small, *large), TOLERANCES[:: 2 if quick else 1]):
        params, sets = {"dim": n + 1, "heads": s, "gadget": "diag"}, comb(n, s)
        if (n, s) in small:
            games.append(Task("parity", params, {"kind": "value", "tolerance": tau}, {"seconds": SEARCH}, 0))
        for strategy in BRACKETING:
            if strategy != "flat" or (exact_floor(sets, tau) <= SLOWEST and sets <= CROWD):
                solver = {"kind": "frontier", "strategy": strategy, "tolerance": tau}
                games.append(Task("parity", params, solver, {"queries": 2 * sets + 64}, 0))
    return games


def game(task: Task, root: int, guard: float) -> Outcome:
    """Play a query game: the task's strategy asks its oracle (by default the adversary `window`) for a hidden set."""
    result = played(task, root)
    sizes = {"concepts": result.concepts, "remaining": result.remaining, "exhaustive": result.concepts - 1}
    return Outcome(result.status, result.queries, {"bound": result.bound, **sizes})


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Play a query game or, on a small class of parities, search how few queries suffice (cost: a lower bound)."""
    if task.solver["kind"] != "value":
        return game(task, root, guard)
    from hardness.exact.small_games import value

    concepts: Any = concepts_of(task)
    lower, upper = value(concepts, float(task.solver["tolerance"]), float(task.budget["seconds"]))
    detail = {"concepts": concepts.size, "lower": lower, "upper": upper}
    return Outcome("solved" if lower == upper else "budget", lower, detail)


def seconds(task: Task) -> float:
    """Return the seconds that a trial is expected to take."""
    if task.solver.get("strategy") != "flat":
        return 0.8
    sets = comb(int(task.params["dim"]) - 1, int(task.params["heads"]))
    return 6.0 + 0.012 * exact_floor(sets, float(task.solver["tolerance"]))


SEVERAL = 100  # sets from which on a class is large
SHOWN = (0.2, 0.16, 0.1, 0.04)  # tolerances of the table that is not folded
CELL = ["n", "s", "tau"]


def brackets(rows: "DataFrame") -> "DataFrame":
    """Return one line per class (parities of s of n bits, N sets) and tolerance tau: bounds on queries, costs of games.

    V and G are the least queries that identify a set for certain against the hardest oracle, and against the one that
    always keeps most sets (`window`, theory 2.7). `floor` bounds both from below, `lower` and `upper` bracket V, and
    the column `G` bounds G from above. Other columns are strategies, with their queries in games; nan if not won.
    """
    from hardness.exact.dependent import certain_queries

    rows = rows.assign(n=rows.dim - 1, s=rows.heads, tau=rows.tolerance)
    won = rows[(rows.kind == "frontier") & (rows.status == "solved")]
    lines = won.pivot_table("cost", CELL, "strategy").astype(float).reindex(columns=list(BRACKETING))
    searched = rows[rows.kind == "value"].set_index(CELL)[["lower", "upper"]].astype(float)
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


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints; ratios to a lower bound are rounded up."""
    lines = brackets(rows)
    known, large = lines[lines.lower == lines.upper], lines[lines.N > SEVERAL]
    small = lines[lines.N <= SEVERAL]
    flat = large[large.flat.notna()]
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
            "known": int((large.lower == large.upper).sum()),
            "V": at_most(float((large.upper / large.lower).max())),
            "G": at_most(float((large.G / large.floor).max())),
            "flat": at_most(float((flat.G / flat.floor).max())),
        },
    }


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the table of proved bounds on queries, and of queries in games, for large classes of parities."""
    lines = brackets(rows)
    shown = lines[(lines.N > SEVERAL) & lines.tau.isin(SHOWN)]
    shown = shown.sort_values(["N", "tau"], ascending=[True, False])
    order = ["n", "s", "N", "tau", "floor", "sign-batch", "flat", "upper"]
    heads = {"tau": "τ", "floor": "V and G at least", "upper": "V at most"}
    return {"bounds": shown[order].rename(columns=heads)}


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the figure of queries in games, and of an upper bound, over the proved lower bound, for large classes."""
    lines = brackets(rows)
    figure, axes = plots.panels(1, len(LARGE), height=3.0, sharey=True)
    for axis, (n, s) in zip(axes, LARGE, strict=True):
        part = lines[(lines.n == n) & (lines.s == s)].sort_values("tau", ascending=False)
        over = part[["sign-batch", "flat", "upper"]].div(part.floor, axis=0)
        (upper,) = axis.plot(part.tau, over.upper, "-", color="0.35", linewidth=1.2)
        (least,) = axis.plot(part.tau, [1.0] * len(part), "-", color="0.35", linewidth=1.2)
        axis.fill_between(part.tau, 1, over.upper, color="0.93", zorder=0)
        ends = [(upper, "V at most"), (least, "V at least")]
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
    axes[0].set_ylabel("queries over the lower bound")
    return {"brackets": figure}


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
