"""The trials that several studies share: games, online learners, solvers that are given more and more examples."""

from dataclasses import replace
from typing import TYPE_CHECKING

from hardness import registry
from hardness.engine.outcome import CRASHED, Outcome, outcome_of
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.evaluation.solver import Solver
from hardness.evaluation.until import Ending, at_sizes, sizes, stream, until_solved
from hardness.evaluation.worker import opening
from hardness.families.concepts import Concepts
from hardness.instance import Instance
from hardness.scores import EXPLAINED, Criterion, fresh

if TYPE_CHECKING:
    from hardness.sq.game import GameResult

# An online learner is looked at every 160 examples (five updates), later every 3 %
CHECK, SPACING = 160, 1.03
HELD_OUT = 4096  # fresh examples to judge it on, half of them informative
ACCURATE = Criterion("sign_accuracy", 0.9)
FIRST, FITTED, STREAMED = 64, 2**0.5, 1.1  # examples of `solving_cost`, and how many times as many come next
JUDGED = 2000  # fresh examples on which it judges


def concepts_of(task: Task) -> Concepts:
    """Return the concept class of a task's family, what may be hidden. Raises `InputError` if the family has none."""
    from hardness.sq.game import class_of

    return class_of(registry.get("family", task.family)(**task.params))


def instance_of(task: Task, root: int) -> Instance:
    """Return the instance, a random member of the task's family, that the root seed determines."""
    return Instance.generate(registry.get("family", task.family)(**task.params), task.seed(root, "instance"))


def played(task: Task, root: int) -> "GameResult":
    """Play the task's strategy against its oracle (`window` by default) on its family's concepts; return the result."""
    from hardness.sq.game import play

    return play(
        concepts_of(task),
        task.solver["strategy"],
        task.solver.get("oracle", "window"),
        task.solver["tolerance"],
        seed=task.seed(root, "solver"),
        max_queries=task.budget.get("queries"),
        flip=task.params.get("flip", 0.0),
    )


def solver_of(task: Task, instance: Instance, sampling: int) -> Solver:
    """Return the learner or attack that a task names, ready to run on `instance`; `sampling` seeds the examples."""
    solver = task.solver
    if "attack" in solver:
        work = task.budget.get("work")
        options = {"public": instance.public(sampling), "budget": work if work is None else int(work)}
        return Solver("attack", solver["attack"], options)
    return Solver("learner", solver["learner"], solver.get("params", {}), heads_known=instance.heads)


def online(task: Task, root: int, guard: float) -> Outcome:
    """Feed an online learner until 90 % of its labels' signs on fresh examples are right, or its budget is spent."""
    instance = instance_of(task, root)
    sampling, judged = task.seed(root, "examples"), fresh(instance, HELD_OUT, task.seed(root, "screen"))
    if judged.values is None:
        raise InputError(
            f"online learners are judged by signs, and {task.family} has none; give a structured family"
        )
    ends = sizes(int(task.budget["samples"]), CHECK, SPACING)
    opened = opening(solver_of(task, instance, sampling), task.seed(root, "solver"), guard)
    ending = until_solved(opened, stream(instance, sampling), at_sizes(ends, True), True, judged, ACCURATE)
    if ending.error is not None:
        return replace(outcome_of(ending.error, guard), cost=ending.distinct)
    last = ending.last.scores[ACCURATE.score] if ending.last else 0.0
    accuracy = {"accuracy": round(last or 0.0, 6)}
    return Outcome("solved" if ending.solved else "budget", ending.distinct, accuracy)


def solving_cost(task: Task, root: int, guard: float) -> Outcome:
    """Run a game, learner or attack; its cost is the game's queries, or the fewest examples tried that sufficed.

    A game's detail holds its proved lower bounds, where known (`GameResult`). Learners and attacks have to explain 90 %
    of the variance of labels, and in the same repetition all meet the same instance and examples.
    """
    if "strategy" in task.solver:
        game = played(task, root)
        known = {name: getattr(game, name) for name in ("concepts", "remaining", "bound", "exact_floor")}
        return Outcome(
            game.status, game.queries, {name: value for name, value in known.items() if value is not None}
        )
    shared, streamed = task.shared(), bool(task.solver.get("online"))
    instance = instance_of(shared, root)
    sampling, judged = shared.seed(root, "examples"), fresh(instance, JUDGED, shared.seed(root, "fresh"))
    rule, spacing = EXPLAINED, STREAMED if streamed else FITTED
    ends = sizes(int(task.budget["samples"]), FIRST, spacing)
    opened = opening(solver_of(task, instance, sampling), task.seed(root, "solver"), guard)
    lives = at_sizes(ends, streamed)
    ending = until_solved(opened, stream(instance, sampling), lives, streamed, judged, rule)
    if ending.error is not None:
        return _gave_up(ending, streamed, guard)
    scores = ending.last.scores if ending.last else {}
    shown = {name: round(value, 6) for name, value in scores.items() if value is not None}
    status = "solved" if ending.solved else "budget"
    return Outcome(status, ending.distinct, {"criterion": rule.name, **shown} if ending.last else {})


def _gave_up(ending: Ending, streamed: bool, guard: float) -> Outcome:
    """Return the outcome of a solver that raised; if it is fitted anew (not `streamed`), most have status `budget`."""
    assert ending.error is not None
    outcome = outcome_of(ending.error, guard)
    if outcome.status == "timeout" or streamed:
        return replace(outcome, cost=ending.distinct)
    status = outcome.status if outcome.status in (*CRASHED, "refused") else "budget"
    return replace(outcome, status=status, cost=ending.asked)
