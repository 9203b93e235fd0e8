"""A trial of `stress`: one learner, attack or strategy on one named instance."""

from typing import Any

from hardness.engine.outcome import Outcome, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.adapters import make
from hardness.evaluation.effort import MULTIPLY_ADDS, Metered
from hardness.evaluation.until import LEAST, Ending, cost, evaluations, lives, stream, until_solved
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

    The cost is the number of distinct examples that it was judged after; a crash adds none. One that does not count
    its multiply-adds is ended by its CPU time, at as many of the reference kernel (`hardness.evaluation.effort`).
    """
    shared, solver = task.shared(), task.solver
    judged, rule = _judged(instance, shared.seed(root, "fresh"))
    sampling, seed = shared.seed(root, "examples"), task.seed(root, "solver")
    learner, most = solver_of(task, instance, sampling), int(task.budget["samples"])
    given, work, passes = stream(instance, sampling), float(task.budget["work"]), int(solver.get("passes", 0))
    made = make(learner, 0)
    counted = all(cost(instance, made, n).multiply_adds is not None for n in (LEAST, most))
    metered = Metered(opening(learner, seed, guard), None if counted else work / MULTIPLY_ADDS)
    attempts = lives(made, instance, given, most, work, passes, seed)
    ending = until_solved(metered, attempts, learner.streamed, judged, rule)
    detail = {"criterion": rule.name, "counted": counted} | _figures(ending, rule, metered)
    if ending.error is not None:
        failure = outcome_of(ending.error, guard)
        return Outcome(failure.status, ending.spent.distinct, detail | dict(failure.detail))
    if ending.solved:
        return Outcome("solved", ending.spent.distinct, detail)
    more = ending.spent.distinct + 1 if learner.streamed and not passes else 2 * ending.spent.distinct
    limit = "examples" if more > most else "multiply-adds"
    return Outcome("budget", ending.spent.distinct, detail | {"limit": limit})


def _figures(ending: Ending, rule: Criterion, metered: Metered) -> dict[str, float]:
    """The last score and what was spent by then, as far as they are known."""
    figures = {"reference_seconds": metered.reference_seconds if metered.complete else None}
    if ending.points:
        figures[rule.score] = ending.points[-1].scores[rule.score]
        figures["gradient_examples"] = ending.spent.gradient
        figures["multiply_adds"] = ending.spent.multiply_adds
    return {name: round(value, 4) for name, value in figures.items() if value is not None}


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
