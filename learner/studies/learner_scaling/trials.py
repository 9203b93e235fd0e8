"""Tasks and trial of `learner-scaling`: phases 1 to 6 streamed, their literal form, local search, injected errors."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.adapters import plain
from hardness.evaluation.judge import Judged, scores
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from learner.base import Array
from learner.direct import Direct, JointLBFGS
from learner.last_fit import counting_floor
from learner.provable import net
from learner.provable.pipeline import Provable, hull_error
from learner.provable.sculpt import Hull
from learner.studies.curves import rounded, timed
from learner.studies.layers import instance_of, task_of

PHASES, PAPER, INJECT = "phases", "literal phases", "injected"
RANDOM = "polish from a random start"
SEARCHES = {RANDOM: Direct(spare=0, starts=1), "lbfgs": JointLBFGS(starts=1)}
TARGETS = (0.3, 0.1, 0.03)  # relative errors
INJECTED = (0.003, 0.01, 0.03, 0.1, 0.3)  # relative error of the hull
HEADS = (1, 2, 3, 4, 5)
SIZES = (1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000)  # by √10
LESS = 600  # for two heads, of which the first size is enough for some layers
MAIN, SIDES = (2, 16), ((2, 12), (2, 24), (3, 16))  # (k, d); k·d is at least 24, so that inputs do not repeat
RATIOS = (1.2, 1.5, 2.0, 4.0)  # examples of a local search, a tenth of them held out, over the counting floor
LAYERS, FEWER, FEWEST = 6, 4, 3
PAPER_DIM, PAPER_SIZES = 12, SIZES[:4]  # the body's linear programs take minutes at d = 16
KIND, BLOCK = "scaling", 50_000
CACHED = 400_000  # examples that are made once and kept, of those that phases 1 to 6 pass over again and again


def tasks(quick: bool) -> list[Task]:
    """Phases alone at growing numbers of examples, literal ones, local searches near the floor, injected errors.

    The main slice has every m; the sides have those that reach relative error 0.1 within the sizes.
    """
    if quick:
        return [
            *_slice((1, 2, 3), 2, 12, SIZES[1:4], 2),
            *(_task(m, 2, 12, name, _near(m, 2, 12, 2.0), r) for m in (1, 2) for name in SEARCHES for r in range(2)),
            *(_task(2, 2, 12, INJECT, 3000, r, size) for r in range(2) for size in INJECTED[::2]),
            _task(2, 2, 12, PAPER, SIZES[0], 0),
        ]
    k, d = MAIN
    found = [task for m in HEADS for task in _slice((m,), k, d, SIZES if m > 2 else SIZES[:-1], LAYERS)]
    found += _slice(HEADS[1:2], k, d, [LESS], LAYERS)
    found += [_task(m, k, d, INJECT, 3000, r, size) for m in HEADS[1:] for r in range(LAYERS) for size in INJECTED]
    found += [
        _task(m, k, d, name, _near(m, k, d, ratio), r)
        for m in HEADS for name in SEARCHES for ratio in RATIOS for r in range(FEWER)
    ]  # fmt: skip
    for tokens, dim in SIDES:
        found += _slice(HEADS[1:4] if tokens == 2 else HEADS[1:3], tokens, dim, SIZES[1:-1], FEWER)
    return found + [_task(m, 2, PAPER_DIM, PAPER, n, r) for m in (2, 3) for n in PAPER_SIZES for r in range(FEWEST)]


def _slice(heads: Sequence[int], k: int, d: int, sizes: Sequence[int], layers: int) -> list[Task]:
    return [_task(m, k, d, PHASES, n, r) for m in heads for n in sizes for r in range(layers)]


def _near(m: int, k: int, d: int, ratio: float) -> int:
    return math.ceil(ratio * counting_floor(m, k, d))


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
        kept = list(blocks(instance, stream, count)) if count <= CACHED else None
        learner: Any = Provable(
            heads=instance.heads, mode="paper" if name == PAPER else "practical", polish=False, random_state=state
        ).fit_blocks(lambda: kept or blocks(instance, stream, count), count)
        predicted = learner.predict(fresh)
        detail = _seen(learner, instance.layer())
    else:
        data = instance.examples(count, stream)
        learner = clone(SEARCHES[name]).set_params(heads=instance.heads, random_state=state).fit(data.X, data.Y)
        predicted = learner.predict(fresh)
        detail = {"started": learner.report_.status}
    error = scores(Judged(fresh, instance.teacher(fresh)), predicted)["relative_error"]
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
            return 0.3 + 0.02 * m * (d / 12) ** 4 + count * (5e-6 if k == 2 else 1.5e-5)
        case "literal phases":
            return 4.0 if m == 2 else 8.0
        case name if name == RANDOM:
            return 0.03 * m * m * (d / 12) ** 2
        case "lbfgs":
            return 0.06 * m * m * (d / 12) ** 2
    return 0.2
