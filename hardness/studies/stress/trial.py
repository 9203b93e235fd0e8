"""One run of `stress`: a learner within a budget of examples and one of multiply-adds, judged on fresh inputs."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hardness import registry
from hardness.engine.outcome import Outcome, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.adapters import is_streamed, multiply_adds
from hardness.evaluation.judge import EXPLAINED, fresh, sizes
from hardness.evaluation.until import evaluations, stream
from hardness.evaluation.worker import opened
from hardness.instance import Instance

JUDGED = 2048  # fresh inputs to judge on
FIRST, SPACING = 1024, 1.1  # an online learner is looked at after so many examples, then this much later each time


def trial(task: Task, root: int, guard: float) -> Outcome:
    """More and more examples of one stream, until nine tenths of the variance of fresh labels are explained.

    A learner with `partial_fit` sees each example once. Another is fitted anew on twice as many examples each time, and
    pays for all its fits. A run ends before it would exceed either budget, and is censored there: `spent` says which.
    All learners meet the same instance and examples in the same repetition.

    >>> solver = {"kind": "stress", "learner": "hardness.evaluation.adapters:Constant", "params": {}}
    >>> budget = {"samples": 2000, "work": 1e9, "from": 256}
    >>> outcome = trial(Task("parity", {"dim": 6, "heads": 2}, solver, budget, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.cost, outcome.detail["explained"], outcome.detail["spent"]
    ('budget', 2000, -0.0, 'examples')
    """
    shared = task.shared()
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    judged = fresh(instance, JUDGED, shared.seed(root, "fresh"))
    deadline, solver, budget = time.monotonic() + guard, task.solver, task.budget
    count = partial(multiply_adds, solver["learner"], solver["params"], instance.heads)
    own = {"learner": solver["learner"], "options": solver["params"], "known": instance.heads}
    streamed = is_streamed(solver["learner"])
    given, spent, status, detail = stream(instance, shared.seed(root, "examples")), 0, "budget", _detail(None, None)
    at, reason = _affordable(streamed, budget, lambda n: count((n, instance.family.tokens, instance.family.dim)))
    refused = None
    for part in [list(at)] if streamed else [[size] for size in at]:
        try:
            opener = partial(opened, own, task.seed(root, "solver"), deadline)
            for point in evaluations(opener, streamed, given, judged, part):
                refused, spent, share = None, point.accepted().examples, point.scores["explained"]
                detail = _detail(share, at[spent])
                if streamed and share is None:
                    return Outcome("wrong", spent, detail | {"reason": "predictions are not finite"})
                if EXPLAINED.met(point.scores):
                    return Outcome("solved", spent, detail)
        except (TrialEnded, TimeoutError) as error:
            found = outcome_of(error, guard)
            refused = replace(found, cost=part[-1], detail={**detail, **found.detail})
            if streamed or refused.status != "refused":  # a crash adds no hardness
                return replace(refused, cost=spent)
    return refused or Outcome(status, spent, detail | {"spent": reason})


def _affordable(
    streamed: bool, budget: Mapping[str, Any], count: Callable[[int], float | None]
) -> tuple[dict[int, float | None], str]:
    """Sizes within the budget with the multiply-adds spent by then, and which of the two limits ends them.

    What fits once is fitted anew on twice as many examples each time, and pays for all its fits.
    """
    most, work = int(budget["samples"]), float(budget["work"])
    if streamed:
        each = count(1)
        cap = most if not each else min(most, int(work / each))
        at = {n: None if each is None else each * n for n in sizes(cap, FIRST, SPACING)}
        return at, "examples" if cap == most else "multiply-adds"
    found: dict[int, float | None] = {}
    size, spent = int(budget["from"]), 0.0
    while size <= most:
        cost = count(size)
        if cost and spent + cost > work:
            return found, "multiply-adds"
        spent += cost or 0.0
        found[size], size = spent if cost else None, 2 * size
    return found, "examples"


def _detail(share: float | None, work: float | None) -> dict[str, Any]:
    shown = None if share is None else round(float(np.maximum(share, -1e6)), 3)
    return {"explained": shown, "multiply_adds": work}
