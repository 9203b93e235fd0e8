"""One trial of `exponential-in-m`: a learner until it meets the target, in three currencies; or elimination."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from hardness import registry
from hardness.engine.outcome import Outcome, Trial, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.adapters import LearnerAdapter, is_streamed
from hardness.evaluation.judge import EXPLAINED, OPEN, Criterion, Judged, fresh, sizes
from hardness.evaluation.until import Evaluation, Labelled, cost, evaluations, pooled, signed, stream
from hardness.evaluation.worker import opened
from hardness.instance import Instance

FIRST, SPACING = 256, 1.06  # examples between evaluations, later every 6 %
DOUBLING = 2.0  # between the sizes at which a learner that fits once is tried
JUDGED = 2048  # fresh inputs to judge on
KEPT = 1.2  # spacing of the points of the learning curve that a row keeps

Opened = Callable[[], AbstractContextManager[Any]]


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A learner or elimination. The root seed of a task of the plan is the plan's digest."""
    own = int(str(task.solver["plan"]), 16) if "plan" in task.solver else root
    return KINDS[task.solver["kind"]](task, own, guard)


def learner(task: Task, root: int, guard: float) -> Outcome:
    """Gradient examples until the target is met for the first time; censored at the cap.

    The target is an open error of .1 on structured families and nine tenths of the variance on random layers. In the
    same repetition all learners meet the same instance, examples and inputs. `solver`: `learner`, its `params`; `pool`
    lets it see so many distinct examples again and again; `labels` "independent" leaves nothing to learn. A learner
    that fits once is given more and more examples, and its cost is the least number that sufficed.

    >>> solver = {"kind": "learner", "learner": "student", "params": {"rate": 0.03, "l1": 0.12}}
    >>> task = Task("nondegenerate", {"dim": 8, "tokens": 2, "heads": 2}, solver, {"samples": 8000}, 0)
    >>> outcome = learner(task, root=0, guard=60.0)
    >>> outcome.status, outcome.cost == outcome.detail["distinct"] == outcome.detail["gradient"]
    ('solved', True)
    """
    deadline, solver, shared = time.monotonic() + guard, task.solver, task.shared()
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    given, judged = _examples(task, instance, root), fresh(instance, JUDGED, shared.seed(root, "fresh"))
    if solver.get("labels") == "independent":
        judged = replace(judged, Y=signed(lambda start, count: judged, shared.seed(root, "judged"))(0, JUDGED).Y)
    target, streamed = EXPLAINED if judged.values is None else OPEN, is_streamed(solver["learner"])
    named = {"learner": solver["learner"], "options": solver["params"]}
    if not streamed:
        named["known"] = instance.heads
    own = partial(opened, named, task.seed(root, "solver"), deadline)
    points: list[Evaluation] = []
    status, said = "budget", dict[str, Any]()
    try:
        for point in _tried(own, streamed, given, judged, int(task.budget["samples"])):
            points.append(point)
            if target.met(point.scores):
                status = "solved"
                break
            if streamed and not point.finite:
                status, said = "wrong", {"reason": "predictions are not finite"}
                break
    except (TrialEnded, TimeoutError) as error:
        found = outcome_of(error, guard)
        status, said = found.status, dict(found.detail)
    spent = points[-1].examples if points else None
    return Outcome(status, spent, _detail(task, instance, target, points) | said)


def _examples(task: Task, instance: Instance, root: int) -> Labelled:
    """What is learned from: a stream or passes over a pool, with their own labels or random signs."""
    shared, solver = task.shared(), task.solver
    given = stream(instance, shared.seed(root, "examples"))
    if "pool" in solver:
        given = pooled(given(0, int(solver["pool"])), shared.seed(root, "passes"))
    return signed(given, shared.seed(root, "signs")) if solver.get("labels") == "independent" else given


def _tried(own: Opened, streamed: bool, given: Labelled, judged: Judged, most: int) -> Iterator[Evaluation]:
    """A learner at more and more examples; one that fits once may refuse few of them and accept more."""
    if streamed:
        yield from evaluations(own, True, given, judged, sizes(most, FIRST, SPACING))
        return
    for size in sizes(most, 64, DOUBLING):
        try:
            yield from evaluations(own, False, given, judged, [size])
        except TrialEnded as error:
            if error.status != "refused":
                raise


def _detail(task: Task, instance: Instance, target: Criterion, points: Sequence[Evaluation]) -> dict[str, Any]:
    """Three currencies, the examples to nine tenths of all rows, the last scores, and of the first run its curve."""
    found: dict[str, Any] = {"criterion": target.name}
    if not points:
        return found
    last, solver = points[-1], task.solver
    adapter = LearnerAdapter(solver["learner"], 0, solver["params"], known=instance.heads)
    found |= cost(instance, adapter.learner, last.examples, solver.get("pool"))._asdict()
    found |= {
        "explained": next((p.examples for p in points if EXPLAINED.met(p.scores)), None),
        "open_error": _short(last.scores["open_error"]),
        "share": _short(last.scores["explained"]),
    }
    return found | ({"curve": thinned(points)} if task.repetition == 0 else {})


def thinned(points: Sequence[Evaluation]) -> list[list[float | None]]:
    """Points spaced by `KEPT` and the last one, as [examples, explained, open error] to four digits.

    >>> points = [Evaluation(n, {"explained": 0.12345, "open_error": None}) for n in (100, 110, 120, 130)]
    >>> thinned(points)
    [[100, 0.1235, None], [120, 0.1235, None], [130, 0.1235, None]]
    """
    kept: list[Evaluation] = []
    for each in points:
        if not kept or each.examples >= KEPT * kept[-1].examples or each is points[-1]:
            kept.append(each)
    return [[e.examples, _short(e.scores["explained"]), _short(e.scores["open_error"])] for e in kept]


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
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    sampling, dim, size = shared.seed(root, "examples"), instance.family.dim, 0.0
    attack, public = registry.get("attack", "gaussian"), instance.public(sampling)
    while size < task.budget["samples"] * dim:
        size = max(float(task.budget["from"]) * dim, float(task.budget["factor"]) * size, size + 1)
        examples = instance.examples(int(size), sampling)
        found = attack(examples.X, examples.Y, public, seed=task.seed(root, "solver")).secret
        if found is not None and found["support"] == instance.secret["support"].tolist():
            return Outcome("solved", int(size), {"distinct": int(size)})
    return Outcome("budget", int(size), {"distinct": int(size)})


KINDS: dict[str, Trial] = {"learner": learner, "elimination": elimination}
