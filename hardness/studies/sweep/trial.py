"""A trial of a sweep: a game, or a learner or attack that is given more and more examples until it is right."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.engine.apart import Apart
from hardness.engine.outcome import CRASHED, Ended, Outcome, ended
from hardness.engine.task import Task
from hardness.evaluation import online
from hardness.evaluation.judge import judge, solved
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
    deadline, shared = time.monotonic() + guard, task.shared()
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    stream, fresh = shared.seed(root, "examples"), instance.examples(JUDGED, shared.seed(root, "fresh")).X
    last = Outcome("budget", 0)
    looks = _streamed if task.solver.get("online") else _fitted
    try:
        for look in looks(task, task.seed(root, "solver"), instance, stream, fresh, deadline):
            last = look
    except (Ended, TimeoutError) as error:
        return replace(ended(error, guard), cost=last.cost, source=last.source)
    return last


def _fitted(
    task: Task, seed: int, instance: Instance, stream: int, fresh: NDArray[np.int8], deadline: float
) -> Iterator[Outcome]:
    """A fresh solver at every size: how each ended, until one solves or crashes."""
    solver = task.solver
    if "attack" in solver:
        name = "hardness.studies.players:Attacker"
        params = {"attack": solver["attack"], "public": instance.public(stream), "budget": task.budget.get("work")}
    else:
        name = "hardness.studies.players:Fitter"
        params = {"learner": solver["learner"], "heads": instance.heads, "options": solver["params"]}
    for size in online.sizes(int(task.budget["samples"]), FIRST, SPACING):
        try:
            with Apart(name, params, seed, deadline) as player:
                train = instance.examples(size, stream)
                player.partial_fit(train.X, train.Y)
                scores = judge(instance, fresh, player.predict(fresh))
            found = _outcome(size, scores, solved(scores), player.source)
        except Ended as error:
            status = error.status if error.status in (*CRASHED, "refused") else "budget"
            found = Outcome(status, size, {"reason": error.reason})
        yield found
        if found.status in ("solved", *CRASHED):
            return


def _streamed(
    task: Task, seed: int, instance: Instance, stream: int, fresh: NDArray[np.int8], deadline: float
) -> Iterator[Outcome]:
    """One learner that sees every example once, looked at on the way."""
    spent = 0
    with Apart(task.solver["learner"], task.solver["params"], seed, deadline) as learner:
        for size in online.sizes(int(task.budget["samples"]), FIRST, ONLINE_SPACING):
            online.stream(instance, learner, stream, spent, size)
            spent, scores = size, judge(instance, fresh, learner.predict(fresh))
            yield _outcome(size, scores, online.solved(scores), learner.source)
            if online.solved(scores):
                return


def _outcome(size: int, scores: Mapping[str, float | None], won: bool, source: str | None) -> Outcome:
    shown = {name: round(value, 6) for name, value in scores.items() if value is not None}
    return Outcome("solved" if won else "budget", size, shown, source=source)
