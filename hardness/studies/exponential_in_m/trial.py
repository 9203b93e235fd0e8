"""One trial of `exponential-in-m`, by its solver."""

from hardness import registry
from hardness.engine.outcome import Outcome, Trial
from hardness.engine.task import Task
from hardness.instance import Instance
from hardness.studies import trials
from hardness.studies.wall.trial import trial as wall

JUDGED = 200  # fresh examples on which what elimination found must be right


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A game, an online learner judged by signs, the student, or elimination."""
    return KINDS[task.solver["kind"]](task, root, guard)


def elimination(task: Task, root: int, guard: float) -> Outcome:
    """Gaussian elimination on more and more examples of one stream, until it names the hidden set.

    The sizes go from `from` times d by `factor` to `samples` times d; the attack itself accepts an answer only if it
    reproduces examples that had no part in finding it, and here it must also be the hidden set.

    >>> budget = {"from": 0.5, "factor": 1.05, "samples": 100}
    >>> outcome = elimination(Task("parity", {"dim": 16, "heads": 3}, {"kind": "elimination"}, budget, 0), 0, 60.0)
    >>> outcome.status, 2 * 15 <= outcome.cost <= 2 * 15 + 80
    ('solved', True)
    """
    shared = task.shared()
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    stream, dim, size = shared.seed(root, "examples"), instance.family.dim, 0.0
    attack, public = registry.get("attack", "gaussian"), instance.public(stream)
    while size < task.budget["samples"] * dim:
        size = max(float(task.budget["from"]) * dim, float(task.budget["factor"]) * size, size + 1)
        examples = instance.examples(int(size), stream)
        found = attack(examples.X, examples.Y, public, seed=task.seed(root, "solver")).secret
        if found is not None and found["support"] == instance.secret["support"].tolist():
            return Outcome("solved", int(size))
    return Outcome("budget", int(size))


KINDS: dict[str, Trial] = {"game": trials.game, "learner": trials.online, "wall": wall, "elimination": elimination}
