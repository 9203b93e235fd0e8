"""The trials that several studies share: games, online learners looked at as they learn, attacks and single fits."""

import time
from dataclasses import replace

import numpy as np

from hardness import registry
from hardness.engine.apart import Apart
from hardness.engine.outcome import Ended, Outcome, Trial, ended
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.evaluation.judge import judge, sign_accuracy, solved
from hardness.examples import Examples
from hardness.families.concepts import Concepts, ParityConcepts
from hardness.gadgets.coefficients import Gadget, informative
from hardness.instance import Instance

CHECK, SPACING = 160, 1.03  # an online learner is looked at every 160 examples (five updates), later every 3 %
HELD_OUT = {"screen": 256, "confirm": 4096}  # informative examples for every look, and for when those say yes
ACCURACY = 0.9
JUDGED = 1000  # fresh examples on which a learner that fits once, or an attack, is judged


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial of any of these kinds, by the task's solver."""
    return _KINDS[task.solver["kind"]](task, root, guard)


def concepts_of(task: Task) -> Concepts:
    """The concept class of a task's family; raises `InputError` where the family has none."""
    from hardness.sq.lookup import class_of

    return class_of(registry.get("family", task.family)(**task.params))


def size_of_class(concepts: Concepts) -> int:
    """What the cost of a class is drawn against: s of parities, n of rounding."""
    return concepts.s if isinstance(concepts, ParityConcepts) else concepts.n


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
    """A learner apart sees more and more examples until its signs are right on fresh ones, or the budget is spent."""
    deadline = time.monotonic() + guard
    instance = Instance.generate(registry.get("family", task.family)(**task.params), task.seed(root, "instance"))
    teacher = instance.teacher
    if not isinstance(teacher, Gadget):
        raise InputError(f"online learners are judged by signs, and {task.family} has none; give a structured family")
    screen, confirm = (_informative(instance, task.seed(root, role), n) for role, n in HELD_OUT.items())
    stream, budget, spent, source = task.seed(root, "examples"), int(task.budget["samples"]), 0, None
    try:
        with Apart(task.solver["learner"], task.solver["params"], task.seed(root, "solver"), deadline) as learner:
            source = learner.source
            while spent < budget:
                look = min(budget, max(spent + CHECK, int(SPACING * spent)))
                chunk = instance.examples(look - spent, stream, start=spent)
                learner.partial_fit(chunk.X, chunk.Y)
                spent = look
                for held_out in (screen, confirm):
                    predicted = learner.predict(held_out.X)
                    if not np.isfinite(predicted).all():
                        return Outcome("wrong", spent, {"reason": "predictions are not finite"}, source=source)
                    accuracy = sign_accuracy(teacher, held_out.X, predicted, held_out.Y)
                    if accuracy < ACCURACY:
                        break
                else:
                    return Outcome("solved", spent, {"accuracy": round(accuracy, 6)}, source=source)
    except (Ended, TimeoutError) as error:
        return replace(ended(error, guard), cost=spent, source=source)
    return Outcome("budget", spent, {"accuracy": round(accuracy, 6)}, source=source)


def _informative(instance: Instance, seed: int, count: int) -> Examples:
    """Fresh inputs with z_0 != 0 and their noiseless outputs."""
    X = instance.examples(3 * count, seed, fair=True).X
    X = X[informative(X)][:count]
    return Examples(X, instance.teacher(X))


def one_shot(task: Task, root: int, guard: float) -> Outcome:
    """A trial of kind `attack` or `fit`: the solver gets arrays in a process apart, and is judged on fresh inputs."""
    deadline = time.monotonic() + guard
    instance = Instance.generate(registry.get("family", task.family)(**task.params), task.seed(root, "instance"))
    stream, count = task.seed(root, "examples"), int(task.budget["samples"])
    train = instance.examples(count, stream)
    fresh = instance.examples(JUDGED, stream, start=count, fair=True).X
    solver = task.solver
    if solver["kind"] == "attack":
        name = "hardness.studies.players:Attacker"
        params = {"attack": solver["attack"], "public": instance.public(stream), "budget": int(task.budget["work"])}
    else:
        name = "hardness.studies.players:Fitter"
        params = {"learner": solver["learner"], "heads": instance.heads, "options": solver["params"]}
    source = None
    mass = {"error_mass": instance.certificate["error_mass"]} if "error_mass" in instance.certificate else {}
    try:
        with Apart(name, params, task.seed(root, "solver"), deadline) as player:
            source = player.source
            player.partial_fit(train.X, train.Y)
            scores = judge(instance, fresh, player.predict(fresh))
            work = player.work()
    except (Ended, TimeoutError) as error:
        outcome = ended(error, guard)
        return replace(outcome, cost=count, detail={**mass, **outcome.detail}, source=source)
    shown = mass | work | {name: round(value, 6) for name, value in scores.items() if value is not None}
    return Outcome("solved" if solved(scores) else "wrong", count, shown, source=source)


_KINDS: dict[str, Trial] = {
    "game": game,
    "learner": online,
    "attack": one_shot,
    "fit": one_shot,
}
