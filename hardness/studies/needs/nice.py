"""The learner with the theorem in the study `needs`: what tolerance its phases need on nice layers.

From the top: the grid and the plan, the trials, the article's numbers and its figure.

The plan, fixed before the rows. A layer is random, with scores of spread 2, and every number that depends on labels is
an answer of the oracle `noisy`. A trial looks for the largest tolerance, of the powers of two, at which the error is
small enough: it goes up from a first guess while that is so, and down until it is so or `FINEST` is passed. Phases 1 to
4 aim at a hull that all Θᵢ are next to, phase 6b at every Θᵢ. All layers count; those of one cell give its interval.
A first run was stopped after two trials: with 200,000 examples, one layer of m = 3 and one of m = 4 at k = 3 were
missed at the finest tolerance, with errors of .43 and .52. These cells got 400,000 examples.
Predicted (learner 1.10): the phases' tolerance falls by one factor η with every unit of (m-1)(k-1), the same at k = 2
and 3, and with the error as its power (m-1)(k-1) + 1; phase 6b's does not fall like that.
"""

from math import comb, inf, log2
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import Solver, make
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance
from hardness.report import plots
from hardness.sq.averages import Averages

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def tolerance(exponent: float) -> float:
    """Return 2^-exponent to three digits: theory 2.7 reads a tolerance as its decimal."""
    return float(f"{2.0**-exponent:.3g}")


KINDS = ("phases", "every head")
LEARNER, ORACLE = "provable", "noisy"
DIM, LAYERS = 12, 6
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
FINEST = 20


def tasks(quick: bool) -> list[Task]:
    """Return a trial a cell and layer, of the phases and of phase 6b; the layers one after the other."""
    cells, layers = ([(2, 1)], 1) if quick else ([*PHASES], LAYERS)
    parts = []
    for layer in range(layers):
        for k, m in cells:
            population, first, aims = PHASES[k, m]
            parts.append(_task("phases", k, m, layer, (population, first, FINEST, aims)))
            first = 10 if m < 4 else 11
            search = ALL_ROWS, first, first + MOST_HALVINGS, [EVERY_HEAD_AIM]
            parts.append(_task("every head", k, m, layer, search))
    return parts


def _task(kind: str, k: int, m: int, layer: int, search: tuple[int, int, int, list[float]]) -> Task:
    population, first, last, aims = search
    solver = {"kind": kind, "learner": LEARNER, "oracle": ORACLE, "population": population}
    solver |= {"first": first, "last": last, "aims": aims}
    return Task("nondegenerate", {"dim": DIM, "tokens": k, "heads": m}, solver, {}, layer)


def trial(task: Task, root: int) -> Outcome:
    """Look for the largest tolerances at which the errors are those aimed at; the cost is in queries of one run.

    The details are the exponents that were tried, from large to small tolerances, and the error at each.
    """
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
    """Return the relative error of the last estimate of the hull, or of the worst Θᵢ, and the queries it took.

    The phases and phase 6b meet the same layer.
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


def largest(tried: list[int], errors: list[float | None], aim: float) -> float:
    """Return log2 1/τ of the largest tolerance tried with an error of at most `aim`; infinite if there is none.

    >>> largest([9, 10, 11], [None, 0.2, 0.05], 0.3)
    10
    """
    right = (e for e, error in zip(tried, errors, strict=True) if error is not None and error <= aim)
    return min(right, default=inf)


def needed(rows: "DataFrame", kind: str) -> "DataFrame":
    """Return a line for each number m of heads at two tokens: log2 1/τ of every layer, ascending, and its median."""
    import pandas as pd

    chosen, aim = rows[(rows.kind == kind) & (rows.tokens == 2)], HULL if kind == "phases" else EVERY_HEAD_AIM
    lines = []
    for m, cell in chosen.groupby("heads"):
        layers = sorted(largest(row.tried, row.errors, aim) for row in cell.itertuples())
        lines.append({"m": int(m), "layers": layers, "middle": median(layers)})
    return pd.DataFrame(lines)


def slope(lines: "DataFrame") -> list[float]:
    """Return by how many factors of two τ falls a head, by least squares over all layers, with its 95 % interval."""
    from scipy.stats import linregress, t

    points = [(at.m, e) for at in lines.itertuples() for e in at.layers]
    fit = linregress(*zip(*points, strict=True))
    half = float(t.ppf(0.975, len(points) - 2) * fit.stderr)
    return [round(float(fit.slope) + away, 2) for away in (0.0, -half, half)]


def most_queries(rows: "DataFrame") -> int:
    """Return the queries of the trial that asked most."""
    return int(rows[rows.kind.isin(KINDS)].cost.max())


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return the article's numbers of nice layers of two tokens: 1/τ, medians over layers, and by how it grows."""
    phases, rounds = (needed(rows, kind) for kind in KINDS)
    return {
        "d": DIM,
        "layers": LAYERS,
        "phases": [round(2**e) for e in phases.middle.iloc[[0, -1]]],
        "rounds": [round(2**e) for e in rounds.middle.iloc[[0, -1]]],
        "slope": slope(phases),
        "queries": most_queries(rows),
    }


def figure(rows: "DataFrame") -> "Figure":
    """Draw log2 1/τ against heads: what nice layers take, and below what hidden parities are impossible.

    Impossible is meant for a learner that must be certain with the most queries of any nice layer.
    """
    figure, axis = plots.panels(height=3.6)
    ends = []
    for kind, title, color in zip(KINDS, ("phases", "phase 6b"), ("C0", "C2"), strict=True):
        lines = needed(rows, kind)
        (line,) = axis.plot(lines.m, lines.middle, marker="o", color=color)
        for at in lines.itertuples():
            axis.plot(
                [at.m, at.m], [at.layers[0], max(e for e in at.layers if e < inf)], color=color, marker=""
            )
        ends.append((line, title))
    for dim in (64, 256):
        needs = [log2(8 * (comb(dim - 1, m) - 1) / most_queries(rows)) / 2 for m in range(1, 9)]
        (line,) = axis.plot(range(1, 9), needs, ":", color="0.35", marker="")
        ends.append((line, f"hidden parities, d = {dim}"))
    axis.set(xlabel="heads m", ylabel="log₂ 1/τ", xlim=(0.7, 9.8), ylim=(2, 20), xticks=range(1, 9))
    plots.label_ends(axis, ends)
    return figure
