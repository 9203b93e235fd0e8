"""A trial of `stress`: one learner, attack or strategy on one named instance."""

from typing import Any

from hardness.engine.outcome import Outcome, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.adapters import make
from hardness.evaluation.until import evaluations, lives, stream, until_solved
from hardness.evaluation.worker import opening
from hardness.instance import Instance, suite
from hardness.scores import EXPLAINED, OPEN, Criterion, Judged, fresh
from hardness.studies.trials import solver_of

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
    sampling, seed = shared.seed(root, "examples"), task.seed(root, "solver")
    learner, most = solver_of(task, instance, sampling), int(task.budget["samples"])
    given, work, passes = stream(instance, sampling), float(task.budget["work"]), int(solver.get("passes", 0))
    attempts = lives(make(learner, 0), instance, given, most, work, passes, seed)
    ending = until_solved(opening(learner, seed, guard), attempts, learner.streamed, judged, rule)
    spent = ending.spent
    detail: dict[str, Any] = {"criterion": rule.name}
    if ending.points:
        score = ending.points[-1].scores[rule.score]
        figures = {
            rule.score: score,
            "gradient_examples": spent.gradient,
            "multiply_adds": spent.multiply_adds,
        }
        detail |= {name: round(value, 4) for name, value in figures.items() if value is not None}
    if ending.error is not None:
        failure = outcome_of(ending.error, guard)
        return Outcome(failure.status, spent.distinct, detail | dict(failure.detail))
    if ending.solved:
        return Outcome("solved", spent.distinct, detail)
    more = spent.distinct + 1 if learner.streamed and not passes else 2 * spent.distinct
    limit = "examples" if more > most else "multiply-adds"
    return Outcome("budget", spent.distinct, detail | {"limit": limit})


def _attacked(task: Task, instance: Instance, root: int, guard: float) -> Outcome:
    """An attack: the secret that it names is judged as learners are. The cost is the examples that it used."""
    shared = task.shared()
    sampling = shared.seed(root, "examples")
    judged, rule = _judged(instance, shared.seed(root, "fresh"))
    opened = opening(solver_of(task, instance, sampling), task.seed(root, "solver"), guard)
    detail: dict[str, Any] = {"criterion": rule.name}
    try:
        (point,) = evaluations(
            opened, False, stream(instance, sampling), judged, [int(task.budget["samples"])]
        )
    except (TrialEnded, TimeoutError) as error:
        failure = outcome_of(error, guard)
        return Outcome(failure.status, None, detail | {"reason": failure.detail.get("reason", "")})
    detail |= {
        name: round(value, 4)
        for name, value in point.scores.items()
        if name == rule.score and value is not None
    }
    return Outcome("solved" if rule.met(point.scores) else "wrong", point.work["examples"], detail)


def _played(task: Task, instance: Instance, root: int, guard: float) -> Outcome:
    """A strategy against the window adversary on the instance's class of labels. The cost is its queries."""
    from hardness.sq.game import play

    solver = task.solver
    played = play(
        instance.family,
        solver["strategy"],
        solver["oracle"],
        solver["tolerance"],
        seed=task.seed(root, "solver"),
        max_queries=int(task.budget["queries"]),
        flip=instance.parameters.get("flip", 0.0),
    )
    detail = {"criterion": "remaining <= 1", "concepts": played.concepts, "remaining": played.remaining}
    return Outcome(played.status, played.queries, detail | ({"bound": played.bound} if played.bound else {}))
