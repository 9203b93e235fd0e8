"""Gradient learners in the study `needs`: descent by an oracle's answers, clipped gradients with noise, exact ones.

From the top: their grid, their trials, and the numbers of the article.
"""

from itertools import pairwise, product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import Solver, make
from hardness.families.concepts import ParityConcepts
from hardness.io.rounding import at_least, at_most
from hardness.sq.bounds.messages import proved_examples
from hardness.studies.trials import instance_of

if TYPE_CHECKING:
    from pandas import DataFrame


def tolerance(exponent: float) -> float:
    """Return 2^-exponent to three digits: theory 2.7 reads a tolerance as its decimal."""
    return float(f"{2.0**-exponent:.3g}")


LEARNER = "diagonal"
# Descents through the oracle `null`. By d and s, log2 of the inverse of the first tolerance at which two of three seeds
# were found to learn, in a trial of other seeds; tried are some around it.
RATES, SEEDS, STEPS = (0.03, 0.1), 3, 1500
MIDDLE = {
    8: {2: 3.5, 3: 4.5, 4: 5.5},
    10: {2: 4.0, 3: 4.5, 4: 6.0, 5: 6.0},
    12: {2: 4.0, 3: 5.0, 4: 6.5, 5: 7.0, 6: 8.0},
}
AROUND = (-1.0, -0.5, 0.0, 0.5)

# Adam with its customary means and one rate for all weights, from a start of scale 1
ADAM = {"start": 1.0, "output_rate": 1.0, "beta1": 0.9, "beta2": 0.999}
# Clipped gradients with noise κ. By d and s: heads, rate, start, batch and l1, the best of five to eight settings on
# four to eight other seeds, and log2 of the examples of the longest runs; the others take a half and a quarter.
KAPPA, CLIP, SUCCESS, RUNS, HALVINGS = 4.0, 1.0, 0.9, 20, 3
OPTIONS = ("heads", "rate", "start", "batch", "l1")
SETTINGS = {
    (8, 2): (16, 0.03, 2.0, 4096, 0.01, 20),
    (12, 2): (4, 0.03, 2.0, 4096, 0.01, 22),
    (16, 2): (4, 0.03, 2.0, 4096, 0.01, 23),
    (8, 3): (8, 0.1, 2.0, 16384, 0.1, 22),
    (10, 3): (8, 0.1, 1.0, 16384, 0.01, 23),
    (12, 3): (4, 0.03, 2.0, 4096, 0.01, 24),
    (8, 4): (8, 0.03, 1.0, 4096, 0.01, 22),
    (10, 4): (8, 0.03, 1.0, 4096, 0.01, 25),
}
CHUNK = 2**19  # examples made at a time

# One linear equation a batch, with Gaussian noise of this many 1/B in every entry of its mean gradient.
BATCH, ATTACKED, NOISES, ATTACKS = 64, (20, 10), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 20


def tasks(quick: bool) -> list[Task]:
    """Return descents by answers, noisy gradients, and batches without noise."""
    return [*_descents(quick), *_noisy(quick), *_batches(quick)]


def _task(place: tuple[int, int], solver: dict[str, Any], budget: dict[str, int], run: int) -> Task:
    d, s = place
    return Task("parity", {"dim": d, "heads": s, "gadget": "diag"}, solver, budget, run)


def _descents(quick: bool) -> list[Task]:
    classes = [(d, s) for d in ([8] if quick else MIDDLE) for s in MIDDLE[d]]
    parts = []
    for (d, s), away, rate, seed in product(classes, AROUND, RATES, range(1 if quick else SEEDS)):
        solver = {"kind": "descent", "oracle": "null", "tolerance": tolerance(MIDDLE[d][s] + away)}
        solver |= {"learner": LEARNER, "params": {"rate": rate, "l1": 0.0}}
        parts.append(_task((d, s), solver, {"steps": STEPS}, seed))
    return parts


def _noisy(quick: bool) -> list[Task]:
    classes, halvings, runs = ([*SETTINGS][:1], 2, 4) if quick else ([*SETTINGS], HALVINGS, RUNS)
    parts = []
    for place, halved, run in product(classes, range(halvings), range(runs)):
        *options, longest = SETTINGS[place]
        params = dict(zip(OPTIONS, options, strict=True)) | {"clip": CLIP, "noise": KAPPA}
        solver = {"kind": "noisy", "learner": LEARNER, "params": params}
        parts.append(_task(place, solver, {"samples": 2 ** (int(longest) - halved)}, run))
    return parts


def _batches(quick: bool) -> list[Task]:
    solver = {"kind": "batches", "attack": "batch-gradient", "batch": BATCH}
    cells = product(NOISES[:: 2 if quick else 1], range(2 if quick else ATTACKS))
    return [_task(ATTACKED, solver | {"noise": noise}, {}, run) for noise, run in cells]


def descent(task: Task, root: int) -> Outcome:
    """Descend by an oracle's answers; the cost is in queries."""
    from hardness.sq.descent import descend

    ended = descend(
        _learner(task, task.seed(root, "start")).descend,
        _concepts(task),
        task.solver["oracle"],
        task.solver["tolerance"],
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
    concepts = _concepts(task)
    hidden = sum(1 << int(j) - 1 for j in instance.secret["support"])
    right = _named(learner.predict(_sign_vectors(concepts.n))[:, 0, 0], concepts) == hidden
    return Outcome("solved" if right else "wrong", learner.work_["informative"])


def _learner(task: Task, seed: int) -> Any:
    return make(Solver("learner", task.solver["learner"], {**ADAM, **task.solver["params"]}), seed % 2**32)


def _concepts(task: Task) -> ParityConcepts:
    return ParityConcepts(int(task.params["dim"]) - 1, int(task.params["heads"]))


def _sign_vectors(n: int) -> NDArray[np.int8]:
    """Return tokens (2^n, 2, n + 1) with z_0 != 0, the first all ones, the second every v, by its word."""
    out = np.ones((2**n, 2, n + 1), np.int8)
    out[:, 1, 0] = -1
    out[:, 1, 1:] -= 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.int8)
    return out


def _named(values: NDArray[np.float64], concepts: ParityConcepts) -> int:
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
QUORUM = 2 / 3  # of the seeds that learn at a tolerance which counts as large enough
MANY = 10**9  # sets from which on what theorem M proves is a constant times their number
CELL = ["d", "s", "N"]


def _of_kind(rows: "DataFrame", kind: str) -> "DataFrame":
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

    trials = _of_kind(rows, "descent").rename(columns={"params.rate": "rate", "tolerance": "tau"})
    trials = trials.assign(queries=trials.cost.where(trials.right).astype(float))
    runs = trials.groupby([*CELL, "tau", "rate"], as_index=False)
    by_rate = runs.agg(share=("right", "mean"), queries=("queries", "median"))
    order = {"d": True, "s": True, "tau": False, "share": False, "queries": True}
    by_rate = by_rate.sort_values([*order], ascending=[*order.values()])
    best = by_rate.drop_duplicates([*CELL, "tau"])
    best = best.assign(refused=best.groupby(CELL).tau.shift(1))
    lines = best[best.share >= QUORUM].drop_duplicates(CELL)
    return lines.assign(enough=[certain_queries(*place) for place in zip(lines.N, lines.tau, strict=True)])


def noisy_classes(rows: "DataFrame") -> "DataFrame":
    """Return, by class, what is proved to be needed for success .9, and what the noisy learner takes.

    `enough` are the fewest informative examples from which on the share of right runs is at least .9 at every number
    tried; `short` the most at which its 95 % interval of Clopper and Pearson lies below .9. They are half of what is
    drawn, in the mean.
    """
    from scipy.stats import binomtest

    tried = _of_kind(rows, "noisy").groupby([*CELL, "samples"]).right.agg(["sum", "size"]).reset_index()
    high = [
        binomtest(won, runs).proportion_ci(0.95).high
        for won, runs in zip(tried["sum"], tried["size"], strict=True)
    ]
    tried = tried.assign(share=tried["sum"] / tried["size"], high=high, examples=tried.samples / 2)
    above = (tried[::-1].groupby(CELL).share.cummin() >= SUCCESS).sort_index()
    lines = tried.groupby(CELL).agg(runs=("size", "min"))
    lines["enough"] = tried[above].groupby(CELL).examples.min()
    lines["short"] = tried[tried.high < SUCCESS].groupby(CELL).examples.max()
    lines = lines.reset_index()
    return lines.assign(proved=[proved_examples(size, KAPPA, SUCCESS) for size in lines.N])


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return the article's numbers of gradient learners."""
    lines, noisy = descents(rows), noisy_classes(rows)
    last = lines[lines.d == lines.d.max()]
    steps = [pair for _, part in lines.groupby("d") for pair in pairwise(part.itertuples())]
    # A step is open where the larger class learns at the largest tolerance tried, and that is a smaller one.
    decided = [(a, b) for a, b in steps if b.refused == b.refused or b.tau >= a.tau]
    over = noisy.enough / noisy.proved
    named = _of_kind(rows, "batches").groupby("noise").right.mean()
    return {
        "descent": {
            "steps": STEPS,
            "seeds": SEEDS,
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
            "classes": len(noisy),
            "enough": int(noisy.enough.notna().sum()),
            "least": at_most(float(over.min())),
            "most": at_most(float(over.max())),
            "short": int(noisy.short.notna().sum()),
        },
        "precision": {"batch": BATCH, "never": float(named.index[named == 0].min())},
    }
