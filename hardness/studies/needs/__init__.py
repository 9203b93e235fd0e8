"""The study `needs`: how many queries, of what tolerance, labels of m heads make necessary, and what is reached.

From the top: the grid of games, the trials, what is proved, the lines of the article, its numbers, tables and figures.
The trials of gradient learners, with their lines and figures, are in gradients.py, those on nice layers in nice.py.
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
from hardness.sq.bounds.batches import batch_queries, majority_mean
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.parity import entropy_floor
from hardness.studies.games import game
from hardness.studies.needs import gradients, nice
from hardness.studies.needs.gradients import tolerance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

HEADS = tuple(range(2, 9))
PLAYED, FORMULA = (16, 20, 24), 64  # dimensions of games, and the one where there are formulas only
# log2 1/tau: just below a quarter, where parities begin to be told apart; half steps where strategies differ most
EXPONENTS = (2.06, *(e / 2 for e in range(5, 17)), 9.0, 10.0, 11.0, 12.0)
FINEST = 12.0
# Up to how many concepts, times the squared tolerance, `spread` is played
SPREAD = {16: 4.0, 20: 4.0, 24: 0.3}
SLOW = 24  # the dimension at which it is played at whole exponents only
# There, from which exponent on sums of dependent sets are played beside batches of independent ones
DEPENDENT = 8.0

BUDGET_DIM, BUDGET_TOLERANCES = 256, {"coarse": 0.1, "fine": 0.001}  # of what heads buy
BUDGET_HEADS, NAMED = (4, 8, 16, 32, 64), 32  # those of the table, and those that the text names


def tasks(quick: bool) -> list[Task]:
    """Return games, one a class, tolerance and strategy, and trials of learners."""
    dims, heads, step = ((16,), HEADS[:3], 2) if quick else (PLAYED, HEADS, 1)
    games = [task for d in dims for m in heads for e in EXPONENTS[::step] for task in _parity(d, m, e)]
    return [*games, *gradients.tasks(quick), *nice.tasks(quick)]


def _parity(d: int, m: int, exponent: float) -> list[Task]:
    """Return the games of strategies that may be the cheapest known, if they are short enough."""
    size = comb(d - 1, m)
    small = size * tolerance(exponent) ** 2 <= SPREAD[d]
    if small and d == SLOW and exponent != int(exponent):
        return []
    names = ["spread"] if small else ["sign-batch"]
    if not small and d == SLOW and exponent >= DEPENDENT:
        names.append("dependent")
    params = {"dim": d, "heads": m, "gadget": "diag"}
    solvers = [{"kind": "frontier", "strategy": name, "tolerance": tolerance(exponent)} for name in names]
    return [Task("parity", params, solver, {"queries": 2 * size + 64}, 0) for solver in solvers]


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Play a game, or run a learner."""
    kind = task.solver["kind"]
    learners = gradients.TRIALS | nice.TRIALS
    return learners[kind](task, root) if kind in learners else game(task, root, guard)


def seconds(task: Task) -> float:
    """Return the seconds that a trial is expected to take."""
    for learners in (gradients, nice):
        if task.solver["kind"] in learners.TRIALS:
            return float(learners.seconds(task))
    n, tau = int(task.params["dim"]) - 1, float(task.solver["tolerance"])
    queries = 3 + 14 * comb(n, int(task.params["heads"])) * tau**2
    per_query = {"spread": 2.5e-7, "dependent": 1.2e-7}.get(task.solver["strategy"], 0.0) * 2**n
    return float(queries * per_query) if per_query else 0.4


STEPS = 16  # of a factor of two in the tolerance, where a least price is sought
FINE = tuple(2.0 + (i + 0.5) / STEPS for i in range(round((FINEST - 2) * STEPS)))
# What q queries at τ cost in examples: fresh ones for each, or one sample for all
PRICES: dict[str, Callable[[float, float], float]] = {
    "q/τ²": lambda q, tau: q / tau**2,
    "max(q, 1/τ²)": lambda q, tau: max(q, tau**-2),
}
# Of q/τ² >= 8(N-1), what each price exceeds: max(q, 1/τ²)² is at least q/τ².
ROOTS = dict(zip(PRICES.values(), (1.0, 1 / 2), strict=True))


@cache
def parity_floor(dim: int, size: int, exponent: float) -> int:
    """Return the queries that a deterministic learner needs to be certain: theorem B, or what answers can tell."""
    sets, tau = comb(dim - 1, size), tolerance(exponent)
    return max(exact_floor(sets, tau), ceil(entropy_floor(sets, tau)))


@cache
def parity_suffices(dim: int, size: int, exponent: float) -> int:
    """Return the queries that surely identify, whatever the oracle: characters, or sums of any sets (theory 2.7)."""
    from hardness.exact.dependent import certain_queries

    sets = comb(dim - 1, size)
    return min(sets - 1, certain_queries(sets, tolerance(exponent)))


@cache
def independent_batches(dim: int, size: int, exponent: float) -> int | None:
    """Return what sign batches pay that are no larger than the rank of the class: sets that are affinely independent.

    None where the means outside a batch pass the tolerance, so that its formula does not hold.
    """
    n, tau = dim - 1, tolerance(exponent)
    rank = n if size % 2 else n - 1
    outside = majority_mean(rank - 1 + rank % 2) / (rank - 3)
    return batch_queries(comb(n, size), tau, rank) if tau > outside else None


def least_needed(dim: int, size: int, price: Callable[[float, float], float]) -> float:
    """Return a lower bound on price(q, τ) over every tolerance, for a price that rises with q and with 1/τ.

    Between two of a fine row, the floor of the smaller one at the price of the larger one; beyond it q/τ² >= 8(N-1)
    (theory 2.5d).
    """
    steps = pairwise((2.0, *FINE))
    between = [price(parity_floor(dim, size, finer), tolerance(coarser)) for coarser, finer in steps]
    least = min(*between, price(1, tolerance(FINE[-1])))
    return max(least, float((8 * (comb(dim - 1, size) - 1)) ** ROOTS[price]))


def cheapest(rows: "DataFrame") -> "DataFrame":
    """Return the cheapest game won at every d, number s of bits and exponent e of the tolerance, and its floor."""
    exponents = {tolerance(e): e for e in EXPONENTS}
    games = rows[(rows.kind == "frontier") & (rows.status == "solved") & (rows.cost > 0)]
    lines = games.assign(d=games.dim, s=games.heads, e=games.tolerance.map(exponents), queries=games.cost)
    cell = ["d", "s", "e"]
    lines = lines.sort_values([*cell, "queries", "strategy"]).drop_duplicates(cell)
    lines = lines[[*cell, "strategy", "queries"]].astype({"d": int, "s": int, "queries": int})
    return lines.assign(floor=[parity_floor(at.d, at.s, at.e) for at in lines.itertuples()])


def sufficient(games: "DataFrame") -> "DataFrame":
    """Return the least that is known to suffice, by d, s and e: of games, and at d = 64 of formulas."""
    import pandas as pd

    formulas = [
        {
            "d": FORMULA,
            "s": s,
            "e": e,
            "floor": parity_floor(FORMULA, s, e),
            "queries": min(
                q for q in (parity_suffices(FORMULA, s, e), independent_batches(FORMULA, s, e)) if q
            ),
        }
        for s in HEADS
        for e in EXPONENTS
    ]
    return pd.concat([games[[*formulas[0]]], pd.DataFrame(formulas)], ignore_index=True)


def least_prices(reached: "DataFrame") -> "DataFrame":
    """Return a line a class and price: the least that is proved to be needed, and the least reached, with its game."""
    import pandas as pd

    paid = reached.assign(tau=reached.e.map(tolerance))
    lines = []
    for name, price in PRICES.items():
        prices = [price(q, tau) for q, tau in zip(paid.queries, paid.tau, strict=True)]
        best = paid.assign(price=name, reached=prices).sort_values(["reached", "tau"], kind="stable")
        best = best.drop_duplicates(["d", "s"]).sort_values(["d", "s"])
        needed = [least_needed(d, s, price) for d, s in zip(best.d, best.s, strict=True)]
        lines.append(best.assign(needed=needed))
    columns = ["price", "d", "s", "needed", "reached", "queries", "tau"]
    return pd.concat(lines, ignore_index=True)[columns]


def bought(m: int, tau: float) -> dict[str, float]:
    """Return log2 of the queries that a learner needs to be certain of what m heads hide at d = 256 (theory 2.5).

    `diag` heads hide m bits and `sharp` heads 2m - 1, but no class is larger than that of half the bits.
    """
    sizes = {"diag": bits("diag", m), "sharp": min(bits("sharp", m), (BUDGET_DIM - 1) // 2)}
    sets = {name: comb(BUDGET_DIM - 1, size) for name, size in sizes.items()}
    return {name: max(0.0, log2(8 * tau**2) + log2(count - 1)) for name, count in sets.items()}


MAPPED = (2, 5, 8)  # bits of the panels of its map
# Strategies of its marks: colour, marker, and where the name stands, in points off a mark
STRATEGIES = (
    ("sign-batch", "C0", "o", (36, 3)),
    ("dependent", "C5", "s", (-34, -9)),
    ("spread", "C2", "D", (13, -15)),
)


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return every number of the article; lower bounds are rounded down, what is reached is rounded up."""
    games = cheapest(rows)
    d, s = max(zip(games.d, games.s, strict=True))
    paid = least_prices(sufficient(games[(games.d == d) & (games.s == s)]))
    fresh = paid[paid.d == d].iloc[0]
    over = games.queries / games.floor
    heads: dict[str, Any] = {"d": BUDGET_DIM, "m": NAMED, "bits": bits("sharp", NAMED)}
    for name, tau in BUDGET_TOLERANCES.items():
        heads[name] = {"tau": tau} | {kind: at_least_power(q) for kind, q in bought(NAMED, tau).items()}
    return {
        "d": int(d),
        "n": int(d) - 1,
        "s": int(s),
        "least": {"fresh": {"needed": at_least(fresh.needed, 1), "reached": at_most(fresh.reached, 1)}},
        "times": at_most(fresh.reached / fresh.needed),
        "games": {"won": len(games), "exact": int((over == 1).sum()), "worst": at_most(float(over.max()))},
        "formula": {"d": FORMULA},
        "heads": heads,
        **gradients.numbers(rows),
        "nice": nice.numbers(rows),
    }


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the least prices at d = 24, what heads buy, and what tolerance nice layers need."""
    import pandas as pd

    games = cheapest(rows)
    played = least_prices(games[games.d == max(PLAYED)])
    sizes = sorted({*played.s})
    prices = {"s": sizes, "sets N": [f"{comb(max(PLAYED) - 1, s):,}" for s in sizes]}
    for name, lines in played.groupby("price", sort=False):
        prices[f"{name} at least"] = [at_least(value, 1) for value in lines.needed]
        prices[f"{name} reached"] = [at_most(value, 1) for value in lines.reached]
    heads = [
        {
            "τ": tau,
            "m": m,
            "diag, m bits": at_least_power(bought(m, tau)["diag"]),
            "sharp, 2m − 1 bits": at_least_power(bought(m, tau)["sharp"]),
        }
        for tau in BUDGET_TOLERANCES.values()
        for m in BUDGET_HEADS
    ]
    return {"prices": pd.DataFrame(prices), "heads_buy": pd.DataFrame(heads), **nice.tables(rows)}


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the map of tolerance against queries, the least prices, and the figures of gradient learners."""
    games = cheapest(rows)
    return {
        "map": _map(games[games.d == max(PLAYED)]),
        "prices": _prices(least_prices(sufficient(games))),
        **gradients.figures(rows),
        **nice.figures(rows, (FORMULA, BUDGET_DIM)),
    }


def _map(parity: "DataFrame") -> "Figure":
    """Draw at d = 24 what is proved to be impossible, what was reached, and what is enough against every oracle."""
    figure, axes = plots.panels(1, len(MAPPED), height=3.4, sharex=True)
    for axis, s in zip(axes, MAPPED, strict=True):
        d, sets = max(PLAYED), comb(max(PLAYED) - 1, s)
        x = [2.0, *EXPONENTS]
        floor = [log2(parity_floor(d, s, e)) for e in (EXPONENTS[0], *EXPONENTS)]
        axis.fill_between(x, -1, floor, step="pre", color="0.86", zorder=0)
        enough = [log2(parity_suffices(d, s, e)) for e in EXPONENTS]
        (upper,) = axis.plot(EXPONENTS, enough, ":", color="0.3", marker="")
        law = [log2(8 * (sets - 1)) - 2 * e for e in EXPONENTS]
        axis.plot(EXPONENTS, law, "--", color="0.3", marker="", linewidth=1)
        for name, color, marker, away in STRATEGIES:
            won = parity[(parity.s == s) & (parity.strategy == name)]
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


def _prices(prices: "DataFrame") -> "Figure":
    figure, axes = plots.panels(1, 2, height=3.2)
    for axis, name in zip(axes, PRICES, strict=True):
        ends = []
        for place, (d, lines) in enumerate(prices[prices.price == name].groupby("d")):
            color = f"C{2 * place}"
            (line,) = axis.plot(lines.s, lines.needed.map(log2), "-", color=color, marker="")
            fill = "white" if d == FORMULA else color
            axis.plot(lines.s, lines.reached.map(log2), "o", color=color, markerfacecolor=fill)
            ends.append((line, f"d = {d}"))
        axis.set(title=name, xlabel="hidden bits s")
        plots.label_ends(axis, ends)
    axes[0].set_ylabel("log₂ of the price")
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
