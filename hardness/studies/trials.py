"""The trials that several studies share: games, online learners looked at as they learn, attacks and single fits."""

import time
from dataclasses import replace
from functools import partial

from hardness import registry
from hardness.engine.outcome import Outcome, Trial, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.evaluation.judge import Criterion, fresh, sizes
from hardness.evaluation.learning import solves
from hardness.evaluation.until import evaluations, stream
from hardness.evaluation.worker import opened
from hardness.families.concepts import Concepts
from hardness.instance import Instance

CHECK, SPACING = 160, 1.03  # an online learner is looked at every 160 examples (five updates), later every 3 %
HELD_OUT = 4096  # fresh examples to judge on, half of them informative
ACCURATE = Criterion("sign_accuracy", 0.9)
JUDGED = 1000  # fresh examples on which a learner that fits once, or an attack, is judged


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial of any of these kinds, by the task's solver."""
    return _KINDS[task.solver["kind"]](task, root, guard)


def concepts_of(task: Task) -> Concepts:
    """The concept class of a task's family; raises `InputError` where the family has none."""
    from hardness.sq.game import class_of

    return class_of(registry.get("family", task.family)(**task.params))


def game(task: Task, root: int, guard: float) -> Outcome:
    """A strategy against an oracle on the concept class of the task's family."""
    from hardness.sq.game import play

    solver = task.solver
    result = play(
        concepts_of(task),
        solver["strategy"],
        solver["oracle"],
        solver["tolerance"],
        seed=task.seed(root, "solver"),
        max_queries=task.budget.get("queries"),
        samples=solver.get("samples"),
        flip=task.params.get("flip", 0.0),
    )
    detail = {"concepts": result.concepts, "remaining": result.remaining, "confirmations": result.confirmations}
    return Outcome(result.status, result.queries, detail)


def online(task: Task, root: int, guard: float) -> Outcome:
    """A learner sees more and more examples until its signs are right on fresh ones, or the budget is spent."""
    deadline, solver, budget = time.monotonic() + guard, task.solver, int(task.budget["samples"])
    instance = Instance.generate(registry.get("family", task.family)(**task.params), task.seed(root, "instance"))
    judged = fresh(instance, HELD_OUT, task.seed(root, "screen"))
    if judged.values is None:
        raise InputError(f"online learners are judged by signs, and {task.family} has none; give a structured family")
    named = {"learner": solver["learner"], "options": solver["params"]}
    own = partial(opened, named, task.seed(root, "solver"), deadline)
    given, spent, accuracy = stream(instance, task.seed(root, "examples")), 0, 0.0
    try:
        for point in evaluations(own, True, given, judged, sizes(budget, CHECK, SPACING)):
            spent, accuracy = point.examples, point.scores["sign_accuracy"] or 0.0
            if not point.finite:
                return Outcome("wrong", spent, {"reason": "predictions are not finite"})
            if ACCURATE.met(point.scores):
                return Outcome("solved", spent, {"accuracy": round(accuracy, 6)})
    except (TrialEnded, TimeoutError) as error:
        return replace(outcome_of(error, guard), cost=spent)
    return Outcome("budget", spent, {"accuracy": round(accuracy, 6)})


def one_shot(task: Task, root: int, guard: float) -> Outcome:
    """A trial of kind `attack` or `fit`: the solver gets arrays, and is judged on fresh inputs."""
    deadline, solver = time.monotonic() + guard, task.solver
    instance = Instance.generate(registry.get("family", task.family)(**task.params), task.seed(root, "instance"))
    sampling, count = task.seed(root, "examples"), int(task.budget["samples"])
    judged = fresh(instance, JUDGED, sampling, start=count)
    if solver["kind"] == "attack":
        public, budget = instance.public(sampling), int(task.budget["work"])
        named = {"attack": solver["attack"], "public": public, "budget": budget}
    else:
        named = {"learner": solver["learner"], "known": instance.heads, "options": solver["params"]}
    mass = {"error_mass": instance.certificate["error_mass"]} if "error_mass" in instance.certificate else {}
    own, rule = partial(opened, named, task.seed(root, "solver"), deadline), solves(judged, streamed=False)
    try:
        (point,) = evaluations(own, False, stream(instance, sampling), judged, [count])
        point.accepted()
    except (TrialEnded, TimeoutError) as error:
        outcome = outcome_of(error, guard)
        return replace(outcome, cost=count, detail={**mass, **outcome.detail})
    figures = {name: round(value, 6) for name, value in point.scores.items() if value is not None}
    shown = {**mass, **point.work, "criterion": rule.name, **figures}
    return Outcome("solved" if rule.met(point.scores) else "wrong", count, shown)


_KINDS: dict[str, Trial] = {
    "game": game,
    "learner": online,
    "attack": one_shot,
    "fit": one_shot,
}
