"""The learner with the theorem in the study `needs`: what tolerance its phases need on nice layers.

From the top: the grid and the plan, the trials, the lines of the article, its numbers, table and figure.

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
from hardness.studies.needs.gradients import descents, tolerance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

LEARNER, ORACLE = "provable", "noisy"
DIM, LAYERS = 12, 6
ROWS = 400  # a population of N examples has few rows that all heads agree on: a share of 400/N is the least
# Examples that are the law of the oracle: rare rows need many, phase 6b takes all rows
COMMON, RARE, ALL_ROWS = 50_000, 400_000, 5000
# By (tokens, heads): that population, log2 of the inverse of the first tolerance tried, and the errors aimed at
PHASES: dict[tuple[int, int], tuple[int, int, tuple[float, ...]]] = {
    (2, 1): (COMMON, 9, (0.3, 0.1)),
    (2, 2): (COMMON, 11, (0.3, 0.1)),
    (2, 3): (COMMON, 13, (0.3, 0.1)),
    (2, 4): (COMMON, 15, (0.3,)),
    (3, 1): (COMMON, 10, (0.3, 0.1)),
    (3, 2): (COMMON, 12, (0.3, 0.1)),
    (3, 3): (RARE, 20, (0.3,)),
    (3, 4): (RARE, 20, (0.3,)),
}
EVERY_HEAD = {(k, m): 10 if m < 4 else 11 for k, m in PHASES}  # the first tolerance of phase 6b
EVERY_HEAD_AIM, MOST_HALVINGS = 0.1, 4
HULL, CLOSER = 0.3, 0.1  # the errors of the hull that phases 1 to 4 aim at
FINEST = 20


def tasks(quick: bool) -> list[Task]:
    """Return a trial a cell and layer, of the phases and of phase 6b; the layers one after the other."""
    cells = [(2, 1)] if quick else list(PHASES)
    layers = range(1 if quick else LAYERS)
    return [
        part for layer in layers for k, m in cells for part in (_phases(k, m, layer), _heads(k, m, layer))
    ]


def _phases(k: int, m: int, layer: int) -> Task:
    population, first, aims = PHASES[k, m]
    return _task("phases", k, m, layer, population, first, FINEST, aims)


def _heads(k: int, m: int, layer: int) -> Task:
    first = EVERY_HEAD[k, m]
    return _task("every head", k, m, layer, ALL_ROWS, first, first + MOST_HALVINGS, (EVERY_HEAD_AIM,))


def _task(
    kind: str, k: int, m: int, layer: int, population: int, first: int, last: int, aims: tuple[float, ...]
) -> Task:
    solver = {"kind": kind, "learner": LEARNER, "oracle": ORACLE, "population": population}
    search = {"first": first, "last": last, "aims": list(aims)}
    return Task("nondegenerate", {"dim": DIM, "tokens": k, "heads": m}, solver | search, {}, layer)


def trial(task: Task, root: int) -> Outcome:
    """Look for the largest tolerances at which the errors are those aimed at; the cost is in queries of one run.

    The details are the exponents that were tried, from large to small tolerances, and the error at each.
    """
    first, last, aims = (task.solver[name] for name in ("first", "last", "aims"))
    errors, queries = {first: np.inf}, 0
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
    shown = [float(f"{errors[e]:.4g}") if np.isfinite(errors[e]) else None for e in tried]
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
    ask = Averages(
        instance, solver["oracle"], tolerance(exponent), task.seed(root, "examples"), solver["population"]
    )
    options = {"heads": int(params["heads"])}
    learner: Any = make(Solver("learner", solver["learner"], options), task.seed(root, "solver") % 2**32)
    if solver["kind"] == "phases":
        share = ROWS / solver["population"]
        estimates = learner.by_averages(ask, k, d, size, ask.tolerance, share)
        kind = "sculpt"
    else:
        estimates, kind = learner.heads_by_averages(ask, k, d, size), "every head"
    last = [estimate for estimate in estimates if estimate.phase == kind][-1]
    return last.error(instance.layer(), k)[1], ask.ledger.queries


TRIALS = {"phases": trial, "every head": trial}


def seconds(task: Task) -> float:
    """Return the mean seconds of a trial: the same for all, so that layer after layer is run."""
    return 10.0


def largest(tried: list[int], errors: list[float | None], aim: float) -> float:
    """Return log2 1/τ of the largest tolerance tried with an error of at most `aim`; infinite if there is none.

    >>> largest([9, 10, 11], [None, 0.2, 0.05], 0.3)
    10
    """
    right = (e for e, error in zip(tried, errors, strict=True) if error is not None and error <= aim)
    return min(right, default=inf)


def power(tried: list[int], errors: list[float | None], aims: tuple[float, float]) -> float:
    """Return the power of the error that the tolerance follows between two errors, read off straight lines in logs.

    >>> power([9, 10, 11, 12], [0.4, 0.2, 0.1, 0.05], (0.4, 0.1))
    1.0
    """
    places: list[float] = []
    for aim in aims:
        at = next(i for i, error in enumerate(errors) if error is not None and error <= aim)
        error, before = errors[at], errors[at - 1] if at else None
        # No error stands before the largest tolerance, and none where the phases ended without a hull.
        part = log2(aim / error) / log2(before / error) if error and before and before > error else 0.0
        places.append(tried[at] - part)
    return float((places[1] - places[0]) / log2(aims[0] / aims[1]))


def needed(rows: "DataFrame") -> "DataFrame":
    """Return a line a kind, k, m and error aimed at: log2 1/τ of every layer from the least on, and its median.

    `queries` are those of one run.
    """
    import pandas as pd

    lines = []
    chosen = rows[rows.kind.isin(TRIALS)]
    for (kind, k, m), cell in chosen.groupby(["kind", "tokens", "heads"]):
        for aim in cell.aims.iloc[0]:
            layers = sorted(largest(row.tried, row.errors, aim) for row in cell.itertuples())
            line = {"kind": kind, "k": int(k), "m": int(m), "aim": aim, "layers": layers}
            lines.append(line | {"middle": median(layers), "queries": int(cell.cost.max())})
    return pd.DataFrame(lines)


def slope(lines: "DataFrame", units: list[int]) -> tuple[float, float, float]:
    """Return by how many factors of two τ falls a unit, by least squares over all layers, with its 95 % interval.

    Layers that no tolerance served are left out.
    """
    from scipy.stats import linregress, t

    places = zip(units, lines.layers, strict=True)
    points = [(unit, e) for unit, layers in places for e in layers if e < inf]
    fit = linregress(*zip(*points, strict=True))
    half = float(t.ppf(0.975, len(points) - 2) * fit.stderr)
    return float(fit.slope), float(fit.slope) - half, float(fit.slope) + half


def _part(lines: "DataFrame", kind: str, k: int, aim: float) -> "DataFrame":
    return lines[(lines.kind == kind) & (lines.k == k) & (lines.aim == aim)].sort_values("m")


def rows_that_agree(lines: "DataFrame") -> list[int]:
    """Return (m-1)(k-1) of every line: the exponent in the rarity of rows on which all heads agree."""
    return [(m - 1) * (k - 1) for m, k in zip(lines.m, lines.k, strict=True)]


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return the article's numbers of nice layers: 1/τ, medians over layers, and by how many bits it grows."""
    lines = needed(rows)
    layers = min(map(len, lines.layers))
    phases, rounds = (
        {k: _part(lines, kind, k, aim) for k in (2, 3)}
        for kind, aim in (("phases", HULL), ("every head", EVERY_HEAD_AIM))
    )
    served = phases[3][phases[3].middle < inf]
    missed = {int(at.m): sum(e == inf for e in at.layers) for at in phases[3].itertuples()}
    last = rows[(rows.kind == "phases") & (rows.tokens == 3) & (rows.heads == 4)]
    left = sorted(errors[-1] for errors in last.errors)
    return {
        "d": DIM,
        "layers": layers,
        "sure": round(100 - 200 / 2**layers),  # the least and the most of this many hold the median
        "finest": FINEST,
        "phases": [_inverse(e) for e in phases[2].middle.iloc[[0, -1]]],
        "rounds": [_inverse(e) for e in rounds[2].middle.iloc[[0, -1]]],
        "slope": _bits(slope(phases[2], rows_that_agree(phases[2]))),
        "slope_three": _bits(slope(served, rows_that_agree(served))),
        "rounds_slope": [_bits(slope(rounds[k], list(rounds[k].m))) for k in (2, 3)],
        "missed": [missed[3], missed[4]],
        "left": [round(left[0], 2), round(left[-1], 2)],
        "common": COMMON,
        "rare": RARE,
        "every": ALL_ROWS,
        "stuck": int((rows[rows.kind == "every head"].status != "solved").sum()),
        "trials": int((rows.kind == "every head").sum()),
        "queries": int(lines.queries.max()),
    }


def _inverse(exponent: float) -> int:
    return round(2**exponent)


def _bits(fit: tuple[float, float, float]) -> list[float]:
    return [round(value, 2) for value in fit]


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return log2 1/τ by k and m: median over layers and, in brackets, the least and the most."""
    import pandas as pd

    lines, shown = needed(rows), []
    for k, m in PHASES:
        at = lines[(lines.k == k) & (lines.m == m)].set_index(["kind", "aim"])
        aims = [aim for kind, aim in at.index if kind == "phases"]
        cell = rows[(rows.kind == "phases") & (rows.tokens == k) & (rows.heads == m)]
        powers = [power(row.tried, row.errors, (HULL, CLOSER)) for row in cell.itertuples() if len(aims) > 1]
        shown.append(
            {
                "k": k,
                "m": m,
                "phases, .3": _range(at.layers["phases", HULL]),
                "phases, .1": _range(at.layers["phases", CLOSER]) if len(aims) > 1 else "–",
                "power": f"{median(powers):.2f}" if powers else "–",
                "predicted": (m - 1) * (k - 1) + 1,
                "phase 6b": _range(at.layers["every head", EVERY_HEAD_AIM]),
                "queries, phases": int(at.queries["phases", HULL]),
                "queries, 6b": int(at.queries["every head", EVERY_HEAD_AIM]),
            }
        )
    return {"by_nice": pd.DataFrame(shown)}


def _range(layers: list[float]) -> str:
    middle, *ends = ("none" if e == inf else f"{e:g}" for e in (median(layers), layers[0], layers[-1]))
    return middle if ends[0] == ends[1] == middle else f"{middle} [{', '.join(ends)}]"


def figures(rows: "DataFrame", hard: tuple[int, ...]) -> "dict[str, Figure]":
    """Return log2 1/τ against heads: of nice layers, and beside them `diagonal` on hard layers and what is impossible.

    Impossible, at every d of `hard`: for a learner that must be certain with the most queries of any nice layer.
    """
    lines = needed(rows)
    figure, (nice, parity) = plots.panels(1, 2, height=3.6, sharey=True)
    ends = []
    for kind, aim, title, color in (
        ("phases", HULL, "phases", "C0"),
        ("every head", EVERY_HEAD_AIM, "6b", "C2"),
    ):
        for k, style, marker in ((2, "-", "o"), (3, "--", "s")):
            part = _part(lines, kind, k, aim)
            served = part[part.middle < inf]
            (line,) = nice.plot(served.m, served.middle, style, marker=marker, color=color)
            for at in served.itertuples():
                highest = max(e for e in at.layers if e < inf)
                nice.plot([at.m, at.m], [at.layers[0], highest], color=color, marker="")
            for at in part[part.middle == inf].itertuples():
                plots.bound(nice, at.m, FINEST, color)
            if len(served) == len(part):
                ends.append((line, f"{title}, k = {k}"))
            else:  # its end is in the way of other lines
                nice.text(0.9, served.middle.max() + 1, f"{title}, k = {k}", color=color)
    nice.set(title=f"nice layers, d = {DIM}", xlabel="heads m", ylabel="log₂ 1/τ", xlim=(0.7, 6))
    nice.set_xticks(range(1, 5))
    hidden = descents(rows)
    hidden = hidden[hidden.d == DIM].sort_values("s")
    parity.plot(hidden.s, [-log2(tau) for tau in hidden.tau], marker="D", color="C1")
    parity.text(6.3, 10, f"diagonal, d = {DIM}", color="C1")
    of_hard = []
    for dim in hard:
        needs = [log2(8 * (comb(dim - 1, m) - 1) / lines.queries.max()) / 2 for m in range(1, 9)]
        (line,) = parity.plot(range(1, 9), needs, ":", color="0.35", marker="")
        of_hard.append((line, f"impossible below, d = {dim}"))
    parity.set(title="hidden parities", xlabel="bits, hidden by as many heads", xlim=(1.7, 12.5))
    parity.set(ylim=(2, FINEST + 2))
    parity.set_xticks(range(2, 9))
    plots.label_ends(nice, ends)
    plots.label_ends(parity, of_hard)
    return {"tolerance": figure}
