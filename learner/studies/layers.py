"""What the studies of the provable learner share: random layers, met alike by all that differ only in the learner."""

from collections.abc import Mapping
from typing import Any

from hardness.engine.task import Task
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance

SPREAD = 2.0  # of the scores of random layers


def task_of(
    m: int, k: int, d: int, solver: Mapping[str, Any], samples: int, repetition: int, scale: float = SPREAD
) -> Task:
    """A task on random layers of m heads on k tokens in dimension d, with scores of spread `scale`."""
    params = {"dim": d, "tokens": k, "heads": m, "scale": scale}
    return Task("nondegenerate", params, solver, {"samples": samples}, repetition)


def instance_of(task: Task, root: int) -> Instance:
    """The random layer of a task, the same for all tasks that share it."""
    return Instance.generate(Nondegenerate(**task.params), task.shared(kind=task.solver["kind"]).seed(root, "instance"))
