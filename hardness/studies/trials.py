"""The trials that several studies share: games, online learners, solvers that are given more and more examples."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hardness import registry
from hardness.engine.outcome import CRASHED, Outcome, TrialEnded, outcome_of
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.evaluation.judge import Criterion, fresh, sizes
from hardness.evaluation.learning import solves
from hardness.evaluation.until import Cost, Life, evaluations, stream, until_solved
from hardness.evaluation.worker import opened
from hardness.families.concepts import Concepts
from hardness.instance import Instance

if TYPE_CHECKING:
    from hardness.sq.game import GameResult

CHECK, SPACING = 160, 1.03  # an online learner is looked at every 160 examples (five updates), later every 3 %
HELD_OUT = 4096  # fresh examples to judge it on, half of them informative
ACCURATE = Criterion("sign_accuracy", 0.9)
FIRST, FITTED, STREAMED = 64, 2**0.5, 1.1  # examples of `least`, and how many times as many come next
JUDGED = 2000  # fresh examples on which it judges


def concepts_of(task: Task) -> Concepts:
    """The concept class of a task's family; raises `InputError` where the family has none."""
    from hardness.sq.game import class_of

    return class_of(registry.get("family", task.family)(**task.params))


def played(task: Task, root: int) -> "GameResult":
    """A strategy against an oracle, the window unless the solver names another, on the concept class of the family."""
    from hardness.sq.game import play

    solver, flip = task.solver, task.params.get("flip", 0.0)
    oracle, seed, limit = solver.get("oracle", "window"), task.seed(root, "solver"), task.budget.get("queries")
    return play(concepts_of(task), solver["strategy"], oracle, solver["tolerance"], seed=seed, max_queries=limit,
                flip=flip)  # fmt: skip


def opener(
    task: Task, instance: Instance, sampling: int, root: int, guard: float
) -> Callable[[], AbstractContextManager[Any]]:
    """What opens the learner or attack of a task for `evaluations`, until `guard` seconds from now are over."""
    solver = task.solver
    if "attack" in solver:
        public, budget = instance.public(sampling), task.budget.get("work")
        named = {"attack": solver["attack"], "public": public, "budget": budget}
    else:
        named = {"learner": solver["learner"], "known": instance.heads, "options": solver.get("params", {})}
    return partial(opened, named, task.seed(root, "solver"), time.monotonic() + guard)


def online(task: Task, root: int, guard: float) -> Outcome:
    """A learner sees more and more examples until its signs are right on fresh ones, or the budget is spent."""
    instance = Instance.generate(registry.get("family", task.family)(**task.params), task.seed(root, "instance"))
    sampling, judged = task.seed(root, "examples"), fresh(instance, HELD_OUT, task.seed(root, "screen"))
    if judged.values is None:
        raise InputError(f"online learners are judged by signs, and {task.family} has none; give a structured family")
    ends = sizes(int(task.budget["samples"]), CHECK, SPACING)
    life = Life(stream(instance, sampling), {size: Cost(size, size, None) for size in ends})
    ending = until_solved(opener(task, instance, sampling, root, guard), [life], True, judged, ACCURATE)
    if ending.error is not None:
        return replace(outcome_of(ending.error, guard), cost=ending.spent.distinct)
    accuracy = {"accuracy": round(ending.score or 0.0, 6)}
    return Outcome("solved" if ending.solved else "budget", ending.spent.distinct, accuracy)


def least(task: Task, root: int, guard: float) -> Outcome:
    """The cost is queries of a game; of a learner or an attack, the least examples tried that sufficed.

    All solvers meet the same instance and examples in the same repetition. What solves is what solves in `learn`.

    >>> solver = {"kind": "sweep", "attack": "gaussian"}
    >>> outcome = least(Task("parity", {"dim": 12, "heads": 3}, solver, {"samples": 500}, 0), 0, 60.0)
    >>> outcome.status, outcome.cost
    ('solved', 128)
    """
    if "strategy" in task.solver:
        game = played(task, root)
        detail = {name: getattr(game, name) for name in ("concepts", "remaining", "confirmations")}
        return Outcome(game.status, game.queries, detail)
    shared, streamed = task.shared(), bool(task.solver.get("online"))
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    sampling, judged = shared.seed(root, "examples"), fresh(instance, JUDGED, shared.seed(root, "fresh"))
    own, rule = opener(task, instance, sampling, root, guard), solves(judged, streamed)
    last = Outcome("budget", 0)
    at = list(sizes(int(task.budget["samples"]), FIRST, STREAMED if streamed else FITTED))
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
