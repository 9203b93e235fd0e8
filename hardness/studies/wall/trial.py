"""One run of `wall`: an online learner apart sees fresh examples, and the lab looks at what it explains."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hardness import registry
from hardness.engine.apart import Apart
from hardness.engine.outcome import Ended, Outcome, ended
from hardness.engine.task import Task
from hardness.evaluation import online
from hardness.evaluation.judge import label_variance
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
    >>> solver = {"kind": "wall", "learner": "hardness.engine.apart:Constant", "params": {}, "labels": "teacher"}
    >>> outcome = trial(Task(*nice((8, 2)), solver, {"samples": 3000}, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.cost, outcome.detail["explained"] < 0.01 < outcome.detail["linear"]
    ('budget', 3000, True)
    """
    deadline = time.monotonic() + guard
    shared, solver = Task(task.family, task.params, {}, {}, task.repetition), task.solver
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    independent = solver["labels"] == "independent"
    judged = online.fresh(instance, JUDGED, shared.seed(root, "fresh"), independent=independent)
    examples, cap = shared.seed(root, "examples"), int(task.budget["samples"])
    detail: dict[str, Any] = {"linear": linear(instance, judged, shared.seed(root, "linear"), independent)}
    if "error_mass" in instance.certificate:
        detail["error_mass"] = instance.certificate["error_mass"]
    looks: list[online.Evaluation] = []
    variance = label_variance(instance.teacher)
    spent, source = 0, None
    try:
        with Apart(solver["learner"], solver["params"], task.seed(root, "solver"), deadline) as learner:
            source = learner.source
            for size in online.sizes(cap, FIRST, SPACING):
                online.stream(instance, learner, examples, spent, size, independent)
                spent = size
                looks.append(online.evaluate(learner, size, judged, variance))
                cost = reached(looks, TARGETS[0])
                if looks[-1].explained is None or reached(looks, TARGETS[-1]) or (cost and size > BEYOND * cost):
                    break
    except (Ended, TimeoutError) as error:
        return replace(ended(error, guard), cost=spent, detail=detail | dict(ended(error, guard).detail), source=source)
    detail |= {"explained": _short(looks[-1].explained), "correlation": _short(looks[-1].correlation)}
    detail |= {"reached": {str(share): reached(looks, share) for share in TARGETS}, "curve": thinned(looks)}
    if looks[-1].explained is None:
        return Outcome("wrong", spent, detail | {"reason": "predictions are not finite"}, source=source)
    cost = reached(looks, TARGETS[0])
    return Outcome("solved" if cost else "budget", cost or spent, detail, source=source)


def reached(looks: Sequence[online.Evaluation], share: float) -> int | None:
    """Examples at the first look with that share of the variance explained; None if there is none."""
    return next((look.examples for look in looks if look.explained is not None and look.explained >= share), None)


def thinned(looks: Sequence[online.Evaluation]) -> list[list[float | None]]:
    """Looks spaced by `KEPT` and the last one, as [examples, explained, correlation] to four digits.

    >>> thinned([online.Evaluation(n, 0.12345, None) for n in (100, 110, 120, 130)])
    [[100, 0.1235, None], [120, 0.1235, None], [130, 0.1235, None]]
    """
    kept: list[online.Evaluation] = []
    for each in looks:
        if not kept or each.examples >= KEPT * kept[-1].examples or each is looks[-1]:
            kept.append(each)
    return [[each.examples, _short(each.explained), _short(each.correlation)] for each in kept]


def linear(instance: Instance, judged: Examples, seed: int, independent: bool) -> float | None:
    """Share of the variance that a linear fit of all tokens explains on the judged inputs: no plateau above it is."""
    own = online.fresh(instance, FITTED, seed, independent=independent)
    flat = [part.reshape(len(part), -1).astype(np.float64) for part in (own.X, own.Y, judged.X)]
    weights = np.linalg.lstsq(flat[0], flat[1], rcond=None)[0]
    return _short(online.explained((flat[2] @ weights).reshape(judged.Y.shape), judged.Y))


def _short(value: float | None) -> float | None:
    return None if value is None else round(max(value, -1e6), 4)
