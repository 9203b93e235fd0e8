"""The study `exponential-in-m`: what one more head costs a gradient learner, at every width, and what follows N.

From the top: the grid of `make study`, the trials, the numbers of the article, its tables and its figures. Plan 4, of
which the committed rows are, stands in `plan.py` and `plan4.toml`, the laws in `laws.py`, the lottery in `lottery.py`.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.solver import Solver, make
from hardness.examples import InformativeExamples
from hardness.instance import Instance
from hardness.report import plots
from hardness.scores import sizes
from hardness.statistics import median, regress
from hardness.studies.ray import tasks_at
from hardness.studies.trials import solving_cost
from hardness.tokens import TokenStream
from learner.studies.exponential_in_m import laws, lottery, plan
from learner.studies.exponential_in_m.plan import CONTROLS, HARD, MILD, STEEP, TENT, Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

HEADS, QUICK_HEADS, RAY, WIDTH, RUNS = range(2, 8), range(2, 6), 4, 64, 5  # `make study`: d = 4m
SMALL = ((2, 8), (3, 12))  # (m, d) for a learner of the user
SOLVED = 0.1  # mean squared error on fresh informative rows over the variance of their labels
FIRST, SPACING = 64, 1.06  # a run is looked at every 64 examples at first, later every 6 %
PORTION = 1 << 14  # examples handed over at a time
JUDGED = 4096  # fresh examples to judge on, half of them informative
HOLD = 2.0  # a head holds S if its weights in S are this many times as large as all others


def tasks(quick: bool) -> list[Task]:
    """Return hidden sets and controls along d = 4m, before 64 heads: what `make study` runs."""
    cells = [
        Cell(arm, m, RAY * m, WIDTH) for m in (QUICK_HEADS if quick else HEADS) for arm in (HARD, *CONTROLS)
    ]
    cells = [cell for cell in cells if plan.exists(cell)]
    return [task for cell in cells for task in plan.trials(cell, "ray", {}, plan.ceiling(cell), range(RUNS))]


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """Return the runs of a learner, registered or ``package.module:Class``, on small hidden sets and controls."""
    places = SMALL[:1] if quick else SMALL
    return [task for task in tasks_at(places, [learner]) if "learner" in task.solver]


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    if task.solver["kind"] != "diagonal":
        return 2.0
    heads, d = int(task.solver["params"]["heads"]), int(task.params["dim"])
    examples = min(
        float(task.budget["samples"]), 2 * plan.law(Cell(HARD, int(task.params["heads"]), d, heads))
    )
    return 0.05 + examples * (4e-8 + 4e-11 * heads * d)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run one trial. The root seed of a task of the plan is the plan's digest."""
    if "plan" in task.solver:
        root = int(str(task.solver["plan"]), 16)
    kind = task.solver["kind"]
    if kind == "sweep":  # a learner of the user
        return solving_cost(task, root, guard)
    return {"diagonal": learned, "attack": attacked, "lottery": drawn}[kind](task, root)


def learned(task: Task, root: int) -> Outcome:
    """Return the examples that the learner reads until its error on fresh informative rows is at most a tenth.

    In the same repetition all widths and settings meet the same instance and examples. `seen` is when a head was first
    seen to hold the hidden set, `held` from when on one always did, `holders` how many do in the end; the learner is
    told nothing of it. Labels that are coins leave nothing to learn.

    >>> solver = {"kind": "diagonal", "learner": "diagonal", "params": {"heads": 16}}
    >>> outcome = learned(Task("parity", {"dim": 8, "heads": 2}, solver, {"samples": 20_000}, 0), root=0)
    >>> outcome.status, outcome.cost < 8000, 0 < outcome.detail["held"] <= outcome.cost
    ('solved', True, True)
    """
    instance, shared = _instance(task, root), task.shared()
    student = make(
        Solver("learner", task.solver["learner"], task.solver["params"]), task.seed(root, "solver") % 2**32
    )
    stream, signs = shared.seed(root, "examples"), shared.seed(root, "signs")
    judged = _noiseless(instance).informative(JUDGED, shared.seed(root, "fresh"))
    coins = task.solver.get("labels") == "coins"
    if coins:
        judged = _with_coins(judged, shared.seed(root, "judged"), 0)
    variance, support = float(np.var(judged.Y)), instance.secret.get("support")
    spent, now, seen, held, error = 0, 0, None, None, float("inf")
    for size in sizes(int(task.budget["samples"]), FIRST, SPACING):
        while spent < size:
            part = instance.informative(min(PORTION, size - spent), stream, spent)
            part = _with_coins(part, signs, spent) if coins else part
            student.partial_fit(part.X, part.Y)
            spent += len(part)
        error = float(np.mean((student.open_values(judged.X) - judged.Y) ** 2)) / variance
        if support is not None:
            now = holders(student.weights_, support)
            held = (held or spent) if now else None
            seen = seen or held
        if not error > SOLVED:
            break
    detail: dict[str, float | None] = {"error": round(min(error, 1e6), 4)} if np.isfinite(error) else {}
    if support is not None:
        detail |= {"seen": seen, "held": held, "holders": now}
    status = "solved" if error <= SOLVED else "budget" if np.isfinite(error) else "wrong"
    return Outcome(status, spent, detail)


def holders(weights: NDArray[np.floating], support: NDArray[np.integer]) -> int:
    """Return how many heads hold a set S: every weight in S is at least twice as large as all weights outside it.

    `weights` (d + 1, M) are those of `learner.diagonal_network`. By chance the largest weights are those of S in one
    head of N, and far fewer are twice as large as the others.

    >>> holders(np.array([[9.0, 9.0], [4.0, 2.0], [-5.0, 3.0], [1.0, 1.6], [1.0, 1.0]]), np.array([1, 2]))
    1
    """
    size = abs(weights[:-1])
    within = np.zeros(len(size), bool)
    within[support] = True
    outside = size[1:][~within[1:]]
    return int(np.sum(size[within].min(axis=0) >= HOLD * outside.max(axis=0, initial=0.0)))


def _instance(task: Task, root: int) -> Instance:
    """Return the instance that all learners meet in one repetition."""
    family = registry.get("family", task.family)(**task.params)
    return Instance.generate(family, task.shared().seed(root, "instance"))


def _noiseless(instance: Instance) -> Instance:
    """Return the instance without flips, of the same hidden set."""
    family: Any = instance.family
    return replace(instance, family=replace(family, flip=0.0)) if family.flip else instance


def _with_coins(part: InformativeExamples, seed: int, start: int) -> InformativeExamples:
    """Return examples start.. with every label times a sign of its own."""
    words = TokenStream(seed, 1, 1).packed(start, len(part))[part.X.positions, 0, 0]
    return replace(part, Y=part.Y * (1 - 2 * words.astype(np.float64)))


def attacked(task: Task, root: int) -> Outcome:
    """Return the examples that elimination, or a search of all sets, takes to name the hidden set, and its seconds.

    More and more examples are tried, a twentieth more each time. Both attacks accept an answer only if it reproduces
    examples that had no part in finding it.

    >>> solver = {"kind": "attack", "attack": "gaussian"}
    >>> outcome = attacked(Task("parity", {"dim": 16, "heads": 3}, solver, {"samples": 1000}, 0), root=0)
    >>> outcome.status, 2 * 15 <= outcome.cost <= 2 * 15 + 80
    ('solved', True)
    """
    from hardness.evaluation.attacking import attack

    instance, seed = _instance(task, root), task.seed(root, "solver") % 2**32
    for size in sizes(int(task.budget["samples"]), 4, 1.05):
        begin = perf_counter()
        if attack(instance, task.solver["attack"], size, seed=seed).status == "solved":
            return Outcome("solved", size, {}, seconds=perf_counter() - begin)
    return Outcome("budget", int(task.budget["samples"]))


def drawn(task: Task, root: int) -> Outcome:
    """Return N x P(rho² > x) of the learner's defaults, per informative example, at batches of 16 and of 64.

    >>> task = Task("parity", {"dim": 9, "heads": 3}, {"kind": "lottery", "heads": 200}, {}, 0)
    >>> 0.01 < drawn(task, root=0).detail["16"]["value"] < 1
    True
    """
    n, m, detail = int(task.params["dim"]) - 1, int(task.params["heads"]), {}
    usual = registry.get("learner", "diagonal")()
    for batch in (16, 64):
        rng = np.random.default_rng(task.seed(root, f"heads {batch}"))
        value, error = lottery.prediction(rng, n, m, usual.rate, batch, usual.l1, int(task.solver["heads"]))
        detail[str(batch)] = {"value": float(f"{value:.4g}"), "error": float(f"{error:.2g}")}
    return Outcome("solved", None, detail)


LINES = {"3m": 3, "4m": 4, "8m": 8, "24": None, "32": None}  # d, along which a factor a head is fitted
RAYS, FIXED = [line for line in LINES if "m" in line], [line for line in LINES if "m" not in line]
WIDTHS, DEFAULT, TUNED = (16, 64, 256), "default", "tuned"
SHOWN = (
    (4, 16),
    (5, 20),
    (6, 24),
    (7, 28),
    (5, 40),
    (8, 24),
    (4, 64),
    (7, 21),
)  # (m, d), the lottery's table
NAMED = (  # (m, d) of the records
    *((m, 3 * m) for m in (8, 9, 10, 11)),
    *((m, 4 * m) for m in (5, 6, 7, 8, 9)),
    *((m, 8 * m) for m in (4, 5, 6)),
)
NEAR = 3.0  # the factor within which heads x examples over N are asked to lie
REDRAWN = 100  # draws of all runs anew
LEAST = 9  # runs of a median
TESTED = 7  # the largest m for which the lottery was tested before


def medians(rows: "DataFrame", least: int = LEAST) -> "DataFrame":
    """Return a line per arm, series, m, d and width: the median of examples, its range, and whether it is a bound.

    `clock` is how many examples were read in all runs before the first head held S, or the run ended, and `tickets` how
    many runs saw one. Cells of the plan of which fewer than `least` runs have ended are left out.
    """
    import pandas as pd

    runs = rows[(rows.kind == "diagonal") & (rows.status != "planned")]
    lines = []
    for (arm, series, m, d, width), cell in runs.groupby(["arm", "series", "heads", "dim", "params.heads"]):
        if "plan" in cell and len(cell) < least:
            continue
        costs = cell.cost.astype(float)
        middle = median(costs.tolist(), (cell.status != "solved").tolist())
        lines.append(
            {
                "arm": arm, "series": series, "m": int(m), "d": int(d), "width": int(width), "N": comb(d - 1, m),
                "median": middle.value, "bound": middle.bound, "solved": middle.solved, "runs": middle.runs,
                "clock": cell.seen.astype(float).fillna(costs).sum(), "tickets": int(cell.seen.notna().sum()),
                "setting": setting(cell.iloc[0]),
            }
        )  # fmt: skip
    return pd.DataFrame(lines)


def setting(run: Any) -> dict[str, float]:
    """Return the options of a run that are not the learner's defaults."""
    import pandas as pd

    given = {name: run.get(f"params.{name}") for name in ("batch", "output_rate", "rate")}
    known = {name: float(value) for name, value in given.items() if not pd.isna(value)}
    return {name: int(value) if value.is_integer() else value for name, value in known.items()}


def on_line(cells: "DataFrame", line: str) -> "DataFrame":
    """Return the cells along d = c m, or at one d, in the order of m."""
    ratio = LINES[line]
    return cells[cells.d == (ratio * cells.m if ratio else int(line))].sort_values("m")


def of(cells: "DataFrame", arm: str, width: int | None = None) -> "DataFrame":
    """Return the cells of an arm, before learners of one width or of all."""
    return cells[(cells.arm == arm) & ((cells.width == width) if width else True)]


def sparse(cells: "DataFrame") -> "DataFrame":
    """Return the cells with m ≤ n/2."""
    return cells[2 * cells.m < cells.d]


def cheaper(cells: "DataFrame") -> "DataFrame":
    """Return the cheaper of the default and the tuned setting in every cell; a known median before a bound."""
    order = cells[cells.series.isin([DEFAULT, TUNED])].sort_values(["bound", "median"])
    return order.groupby(["arm", "m", "d", "width"], as_index=False).first()


def factor(cells: "DataFrame", column: str = "m") -> dict[str, float]:
    """Return by what examples are multiplied where `column` grows by one, with its 95 % interval."""
    X = np.column_stack([np.ones(len(cells)), cells[column].astype(float)])
    line = regress(X, np.log(cells["median"].to_numpy(float)), cells.bound.to_numpy(bool))
    low, high = line.limits(1)
    return {"value": float(np.exp(line.beta[1])), "low": float(np.exp(low)), "high": float(np.exp(high))}


def exponent(cells: "DataFrame") -> dict[str, float]:
    """Return k of examples as N^k, with its 95 % interval."""
    by_logarithm = factor(cells.assign(sets=np.log(cells.N.astype(float))), "sets")
    return {name: float(np.log(value)) for name, value in by_logarithm.items()}


def with_tickets(cells: "DataFrame", rows: "DataFrame") -> "DataFrame":
    """Return cells with `xnp`, N P(rho² > x) x of the lottery, at the batch with which most of the cell is read."""
    from learner.diagonal import GROWN  # late: a list of studies does without scikit-learn

    drawn = rows[(rows.kind == "lottery") & (rows.status == "solved")].set_index(["heads", "dim"])
    at = drawn[["16.value", "64.value"]].T.to_dict("list")
    grown = (cells.clock / cells.runs > GROWN).astype(int)
    places = zip(cells.m, cells.d, grown, strict=True)
    return cells.assign(
        xnp=np.array([at.get((m, d), (np.nan, np.nan))[late] for m, d, late in places], float)
    )


def hazards(cells: "DataFrame") -> "DataFrame":
    """Return cells with `hazard`, that of the first head, per head and informative example, times N; and its forecast.

    A constant hazard is estimated by how many first heads were seen over all that was read before them, half of it
    informative. The forecast is 1.4 x N P(rho² > x). Cells whose first heads come, in the mean, before weights were
    renewed once, after 1/x informative examples, say little of a rate and are left out.
    """
    chosen = cells[(cells.clock / cells.runs > 2 / lottery.restarts(16, 0.03)) & cells.xnp.notna()]
    hazard = chosen.tickets / (chosen.clock / 2 * chosen.width) * chosen.N
    return chosen.assign(hazard=hazard, forecast=1.4 * chosen.xnp, ratio=hazard / (1.4 * chosen.xnp))


def worked(cells: "DataFrame") -> "DataFrame":
    """Return the known medians where the lottery is the larger part of the pilot's law, 16 N/M > 110 sqrt(N), with
    `work`: heads x examples over N."""
    chosen = cells[~cells.bound & (16 * cells.N / cells.width > 110 * cells.N**0.5)]
    return chosen.assign(work=chosen.width * chosen["median"] / chosen.N)


def outcome_of_laws(rows: "DataFrame", hard: "DataFrame") -> "DataFrame":
    """Return a line a law: the factor by which it errs on large classes, the largest such factor, and its `wins` in a
    hundred draws of all runs anew, cell by cell with replacement; and its factor where cells with m > n/2 are left out
    of the fit, which the plan does not ask.

    Laws are asked about hidden sets with a known median before the default, m < n.
    """
    import pandas as pd

    below = float(plan.read()["fit_below"])
    asked = with_tickets(hard, rows)
    asked = asked[~asked.bound & (asked.m < asked.d - 1) & asked.xnp.notna()]
    few, at = sparse(asked), laws.cells(asked)
    errors = laws.judged(at, asked["median"].to_numpy(float), below)
    of_few = laws.judged(laws.cells(few), few["median"].to_numpy(float), below)
    runs = rows[(rows.arm == HARD) & (rows.series == DEFAULT) & (rows.status != "planned")]
    costs = runs.groupby(["heads", "dim", "params.heads"]).cost.agg(lambda cost: np.array(cost, float))
    cells = [costs[place] for place in zip(asked.m, asked.d, asked.width, strict=True)]
    rng, wins = np.random.default_rng(0), dict.fromkeys(errors, 0)
    for _ in range(REDRAWN):
        drawn = np.array([np.median(rng.choice(each, len(each))) for each in cells])
        redrawn = laws.judged(at, drawn, below)
        wins[min(redrawn, key=lambda name: redrawn[name][0])] += 1
    lines = [
        {
            "law": law.name,
            "kind": law.kind,
            "factor of error": rounded(errors[law.name][0]),
            "largest": rounded(errors[law.name][1]),
            "wins": wins[law.name],
            "m ≤ n/2": rounded(of_few[law.name][0]),
        }
        for law in laws.LAWS
    ]
    return pd.DataFrame(lines).sort_values("factor of error", kind="stable", ignore_index=True)


def rounded(value: float) -> float:
    """Return a value to three digits."""
    return float(f"{value:.3g}")


def factor_of(cells: "DataFrame", arm: str, width: int, line: str) -> dict[str, float] | None:
    """Return the factor a head of an arm along a line, from m = 3 on; None where fewer than three medians are known."""
    chosen = on_line(of(cells, arm, width), line)
    chosen = chosen[chosen.m >= 3]
    return factor(chosen) if (~chosen.bound).sum() > 2 else None


def steepness(cells: "DataFrame", arm: str) -> list[float]:
    """Return the factors a head of an arm along all rays and widths."""
    fitted = (factor_of(cells, arm, width, line) for line in RAYS for width in WIDTHS)
    return [factor["value"] for factor in fitted if factor]


def factors(cells: "DataFrame", lines: Sequence[str], arms: Sequence[str]) -> "DataFrame":
    """Return a line per line of cells and width: the factor a head of the arms, with intervals."""
    import pandas as pd

    table = []
    for line in lines:
        for width in WIDTHS:
            by_arm = {arm: factor_of(cells, arm, width, line) for arm in arms}
            texts = {
                arm: "{value:.2f} ({low:.2f}–{high:.2f})".format(**at) if at else "–"
                for arm, at in by_arm.items()
            }
            table.append({"d": line, "width": width, **texts})
    return pd.DataFrame(table)


def attacks(rows: "DataFrame", name: str) -> "DataFrame":
    """Return the median examples of an attack by m and d, and the seconds of its fastest run, which no job held up."""
    runs = rows[(rows.kind == "attack") & (rows.attack == name) & (rows.status == "solved")]
    runs = runs.rename(columns={"heads": "m", "dim": "d"})
    return runs.groupby(["m", "d"], as_index=False).agg(
        examples=("cost", "median"), seconds=("seconds", "min")
    )


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return every number of the article."""
    cells, fixed = medians(rows), plan.read()
    default, best = cells[cells.series == DEFAULT], cheaper(cells)
    hard = of(default, HARD)
    outcome, lots, work = outcome_of_laws(rows, hard), hazards(with_tickets(hard, rows)), worked(hard)
    steep = {arm: steepness(best, arm) for arm in (HARD, *CONTROLS)}
    begun = medians(rows, 1)
    places = {tuple(place) for place in fixed["tuned"]}
    tuned = best[[place in places for place in zip(best.m, best.d, strict=True)]]
    slower = [
        exponent(part)["high"] < 1
        for line in RAYS
        for width in WIDTHS
        if len(part := on_line(of(work, HARD, width), line)) > 2
    ]
    coins = rows[(rows.series == "coins") & (rows.status != "planned")]
    search = attacks(rows, "search")
    full = hard[(hard.m == hard.d - 1) & (hard.width == max(WIDTHS))]
    return {
        "sizes": len(hard),
        "bounds": int(hard.bound.sum()),
        "largest": int(hard[~hard.bound].N.max()),
        "factor": {
            "hidden": rounded(min(steep[HARD])),
            "most": rounded(max(steep[HARD])),
            "control": rounded(max(value for arm in CONTROLS for value in steep[arm])),
        },
        "few": {
            "cells": int((begun.runs < LEAST).sum()),
            "factor": rounded(max(steepness(cheaper(begun), HARD))),
        },
        "exponent": {"tuned": exponents(tuned), "default": exponents(sparse(default))},
        "law": {
            "name": outcome.law[0],
            "error": outcome["factor of error"][0],
            "wins": int(outcome.wins[0]),
            "second": outcome.law[1],
        },
        "work": spread(work),
        "sparse": spread(sparse(work)),
        "slower": {"rays": sum(slower), "of": len(slower)},
        "hazard": {"all": agreement(lots), "small": agreement(lots[lots.m <= TESTED])},
        "coins": {"runs": len(coins), "solved": int((coins.status == "solved").sum())},
        "search": {
            "examples": int(search.examples.max()),
            "milliseconds": rounded(1000 * search.seconds.max()),
        },
        "full": {
            cell.m: {"cost": rounded(cell["median"]), "runs": cell.solved} for _, cell in full.iterrows()
        },
        "runs": fixed["runs"],
        "settings": len(fixed["menu"]),
        "tuned": len(cells[cells.series == TUNED]),
        "unrun": int((rows.status == "planned").sum()),
    }


def exponents(cells: "DataFrame") -> dict[int, dict[str, float]]:
    """Return k of examples as N^k by width, with intervals, where N is at least a thousand."""
    large = {width: exponent(of(cells[cells.N >= 1000], HARD, width)) for width in WIDTHS}
    return {width: {name: rounded(value) for name, value in at.items()} for width, at in large.items()}


def spread(work: "DataFrame") -> dict[str, float]:
    """Return the least, largest and geometric mean of heads x examples over N, and how many lie near that mean."""
    mean = float(np.exp(np.log(work.work).mean()))
    near = (work.work < NEAR * mean) & (work.work > mean / NEAR)
    ends = {"low": work.work.min(), "high": work.work.max(), "mean": mean}
    return {name: rounded(value) for name, value in ends.items()} | {"near": int(near.sum()), "of": len(work)}


def agreement(lots: "DataFrame") -> dict[str, float]:
    """Return in how many cells the lottery foretells the hazard of the first head within a factor of two."""
    near = (lots.ratio < 2) & (lots.ratio > 0.5)
    mean = rounded(float(np.exp(np.log(lots.ratio).mean())))
    return {"cells": len(lots), "near": int(near.sum()), "ratio": mean}


def tables(rows: "DataFrame") -> dict[str, "DataFrame"]:
    """Return the tables of the article."""
    cells = medians(rows)
    best, hard = cheaper(cells), of(cells[cells.series == DEFAULT], HARD)
    return {
        "factors": factors(best, RAYS, (HARD, *CONTROLS)),
        "fixed": factors(best, FIXED, (HARD,)),
        "laws": outcome_of_laws(rows, hard),
        "costs": costs(cells, rows),
        "lottery": lottery_table(hazards(with_tickets(hard, rows))),
        "flips": flips_table(cells),
    }


def costs(cells: "DataFrame", rows: "DataFrame") -> "DataFrame":
    """Return a line per hidden set: the median examples by width, and of the tuned setting where there is one."""
    import pandas as pd

    search = attacks(rows, "search").set_index(["m", "d"]).examples
    table = []
    for (m, d), place in of(cells, HARD).groupby(["m", "d"]):
        entry: dict[str, Any] = {"m": m, "d": d, "N": comb(d - 1, m)}
        for width in WIDTHS:
            at = place[place.width == width].set_index("series")
            texts = [_cost(at.loc[name]) for name in (DEFAULT, TUNED) if name in at.index]
            entry[str(width)] = " / ".join(texts) or "–"
        table.append({**entry, "all sets": search.get((m, d))})
    return pd.DataFrame(table).sort_values("N", kind="stable", ignore_index=True)


def _cost(cell: Any) -> str:
    return f"{'≥ ' * bool(cell.bound)}{rounded(cell['median']):,.0f}"


def lottery_table(lots: "DataFrame") -> "DataFrame":
    """Return the hazard of the first head, measured and foretold, in the cells named for it."""
    named = lots[[place in SHOWN for place in zip(lots.m, lots.d, strict=True)]].sort_values(["N", "width"])
    chosen = named[["m", "d", "width", "N", "hazard", "forecast", "ratio"]]
    return chosen.rename(columns={"hazard": "hazard × N", "forecast": "1.4 × lottery"})


def flips_table(cells: "DataFrame") -> "DataFrame":
    """Return what a tenth of flipped labels multiplies the cost by."""
    place = ["m", "d", "width"]
    hard = of(cells, HARD).set_index(place)
    flipped, clean = hard[hard.series == "flips"], hard[hard.series == DEFAULT]["median"]
    table = flipped.assign(over=flipped["median"] / clean.reindex(flipped.index)).reset_index()
    return table[[*place, "median", "solved", "runs", "over"]].rename(columns={"over": "over clean"})


def records(rows: "DataFrame") -> "DataFrame":
    """Return the cheapest learner known of every named hidden set: by examples, and by heads x examples.

    Medians that are known alone count, of the default and of settings tuned to the cell, on seeds that chose neither.
    """
    import pandas as pd

    cells = of(medians(rows), HARD)
    known = cells[cells.series.isin([DEFAULT, TUNED]) & ~cells.bound]
    known = known.assign(work=known.width * known["median"])
    lines = []
    for m, d in NAMED:
        here = known[(known.m == m) & (known.d == d)]
        for least, column in (("examples", "median"), ("heads x examples", "work")):
            if len(here):
                named = {"instance": f"parity-d{d}-m{m}", "dim": d, "heads": m, "least": least}
                lines.append(named | entry(here.loc[here[column].idxmin()]))
    return pd.DataFrame(lines)


def entry(cell: Any) -> dict[str, Any]:
    """Return what the table of records says of a learner, and the commands that run it once."""
    options = "".join(f" --set {name}={value:g}" for name, value in cell.setting.items())
    made = f"hardness generate parity --dim {cell.d} --heads {cell.m} --seed 1 --out x.safetensors"
    learn = f"hardness learn diagonal x.safetensors --count {3 * round(cell['median'])} --seed 2 --heads {cell.width}"
    return {
        "examples": round(cell["median"]),
        "heads_examples": int(cell.width) * round(cell["median"]),
        "runs": int(cell.runs),
        "solved": int(cell.solved),
        "setting": json.dumps({"heads": int(cell.width), **cell.setting}),
        "command": f"{made} && {learn}{options}",
    }


def figures(rows: "DataFrame") -> dict[str, "Figure"]:
    """Return the costs along rays, beside controls and the search of all sets; and heads x examples over N."""
    cells = medians(rows)
    return {
        "costs": costs_figure(cheaper(cells), attacks(rows, "search")),
        "work": work_figure(of(cells[cells.series == DEFAULT], HARD)),
    }


def costs_figure(best: "DataFrame", search: "DataFrame") -> "Figure":
    """Return examples against m along d = 3m, 4m and 8m."""
    figure, axes = plots.panels(1, len(RAYS), height=4.4, sharey=True)
    for axis, line in zip(axes, RAYS, strict=True):
        ends = []
        for width in WIDTHS:
            ends.append((_curve(axis, on_line(of(best, HARD, width), line), "o-"), f"{width} heads"))
        for arm, style, label in ((TENT, "s--", "tent"), (MILD, "D--", "random"), (STEEP, "v--", "steep")):
            ends.append((_curve(axis, on_line(of(best, arm, 64), line), style, "0.45"), label))
        sets, part = on_line(of(best, HARD, 256), line), on_line(search, line)
        ends += [(axis.plot(sets.m, sets.N, ":", color="0.2", marker="")[0], "N")]
        ends += [(axis.plot(part.m, part.examples, "x-", color="0.2")[0], "all sets tried")]
        axis.set(title=f"d = {line}", xlabel="m", yscale="log", xticks=range(2, sets.m.max() + 1, 2))
        axis.set_xlim(1.6, sets.m.max() * 1.2)
        plots.label_ends(axis, ends)
    axes[0].set_ylabel("examples until learned")
    return figure


def _curve(axis: Any, part: "DataFrame", style: str, color: str | None = None) -> Any:
    """Draw medians; those that are bounds are hollow."""
    (line,) = axis.plot(part.m, part["median"], style, color=color, markersize=3.5)
    for _, cell in part[part.bound].iterrows():
        plots.bound(axis, cell.m, cell["median"], line.get_color())
    return line


def work_figure(hard: "DataFrame") -> "Figure":
    """Return examples over N, and heads x examples over N, of hidden sets against N; crosses have m > n/2."""
    hard = hard[(hard.N > 100) & ~hard.bound]
    few = sparse(hard)
    many = hard.drop(few.index)
    figure, axes = plots.panels(1, 2, height=3.2)
    for axis, title in zip(axes, ("examples / N", "heads × examples / N"), strict=True):
        for width in WIDTHS:
            times = 1 if axis is axes[0] else width
            at, others = few[few.width == width], many[many.width == width]
            heights = times * at["median"] / at.N
            (line,) = axis.plot(at.N, heights, "o", markersize=3.5, label=f"{width} heads")
            axis.plot(others.N, times * others["median"] / others.N, "x", color=line.get_color())
        axis.set(title=title, xlabel="N", xscale="log", yscale="log")
    axes[0].legend()
    return figure


STUDY = Study(
    "exponential-in-m",
    "How does a gradient learner's cost grow with the number of heads, at which width, and what follows N?",
    tasks,
    seconds,
    trial,
    guard=3600.0,
    user_learner_tasks=user_learner_tasks,
    plan=plan.tasks,
    timed=True,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
    records=Path(__file__).with_name("records.csv"),
)
