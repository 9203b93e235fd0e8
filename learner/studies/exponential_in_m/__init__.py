"""The study `exponential-in-m`: what one more head costs a gradient learner, at every width, and what follows N.

From the top: the grid of `make study`, the trials, the numbers of the article, its tables and its figures. Plan 4, of
which the committed rows are, stands in `plan.py` and `plan4.toml`, the laws in `laws.py`, the lottery in `lottery.py`.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.solver import Solver, make
from hardness.examples import InformativeExamples
from hardness.instance import Instance
from hardness.scores import sizes
from hardness.tokens import TokenStream
from learner.studies.exponential_in_m import lottery, plan
from learner.studies.exponential_in_m.plan import CONTROLS, HARD, Cell

HEADS, QUICK_HEADS, RAY, WIDTH, RUNS = range(2, 8), range(2, 6), 4, 64, 5  # of `make study`: d = 4m
SOLVED = 0.1  # mean squared error on fresh informative rows over the variance of their labels
FIRST, SPACING = 64, 1.06  # a run is looked at every 64 examples at first, later every 6 %
PORTION = 1 << 14  # examples handed over at a time
JUDGED = 4096  # fresh examples to judge on, half of them informative
HOLD = 2.0  # a head holds S if its weights in S are so many times as large as all others


def tasks(quick: bool) -> list[Task]:
    """Return hidden sets and controls along d = 4m, before 64 heads: what `make study` runs."""
    cells = [
        Cell(arm, m, RAY * m, WIDTH) for m in (QUICK_HEADS if quick else HEADS) for arm in (HARD, *CONTROLS)
    ]
    return [task for cell in cells if plan.exists(cell) for task in _of_ray(cell)]


def _of_ray(cell: Cell) -> list[Task]:
    return list(plan.trials(cell, "ray", {}, int(40 * plan.law(cell)) + 100_000, range(RUNS)))


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
    return {"diagonal": learned, "attack": attacked, "lottery": drawn}[task.solver["kind"]](task, root)


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
        heads = int(task.solver.get("heads", 20_000))
        value, error = lottery.prediction(rng, n, m, usual.rate, batch, usual.l1, heads)
        detail[str(batch)] = {"value": float(f"{value:.4g}"), "error": float(f"{error:.2g}")}
    return Outcome("solved", None, detail)


STUDY = Study(
    "exponential-in-m",
    "How does a gradient learner's cost grow with the number of heads, at which width, and what follows N?",
    tasks,
    seconds,
    trial,
    guard=3600.0,
    role="answer",
    plan=plan.tasks,
    timed=True,
)
