"""One run of `wall`: an online learner apart sees fresh examples, and the lab looks at what it explains."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hardness import registry
from hardness.engine.outcome import Outcome, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.judge import Criterion, Judged, fresh, scores, sizes
from hardness.evaluation.until import Evaluation, evaluations, signed, stream
from hardness.evaluation.worker import opened
from hardness.examples import Examples
from hardness.instance import Instance

FIRST, SPACING = 1024, 1.03  # examples between looks, later every 3 %
JUDGED, FITTED = 2048, 8192  # fresh inputs for every look, and for the linear fit
TARGETS = (0.9, 0.98)  # shares of the variance; the first one ends in the cost
BEYOND = 4  # times the cost within which the later targets are looked for
KEPT = 1.2  # spacing of the points of the curve that the row keeps


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Examples until `TARGETS` of the variance of the labels of fresh inputs are explained; censored at the cap.

    Learners and variants meet the same instance, examples and inputs in the same repetition.

    >>> from hardness.studies.wall.tasks import nice
    >>> solver = {"kind": "wall", "learner": "hardness.evaluation.adapters:Constant", "params": {}, "labels": "teacher"}
    >>> outcome = trial(Task(*nice((8, 2)), solver, {"samples": 3000}, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.cost, outcome.detail["explained"] < 0.01 < outcome.detail["linear"]
    ('budget', 3000, True)
    """
    deadline = time.monotonic() + guard
    shared, solver = Task(task.family, task.params, {}, {}, task.repetition), task.solver
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    given = stream(instance, shared.seed(root, "examples"))
    judged = fresh(instance, JUDGED, shared.seed(root, "fresh"))
    if solver["labels"] == "independent":
        given = signed(given, shared.seed(root, "signs"))
        judged = replace(judged, Y=signed(lambda start, count: judged, shared.seed(root, "judged"))(0, JUDGED).Y)
    detail: dict[str, Any] = {"linear": linear(given(0, FITTED), judged)}
    if "error_mass" in instance.certificate:
        detail["error_mass"] = instance.certificate["error_mass"]
    points: list[Evaluation] = []
    named = {"learner": solver["learner"], "options": solver["params"]}
    own = partial(opened, named, task.seed(root, "solver"), deadline)
    try:
        for point in evaluations(own, True, given, judged, sizes(int(task.budget["samples"]), FIRST, SPACING)):
            points.append(point)
            cost = reached(points, TARGETS[0])
            if not point.finite or reached(points, TARGETS[-1]) or (cost and point.examples > BEYOND * cost):
                break
    except (TrialEnded, TimeoutError) as error:
        found = outcome_of(error, guard)
        return replace(found, cost=points[-1].examples if points else 0, detail=detail | dict(found.detail))
    last = points[-1]
    detail |= {name: _short(last.scores[name]) for name in ("explained", "correlation")}
    detail |= {"reached": {str(share): reached(points, share) for share in TARGETS}, "curve": thinned(points)}
    if not last.finite:
        return Outcome("wrong", last.examples, detail | {"reason": "predictions are not finite"})
    cost = reached(points, TARGETS[0])
    return Outcome("solved" if cost else "budget", cost or last.examples, detail)


def reached(points: Sequence[Evaluation], share: float) -> int | None:
    """Examples at the first point with that share of the variance explained; None if there is none."""
    return next((p.examples for p in points if Criterion("explained", share).met(p.scores)), None)


def thinned(points: Sequence[Evaluation]) -> list[list[float | None]]:
    """Points spaced by `KEPT` and the last one, as [examples, explained, correlation] to four digits.

    >>> points = [Evaluation(n, {"explained": 0.12345, "correlation": None}, {}) for n in (100, 110, 120, 130)]
    >>> thinned(points)
    [[100, 0.1235, None], [120, 0.1235, None], [130, 0.1235, None]]
    """
    kept: list[Evaluation] = []
    for each in points:
        if not kept or each.examples >= KEPT * kept[-1].examples or each is points[-1]:
            kept.append(each)
    return [[e.examples, _short(e.scores["explained"]), _short(e.scores["correlation"])] for e in kept]


def linear(train: Examples, judged: Judged) -> float | None:
    """Share of the variance that a linear fit of all tokens explains on the judged inputs: no plateau above it is."""
    flat = [part.reshape(len(part), -1).astype(np.float64) for part in (train.X, train.Y, judged.X)]
    weights = np.linalg.lstsq(flat[0], flat[1], rcond=None)[0]
    return _short(scores(judged, (flat[2] @ weights).reshape(judged.Y.shape))["explained"])


def _short(value: float | None) -> float | None:
    return None if value is None else round(max(value, -1e6), 4)
