"""One trial, from task to outcome. What happens to the solver is a status here, never an exception."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hardness.errors import InputError
from hardness.examples import Examples
from hardness.gadget import Gadget
from hardness.instance import Instance
from hardness.study.apart import Apart, Died, Malformed, Raised
from hardness.study.task import Task

STATUSES = ("solved", "wrong", "budget", "timeout", "error", "killed", "refused")
CHECK, SPACING = 160, 1.03  # an online learner is looked at every 160 examples (five updates), later every 3 %
HELD_OUT = {"screen": 256, "confirm": 4096}  # informative examples for every look, and for when those say yes
ACCURACY = 0.9
LOST = (Raised, Died, Malformed, TimeoutError)
CRASHED = ("error", "killed")  # nothing that was measured


@dataclass(frozen=True)
class Outcome:
    """How a trial ended. `cost`: queries or samples spent, solved or not (None: unknown); `detail` is JSON-able."""

    status: str
    cost: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    source: str | None = None  # digest of the learner's source file


def run_trial(task: Task, root: int, guard: float) -> Outcome:
    """Run one trial; `guard` seconds of wall-clock end it as `timeout`.

    >>> task = Task("parity", {"dim": 10, "heads": 2}, {"kind": "nonsense"}, {}, repetition=0)
    >>> run_trial(task, root=0, guard=10).status
    'error'
    """
    begin = time.perf_counter()
    try:
        outcome = _KINDS[task.solver["kind"]](task, root, guard)
    except TimeoutError:
        outcome = Outcome("timeout", detail={"reason": f"over {guard:g} s"})
    except MemoryError:
        outcome = Outcome("killed", detail={"reason": "out of memory"})
    except Exception as error:
        outcome = Outcome("error", detail={"reason": f"{type(error).__name__}: {error}".splitlines()[0]})
    seconds = time.perf_counter() - begin
    return Outcome(outcome.status, outcome.cost, outcome.detail, seconds, outcome.source)


def lost(error: Exception, cost: float, guard: float, source: str | None = None) -> Outcome:
    """The outcome of a trial whose learner, run apart, raised one of `LOST` after `cost` examples.

    An exception `Ended` whose text starts with a status other than solved is that status, said by a wrapped learner.

    >>> lost(Raised("Ended: refused: too few examples"), 64, guard=60).status
    'refused'
    """
    reason = f"over {guard:g} s" if isinstance(error, TimeoutError) else str(error)
    status = {TimeoutError: "timeout", Died: "killed", Malformed: "refused", Raised: "error"}[type(error)]
    kind, _, told = reason.partition(": ")
    said, _, why = told.partition(": ")
    if kind == "Ended" and said in ("wrong", "budget", "refused"):  # never solved: the lab says that
        status, reason = said, why
    return Outcome(status, cost, {"reason": reason}, source=source)


def hidden_size(params: Mapping[str, Any]) -> int:
    """s = |S| of the parity family: m heads hide s = m (diag) or m/2 (dot) coordinates."""
    heads = int(params["heads"])
    return heads // 2 if params.get("gadget") == "dot" else heads


def _game(task: Task, root: int, guard: float) -> Outcome:
    from hardness.concepts import ParityConcepts
    from hardness.sq.game import play

    if task.family != "parity":
        raise InputError(f"games are played on parity, got family '{task.family}'")
    solver = task.solver
    result = play(
        ParityConcepts(task.params["dim"] - 1, hidden_size(task.params)),
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


def _learner(task: Task, root: int, guard: float) -> Outcome:
    from hardness import families
    from hardness.learning import sign_accuracy

    deadline = time.monotonic() + guard
    instance = Instance.generate(families.get(task.family)(**task.params), task.seed(root, "instance"))
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
    except LOST as error:
        return lost(error, spent, guard, source)
    return Outcome("budget", spent, {"accuracy": round(accuracy, 6)}, source=source)


def _informative(instance: Instance, seed: int, count: int) -> Examples:
    """Fresh inputs with z_0 != 0 and their noiseless outputs."""
    X = instance.examples(3 * count, seed).X
    X = X[X[:, 0, 0] != X[:, 1, 0]][:count]
    return Examples(X, instance.teacher(X))


def _contest(task: Task, root: int, guard: float) -> Outcome:
    from hardness.studies.contest.trial import contest

    return contest(task, root, guard)


def _stress(task: Task, root: int, guard: float) -> Outcome:
    from hardness.studies.stress.trial import climb

    return climb(task, root, guard)


_KINDS: dict[str, Callable[[Task, int, float], Outcome]] = {
    "game": _game,
    "learner": _learner,
    "attack": _contest,
    "fit": _contest,
    "stress": _stress,
}
