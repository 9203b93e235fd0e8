"""The study `exponential-in-m`: what one more head costs a gradient learner, at every width, and what follows N.

From the top: the grid of `make study`, the trials, the numbers of the article, its tables and its figure. Plan 4, of
which the committed rows are, stands in `plan.py` and `plan4.toml`, the laws in `laws.py`, the lottery in `lottery.py`.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import comb, exp, isfinite, log
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
from hardness.evaluation.until import sizes
from hardness.examples import InformativeExamples
from hardness.instance import Instance
from hardness.report import plots
from hardness.statistics import median, regress
from hardness.studies.ray import tasks_at
from hardness.studies.trials import instance_of, solving_cost
from hardness.tokens import TokenStream
from learner.studies.exponential_in_m import laws, lottery, plan
from learner.studies.exponential_in_m.plan import CONTROLS, HARD, MILD, STEEP, TENT, Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SOLVED = 0.1  # mean squared error on fresh informative rows over the variance of their labels
FIRST, SPACING = 64, 1.06  # a run is looked at every 64 examples at first, later every 6 %
PORTION = 1 << 14  # examples handed over at a time
JUDGED = 4096  # fresh examples to judge on, half of them informative
HOLD = 2.0  # a head holds S if its weights in S are this many times as large as all others


def tasks(quick: bool) -> list[Task]:
    """Return runs of a 64-head learner on hidden m-bit parities and control layers, d = 4m; fewer m if `quick`."""
    cells = [Cell(arm, m, 4 * m, 64) for m in range(2, 6 if quick else 8) for arm in (HARD, *CONTROLS)]
    caps = {cell: int(40 * plan.law(cell)) + 100_000 for cell in cells if cell.exists}
    return [task for cell in caps for task in plan.trials(cell, "ray", {}, caps[cell], range(5))]


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """Return trials of a user's `learner`, a name or ``package.module:Class``, on small parities and random layers."""
    places = [(2, 8)] if quick else [(2, 8), (3, 12)]  # m, d
    return [task for task in tasks_at(places, [learner]) if "learner" in task.solver]


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    if task.solver["kind"] != "diagonal":
        return 2.0
    width, d = task.solver["params"]["heads"], task.params["dim"]
    examples = min(task.budget["samples"], 2 * plan.law(Cell(HARD, task.params["heads"], d, width)))
    return float(0.05 + examples * (4e-8 + 4e-11 * width * d))


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run a trial of at most `guard` seconds from the seed `root`; tasks of the fixed plan have its SHA-256 as seed."""
    if "plan" in task.solver:
        root = int(str(task.solver["plan"]), 16)
    kind = task.solver["kind"]
    if kind == "sweep":  # a learner of the user
        return solving_cost(task, root, guard)
    return {"diagonal": learned, "attack": attacked, "lottery": drawn}[kind](task, root)


def learned(task: Task, root: int) -> Outcome:
    """Return how many examples a learner reads until its mean squared error is a tenth of the labels' variance.

    It is judged on fresh informative examples, whose tokens differ in coordinate 0. All settings of one repetition meet
    the same examples. `seen` is how many were read when a head first singled out the hidden set (`held`). If the
    solver's "labels" are "coins", every label gets a random sign.

    >>> solver = {"kind": "diagonal", "learner": "diagonal", "params": {"heads": 16}}
    >>> outcome = learned(Task("parity", {"dim": 8, "heads": 2}, solver, {"samples": 20_000}, 0), root=0)
    >>> outcome.status, outcome.cost < 8000, 0 < outcome.detail["seen"] <= outcome.cost
    ('solved', True, True)
    """
    shared = task.shared()
    instance = instance_of(shared, root)
    solver = Solver("learner", task.solver["learner"], task.solver["params"])
    student = make(solver, task.seed(root, "solver") % 2**32)
    stream, signs = shared.seed(root, "examples"), shared.seed(root, "signs")
    judged = without_flips(instance).informative(JUDGED, shared.seed(root, "fresh"))
    coins = task.solver.get("labels") == "coins"
    if coins:
        judged = with_coins(judged, shared.seed(root, "judged"), 0)
    variance, support = float(np.var(judged.Y)), instance.secret.get("support")
    spent, seen, error = 0, None, float("inf")
    for size in sizes(int(task.budget["samples"]), FIRST, SPACING):
        while spent < size:
            part = instance.informative(min(PORTION, size - spent), stream, spent)
            part = with_coins(part, signs, spent) if coins else part
            student.partial_fit(part.X, part.Y)
            spent += len(part)
        error = float(np.mean((student.open_values(judged.words) - judged.Y) ** 2)) / variance
        if support is not None and not seen and held(student.weights_, support):
            seen = spent
        if not error > SOLVED:
            break
    status = "solved" if error <= SOLVED else "budget" if isfinite(error) else "wrong"
    detail: dict[str, float | None] = {"error": round(min(error, 1e6), 4)} if isfinite(error) else {}
    return Outcome(status, spent, detail if support is None else {**detail, "seen": seen})


def held(weights: NDArray[np.floating], support: NDArray[np.integer]) -> bool:
    """Return whether one head singles out the set S = `support`: its weights in S are at least twice all others.

    `weights` (d + 1, M) has a column per head: its threshold, the weights of coordinates 1 to d - 1, its output weight.

    >>> weights = np.array([[9.0, 9.0], [4.0, 2.0], [-5.0, 3.0], [1.0, 1.6], [1.0, 1.0]])
    >>> held(weights, np.array([1, 2])), held(weights[:, 1:], np.array([1, 2]))
    (True, False)
    """
    size = abs(weights[:-1])
    outside = np.delete(size, [0, *support], axis=0)
    return bool(np.any(size[support].min(axis=0) >= HOLD * outside.max(axis=0, initial=0.0)))


def without_flips(instance: Instance) -> Instance:
    """Return the same instance without randomly flipped labels, on which the learner is judged."""
    family: Any = instance.family
    return (
        replace(instance, family=replace(family, flip=0.0)) if instance.parameters.get("flip") else instance
    )


def with_coins(part: InformativeExamples, seed: int, start: int) -> InformativeExamples:
    """Return the examples, numbered from `start`, each label multiplied by a random sign that `seed` determines."""
    words = TokenStream(seed, 1, 1).packed(start, len(part))[part.X.positions, 0, 0]
    return replace(part, Y=part.Y * (1 - 2 * words.astype(np.float64)))


def attacked(task: Task, root: int) -> Outcome:
    """Return how many examples an exhaustive search over sets needs to name the hidden one, and the search's seconds.

    The number grows by a twentieth until the named set also reproduces examples that were not used in finding it.
    """
    from hardness.evaluation.attacking import attack

    instance, seed = instance_of(task.shared(), root), task.seed(root, "solver") % 2**32
    for size in sizes(int(task.budget["samples"]), 4, 1.05):
        begin = perf_counter()
        if attack(instance, task.solver["attack"], size, seed=seed).status == "solved":
            return Outcome("solved", size, {}, seconds=perf_counter() - begin)
    return Outcome("budget", int(task.budget["samples"]))


def drawn(task: Task, root: int) -> Outcome:
    """Return in `detail`, for batches of 16 and 64, how fast heads should find a hidden set (`lottery.prediction`)."""
    n, m, detail = int(task.params["dim"]) - 1, int(task.params["heads"]), {}
    usual = registry.get("learner", "diagonal")()
    for batch in (16, 64):
        rng = np.random.default_rng(task.seed(root, f"heads {batch}"))
        value, error = lottery.prediction(rng, n, m, usual.rate, batch, usual.l1, int(task.solver["heads"]))
        detail[str(batch)] = {"value": float(f"{value:.4g}"), "error": float(f"{error:.2g}")}
    return Outcome("solved", None, detail)


# What factors a head are fitted along, and the cells on it
LINES = {"3m": "d == 3 * m", "4m": "d == 4 * m", "8m": "d == 8 * m", "24": "d == 24", "32": "d == 32"}
RAYS, FIXED = [*LINES][:3], [*LINES][3:]
WIDTHS = (16, 64, 256)
LEAST = 9  # runs of a median


def medians(rows: "DataFrame") -> "DataFrame":
    """Return a line, called a cell, per problem and setting of the learner: the median examples of its runs.

    Problems differ by `arm` (hidden set or kind of control), m and d, settings by `series` (default, tuned, …) and
    `width` (heads). N is the number of possible sets. If `bound`, the median is a lower bound only. `tickets` counts
    runs in which a head singled out the hidden set, and `clock` sums the examples read until then or the end.
    """
    import pandas as pd

    runs = rows[(rows.kind == "diagonal") & (rows.status != "planned")]
    lines = []
    for (arm, series, m, d, width), cell in runs.groupby(["arm", "series", "heads", "dim", "params.heads"]):
        costs, sets = cell.cost.astype(float), comb(d - 1, m)
        middle = median(costs.tolist(), (cell.status != "solved").tolist())
        line = {"arm": arm, "series": series, "m": m, "d": d, "width": width, "N": sets, "log_N": log(sets)}
        line |= {"median": middle.value, "bound": middle.bound, "solved": middle.solved, "runs": middle.runs}
        line |= {"clock": cell.seen.astype(float).fillna(costs).sum(), "tickets": cell.seen.notna().sum()}
        lines.append(line)
    cells = pd.DataFrame(lines)
    return cells[cells.runs >= LEAST]


def cheaper(cells: "DataFrame") -> "DataFrame":
    """Return the `cells` (lines of `medians`) of the cheaper setting, default or tuned, of each problem and width."""
    order = cells.query("series in ['default', 'tuned']").sort_values(["bound", "median"])
    return order.groupby(["arm", "m", "d", "width"], as_index=False).first()


def on_line(cells: "DataFrame", arm: str, width: int, line: str) -> "DataFrame":
    """Return the cells of an `arm` (kind of problem) and width, with d = 4m if `line` is "4m", d = 24 if it is "24"."""
    return cells[(cells.arm == arm) & (cells.width == width)].query(LINES[line]).sort_values("m")


def slope(cells: "DataFrame", x: str) -> dict[str, float]:
    """Return {value, low, high}: the slope of the log of median examples against column x, and its 95 % interval."""
    X = np.column_stack([np.ones(len(cells)), cells[x].astype(float)])
    line = regress(X, np.log(cells["median"].to_numpy(float)), cells.bound.to_numpy(bool))
    return dict(zip(("value", "low", "high"), (float(line.beta[1]), *line.limits(1)), strict=True))


def factor(cells: "DataFrame", arm: str, width: int, line: str) -> dict[str, float] | None:
    """Return by what factor examples needed grow with m on a `line` ("4m": d = 4m); None below three known medians."""
    chosen = on_line(cells, arm, width, line).query("m >= 3")
    if (~chosen.bound).sum() < 3:
        return None
    return {name: exp(value) for name, value in slope(chosen, "m").items()}


def steepness(cells: "DataFrame", *arms: str) -> list[float]:
    """Return by what factors the examples needed grow with m, for all `arms` (kinds of problems), widths and d/m."""
    fitted = (factor(cells, arm, width, line) for arm in arms for line in RAYS for width in WIDTHS)
    return [factor["value"] for factor in fitted if factor]


def exponents(cells: "DataFrame") -> dict[int, dict[str, float]]:
    """Return by learner width the exponent k, and its 95 % interval, with which the examples needed grow.

    The median examples are fitted by c N^k in those cells in which N >= 1000 hidden sets are possible.
    """
    hard = cells.query("arm == @HARD and N >= 1000")
    return {width: slope(hard[hard.width == width], "log_N") for width in WIDTHS}


def with_lottery(cells: "DataFrame", rows: "DataFrame") -> "DataFrame":
    """Return the cells with added columns n = d - 1, M = width, and p, from which `agreement` predicts rates.

    p is `lottery.prediction` for the batch, 16 or 64, that the learner has for most of the examples it reads.
    """
    from learner.diagonal import GROWN  # late: a list of studies does without scikit-learn

    drawn = rows[(rows.kind == "lottery") & (rows.status == "solved")]
    drawn = drawn[["heads", "dim", "16.value", "64.value"]].set_axis(["m", "d", "few", "many"], axis=1)
    cells = cells.merge(drawn, on=["m", "d"])
    p = cells.many.where(cells.clock / cells.runs > GROWN, cells.few).astype(float)
    return cells.assign(p=p, n=cells.d - 1, M=cells.width)


def agreement(cells: "DataFrame") -> dict[str, float]:
    """Return how well the predictions of `lottery` agree with the rates at which heads first hold the hidden set.

    A cell's rate is the number of runs with such a head over the heads and the informative examples read before it,
    half of all. The prediction is 1.4 p/N for N sets and the cell's p (`lottery.prediction`). `near` of `cells` cells
    agree within twofold, and `ratio` is the geometric mean of rate over prediction. Cells whose heads come on average
    before all weights were renewed once are left out.
    """
    cells = cells[cells.clock / cells.runs > 2 / lottery.restarts(16, 0.03)]
    ratio = cells.tickets / (cells.clock / 2 * cells.width) * cells.N / (1.4 * cells.p)
    near, mean = int(ratio.between(0.5, 2).sum()), exp(np.log(ratio).mean())
    return {"cells": len(cells), "near": near, "ratio": mean}


def spread(work: "DataFrame") -> dict[str, float]:
    """Return low, high, geometric mean of heads x examples / N sets, and how many cells lie within threefold of it."""
    share = work.width * work["median"] / work.N
    mean = exp(np.log(share).mean())
    near = int(share.between(mean / 3, 3 * mean).sum())
    return {"low": share.min(), "high": share.max(), "mean": mean, "near": near, "of": len(work)}


def by_error(known: "DataFrame") -> "DataFrame":
    """Return the formulas (`laws`) for the examples that hidden sets need, best first, and by what factor each errs."""
    import pandas as pd

    (errors,) = laws.errors(known, [known["median"].to_numpy(float)])
    table = pd.DataFrame({"law": [*errors], "factor of error": map(rounded, errors.values())})
    return table.sort_values("factor of error", kind="stable", ignore_index=True)


def wins(law: str, known: "DataFrame", rows: "DataFrame") -> int:
    """Return in how many of 100 resamplings of all runs a formula (`law`) predicts the examples needed best of all."""
    runs = rows[(rows.arm == HARD) & (rows.series == "default") & (rows.status != "planned")]
    costs = (
        runs.groupby(["heads", "dim", "params.heads"]).cost.agg(lambda cost: np.array(cost, float)).to_dict()
    )
    spent = [costs[place] for place in zip(known.m, known.d, known.M, strict=True)]
    rng = np.random.default_rng(0)
    draws = (np.array([np.median(rng.choice(each, len(each))) for each in spent]) for _ in range(100))
    return sum(min(errors, key=errors.__getitem__) == law for errors in laws.errors(known, draws))


def searched(rows: "DataFrame") -> "DataFrame":
    """Return by m and d the median examples of an exhaustive search for the hidden set, and its least seconds."""
    runs = rows.query("attack == 'search' and status == 'solved'").rename(columns={"heads": "m", "dim": "d"})
    costs = runs.groupby(["m", "d"]).agg(examples=("cost", "median"), seconds=("seconds", "min"))
    return costs.reset_index()


def rounded(value: Any) -> Any:
    """Return a number to three digits, a dict with its numbers to three digits, and all else as it is."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints."""
    cells, fixed, search = medians(rows), plan.read(), searched(rows)
    hard, best = cells.query("series == 'default' and arm == @HARD"), cheaper(cells)
    tickets = with_lottery(hard, rows)
    known = tickets[~tickets.bound]
    law, steep = by_error(known), steepness(best, HARD)
    tuned = best[[[m, d] in fixed["tuned"] for m, d in zip(best.m, best.d, strict=True)]]
    # Where the lottery is the larger part of the pilot's law
    work = hard.query("not bound and 16 * N / width > 110 * N**0.5")
    by_width = [on_line(work, HARD, width, line) for line in RAYS for width in WIDTHS]
    growth = [slope(part, "log_N") for part in by_width if len(part) > 2]
    large = work.query("2 * m < d")
    coins = rows[(rows.series == "coins") & (rows.status != "planned")]
    flipped = cells.query("arm == @HARD").pivot(index=["m", "d", "width"], columns="series", values="median")
    flips = flipped.flips / flipped.default
    full = hard.query("m == d - 1 and width == 256")
    values = {
        "sizes": len(hard),
        "bounds": int(hard.bound.sum()),
        "largest": int(known.N.max()),
        "factor": {"hidden": min(steep), "most": max(steep), "control": max(steepness(best, *CONTROLS))},
        "exponent": {"tuned": exponents(tuned), "default": exponents(hard[2 * hard.m < hard.d])},
        "law": {"name": law.law[0], "error": law["factor of error"][0], "second": law.law[1]},
        "work": spread(work),
        "sparse": spread(large),
        "mean": {width: spread(part)["mean"] for width, part in large.groupby("width")},
        "slower": {"rays": sum(line["high"] < 1 for line in growth), "of": len(growth)},
        "faster": sum(line["low"] > 1 for line in growth),
        "hazard": {"all": agreement(tickets), "small": agreement(tickets.query("m <= 7"))},
        "coins": {"runs": len(coins), "solved": int((coins.status == "solved").sum())},
        "flips": {"least": flips.min(), "most": flips.max()},
        "search": {"examples": int(search.examples.max()), "milliseconds": 1000 * search.seconds.max()},
        "full": {cell.m: {"cost": cell["median"], "runs": cell.solved} for _, cell in full.iterrows()},
        "runs": fixed["runs"],
        "settings": len(fixed["menu"]),
        "tuned": int((cells.series == "tuned").sum()),
        "unrun": int((rows.status == "planned").sum()),
    }
    values["law"]["wins"] = wins(law.law[0], known, rows)
    return dict(rounded(values))


def tables(rows: "DataFrame") -> dict[str, "DataFrame"]:
    """Return the article's tables: growth of examples with m, errors of formulas for the examples needed, and costs."""
    cells = medians(rows)
    hard, best = cells.query("series == 'default' and arm == @HARD"), cheaper(cells)
    return {
        "factors": factors(best, RAYS, (HARD, *CONTROLS)),
        "fixed": factors(best, FIXED, (HARD,)),
        "laws": by_error(with_lottery(hard[~hard.bound], rows)),
        "costs": costs(cells),
    }


def factors(cells: "DataFrame", lines: Sequence[str], arms: Sequence[str]) -> "DataFrame":
    """Return per entry of `lines` ("4m": d = 4m) and width the growth per head of N and of each problem's examples."""
    import pandas as pd

    table = []
    for line, width in product(lines, WIDTHS):
        fitted = {arm: factor(cells, arm, width, line) for arm in arms}
        written = "{value:.2f} ({low:.2f}–{high:.2f})"
        texts = {arm: written.format(**at) if at else "–" for arm, at in fitted.items()}
        sets = on_line(cells, HARD, width, line).query("m >= 3")
        growth = exp(np.polyfit(sets.m, sets.log_N, 1)[0])
        table.append({"d": line, "M": width, "N": growth, **texts})
    return pd.DataFrame(table)


def costs(cells: "DataFrame") -> "DataFrame":
    """Return a line per hidden set (m, d): by width the median examples as text, default / tuned, ≥ for a bound."""
    known = cells.query("arm == @HARD and series in ['default', 'tuned']").sort_values("series")
    text = known.bound.map({True: "≥ ", False: ""}) + known["median"].map(rounded).map("{:,.0f}".format)
    texts = text.groupby([known.N, known.m, known.d, known.width]).agg(" / ".join)
    return texts.unstack(fill_value="–").rename(columns=str).reset_index()


def figures(rows: "DataFrame") -> dict[str, "Figure"]:
    """Return the figure of examples needed against m at d = 3m, 4m and 8m, by learners and by exhaustive search."""
    best, search = cheaper(medians(rows)), searched(rows)
    figure, axes = plots.panels(1, len(RAYS), height=4.4, sharey=True)
    grey = ((TENT, "s--", "tent"), (MILD, "D--", "random"), (STEEP, "v--", "steep random"))
    curves: list[tuple[str, int, str, str | None, str]]
    curves = [(HARD, width, "o-", None, f"{width} heads") for width in WIDTHS]
    curves += [(arm, 64, style, "0.45", label) for arm, style, label in grey]
    for axis, line in zip(axes, RAYS, strict=True):
        for arm, width, style, color, label in curves:
            part = on_line(best, arm, width, line)
            (drawn,) = axis.plot(part.m, part["median"], style, color=color, markersize=3.5, label=label)
            for _, cell in part[part.bound].iterrows():
                plots.bound(axis, cell.m, cell["median"], drawn.get_color())
        sets, part = on_line(best, HARD, 256, line), search.query(LINES[line])
        ends = [(axis.plot(sets.m, sets.N, ":", color="0.2", marker="")[0], "N")]
        ends += [(axis.plot(part.m, part.examples, "x-", color="0.2")[0], "all sets tried")]
        axis.set(title=f"d = {line}", xlabel="m", yscale="log", xticks=range(2, sets.m.max() + 1, 2))
        axis.set_xlim(1.6, sets.m.max() * 1.2)
        plots.label_ends(axis, ends)
    drawn, labels = axes[0].get_legend_handles_labels()
    axes[0].legend(drawn[: len(WIDTHS)], labels[: len(WIDTHS)], loc="upper left", fontsize="small")
    axes[2].legend(drawn[len(WIDTHS) :], labels[len(WIDTHS) :], loc="upper left", fontsize="small")
    axes[0].set_ylabel("examples until learned")
    return {"costs": figure}


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
