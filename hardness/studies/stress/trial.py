"""How many examples every learner needs on every family at m heads, beside what is proved.

Two counts stand beside the measured ones and are neither of them examples of a learner. `monomials` is the block-size
null model: what a label of that degree costs anyone who knows nothing but its degree. `sq_bound` is a lower bound on
statistical queries. A need below the first is structure that a learner found; only the second is hardness.
"""

import time
from typing import Any

import numpy as np

from hardness import registry
from hardness.concepts import ParityConcepts
from hardness.gadget import Gadget
from hardness.instance import Instance, every_pair
from hardness.judging import judge, solved
from hardness.sq.oracle import Window
from hardness.study.apart import Apart
from hardness.study.outcome import Ended, Outcome, ended
from hardness.study.task import Task

FITTER = "hardness.studies.players:Fitter"
TOLERANCE = 0.1  # of the statistical queries in `sq_bound`
JUDGED = 2000  # fresh examples to judge on
BITS = 16  # of the inputs on which the degree of labels is found by a transform


def sizes(budget: Any) -> list[int]:
    """The grid of sizes of a trial: by `factor` to the last within `samples`.

    >>> sizes({"samples": 1024, "from": 64, "factor": 4})
    [64, 256, 1024]
    """
    found = [int(budget["from"])]
    while (size := found[-1] * int(budget["factor"])) <= int(budget["samples"]):
        found.append(size)
    return found


def climb(task: Task, root: int, guard: float) -> Outcome:
    """Fit on the first examples of one stream, more of them each time, until the lab judges the instance solved.

    The cost is the least size on the grid that solved it, or the last one tried. Every fit is a fresh learner in a
    process apart. All learners meet the same instance and examples in the same repetition.
    """
    deadline = time.monotonic() + guard
    shared = task.shared()
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    stream, fresh = shared.seed(root, "examples"), instance.examples(JUDGED, shared.seed(root, "fresh"), fair=True).X
    params = {"learner": task.solver["learner"], "heads": instance.heads, "options": task.solver["params"]}
    detail: dict[str, Any] = {"degree": degree(instance)}
    tried, source, refused = 0, None, None
    for size in sizes(task.budget):
        try:
            with Apart(FITTER, params, task.seed(root, "solver"), deadline) as learner:
                source = learner.source
                train = instance.examples(size, stream)
                learner.partial_fit(train.X, train.Y)
                scores = judge(instance, fresh, learner.predict(fresh))
        except (Ended, TimeoutError) as error:
            refused = ended(error, guard)
            if refused.status != "refused":
                return Outcome(refused.status, tried, {**detail, **refused.detail}, source=source)
        else:
            refused = None
            detail |= {name: round(value, 3) for name, value in scores.items() if value is not None}
            if solved(scores):
                return Outcome("solved", size, detail, source=source)
        tried = size
    if refused is not None:
        return Outcome("refused", tried, {**detail, **refused.detail}, source=source)
    return Outcome("budget", tried, detail, source=source)


def degree(instance: Instance) -> int | None:
    """Degree of the labels of a structured instance in the signs of its inputs; None for real labels, of full degree.

    By a transform over all inputs up to `BITS` of them. Beyond, 2s + 1 for a parity of s coordinates in which two
    tokens differ, and None for rounding.

    >>> from hardness.families.parity import Parity
    >>> [degree(Instance.generate(Parity(dim=dim, heads=4), seed=0)) for dim in (7, 70)]
    [9, 9]
    """
    from hardness.compiled.walsh import walsh_hadamard

    teacher = instance.teacher
    if not isinstance(teacher, Gadget):
        return None
    if 2 * instance.family.dim > BITS:
        concepts = instance.family.concepts()
        return 2 * concepts.s + 1 if isinstance(concepts, ParityConcepts) else None
    table = np.ascontiguousarray(teacher.labels(every_pair(instance.family.dim))[:, 0, 0])
    walsh_hadamard(table)
    (present,) = np.nonzero(np.abs(table) > 1e-9 * len(table))
    return int(np.bitwise_count(present).max())


def sq_bound(task: Task, tolerance: float = TOLERANCE) -> float | None:
    """Queries of this tolerance that any statistical-query learner needs at least; None where nothing is proved.

    Parity: theory 2.5; rounding: theory 2.6 for the labels of its heads. Less than one query is nothing proved.

    >>> tasks = [Task("parity", {"dim": 12, "heads": m}, {}, {}, 0) for m in (4, 11)]
    >>> [sq_bound(task) for task in tasks]
    [26.320000000000004, None]
    """
    concepts = registry.get("family", task.family)(**task.params).concepts()
    bound = Window.bound(concepts, tolerance) if concepts else None
    return bound if bound is not None and bound >= 1 else None
