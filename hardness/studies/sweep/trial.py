"""A trial of a sweep: a game, or a learner or attack that is given more and more examples until it is right."""

import time
from dataclasses import replace
from functools import partial

from hardness import registry
from hardness.engine.outcome import CRASHED, Outcome, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.judge import fresh, sizes
from hardness.evaluation.learning import solves
from hardness.evaluation.until import evaluations, stream
from hardness.evaluation.worker import opened
from hardness.instance import Instance
from hardness.studies import trials

FIRST, SPACING, ONLINE_SPACING = 64, 2**0.5, 1.1  # examples, and how many times as many come next
JUDGED = 2000  # fresh examples to judge on


def trial(task: Task, root: int, guard: float) -> Outcome:
    """The cost is queries of a game; of a learner or an attack, the least examples tried that sufficed.

    All solvers meet the same instance and examples in the same repetition. What solves is what solves in `learn`.

    >>> solver = {"kind": "sweep", "attack": "gaussian"}
    >>> outcome = trial(Task("parity", {"dim": 12, "heads": 3}, solver, {"samples": 500}, 0), 0, 60.0)
    >>> outcome.status, outcome.cost
    ('solved', 128)
    """
    if task.solver["kind"] == "game":
        return trials.game(task, root, guard)
    deadline, shared, solver = time.monotonic() + guard, task.shared(), task.solver
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    sampling, streamed, most = shared.seed(root, "examples"), bool(solver.get("online")), int(task.budget["samples"])
    judged = fresh(instance, JUDGED, shared.seed(root, "fresh"))
    if "attack" in solver:
        budget = task.budget.get("work")
        named = {"attack": solver["attack"], "public": instance.public(sampling), "budget": budget}
    else:
        named = {"learner": solver["learner"], "known": instance.heads, "options": solver["params"]}
    own, rule = partial(opened, named, task.seed(root, "solver"), deadline), solves(judged, streamed)
    last = Outcome("budget", 0)
    at = list(sizes(most, FIRST, ONLINE_SPACING if streamed else SPACING))
    # What fits once is tried at each size by itself: where it refuses, or gives up, it may not with more examples.
    for part in [at] if streamed else [[size] for size in at]:
        try:
            for point in evaluations(own, streamed, stream(instance, sampling), judged, part):
                shown = {name: round(value, 6) for name, value in point.scores.items() if value is not None}
                last = Outcome("budget", point.accepted().examples, {"criterion": rule.name, **shown})
                if rule.met(point.scores):
                    return replace(last, status="solved")
        except TimeoutError as error:
            return replace(outcome_of(error, guard), cost=last.cost)
        except TrialEnded as error:
            found = replace(outcome_of(error, guard), cost=last.cost if streamed else part[0])
            if streamed or found.status in CRASHED:
                return found
            last = found if found.status == "refused" else replace(found, status="budget")
    return last
