"""A trial of `stress`: one learner, attack or strategy on one named instance."""

import time
from functools import partial
from typing import Any

from hardness import suite
from hardness.engine.outcome import Outcome, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.adapters import LearnerAdapter
from hardness.evaluation.judge import EXPLAINED, OPEN, Criterion, Judged, fresh
from hardness.evaluation.until import evaluations, lives, stream, until_solved
from hardness.evaluation.worker import opened
from hardness.instance import Instance

JUDGED = 2048  # fresh inputs to judge on


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Trials that differ in the solver alone meet the same instance, examples and fresh inputs.

    >>> params = {"instance": "parity-s2-d8-0", "digest": f"sha256:{suite.entry('parity-s2-d8-0').digest[:16]}"}
    >>> never = {"kind": "learner", "learner": "hardness.evaluation.adapters:Constant"}
    >>> outcome = trial(Task("parity", params, never, {"samples": 2000, "work": 1e9}, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.cost, outcome.detail["limit"], outcome.detail["criterion"]
    ('budget', 2000, 'examples', 'open_error <= 0.1')
    """
    each = suite.entries().get(str(task.params.get("instance")))
    if each is None or task.params.get("digest") != f"sha256:{each.digest[:16]}":
        raise TrialEnded("refused", "this version's suite has no such instance")
    kinds = {"learner": _learned, "attack": _attacked, "game": _played}
    return kinds[task.solver["kind"]](task, suite.instance(each.name), root, guard)


def _judged(instance: Instance, seed: int) -> tuple[Judged, Criterion]:
    """Fresh inputs, and what solves: for structured families, on the rows that tell of the secret."""
    judged = fresh(instance, JUDGED, seed)
    return judged, EXPLAINED if judged.values is None else OPEN


def _learned(task: Task, instance: Instance, root: int, guard: float) -> Outcome:
    """A learner until the criterion is met or it would exceed a budget: there it is censored; `limit` says by which.

    The cost is the number of distinct examples that it was judged after; a crash adds none.
    """
    shared, solver = task.shared(), task.solver
    judged, rule = _judged(instance, shared.seed(root, "fresh"))
    named = {"learner": solver["learner"], "options": solver.get("params", {}), "known": instance.heads}
    learner, own = LearnerAdapter(seed=0, **named).learner, task.seed(root, "solver")
    most = int(task.budget["samples"])
    told = lives(learner, instance, stream(instance, shared.seed(root, "examples")), most,
                 float(task.budget["work"]), int(solver.get("passes", 0)), own)  # fmt: skip
    opener, streamed = partial(opened, named, own, time.monotonic() + guard), hasattr(learner, "partial_fit")
    ending = until_solved(opener, told, streamed, judged, rule)
    spent = ending.spent
    detail: dict[str, Any] = {"criterion": rule.name}
    if spent.distinct:
        said = {rule.score: ending.score, "gradient_examples": spent.gradient, "multiply_adds": spent.multiply_adds}
        detail |= {name: round(value, 4) for name, value in said.items() if value is not None}
    if ending.error is not None:
        found = outcome_of(ending.error, guard)
        return Outcome(found.status, spent.distinct, detail | dict(found.detail))
    if ending.solved:
        return Outcome("solved", spent.distinct, detail)
    more = spent.distinct + 1 if streamed and not solver.get("passes") else 2 * spent.distinct
    limit = "examples" if more > most else "multiply-adds"
    return Outcome("budget", spent.distinct, detail | {"limit": limit})


def _attacked(task: Task, instance: Instance, root: int, guard: float) -> Outcome:
    """An attack: the secret that it names is judged as learners are. The cost is the examples that it used."""
    shared = task.shared()
    sampling = shared.seed(root, "examples")
    judged, rule = _judged(instance, shared.seed(root, "fresh"))
    public, budget = instance.public(sampling), int(task.budget["work"])
    named = {"attack": task.solver["attack"], "public": public, "budget": budget}
    opener = partial(opened, named, task.seed(root, "solver"), time.monotonic() + guard)
    detail: dict[str, Any] = {"criterion": rule.name}
    try:
        (point,) = evaluations(opener, False, stream(instance, sampling), judged, [int(task.budget["samples"])])
    except (TrialEnded, TimeoutError) as error:
        found = outcome_of(error, guard)
        return Outcome(found.status, None, detail | {"reason": found.detail.get("reason", "")})
    detail |= {
        name: round(value, 4) for name, value in point.scores.items() if name == rule.score and value is not None
    }
    return Outcome("solved" if rule.met(point.scores) else "wrong", point.work["examples"], detail)


def _played(task: Task, instance: Instance, root: int, guard: float) -> Outcome:
    """A strategy against the window adversary on the instance's class of labels. The cost is its queries."""
    from hardness.sq.game import play

    solver = task.solver
    played = play(
        instance.family, solver["strategy"], solver["oracle"], solver["tolerance"], seed=task.seed(root, "solver"),
        max_queries=int(task.budget["queries"]), flip=instance.parameters.get("flip", 0.0),
    )  # fmt: skip
    detail = {"criterion": "remaining <= 1", "concepts": played.concepts, "remaining": played.remaining}
    return Outcome(played.status, played.queries, detail | ({"bound": played.bound} if played.bound else {}))
