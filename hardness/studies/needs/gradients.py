"""Gradient learners in the study `needs`: descent by an oracle's answers, clipped gradients with noise, exact ones.

From the top: their grid, their trials, the lines of the article, its numbers and figures.
"""

from itertools import pairwise
from math import comb, log2
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import Solver, make
from hardness.families.concepts import ParityConcepts
from hardness.io.rounding import at_least, at_most
from hardness.report import plots
from hardness.sq.bounds.messages import message_examples, proved_examples
from hardness.studies.trials import concepts_of, instance_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def tolerance(exponent: float) -> float:
    """Return 2^-exponent to three digits: theory 2.7 reads a tolerance as its decimal."""
    return float(f"{2.0**-exponent:.3g}")


LEARNER = "diagonal"

# Descents through the oracle `null`: of every class the exponents that were tried, and the first one at which two of
# three seeds were found to learn in a trial of other seeds is the middle one.
RATES, SEEDS, STEPS = (0.03, 0.1), 3, 1500
MIDDLE = {
    (8, 2): 3.5,
    (8, 3): 4.5,
    (8, 4): 5.5,
    (10, 2): 4.0,
    (10, 3): 4.5,
    (10, 4): 6.0,
    (10, 5): 6.0,
    (12, 2): 4.0,
    (12, 3): 5.0,
    (12, 4): 6.5,
    (12, 5): 7.0,
    (12, 6): 8.0,
}
AROUND = (-1.0, -0.5, 0.0, 0.5)

# Adam with its customary means and one rate for all weights, from a start of scale 1
ADAM = {"start": 1.0, "output_rate": 1.0, "beta1": 0.9, "beta2": 0.999}
# Clipped gradients with noise κ: of every class heads, rate, start, batch and l1, the best of five to eight settings
# on four to eight other seeds, and log2 of the examples of its longest runs; the others take a half, a quarter, ...
KAPPA, CLIP, SUCCESS, RUNS = 4.0, 1.0, 0.9, 20
SETTINGS = {
    (8, 2): (16, 0.03, 2.0, 4096, 0.01),
    (12, 2): (4, 0.03, 2.0, 4096, 0.01),
    (16, 2): (4, 0.03, 2.0, 4096, 0.01),
    (8, 3): (8, 0.1, 2.0, 16384, 0.1),
    (10, 3): (8, 0.1, 1.0, 16384, 0.01),
    (12, 3): (4, 0.03, 2.0, 4096, 0.01),
    (8, 4): (8, 0.03, 1.0, 4096, 0.01),
    (10, 4): (8, 0.03, 1.0, 4096, 0.01),
}
LONGEST = {
    (8, 2): 20,
    (12, 2): 22,
    (16, 2): 23,
    (8, 3): 22,
    (10, 3): 23,
    (12, 3): 24,
    (8, 4): 22,
    (10, 4): 25,
}
HALVINGS = 3
CHUNK = 2**19  # examples made at a time

# One linear equation a batch, with Gaussian noise of this many 1/B in every entry of its mean gradient.
BATCH, ATTACKED, NOISES, ATTACKS = 64, (20, 10), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 20


def tasks(quick: bool) -> list[Task]:
    """Return descents by answers, noisy gradients beside the search, and batches without noise."""
    parts = _descents(quick), _noisy(quick), _batches(quick)
    return [task for part in parts for task in part]


def _params(d: int, s: int) -> dict[str, Any]:
    return {"dim": d, "heads": s, "gadget": "diag"}


def _descents(quick: bool) -> list[Task]:
    classes = {place: middle for place, middle in MIDDLE.items() if not quick or place[0] == 8}
    seeds = range(1 if quick else SEEDS)
    cells = [(place, tolerance(middle + away)) for place, middle in classes.items() for away in AROUND]
    return [_descent(place, tau, rate, seed) for place, tau in cells for rate in RATES for seed in seeds]


def _descent(place: tuple[int, int], tau: float, rate: float, seed: int) -> Task:
    options = {"learner": LEARNER, "params": {"rate": rate, "l1": 0.0}}
    solver = {"kind": "descent", "oracle": "null", "tolerance": tau, **options}
    return Task("parity", _params(*place), solver, {"steps": STEPS}, seed)


def _noisy(quick: bool) -> list[Task]:
    sizes = [
        (place, 2 ** (LONGEST[place] - halved))
        for place in list(LONGEST)[: 1 if quick else None]
        for halved in range(2 if quick else HALVINGS)
    ]
    runs = range(4 if quick else RUNS)
    return [
        Task("parity", _params(*place), _under_noise(place), {"samples": size}, run)
        for place, size in sizes
        for run in runs
    ]


def _under_noise(place: tuple[int, int]) -> dict[str, Any]:
    heads, rate, start, batch, l1 = SETTINGS[place]
    setting = {"heads": heads, "rate": rate, "start": start, "batch": batch, "l1": l1}
    return {"kind": "noisy", "learner": LEARNER, "params": {**setting, "clip": CLIP, "noise": KAPPA}}


def _batches(quick: bool) -> list[Task]:
    solver = {"kind": "batches", "attack": "batch-gradient", "batch": BATCH}
    noises, runs = NOISES[:: 2 if quick else 1], range(2 if quick else ATTACKS)
    return [
        Task("parity", _params(*ATTACKED), solver | {"noise": noise}, {}, run)
        for noise in noises
        for run in runs
    ]


def descent(task: Task, root: int) -> Outcome:
    """Descend by an oracle's answers; the cost is in queries."""
    from hardness.sq.descent import descend

    concepts, solver = concepts_of(task), task.solver
    assert isinstance(concepts, ParityConcepts)
    learner = _learner(task, task.seed(root, "start"))
    ended = descend(
        learner.descend,
        concepts,
        solver["oracle"],
        solver["tolerance"],
        seed=task.seed(root, "solver"),
        steps=int(task.budget["steps"]),
    )
    return Outcome(ended.status, ended.queries, {"steps": ended.steps, "error": round(ended.error or 0.0, 6)})


def noisy(task: Task, root: int) -> Outcome:
    """Show a learner a number of examples fixed beforehand, then name the set that its function is closest to.

    The cost is in informative examples.
    """
    instance = instance_of(task, root)
    learner, sampling = _learner(task, task.seed(root, "solver")), task.seed(root, "examples")
    samples = int(task.budget["samples"])
    for start in range(0, samples, CHUNK):
        part = instance.informative(min(CHUNK, samples - start), sampling, start)
        learner.partial_fit(part.X, part.Y)
    concepts = concepts_of(task)
    assert isinstance(concepts, ParityConcepts)
    hidden = sum(1 << int(j) - 1 for j in instance.secret["support"])
    right = named(learner.predict(sign_vectors(concepts.n))[:, 0, 0], concepts) == hidden
    return Outcome("solved" if right else "wrong", learner.work_["informative"])


def _learner(task: Task, seed: int) -> Any:
    return make(Solver("learner", task.solver["learner"], {**ADAM, **task.solver["params"]}), seed % 2**32)


def sign_vectors(n: int) -> NDArray[np.int8]:
    """Return tokens (2^n, 2, n + 1) with z_0 != 0, the first all ones, the second every v, by its word."""
    out = np.ones((2**n, 2, n + 1), np.int8)
    out[:, 1, 0] = -1
    out[:, 1, 1:] -= 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.int8)
    return out


def named(values: NDArray[np.float64], concepts: ParityConcepts) -> int:
    """Return the set of the class whose parity correlates most, in size, with the values (2^n,) of a function."""
    from hardness.kernels.walsh import walsh_hadamard  # compiled: `study list` does not wait for it

    spectrum, masks = values.copy(), concepts.masks()
    walsh_hadamard(spectrum)
    return int(masks[np.argmax(np.abs(spectrum[masks]))])


def batches(task: Task, root: int) -> Outcome:
    """Read an equation off each mean gradient, with noise of this many 1/B; the cost is in informative examples."""
    from hardness.attacks.batch_gradient import attack

    instance = instance_of(task, root)
    size = int(task.solver["batch"])
    ended = attack(instance, size, seed=task.seed(root, "solver"), noise=task.solver["noise"] / size)
    return Outcome(ended["status"], ended["examples"], {"batches": ended["batches"]})


TRIALS = {"descent": descent, "noisy": noisy, "batches": batches}


def seconds(task: Task) -> float:
    """Return the seconds that a trial is expected to take."""
    match task.solver["kind"]:
        case "descent":
            return float(4e-4 * task.budget["steps"] * 2.0 ** (task.params["dim"] - 12))
        case "noisy":
            return float(0.1 + 6e-8 * task.budget["samples"])
    return 0.1


QUORUM = 2 / 3  # of the seeds that learn at a tolerance which counts as large enough
MANY = 10**9  # sets from which on what theorem M proves is a constant times their number
CELL = ["d", "s"]


def named_rows(rows: "DataFrame", kind: str) -> "DataFrame":
    """Return the rows of one kind, with d, s and N of their class, and whether they were right."""
    part = rows[rows.kind == kind]
    part = part.assign(d=part.dim.astype(int), s=part.heads.astype(int), right=part.status == "solved")
    return part.assign(N=[comb(d - 1, s) for d, s in zip(part.d, part.s, strict=True)])


def descents(rows: "DataFrame") -> "DataFrame":
    """Return, by class, the largest tolerance tried at which two thirds of the seeds learn, at the better of two rates.

    `refused` is the next larger tolerance that was tried, missing if there is none; `queries` is the median of the runs
    that learned. At that tolerance `enough` are surely enough.
    """
    from hardness.exact.dependent import certain_queries

    trials = named_rows(rows, "descent").rename(columns={"params.rate": "rate", "tolerance": "tau"})
    trials = trials.assign(queries=trials.cost.where(trials.right).astype(float))
    runs = trials.groupby([*CELL, "N", "tau", "rate"], as_index=False)
    by_rate = runs.agg(share=("right", "mean"), seeds=("right", "size"), queries=("queries", "median"))
    order = [*CELL, "tau", "share", "queries"]
    best = by_rate.sort_values(order, ascending=[True, True, False, False, True]).drop_duplicates(
        [*CELL, "tau"]
    )
    best = best.assign(refused=best.groupby(CELL).tau.shift(1))
    lines = best[best.share >= QUORUM].drop_duplicates(CELL).reset_index(drop=True)
    return lines.assign(enough=[certain_queries(*place) for place in zip(lines.N, lines.tau, strict=True)])


def shares(runs: Any) -> "DataFrame":
    """Return the share of right runs of each group, with its 95 % interval of Clopper and Pearson."""
    from scipy.stats import binomtest

    lines = runs.agg(won=("right", "sum"), runs=("right", "size"), examples=("cost", "max"))
    counts = zip(lines.won, lines.runs, strict=True)
    ends = [binomtest(int(won), int(tried)).proportion_ci(0.95, "exact") for won, tried in counts]
    return lines.assign(
        share=lines.won / lines.runs, low=[end.low for end in ends], high=[end.high for end in ends]
    )


def against(rows: "DataFrame") -> "DataFrame":
    """Return, by class, what is proved to be needed for success .9, and what the noisy learner takes.

    `enough` are the fewest informative examples from which on the share of right runs is at least .9 at every number
    tried; `short` the most at which its whole interval lies below .9. They are half of what is drawn, in the mean.
    """
    tried = shares(named_rows(rows, "noisy").groupby([*CELL, "N", "samples"], as_index=False))
    above = (tried[::-1].groupby(CELL).share.cummin() >= SUCCESS).sort_index()
    cells = [*CELL, "N"]
    lines = tried[cells].drop_duplicates().set_index(cells)
    lines["enough"] = tried[above].groupby(cells).samples.min().astype(float) / 2
    lines["short"] = tried[tried.high < SUCCESS].groupby(cells).samples.max().astype(float) / 2
    lines = lines.reset_index().sort_values(["N", *CELL])
    return lines.assign(proved=[proved_examples(size, KAPPA, SUCCESS) for size in lines.N])


def precision(rows: "DataFrame") -> "DataFrame":
    """Return the share of sets that one equation a batch names, by the noise of mean gradients in units of 1/B."""
    return shares(named_rows(rows, "batches").groupby("noise", as_index=False))


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return the article's numbers of gradient learners."""
    lines, noisy, exact = descents(rows), against(rows), precision(rows)
    last = lines[lines.d == lines.d.max()].sort_values("s")
    steps = [pair for _, part in lines.groupby("d") for pair in pairwise(part.itertuples())]
    # A step is open where the larger class learns at the largest tolerance tried, and that is a smaller one.
    decided = [(a, b) for a, b in steps if b.refused == b.refused or b.tau >= a.tau]
    over = noisy.enough / noisy.proved
    d, s = ATTACKED
    return {
        "descent": {
            "steps": STEPS,
            "seeds": int(lines.seeds.min()),
            "d": int(last.d.iloc[0]),
            "s": [int(last.s.iloc[0]), int(last.s.iloc[-1])],
            "tau": [float(last.tau.iloc[0]), float(last.tau.iloc[-1])],
            "falls": sum(b.refused == b.refused and b.refused <= a.tau for a, b in decided),
            "decided": len(decided),
            "open": len(steps) - len(decided),
            "over": at_least(float((lines.queries / lines.enough).min())),
        },
        "noisy": {
            "kappa": int(KAPPA),
            "constant": at_least(proved_examples(MANY, KAPPA, SUCCESS) / MANY),
            "success": SUCCESS,
            "runs": RUNS,
            "classes": len(noisy),
            "enough": int(noisy.enough.notna().sum()),
            "N": [int(noisy.N.min()), int(noisy.N.max())],
            "least": at_most(float(over.min())),
            "most": at_most(float(over.max())),
            "short": int(noisy.short.notna().sum()),
            "surely": at_least(float((noisy.short / noisy.proved).min())),
        },
        "precision": {
            "batch": BATCH,
            "n": d - 1,
            "s": s,
            "won": int(exact.won.iloc[0]),
            "runs": int(exact.runs.iloc[0]),
            "examples": int(exact.examples.iloc[0]),
            "one_bit": message_examples(comb(d - 1, s), 1, SUCCESS),
            "always": float(exact.noise[exact.won == exact.runs].max()),
            "never": float(exact.noise[exact.won == 0].min()),
        },
    }


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the tolerances of the descents, and the examples of noisy gradients."""
    return {
        "descent": _descents_figure(descents(rows)),
        "examples": _examples_figure(against(rows)),
    }


def _descents_figure(lines: "DataFrame") -> "Figure":
    figure, axes = plots.panels(1, 3, height=2.8, sharey=True)
    for axis, (d, part) in zip(axes, lines.groupby("d"), strict=True):
        for at in part.itertuples():
            height = -log2(at.tau)
            if at.refused == at.refused:
                axis.plot([at.s, at.s], [-log2(at.refused), height], color="C0", marker="")
                axis.plot(at.s, height, "o", color="C0")
            else:  # the largest tolerance tried: larger ones may do as well
                plots.bound(axis, at.s, height, "C0", side="below")
            axis.annotate(
                f"{at.queries / 1000:.0f}k", (at.s, height), (0, 7), textcoords="offset points", ha="center"
            )
        axis.set(title=f"d = {d}", xlabel="hidden bits s", xlim=(1.5, 6.5), ylim=(2.5, 8.4))
        axis.set_xticks(range(2, 7))
    axes[0].set_ylabel("log₂ 1/τ")
    return figure


def _examples_figure(lines: "DataFrame") -> "Figure":
    figure, axis = plots.panels(height=3.2)
    for at in lines.itertuples():
        if at.enough == at.enough:
            low = at.short if at.short == at.short else at.enough
            axis.plot([at.N, at.N], [low / at.proved, at.enough / at.proved], color="C0", marker="")
            axis.plot(at.N, at.enough / at.proved, "o", color="C0")
        else:
            plots.bound(axis, 1.03 * at.N, at.short / at.proved, "C0")  # beside a class of as many sets
    axis.axhline(1.0, color="0.35", linewidth=1.2)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="hidden sets N",
        ylabel="examples over those proved",
        ylim=(0.5, 6e4),
    )
    axis.set_xticks([20, 50, 100, 165], ["20", "50", "100", "165"])
    axis.minorticks_off()
    middle = lines.N.min()
    axis.text(middle, 600, "noisy gradients", color="C0")
    axis.text(middle, 1.15, "proved to be needed", color="0.35")
    return figure
