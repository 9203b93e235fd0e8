"""One trial of `exponential-in-m`: a learner until it meets the target; or elimination."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.engine.outcome import Outcome, Trial, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.adapters import is_streamed, make
from hardness.evaluation.solver import Solver
from hardness.evaluation.until import Evaluation, Labelled, cost, evaluations, signed, stream
from hardness.evaluation.worker import opening
from hardness.examples import InformativeRows
from hardness.instance import Instance
from hardness.scores import EXPLAINED, OPEN, Criterion, Judged, fresh, open_error, sizes
from hardness.studies.trials import solving_cost
from hardness.tokens import TokenStream, unpack
from learner.fourier_gap import at_the_start, examples_of_unit_signal

HEADS = 16  # of a learner whose n_1 is asked for
PORTION = 1 << 16  # examples that `diagonal` is handed at a time
FIRST, SPACING = 256, 1.06  # examples between evaluations, later every 6 %
DOUBLING = 2.0  # between the sizes at which a learner that fits once is tried
JUDGED = 2048  # fresh inputs to judge on
KEPT = 1.2  # spacing of the points of the learning curve that a row keeps

Opened = Callable[[], AbstractContextManager[Any]]


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A learner or elimination. The root seed of a task of a plan is the plan's digest."""
    if "plan" in task.solver:
        root = int(str(task.solver["plan"]), 16)
    return KINDS[task.solver["kind"]](task, root, guard)


def diagonal(task: Task, root: int, guard: float) -> Outcome:
    """Examples that `diagonal` draws until its mean squared error on fresh rows with an open gate is at most a tenth.

    The unit of the error is the variance of the labels on such rows: 1 for a parity. Noiseless labels judge it. In the
    same repetition all settings meet the same instance and examples. `labels` "independent" leaves nothing to learn.

    >>> solver = {"kind": "diagonal", "learner": "diagonal", "params": {"rate": 0.03, "batch": 16, "l1": 0.03}}
    >>> outcome = diagonal(Task("parity", {"dim": 8, "heads": 2}, solver, {"samples": 20_000}, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.detail["weights"], outcome.detail["informative"] < 0.6 * outcome.cost
    ('solved', 144, True)
    """
    deadline, solver, shared = time.monotonic() + guard, task.solver, task.shared()
    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), shared.seed(root, "instance")
    )
    seeds = {role: shared.seed(root, role) for role in ("examples", "fresh", "signs", "judged")}
    coins = solver.get("labels") == "independent"
    judged = fresh(instance, 2 * JUDGED, seeds["fresh"])
    if coins:
        judged = replace(judged, Y=signed(lambda start, count: judged, seeds["judged"])(0, 2 * JUDGED).Y)
    assert judged.variance, "a family whose labels are judged on open rows"
    learner = make(_solver(task, instance), task.seed(root, "solver"))
    spent, error, gaps = 0, None, list[list[float | None]]()
    for size in sizes(int(task.budget["samples"]), FIRST, SPACING):
        for start in range(spent, size, PORTION):
            if time.monotonic() > deadline:
                raise TimeoutError
            part = instance.informative(min(PORTION, size - start), seeds["examples"], start)
            labels = part.Y * _coins(seeds["signs"], start, part.X) if coins else part.Y
            learner.partial_fit(part.X, labels)
        spent, error = size, open_error(judged.X, learner.predict(judged.X), judged.Y, judged.variance)
        if solver.get("gaps"):
            gaps.append([spent, _short(error), gap_of(learner, instance)])
        if error is None or OPEN.met({"open_error": error}):
            break
    status = "wrong" if error is None else "solved" if OPEN.met({"open_error": error}) else "budget"
    detail = {"distinct": spent, "open_error": _short(error), **learner.work_}
    return Outcome(status, spent, detail | ({"gaps": gaps} if gaps else {}))


def gap_of(learner: Any, instance: Instance) -> float:
    """n_1 of the weights as they are: informative examples until a gradient shows the hidden set (theory 3.5)."""
    return round(examples_of_unit_signal(learner.weights_, instance.secret["support"]), 1)


def gap(task: Task, root: int, guard: float) -> Outcome:
    """The median of n_1 over random starts at one scale, exact for every start.

    >>> task = Task("parity", {"dim": 9, "heads": 3}, {"kind": "gap", "start": 4}, {"starts": 3}, 0)
    >>> gap(task, root=0, guard=60.0).detail["n_1"] < 1e5
    True
    """
    d, s = int(task.params["dim"]), int(task.params["heads"])
    rng = np.random.default_rng(task.seed(root, "solver"))
    value = at_the_start(d, s, HEADS, float(task.solver["start"]), int(task.budget["starts"]), rng)
    return Outcome("solved", None, {"n_1": round(value, 1)})


def _coins(seed: int, start: int, rows: InformativeRows) -> NDArray[np.int8]:
    """A sign for each of the informative ones among the examples from `start` on."""
    return np.asarray(unpack(TokenStream(seed, 1, 1).packed(start, len(rows)), 1)[rows.positions, 0, 0])


def student(task: Task, root: int, guard: float) -> Outcome:
    """Examples of a learner that sees raw tokens until the target is met for the first time; censored at the cap.

    The target is an open error of .1 on structured families and nine tenths of the variance on random layers. In the
    same repetition all learners meet the same instance, examples and inputs. A learner that fits once is given more and
    more examples, and its cost is the least number that sufficed.

    >>> solver = {"kind": "learner", "learner": "student", "params": {"rate": 0.03, "l1": 0.12}}
    >>> task = Task("nondegenerate", {"dim": 8, "tokens": 2, "heads": 2}, solver, {"samples": 8000}, 0)
    >>> outcome = student(task, root=0, guard=60.0)
    >>> outcome.status, outcome.cost == outcome.detail["distinct"] == outcome.detail["gradient"]
    ('solved', True)
    """
    solver, shared = task.solver, task.shared()
    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), shared.seed(root, "instance")
    )
    examples = stream(instance, shared.seed(root, "examples"))
    judged = fresh(instance, JUDGED, shared.seed(root, "fresh"))
    target, streamed = EXPLAINED if judged.values is None else OPEN, is_streamed(solver["learner"])
    process = opening(_solver(task, instance), task.seed(root, "solver"), guard)
    points: list[Evaluation] = []
    status, reason = "budget", dict[str, Any]()
    try:
        for point in _tried(process, streamed, examples, judged, int(task.budget["samples"])):
            points.append(point)
            if target.met(point.scores):
                status = "solved"
                break
            if streamed and not point.finite:
                status, reason = "wrong", {"reason": "predictions are not finite"}
                break
    except (TrialEnded, TimeoutError) as error:
        ending = outcome_of(error, guard)
        status, reason = ending.status, dict(ending.detail)
    spent = points[-1].examples if points else None
    return Outcome(status, spent, _detail(task, instance, target, points) | reason)


def _solver(task: Task, instance: Instance) -> Solver:
    return Solver("learner", task.solver["learner"], task.solver["params"], heads_known=instance.heads)


def _tried(
    process: Opened, streamed: bool, examples: Labelled, judged: Judged, most: int
) -> Iterator[Evaluation]:
    """A learner at more and more examples; one that fits once may refuse few of them and accept more."""
    if streamed:
        yield from evaluations(process, True, examples, judged, sizes(most, FIRST, SPACING))
        return
    for size in sizes(most, 64, DOUBLING):
        try:
            yield from evaluations(process, False, examples, judged, [size])
        except TrialEnded as error:
            if error.status != "refused":
                raise


def _detail(
    task: Task, instance: Instance, target: Criterion, points: Sequence[Evaluation]
) -> dict[str, Any]:
    """Three currencies, the examples to nine tenths of all rows, the last scores, and of the first run its curve."""
    if not points:
        return {"criterion": target.name}
    last = points[-1]
    detail = {
        "criterion": target.name,
        **cost(instance, make(_solver(task, instance), 0), last.examples)._asdict(),
        "explained": next((p.examples for p in points if EXPLAINED.met(p.scores)), None),
        "open_error": _short(last.scores["open_error"]),
        "share": _short(last.scores["explained"]),
    }
    return detail | ({"curve": thinned(points)} if task.repetition == 0 else {})


def thinned(points: Sequence[Evaluation]) -> list[list[float | None]]:
    """Points spaced by `KEPT` and the last one, as [examples, explained, open error] to four digits.

    >>> points = [Evaluation(n, {"explained": 0.12345, "open_error": None}) for n in (100, 110, 120, 130)]
    >>> thinned(points)
    [[100, 0.1235, None], [120, 0.1235, None], [130, 0.1235, None]]
    """
    kept: list[Evaluation] = []
    for point in points:
        if not kept or point.examples >= KEPT * kept[-1].examples or point is points[-1]:
            kept.append(point)
    return [[p.examples, _short(p.scores["explained"]), _short(p.scores["open_error"])] for p in kept]


def _short(value: float | None) -> float | None:
    return None if value is None else round(min(max(value, -1e6), 1e6), 4)


def elimination(task: Task, root: int, guard: float) -> Outcome:
    """Gaussian elimination on more and more examples of one stream, until it names the hidden set.

    The sizes go from `from` times d by `factor` to `samples` times d; the attack itself accepts an answer only if it
    reproduces examples that had no part in finding it, and here it must also be the hidden set.

    >>> budget = {"from": 0.5, "factor": 1.05, "samples": 100}
    >>> outcome = elimination(Task("parity", {"dim": 16, "heads": 3}, {"kind": "elimination"}, budget, 0), 0, 60.0)
    >>> outcome.status, 2 * 15 <= outcome.cost <= 2 * 15 + 80
    ('solved', True)
    """
    shared = task.shared()
    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), shared.seed(root, "instance")
    )
    sampling, dim, size = shared.seed(root, "examples"), instance.family.dim, 0.0
    attack, public = registry.get("attack", "gaussian"), instance.public(sampling)
    while size < task.budget["samples"] * dim:
        size = max(float(task.budget["from"]) * dim, float(task.budget["factor"]) * size, size + 1)
        examples = instance.examples(int(size), sampling)
        secret = attack(examples.X, examples.Y, public, seed=task.seed(root, "solver")).secret
        if secret is not None and secret["support"] == instance.secret["support"].tolist():
            return Outcome("solved", int(size), {"distinct": int(size)})
    return Outcome("budget", int(size), {"distinct": int(size)})


KINDS: dict[str, Trial] = {
    "diagonal": diagonal,
    "gap": gap,
    "learner": student,
    "elimination": elimination,
    "game": solving_cost,
}
