"""The study `needs`: how many queries, of what tolerance, labels of m heads make necessary, and what is reached.

From the top: the grid of games and of nice layers, the trials, what is proved, the article's numbers, table and figure.

The plan of nice layers, fixed before the rows. A layer is random, with scores of spread 2, and every number that
depends on labels is an answer of the oracle `noisy`. A trial looks for the largest tolerance, of the powers of two,
at which the error is small enough: it goes up from a first guess while that is so, and down until it is so or
`FINEST_TRIED` is passed. Phases 1 to 4 aim at a hull that all Θᵢ are next to, phase 6b at every Θᵢ. All layers count;
those of one cell give its interval. A first run was stopped after two trials: with 200,000 examples, one layer of m =
3 and one of m = 4 at k = 3 were missed at the finest tolerance, with errors of .43 and .52. These cells got 400,000
examples.
Predicted (learner 1.10): the phases' tolerance falls by one factor η with every unit of (m-1)(k-1), the same at k = 2
and 3, and with the error as its power (m-1)(k-1) + 1; phase 6b's does not fall like that.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import ceil, comb, inf, log2
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.solver import Solver, make
from hardness.families.nondegenerate import Nondegenerate
from hardness.gadgets.coefficients import bits
from hardness.instance import Instance
from hardness.io.rounding import at_least, at_least_power, at_most
from hardness.report import plots
from hardness.sq.averages import Averages
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.parity import entropy_floor
from hardness.studies.games import game

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

HEADS, PLAYED = tuple(range(2, 9)), (16, 20, 24)  # of games: m and d
LARGEST = PLAYED[-1]
# log2 1/tau: just below a quarter, where parities begin to be told apart; half steps where strategies differ most
EXPONENTS = (2.06, *(e / 2 for e in range(5, 17)), 9.0, 10.0, 11.0, 12.0)
# By d, the number of concepts times the squared tolerance up to which `spread` is played; at d = 24 at whole exponents
# only. Last, the exponent from which it is played there beside sign batches, and the same product up to which
SPREAD, BOTH = {16: 4.0, 20: 4.0, 24: 0.3}, (8.0, 2.0)
# Of what heads buy: d, m and tolerances
BUDGET_DIM, BUDGET_HEADS, BUDGET_TOLERANCES = 256, 32, {"coarse": 0.1, "fine": 0.001}

DIM, LAYERS = 12, 6  # of nice layers: features, and layers a cell
ROWS = 400  # a population of N examples has few rows that all heads agree on: a share of 400/N is the least
# Examples that are the law of the oracle: rare rows need many, phase 6b takes all rows
COMMON, RARE, ALL_ROWS = 50_000, 400_000, 5000
HULL, CLOSER = 0.3, 0.1  # the errors of the hull that phases 1 to 4 aim at
# By (tokens, heads): that population, log2 of the inverse of the first tolerance tried, and the errors aimed at
PHASES: dict[tuple[int, int], tuple[int, int, list[float]]] = {
    (2, 1): (COMMON, 9, [HULL, CLOSER]),
    (2, 2): (COMMON, 11, [HULL, CLOSER]),
    (2, 3): (COMMON, 13, [HULL, CLOSER]),
    (2, 4): (COMMON, 15, [HULL]),
    (3, 1): (COMMON, 10, [HULL, CLOSER]),
    (3, 2): (COMMON, 12, [HULL, CLOSER]),
    (3, 3): (RARE, 20, [HULL]),
    (3, 4): (RARE, 20, [HULL]),
}
EVERY_HEAD_AIM, MOST_HALVINGS = 0.1, 4  # of phase 6b
FINEST_TRIED = 20


def tolerance(exponent: float) -> float:
    """Return 2^-exponent rounded to three digits: proofs take a tolerance as the decimal number that is written."""
    return float(f"{2.0**-exponent:.3g}")


def tasks(quick: bool) -> list[Task]:
    """Return query games for hidden parities, and trials of the learner `provable`, by queries, on random layers."""
    dims, heads, step = ((16,), HEADS[:3], 2) if quick else (PLAYED, HEADS, 1)
    parts = [task for d in dims for m in heads for e in EXPONENTS[::step] for task in _games(d, m, e)]
    cells, layers = ([(2, 1)], 1) if quick else ([*PHASES], LAYERS)
    for layer in range(layers):
        for k, m in cells:
            population, first, aims = PHASES[k, m]
            coarse = 10 if m < 4 else 11
            for kind, examples, start, last, errors in (
                ("phases", population, first, FINEST_TRIED, aims),
                ("every head", ALL_ROWS, coarse, coarse + MOST_HALVINGS, [EVERY_HEAD_AIM]),
            ):
                solver = {"kind": kind, "learner": "provable", "oracle": "noisy", "population": examples}
                solver |= {"first": start, "last": last, "aims": errors}
                params = {"dim": DIM, "tokens": k, "heads": m}
                parts.append(Task("nondegenerate", params, solver, {}, layer))
    return parts


def _games(d: int, m: int, exponent: float) -> list[Task]:
    """Return games for m hidden of d - 1 bits at tolerance 2^-exponent, of the strategies that may be cheapest."""
    size, tau = comb(d - 1, m), tolerance(exponent)
    if size * tau**2 <= SPREAD[d]:
        names = ["spread"] if d < LARGEST or exponent == int(exponent) else []
    else:
        both = d == LARGEST and exponent >= BOTH[0] and size * tau**2 <= BOTH[1]
        names = ["sign-batch", "spread"] if both else ["sign-batch"]
    params = {"dim": d, "heads": m, "gadget": "diag"}
    solvers = [{"kind": "frontier", "strategy": name, "tolerance": tau} for name in names]
    return [Task("parity", params, solver, {"queries": 2 * size + 64}, 0) for solver in solvers]


def seconds(task: Task) -> float:
    """Return the seconds that a trial is expected to take."""
    if task.solver["kind"] != "frontier":
        return 10.0  # all the same, so that layer after layer is run
    if task.solver["strategy"] != "spread":
        return 0.4
    n, tau = int(task.params["dim"]) - 1, float(task.solver["tolerance"])
    return 2.5e-7 * 2.0**n * (3 + 14 * comb(n, int(task.params["heads"])) * tau**2)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Play a query game, or find the largest tolerances at which a learner errs little enough on a random layer.

    The task's `solver` lists the errors aimed at. The cost is then the queries of one run; the detail lists the
    exponents e of the tolerances 2^-e that were tried, in ascending order, and the error at each.
    """
    if task.solver["kind"] == "frontier":
        return game(task, root, guard)
    first, last, aims = (task.solver[name] for name in ("first", "last", "aims"))
    errors = {}
    errors[first], queries = error_at(task, root, first)
    at = first
    while errors[at] <= aims[0] and at > 2:
        at -= 1
        errors[at], _ = error_at(task, root, at)
    at = first
    while errors[at] > aims[-1] and at < last:
        at += 1
        errors[at], queries = error_at(task, root, at)
    tried = sorted(errors)
    shown = [float(f"{errors[e]:.4g}") if errors[e] < inf else None for e in tried]
    status = "solved" if errors[tried[-1]] <= aims[-1] else "wrong"
    return Outcome(status, queries, {"tried": tried, "errors": shown})


def error_at(task: Task, root: int, exponent: int) -> tuple[float, int]:
    """Return a learner's relative error if queries are answered at tolerance 2^-exponent, and the number of these.

    For tasks of kind "phases" it is the error of an affine space near all Θᵢ (phases 1 to 4 of `provable`), else that
    of the worst Θᵢ (phase 6b, which finds each). Tasks of both kinds in the same repetition meet the same layer.
    """
    params, solver = task.params, task.solver
    k, d = int(params["tokens"]), int(params["dim"])
    layer = Task(task.family, params, {}, {}, task.repetition)
    instance = Instance.generate(Nondegenerate(**params), layer.seed(root, "instance"))
    size = float(np.sqrt(np.mean(instance.examples(2000, layer.seed(root, "fresh")).Y ** 2)))
    seed, population = task.seed(root, "examples"), solver["population"]
    ask = Averages(instance, solver["oracle"], tolerance(exponent), seed, population)
    options = {"heads": int(params["heads"])}
    learner: Any = make(Solver("learner", solver["learner"], options), task.seed(root, "solver") % 2**32)
    if solver["kind"] == "phases":
        phase, estimates = "sculpt", learner.by_averages(ask, k, d, size, ask.tolerance, ROWS / population)
    else:
        phase, estimates = "every head", learner.heads_by_averages(ask, k, d, size)
    last = [estimate for estimate in estimates if estimate.phase == phase][-1]
    return last.error(instance.layer(), k)[1], ask.ledger.queries


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
    """Return a lower bound on queries at tolerance 2^-exponent that surely reveal `size` hidden of dim - 1 bits."""
    sets, tau = comb(dim - 1, size), tolerance(exponent)
    return max(exact_floor(sets, tau), ceil(entropy_floor(sets, tau)))


def least_needed(dim: int, size: int, price: Price, power: float) -> float:
    """Return a lower bound on the price of revealing `size` hidden ones of dim - 1 bits, whatever the tolerance.

    price(q, τ) of q queries at tolerance τ grows with q and 1/τ, and is at least (q/τ²)^`power`. Between two neighbours
    of a grid of tolerances, q is at least what the smaller one needs (`parity_floor`), and 1/τ that of the larger.
    Below the grid, q/τ² >= 8(N-1) for N sets (theory 2.5d).
    """
    steps = pairwise((2.0, *FINE))
    between = [price(parity_floor(dim, size, finer), tolerance(coarser)) for coarser, finer in steps]
    least = min(*between, price(1, tolerance(FINE[-1])))
    return max(least, float((8 * (comb(dim - 1, size) - 1)) ** power))


def cheapest(rows: "DataFrame") -> "DataFrame":
    """Return by d, number s of hidden bits and e the won game of fewest queries at tolerance 2^-e, and their floor."""
    exponents = {tolerance(e): e for e in EXPONENTS}
    games = rows[(rows.kind == "frontier") & (rows.status == "solved") & (rows.cost > 0)]
    lines = games.assign(d=games.dim, s=games.heads, e=games.tolerance.map(exponents), queries=games.cost)
    cell = ["d", "s", "e"]
    lines = lines.sort_values([*cell, "queries", "strategy"]).drop_duplicates(cell)
    lines = lines[[*cell, "strategy", "queries"]].astype({"d": int, "s": int, "queries": int})
    return lines.assign(floor=[parity_floor(at.d, at.s, at.e) for at in lines.itertuples()])


def least_prices(games: "DataFrame") -> "DataFrame":
    """Return by number s of hidden bits, at d = 24, two prices of learning: proved minimum, and least in won `games`.

    q queries at tolerance τ cost q/τ² examples if each has its own, and max(q, 1/τ²) if all share them.
    """
    import pandas as pd

    lines = []
    for s, won in games[games.d == LARGEST].groupby("s"):
        line = {"s": s, "sets N": comb(LARGEST - 1, s)}
        for name, (price, power) in PRICES.items():
            line[f"{name} at least"] = least_needed(LARGEST, s, price, power)
            line[f"{name} reached"] = min(price(at.queries, tolerance(at.e)) for at in won.itertuples())
        lines.append(line)
    return pd.DataFrame(lines)


def bought(size: int, tau: float) -> str:
    """Return as text a lower bound on queries at tolerance tau that reveal `size` hidden of 255 bits (theory 2.5)."""
    return at_least_power(max(0.0, log2(8 * tau**2) + log2(comb(BUDGET_DIM - 1, size) - 1)))


def largest(tried: list[int], errors: list[float | None], aim: float) -> float:
    """Return the least of the exponents `tried` whose error (None: infinite) is at most `aim`; infinite if none is.

    >>> largest([9, 10, 11], [None, 0.2, 0.05], 0.3)
    10
    """
    right = (e for e, error in zip(tried, errors, strict=True) if error is not None and error <= aim)
    return min(right, default=inf)


def needed(rows: "DataFrame", kind: str, aim: float) -> dict[int, list[float]]:
    """Return by number of heads, for each layer, log2 1/τ of the largest tolerance τ at which the error met `aim`.

    The learner has to find all heads' Θᵢ if `kind` is "every head", and an affine space near them if it is "phases".
    """
    cells = rows[(rows.kind == kind) & (rows.tokens == 2)].groupby("heads")
    return {int(m): [largest(row.tried, row.errors, aim) for row in cell.itertuples()] for m, cell in cells}


def slope(layers: dict[int, list[float]]) -> list[float]:
    """Return [slope, low, high] of log2 1/τ against the number of heads, with 95 % interval, for values of `needed`."""
    from scipy.special import stdtrit
    from scipy.stats import linregress

    points = [(m, e) for m, exponents in layers.items() for e in exponents]
    fit = linregress(*zip(*points, strict=True))
    half = float(stdtrit(len(points) - 2, 0.975) * fit.stderr)
    return [round(float(fit.slope) + away, 2) for away in (0.0, -half, half)]


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number of the article; lower bounds are rounded down, what is reached is rounded up."""
    games = cheapest(rows)
    last = least_prices(games).iloc[-1]
    least, reached = last["q/τ² at least"], last["q/τ² reached"]
    over = games.queries / games.floor
    hidden = {gadget: bits(gadget, BUDGET_HEADS) for gadget in ("diag", "wide")}
    heads: dict[str, Any] = {"d": BUDGET_DIM, "m": BUDGET_HEADS, "bits": hidden["wide"]}
    for name, tau in BUDGET_TOLERANCES.items():
        heads[name] = {"tau": tau, **{gadget: bought(size, tau) for gadget, size in hidden.items()}}
    phases, rounds = needed(rows, "phases", HULL), needed(rows, "every head", EVERY_HEAD_AIM)
    steepness, missed = slope(phases), rows[rows.status == "wrong"].kind
    return {
        "d": LARGEST,
        "n": LARGEST - 1,
        "s": int(last.s),
        "least": {"fresh": {"needed": at_least(least, 1), "reached": at_most(reached, 1)}},
        "times": at_most(reached / least),
        "games": {"won": len(games), "exact": int((over == 1).sum()), "worst": at_most(float(over.max()))},
        "heads": heads,
        "nice": {
            "d": DIM,
            "layers": LAYERS,
            "phases": [round(2 ** median(phases[m])) for m in (1, 4)],
            "rounds": [round(2 ** median(rounds[m])) for m in (1, 4)],
            "slope": steepness,
            "squared": round(4 ** steepness[0]),
            "missed": [int((missed == kind).sum()) for kind in ("phases", "every head")],
        },
    }


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the table of the least price of a parity by queries, d = 24: a proved bound, and that of games played."""
    prices = least_prices(cheapest(rows))
    for name in PRICES:
        prices[f"{name} at least"] = [at_least(value, 1) for value in prices[f"{name} at least"]]
        prices[f"{name} reached"] = [at_most(value, 1) for value in prices[f"{name} reached"]]
    return {"prices": prices}


MAPPED = (2, 5, 8)  # bits of the panels of its map
# Strategies of its marks: colour, marker, and where the name stands, in points off a mark
STRATEGIES = (
    ("sign-batch", "C0", "o", (36, 3)),
    ("spread", "C2", "D", (13, 9)),
)


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the figure of queries against 1/τ (tolerance τ) at d = 24: numbers proved impossible, and games won."""
    games = cheapest(rows)
    figure, axes = plots.panels(1, len(MAPPED), height=3.4, sharex=True)
    for axis, s in zip(axes, MAPPED, strict=True):
        sets = comb(LARGEST - 1, s)
        floor = [log2(parity_floor(LARGEST, s, e)) for e in (EXPONENTS[0], *EXPONENTS)]
        axis.fill_between([2.0, *EXPONENTS], -1, floor, step="pre", color="0.86", zorder=0)
        ends = [2, FINEST]
        law = [log2(8 * (sets - 1)) - 2 * e for e in ends]
        axis.fill_between(ends, -30, law, color="0.86", zorder=0)
        axis.plot(ends, law, "--", color="0.3", marker="", linewidth=1)
        for name, color, marker, away in STRATEGIES:
            won = games[(games.d == LARGEST) & (games.s == s) & (games.strategy == name)]
            axis.plot(won.e, won.queries.map(log2), marker, color=color)
            if s == MAPPED[-1]:
                at = won.iloc[(len(won) - 1) // 2]
                place = at.e, log2(at.queries)
                axis.annotate(name, place, away, textcoords="offset points", ha="center", color=color)
        axis.set(title=f"s = {s}: {sets:,} sets", xlabel="log₂ 1/τ", xlim=(1.6, 12.4))
        axis.set(xticks=range(2, 13, 2), ylim=(-0.6, floor[0] + 1.5))
        axis.locator_params(axis="y", integer=True)
        axis.text(2.3, 0.02 * floor[0], "impossible", color="0.3")
    axes[0].set_ylabel("log₂ of the queries")
    return {"map": figure}


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
