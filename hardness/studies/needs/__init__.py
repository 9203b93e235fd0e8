"""The study `needs`: how many queries, of what tolerance, labels of m heads make necessary, and what is reached.

From the top: the grid of games and of bounds, the trials, what is proved, the lines of the article, its numbers, tables
and figures. The trials of gradient learners, with their lines and figures, are in gradients.py.
"""

from collections.abc import Callable
from functools import cache
from itertools import count, pairwise, product, takewhile
from math import ceil, comb, log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.families.concepts import RoundingConcepts
from hardness.gadgets.levels import bits
from hardness.io.rounding import at_least, at_least_power, at_most
from hardness.report import plots
from hardness.sq.bounds import head_budget
from hardness.sq.bounds.batches import batch_queries, majority_mean
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.parity import adversary_bounds, entropy_floor
from hardness.sq.bounds.rounding import alike
from hardness.studies.games import TOLERANCE, game
from hardness.studies.needs import gradients
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

MODULUS, LEVELS = 5, 5  # of rounding
# The n, up to 6, at which most is proved of the labels of m heads at `AT`, by the error mass of every secret. A test
# counts it anew, which takes longer than to list a grid should.
HELD = dict(zip(HEADS, (1, 2, 3, 4, 5, 6, 6), strict=True))
AT = TOLERANCE  # at which n is chosen
ROUNDING_EXPONENTS = (3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0)
ROUNDING_STRATEGIES, ROUNDING_QUERIES = ("sign-batch", "adaptive"), 2000

BUDGET_DIM, BUDGET_TOLERANCES = 256, (0.1, 0.01, 0.001)
BUDGET_MODULUS, BUDGET_LEVELS = 97, 2


def tasks(quick: bool) -> list[Task]:
    """Return games, one a class, tolerance and strategy, bounds of head budgets, and trials of gradient learners."""
    dims, heads, step = ((16,), HEADS[:3], 2) if quick else (PLAYED, HEADS, 1)
    games = [task for d in dims for m in heads for e in EXPONENTS[::step] for task in _parity(d, m, e)]
    for m in HEADS[-2:] if quick else HEADS:
        n = min(HELD[m], 4) if quick else HELD[m]
        params = {"dim": n + 1, "modulus": MODULUS, "levels": LEVELS, "heads": m}
        for e in ROUNDING_EXPONENTS[::step] if n > 1 else ():
            games += [
                Task("rounding", params, _solver(strategy, e), {"queries": ROUNDING_QUERIES}, 0)
                for strategy in ROUNDING_STRATEGIES
            ]
    return [*games, *_budgets(quick), *gradients.tasks(quick)]


def _solver(strategy: str, exponent: float) -> dict[str, object]:
    """Return the solver of a game at 2^-exponent."""
    return {"kind": "frontier", "strategy": strategy, "tolerance": tolerance(exponent)}


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
    return [Task("parity", params, _solver(name, exponent), {"queries": 2 * size + 64}, 0) for name in names]


def _budgets(quick: bool) -> list[Task]:
    """Return what m heads buy: no games, bounds alone; one task a family, m and tolerance."""
    heads = (2, 4, 8, 16, 32, 64, 128) if quick else (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    parity = {"dim": BUDGET_DIM, "gadget": "diag"}
    rounding = {"modulus": BUDGET_MODULUS, "levels": BUDGET_LEVELS}
    return [
        Task(family, {**params, "heads": m}, {"kind": "budget", "tolerance": tau}, {}, 0)
        for tau, m in product(BUDGET_TOLERANCES, heads)
        for family, params in (("parity", parity), ("rounding", rounding))
    ]


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Play a game, compute the bounds of one family at m heads, or run a gradient learner."""
    kind = task.solver["kind"]
    if kind in gradients.TRIALS:
        return gradients.TRIALS[kind](task, root)
    return bought(task) if kind == "budget" else game(task, root, guard)


def bought(task: Task) -> Outcome:
    """Return log2 of the queries that are needed against m heads at one tolerance."""
    m, tau = int(task.params["heads"]), float(task.solver["tolerance"])
    if task.family == "parity":
        dim = int(task.params["dim"])
        exact = head_budget.exact_parity(m, dim, tau)
        best = head_budget.truncated_parity(m, dim, tau)
        detail = {
            "exact": exact.log2_queries,
            "truncated": best.log2_queries,
            "s": best.size,
            "leak": best.leak,
        }
        return Outcome("solved", None, detail)
    bound = head_budget.rounding(m, tau, int(task.params["modulus"]), int(task.params["levels"]))
    return Outcome("solved", None, {"n": bound.size, "rounding": bound.log2_queries})


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    if task.solver["kind"] in gradients.TRIALS:
        return gradients.seconds(task)
    if task.solver["kind"] == "budget":
        return 0.5
    n, tau = int(task.params["dim"]) - 1, float(task.solver["tolerance"])
    if task.family == "rounding":
        return 3.0 * 4.0 ** (n - 6)
    queries = 3 + 14 * comb(n, int(task.params["heads"])) * tau**2
    per_query = {"spread": 2.5e-7, "dependent": 1.2e-7}.get(task.solver["strategy"], 0.0) * 2**n
    return float(queries * per_query) if per_query else 0.4


STEPS = 16  # of a factor of two in the tolerance, where a least price is sought
FINE = tuple(2.0 + (i + 0.5) / STEPS for i in range(round((FINEST - 2) * STEPS)))
# What q queries at τ cost in examples: fresh ones for each, one sample for all; and the larger of the two numbers.
PRICES: dict[str, Callable[[float, float], float]] = {
    "q/τ², fresh examples": lambda q, tau: q / tau**2,
    "max(q, 1/τ²), one sample": lambda q, tau: max(q, tau**-2),
    "max(q, 1/τ)": lambda q, tau: max(q, 1 / tau),
}
# Of q/τ² >= 8(N-1), what each price exceeds: max(q, 1/τ²)² and max(q, 1/τ)³ are at least q/τ².
ROOTS = dict(zip(PRICES.values(), (1.0, 1 / 2, 1 / 3), strict=True))


def sharp_heads(size: int) -> int:
    """Return the least number of sharp heads that hide `size` bits, of which m hide 2m - 1.

    >>> [sharp_heads(s) for s in (1, 2, 3, 7, 8)]
    [1, 2, 2, 4, 5]
    """
    return next(m for m in count(1) if bits("sharp", m) >= size)


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


@cache
def rounding_floor(concepts: RoundingConcepts, exponent: float) -> int:
    """Return the queries needed for the labels of m heads: theory 2.6, or what answers can tell."""
    tau, classes = tolerance(exponent), concepts.size // alike(concepts)
    return max(ceil(adversary_bounds(concepts, tau).get("window", 0.0)), ceil(entropy_floor(classes, tau)), 1)


def least_needed(dim: int, size: int, price: Callable[[float, float], float]) -> float:
    """Return a lower bound on price(q, τ) over every tolerance, for a price that rises with q and with 1/τ.

    Between two of a fine row, the floor of the smaller one at the price of the larger one; and what follows from q/τ²
    being at least 8(N-1) at every tolerance (theory 2.5d), beyond the row too.

    >>> least_needed(16, 2, PRICES["max(q, 1/τ²), one sample"]) <= 2 * (8 * 105) ** 0.5
    True
    """
    steps = pairwise((2.0, *FINE))
    between = [price(parity_floor(dim, size, finer), tolerance(coarser)) for coarser, finer in steps]
    least = min(*between, price(1, tolerance(FINE[-1])))
    return max(least, float((8 * (comb(dim - 1, size) - 1)) ** ROOTS[price]))


def cheapest(rows: "DataFrame") -> "DataFrame":
    """Return the cheapest game won of every family, d, s and exponent e of the tolerance, with its floor.

    `s` is the number of heads, on parities that of hidden bits.
    """
    exponents = {tolerance(e): e for e in (*EXPONENTS, *ROUNDING_EXPONENTS)}
    games = rows[(rows.kind == "frontier") & (rows.status == "solved") & (rows.cost > 0)]
    lines = games.assign(d=games.dim, s=games.heads, e=games.tolerance.map(exponents), queries=games.cost)
    cell = ["family", "d", "s", "e"]
    lines = lines.sort_values([*cell, "queries", "strategy"]).drop_duplicates(cell)
    lines = lines[[*cell, "strategy", "queries"]].astype({"d": int, "s": int, "queries": int})
    floors = [
        parity_floor(at.d, at.s, at.e)
        if at.family == "parity"
        else rounding_floor(_concepts(at.d, at.s), at.e)
        for at in lines.itertuples()
    ]
    return lines.assign(floor=floors)


def _concepts(dim: int, heads: int) -> RoundingConcepts:
    return RoundingConcepts(dim - 1, MODULUS, LEVELS, heads=heads)


def sufficient(parity: "DataFrame") -> "DataFrame":
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
    return pd.concat([parity[[*formulas[0]]], pd.DataFrame(formulas)], ignore_index=True)


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


def budgets(rows: "DataFrame") -> "DataFrame":
    """Return a line a tolerance and m, at d = 256: log2 of the queries that parities in the labels of m heads need.

    `exact` is of m bits with heads of the gadget diag, `sharp` of 2m - 1 bits with sharp heads, `truncated` of the best
    number s of bits in the labels of m heads that are wrong on a part `wrong` of the inputs with an open gate.
    """
    lines = rows[(rows.kind == "budget") & (rows.family == "parity")]
    lines = lines.assign(m=lines.heads.astype(int), tau=lines.tolerance, s=lines.s.astype(int))
    lines = lines.sort_values(["tau", "m"], ascending=[False, True])
    sharp = [_sharp(m, tau) for m, tau in zip(lines.m, lines.tau, strict=True)]
    wrong = [head_budget.error_mass(s, m) for s, m in zip(lines.s, lines.m, strict=True)]
    lines = lines.assign(sharp=sharp, wrong=wrong)
    return lines[["tau", "m", "exact", "sharp", "truncated", "s", "wrong", "leak"]]


@cache
def _sharp(m: int, tau: float) -> float:
    """Return log2 of the queries of the largest class that so many sharp heads hide."""
    size = min(bits("sharp", m), (BUDGET_DIM - 1) // 2)
    return head_budget.exact_parity(size, BUDGET_DIM, tau).log2_queries


NAMED = 32  # heads that the article names
SHOWN = (4, 8, 16, 32, 64)  # and those of its table that is not folded
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
    parity, inner = games[games.family == "parity"], games[games.family == "rounding"]
    reached = sufficient(parity)
    formulas = reached[reached.d == FORMULA]
    gaps = (formulas.queries / formulas.floor).groupby(formulas.s).max()
    d, s = max(zip(parity.d, parity.s, strict=True))
    prices = least_prices(reached[(reached.d == d) & (reached.s == s)])
    over = parity.queries / parity.floor
    return {
        "d": int(d),
        "n": int(d) - 1,
        "s": int(s),
        "sharp": sharp_heads(int(s)),
        "sets": comb(int(d) - 1, int(s)),
        "least": {
            name: {
                "needed": at_least(at.needed, 1),
                "reached": at_most(at.reached, 1),
                "queries": int(at.queries),
                "tau": at.tau,
            }
            for name, at in zip(("fresh", "sample", "larger"), prices.itertuples(), strict=True)
        },
        "times": at_most(float((prices.reached / prices.needed).iloc[0])),
        "games": {"won": len(parity), "exact": int((over == 1).sum()), "worst": at_most(float(over.max()))},
        "formula": {"d": FORMULA, "gap": at_most(float(gaps.max())), "last": at_most(float(gaps[HEADS[-1]]))},
        "inner": at_most(float((inner.queries / inner.floor).max())),
        "heads": _bought(budgets(rows)),
        **gradients.numbers(rows),
    }


def _bought(lines: "DataFrame") -> dict[str, Any]:
    """Return what 32 heads buy at the coarsest and the finest tolerance, and up to how many sharp heads buy more."""
    named: dict[str, Any] = {"d": BUDGET_DIM, "m": NAMED, "bits": bits("sharp", NAMED)}
    for title, pick in (("coarse", max), ("fine", min)):
        tau = pick(BUDGET_TOLERANCES)
        part = lines[lines.tau == tau]
        at = part[part.m == NAMED].iloc[0]
        ahead = takewhile(lambda line: line.sharp > line.truncated, part.itertuples())
        named[title] = {
            "tau": tau,
            "diag": at_least_power(at.exact),
            "sharp": at_least_power(at.sharp),
            "few": max((line.m for line in ahead), default=0),
        }
    return named


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the least prices at d = 24 and of every class, what heads buy, and the tables of gradient learners."""
    import pandas as pd

    games = cheapest(rows)
    prices = least_prices(sufficient(games[games.family == "parity"]))
    every = pd.DataFrame({"d": [], "s": []}).astype(int)
    for name, lines in prices.groupby("price", sort=False):
        shown = pd.DataFrame(
            {
                "d": lines.d,
                "s": lines.s,
                f"{name} at least": [at_least(value, 1) for value in lines.needed],
                "reached": [at_most(value, 1) for value in lines.reached],
            }
        ).rename(columns={"reached": f"{name} reached"})
        every = every.merge(shown, on=["d", "s"], how="outer")
    every.insert(2, "sets N", [_power(comb(d - 1, s)) for d, s in zip(every.d, every.s, strict=True)])
    bought = budgets(rows)
    bought = bought.assign(
        **{name: bought[name].map(at_least_power) for name in ("exact", "sharp", "truncated")}
    )
    bought = bought.rename(
        columns={
            "tau": "τ",
            "exact": "diag, m bits",
            "sharp": "sharp, 2m − 1 bits",
            "truncated": "diag, s ≥ m bits",
            "s": "best s",
            "wrong": "wrong part ε",
        }
    )
    ends = bought.m.isin(SHOWN) & bought["τ"].isin([max(BUDGET_TOLERANCES), min(BUDGET_TOLERANCES)])
    return {
        "prices": every[every.d == max(PLAYED)].drop(columns="d"),
        "every_price": every,
        "heads_buy": bought[ends][["τ", "m", "diag, m bits", "sharp, 2m − 1 bits"]],
        "every_budget": bought,
        **gradients.tables(rows),
    }


def _power(size: int) -> str:
    return f"{size:,}" if size < 10**7 else f"2^{log2(size):.1f}"


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the map of tolerance against queries, the least prices, and the figures of gradient learners."""
    games = cheapest(rows)
    parity = games[games.family == "parity"]
    return {
        "map": _map(parity[parity.d == max(PLAYED)]),
        "prices": _prices(least_prices(sufficient(parity))),
        **gradients.figures(rows),
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
    for axis, name in zip(axes, list(PRICES)[:2], strict=True):
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
