"""The study `needs`: how many queries, of what tolerance, labels of m heads make necessary, and what is reached.

From the top: the grid of games, the trials, what is proved, the article's numbers, tables and figures. Learners of nice
layers are in nice.py, with their grid, trials and numbers.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import ceil, comb, log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.gadgets.coefficients import bits
from hardness.io.rounding import at_least, at_least_power, at_most
from hardness.report import plots
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.parity import entropy_floor
from hardness.studies.games import game
from hardness.studies.needs import nice
from hardness.studies.needs.nice import tolerance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

HEADS, PLAYED = tuple(range(2, 9)), (16, 20, 24)  # of games: m and d
LARGEST = PLAYED[-1]
# log2 1/tau: just below a quarter, where parities begin to be told apart; half steps where strategies differ most
EXPONENTS = (2.06, *(e / 2 for e in range(5, 17)), 9.0, 10.0, 11.0, 12.0)
# `spread` is played up to so many concepts, times the squared tolerance, at d = 24 at whole exponents only; sums of
# dependent sets there beside batches of independent ones, from this exponent on
SPREAD, DEPENDENT = {16: 4.0, 20: 4.0, 24: 0.3}, 8.0
BUDGET_DIM, BUDGET_TOLERANCES = 256, {"coarse": 0.1, "fine": 0.001}  # of what heads buy
BUDGET_HEADS, NAMED = (4, 8, 16, 32, 64), 32  # those of the table, and those that the text names


def tasks(quick: bool) -> list[Task]:
    """Return games, one a class, tolerance and strategy, and trials of a learner on nice layers."""
    dims, heads, step = ((16,), HEADS[:3], 2) if quick else (PLAYED, HEADS, 1)
    games = [task for d in dims for m in heads for e in EXPONENTS[::step] for task in _games(d, m, e)]
    return [*games, *nice.tasks(quick)]


def _games(d: int, m: int, exponent: float) -> list[Task]:
    """Return the games of strategies that may be the cheapest known, if they are short enough."""
    size, tau = comb(d - 1, m), tolerance(exponent)
    if size * tau**2 <= SPREAD[d]:
        names = ["spread"] if d < LARGEST or exponent == int(exponent) else []
    else:
        names = ["sign-batch", "dependent"] if d == LARGEST and exponent >= DEPENDENT else ["sign-batch"]
    params = {"dim": d, "heads": m, "gadget": "diag"}
    solvers = [{"kind": "frontier", "strategy": name, "tolerance": tau} for name in names]
    return [Task("parity", params, solver, {"queries": 2 * size + 64}, 0) for solver in solvers]


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Play a game, or run the learner of nice layers."""
    return game(task, root, guard) if task.solver["kind"] == "frontier" else nice.trial(task, root)


def seconds(task: Task) -> float:
    """Return the seconds that a trial is expected to take."""
    if task.solver["kind"] != "frontier":
        return 10.0  # all the same, so that layer after layer is run
    n, tau = int(task.params["dim"]) - 1, float(task.solver["tolerance"])
    queries = 3 + 14 * comb(n, int(task.params["heads"])) * tau**2
    per_query = {"spread": 2.5e-7, "dependent": 1.2e-7}.get(task.solver["strategy"])
    return queries * per_query * 2.0**n if per_query else 0.4


STEPS, FINEST = 16, 12  # where a least price is sought: tolerances in a factor of two, log2 of the last 1/tau
FINE = tuple(2.0 + (i + 0.5) / STEPS for i in range((FINEST - 2) * STEPS))
Price = Callable[[float, float], float]
# What q queries at τ cost in examples, fresh ones for each or one sample for all; and the power of q/τ² that each
# exceeds: max(q, 1/τ²)² is at least q/τ²
PRICES: dict[str, tuple[Price, float]] = {
    "q/τ²": (lambda q, tau: q / tau**2, 1.0),
    "max(q, 1/τ²)": (lambda q, tau: max(q, tau**-2), 0.5),
}


@cache
def parity_floor(dim: int, size: int, exponent: float) -> int:
    """Return the queries that a deterministic learner needs to be certain: theorem B, or what answers can tell."""
    sets, tau = comb(dim - 1, size), tolerance(exponent)
    return max(exact_floor(sets, tau), ceil(entropy_floor(sets, tau)))


def parity_suffices(dim: int, size: int, exponent: float) -> int:
    """Return the queries that surely identify, whatever the oracle: characters, or sums of any sets (theory 2.7)."""
    from hardness.exact.dependent import certain_queries

    sets = comb(dim - 1, size)
    return min(sets - 1, certain_queries(sets, tolerance(exponent)))


def least_needed(dim: int, size: int, price: Price, power: float) -> float:
    """Return a lower bound on price(q, τ) over every tolerance, for a price that rises with q and with 1/τ.

    Between two of a fine row, the floor of the smaller one at the price of the larger one; beyond it q/τ² >= 8(N-1)
    (theory 2.5d).
    """
    steps = pairwise((2.0, *FINE))
    between = [price(parity_floor(dim, size, finer), tolerance(coarser)) for coarser, finer in steps]
    least = min(*between, price(1, tolerance(FINE[-1])))
    return max(least, float((8 * (comb(dim - 1, size) - 1)) ** power))


def cheapest(rows: "DataFrame") -> "DataFrame":
    """Return the cheapest game won at every d, number s of bits and exponent e of the tolerance, and its floor."""
    exponents = {tolerance(e): e for e in EXPONENTS}
    games = rows[(rows.kind == "frontier") & (rows.status == "solved") & (rows.cost > 0)]
    lines = games.assign(d=games.dim, s=games.heads, e=games.tolerance.map(exponents), queries=games.cost)
    cell = ["d", "s", "e"]
    lines = lines.sort_values([*cell, "queries", "strategy"]).drop_duplicates(cell)
    lines = lines[[*cell, "strategy", "queries"]].astype({"d": int, "s": int, "queries": int})
    return lines.assign(floor=[parity_floor(at.d, at.s, at.e) for at in lines.itertuples()])


def least_prices(games: "DataFrame") -> "DataFrame":
    """Return a line for each s at d = 24: the least of each price that is proved to be needed, and that was reached."""
    import pandas as pd

    lines = []
    for s, won in games[games.d == LARGEST].groupby("s"):
        line = {"s": s, "sets N": comb(LARGEST - 1, s)}
        for name, (price, power) in PRICES.items():
            line[f"{name} at least"] = least_needed(LARGEST, s, price, power)
            line[f"{name} reached"] = min(price(at.queries, tolerance(at.e)) for at in won.itertuples())
        lines.append(line)
    return pd.DataFrame(lines)


def bought(m: int, tau: float) -> tuple[str, str]:
    """Return the queries that a learner needs to be certain of what m heads hide at d = 256, rounded down (theory 2.5).

    `diag` heads hide m bits and `sharp` heads 2m - 1, but no class is larger than that of half the bits.
    """
    sizes = bits("diag", m), min(bits("sharp", m), (BUDGET_DIM - 1) // 2)
    logs = [log2(8 * tau**2) + log2(comb(BUDGET_DIM - 1, size) - 1) for size in sizes]
    return at_least_power(max(0.0, logs[0])), at_least_power(max(0.0, logs[1]))


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return every number of the article; lower bounds are rounded down, what is reached is rounded up."""
    games = cheapest(rows)
    largest = least_prices(games).iloc[-1]
    needed, reached = largest["q/τ² at least"], largest["q/τ² reached"]
    over = games.queries / games.floor
    heads: dict[str, Any] = {"d": BUDGET_DIM, "m": NAMED, "bits": bits("sharp", NAMED)}
    for name, tau in BUDGET_TOLERANCES.items():
        diag, sharp = bought(NAMED, tau)
        heads[name] = {"tau": tau, "diag": diag, "sharp": sharp}
    return {
        "d": LARGEST,
        "n": LARGEST - 1,
        "s": int(largest.s),
        "least": {"fresh": {"needed": at_least(needed, 1), "reached": at_most(reached, 1)}},
        "times": at_most(reached / needed),
        "games": {"won": len(games), "exact": int((over == 1).sum()), "worst": at_most(float(over.max()))},
        "heads": heads,
        "nice": nice.numbers(rows),
    }


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the least prices at d = 24, and what heads buy."""
    import pandas as pd

    prices = least_prices(cheapest(rows))
    for name in PRICES:
        prices[f"{name} at least"] = [at_least(value, 1) for value in prices[f"{name} at least"]]
        prices[f"{name} reached"] = [at_most(value, 1) for value in prices[f"{name} reached"]]
    lines = [(tau, m, *bought(m, tau)) for tau in BUDGET_TOLERANCES.values() for m in BUDGET_HEADS]
    heads = pd.DataFrame(lines, columns=["τ", "m", "diag, m bits", "sharp, 2m − 1 bits"])
    return {"prices": prices, "heads_buy": heads}


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the map of tolerance against queries, and the tolerances that nice layers take."""
    return {"map": _map(cheapest(rows)), "tolerance": nice.figure(rows)}


MAPPED = (2, 5, 8)  # bits of the panels of its map
# Strategies of its marks: colour, marker, and where the name stands, in points off a mark
STRATEGIES = (
    ("sign-batch", "C0", "o", (36, 3)),
    ("dependent", "C5", "s", (-34, -9)),
    ("spread", "C2", "D", (13, -15)),
)


def _map(games: "DataFrame") -> "Figure":
    """Draw at d = 24 what is proved to be impossible, what was reached, and what is enough against every oracle."""
    figure, axes = plots.panels(1, len(MAPPED), height=3.4, sharex=True)
    for axis, s in zip(axes, MAPPED, strict=True):
        sets = comb(LARGEST - 1, s)
        floor = [log2(parity_floor(LARGEST, s, e)) for e in (EXPONENTS[0], *EXPONENTS)]
        axis.fill_between([2.0, *EXPONENTS], -1, floor, step="pre", color="0.86", zorder=0)
        enough = [log2(parity_suffices(LARGEST, s, e)) for e in EXPONENTS]
        (upper,) = axis.plot(EXPONENTS, enough, ":", color="0.3", marker="")
        law = [log2(8 * (sets - 1)) - 2 * e for e in EXPONENTS]
        axis.plot(EXPONENTS, law, "--", color="0.3", marker="", linewidth=1)
        for name, color, marker, away in STRATEGIES:
            won = games[(games.d == LARGEST) & (games.s == s) & (games.strategy == name)]
            axis.plot(won.e, won.queries.map(log2), marker, color=color)
            if s == MAPPED[-1]:
                at = won.iloc[(len(won) - 1) // 2]
                place = at.e, log2(at.queries)
                axis.annotate(name, place, away, textcoords="offset points", ha="center", color=color)
        axis.set(title=f"s = {s}: {sets:,} sets", xlabel="log₂ 1/τ", xlim=(1.6, 12.4))
        axis.set(xticks=range(2, 13, 2), ylim=(-0.6, enough[0] + 1.5))
        axis.locator_params(axis="y", integer=True)
        axis.text(2.3, 0.02 * enough[0], "impossible", color="0.3")
        plots.label_ends(axis, [(upper, "V at most")])
    axes[0].set_ylabel("log₂ of the queries")
    return figure


STUDY = Study(
    "needs",
    "How many queries, and of what tolerance, do the labels of m heads make necessary, and what is reached?",
    tasks,
    seconds,
    trial,
    guard=600.0,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
