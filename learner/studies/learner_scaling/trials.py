"""Tasks and trial of `learner-scaling`: phases 1 to 6 streamed, their literal form, local search, injected errors."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.instance import Instance
from hardness.judging import judge
from hardness.layer import MultiHeadAttention
from hardness.learning import plain
from hardness.study.outcome import Outcome
from hardness.study.task import Task
from learner.base import Array
from learner.last_fit import counting_floor
from learner.provable import net
from learner.provable.pipeline import Provable, hull_error
from learner.provable.sculpt import Hull
from learner.studies.curves import rounded, timed
from learner.studies.layers import instance_of, task_of

PHASES, PAPER, INJECT = "phases", "literal phases", "injected"
SEARCHES = ("direct", "lbfgs")
TARGETS = (0.3, 0.1, 0.03)  # relative errors
RATIOS = (1.25, 1.5, 2.0, 3.0, 4.0, 8.0)  # examples of a local search over the counting floor
INJECTED = (0.003, 0.01, 0.03, 0.1, 0.3)  # relative error of the hull
HEADS = (1, 2, 3, 4, 5)
KIND, BLOCK = "scaling", 50_000


def tasks(quick: bool) -> list[Task]:
    """Phases alone at doubling numbers of examples (to 1e7 at d = 16), literal ones to 64,000, searches near the floor.

    k·d is at least 24, so that inputs do not repeat.
    """
    cells = [(m, k, d) for d in (12, 16, 24) for k in (2, 3) for m in HEADS]
    if quick:
        cells = [(m, 2, 12) for m in HEADS[:3]]
    found = []
    for m, k, d in cells:
        top = 16_000 if quick else 10_000_000 if d == 16 else 1_100_000
        counts = [1000 * 2**i for i in range(14) if 1000 * 2**i <= top]
        sizes = [math.ceil(ratio * counting_floor(m, k, d)) for ratio in (RATIOS[2::3] if quick else RATIOS)]
        for r in range(2 if quick else 10):
            # The longest runs are few: their scatter is the smallest.
            found += [_task(m, k, d, PHASES, n, r) for n in counts if n <= 1_100_000 or r < 3]
            found += [_task(m, k, d, name, n, r) for name in SEARCHES for n in sizes]
            if d == 12 and m in (2, 3) and k == 2 and r < 3 and not (quick and (r or m > 2)):
                found += [_task(m, k, d, PAPER, n, r) for n in counts if n <= (1000 if quick else 64_000)]
            if m > 1 and (d == 16 or quick):
                found += [_task(m, k, d, INJECT, 3000, r, size) for size in (INJECTED[::2] if quick else INJECTED)]
    return found


def _task(m: int, k: int, d: int, learner: str, count: int, repetition: int, size: float | None = None) -> Task:
    solver = {"kind": KIND, "learner": learner} | ({"size": size} if size is not None else {})
    return task_of(m, k, d, solver, count, repetition)


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial, judged on fresh examples of its layer. Deterministic in the task and the root seed.

    All trials of a cell and repetition share layer and examples: fewer are the first of more.
    """
    outcome = _trial(task, root)
    return replace(outcome, detail=rounded(plain(outcome.detail)))


def _trial(task: Task, root: int) -> Outcome:
    same = task.shared(kind=KIND)
    instance = instance_of(task, root)
    fresh = instance.examples(2000, same.seed(root, "fresh")).X
    count, name, state = int(task.budget["samples"]), task.solver["learner"], task.seed(root, "solver") % 2**32
    stream = same.seed(root, "examples")
    detail: dict[str, Any] = {}
    if name == INJECT:
        layer = injected(instance, stream, count, float(task.solver["size"]), np.random.default_rng(state))
        predicted: Array = layer(fresh)
    elif name in (PHASES, PAPER):
        learner: Any = Provable(
            heads=instance.heads, mode="paper" if name == PAPER else "practical", polish=False, random_state=state
        ).fit_blocks(lambda: blocks(instance, stream, count), count)
        predicted = learner.predict(fresh)
        detail = _seen(learner, instance.layer())
    else:
        data = instance.examples(count, stream)
        learner = registry.get("learner", name)(heads=instance.heads, random_state=state).fit(data.X, data.Y)
        predicted = learner.predict(fresh)
        detail = {"started": learner.report_.status}
    error = judge(instance, fresh, predicted)["relative_error"]
    detail |= {"error": error, "distinct": distinct_share(count, instance.family.tokens * instance.family.dim)}
    if detail.get("refused"):
        return Outcome("refused", count, detail)
    return Outcome("solved" if error is not None and error <= TARGETS[1] else "wrong", count, detail)


def _seen(learner: Provable, truth: MultiHeadAttention) -> dict[str, Any]:
    """What phases 1 to 6 say of themselves, and how far their hull is from the true Θ."""
    report = learner.report_
    if report.status == "refused":
        return {"refused": True, "reason": report.reason, "certified": False}
    span = next(p for p in report.phases if p.name == "span").diagnostics
    return {
        "certified": report.certified,
        "eta": span["eta_median"],
        "gap": span["gap"],
        "hull": hull_error(learner.hull_, truth.theta),
    }


def blocks(instance: Instance, seed: int, count: int) -> Iterator[tuple[NDArray[np.int8], Array]]:
    """The first `count` examples of a stream, a block at a time."""
    for start in range(0, count, BLOCK):
        data = instance.examples(min(BLOCK, count - start), seed, start=start)
        yield data.X, data.Y


def distinct_share(count: int, signs: int) -> float:
    """Expected share of inputs, up to sign, that are new among `count` uniform ones of so many signs.

    >>> round(distinct_share(200_000, 16), 3), round(distinct_share(200_000, 32), 3)
    (0.163, 1.0)
    """
    universe = 2.0 ** (signs - 1)
    return float(-universe * np.expm1(count * np.log1p(-1 / universe)) / count)


def injected(instance: Instance, seed: int, count: int, size: float, rng: np.random.Generator) -> MultiHeadAttention:
    """The layer that phase 6 finds in the true hull, each of its matrices moved at random by `size` of its norm."""
    truth = instance.layer()
    m, d = truth.heads, truth.dim
    flat = truth.theta.reshape(m, -1)
    basis = np.linalg.qr((flat[1:] - flat[0]).T)[0].T
    base = flat[0] - basis.T @ (basis @ flat[0])
    # Off the hull by `size` of |Θ|: the directions turn by that angle, the point moves by that share.
    noise = rng.normal(size=(m, d * d))
    noise *= size / np.linalg.norm(noise, axis=1, keepdims=True)
    turned = np.linalg.qr((basis + noise[1:]).T)[0].T
    point = base + noise[0] * np.linalg.norm(base)
    point = point - turned.T @ (turned @ point)
    hull = Hull(point.reshape(d, d), turned.reshape(-1, d, d), np.ones(d * d), d * d, None, 0.0)
    data = instance.examples(min(count, 1500), seed)
    guess = net.multi_start(data.X.astype(np.float64), data.Y, hull, m, rng)
    return MultiHeadAttention(guess.theta, guess.w)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    m, k, d = (int(task.params[name]) for name in ("heads", "tokens", "dim"))
    count = float(task.budget["samples"])
    match task.solver["learner"]:
        case "phases":
            return 0.3 + 0.02 * m * (d / 12) ** 4 + count * (6e-6 if k == 2 else 2e-5)
        case "literal phases":
            return 20.0
        case "direct":
            return 0.1 * m * m * (d / 12) ** 4
        case "lbfgs":
            return 0.2 * m * m * (d / 12) ** 2
    return 0.3
