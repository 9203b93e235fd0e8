"""The study `stress`: how many examples every learner needs on every family at m heads, beside what is proved.

Two counts stand beside the measured ones and are neither of them examples of a learner. `monomials` is the block-size
null model: what a label of that degree costs anyone who knows nothing but its degree. `sq_bound` is a lower bound on
statistical queries. A need below the first is structure that a learner found; only the second is hardness.
"""

import time
from importlib.util import find_spec
from math import comb
from typing import Any

import numpy as np

from hardness.gadget import Gadget
from hardness.instance import Instance, every_pair
from hardness.study.apart import Apart
from hardness.study.task import Task
from hardness.study.trial import LOST, Outcome, hidden_size, lost

FITTER = "hardness.studies.contest.trial:Fitter"
TOLERANCE = 0.1  # of the statistical queries in `sq_bound`
LEAST, JUDGED = 64, 2000  # the smallest size on every grid of sizes; fresh examples to judge on
DIM, LARGE = 8, 12
# Variants of a learner: options, and the most examples it is given, set by what a failing fit takes in time.
VARIANTS: dict[str, tuple[tuple[dict[str, Any], int], ...]] = {
    "direct": (({}, 2**10),),
    "lbfgs": (({}, 2**9),),
    "low-degree": (({}, 2**11), ({"degree": 5}, 2**13)),  # degree 5, that of a parity of two, is the null model itself
    "provable": (({}, 2**15),),
    "random-features": (({}, 2**10),),
    "sgd": (({}, 2**16),),
}
OTHERS: tuple[tuple[dict[str, Any], int], ...] = (({}, 2**11),)
CHEAP = ("provable", "sgd")  # the others get at most `QUICK` examples on the quick grid, and `BEYOND` beyond d = 8
QUICK, BEYOND = 2**10, 2**9
BITS = 16  # of the inputs on which the degree of labels is found by a transform

Entry = tuple[str, dict[str, Any], int]


def entries(quick: bool) -> list[Entry]:
    """Family, parameters and number of runs of every instance of the grid."""
    heads, runs = ((2, 3), 1) if quick else ((2, 3, 4), 5)
    found: list[Entry] = [("parity", {"dim": DIM, "heads": m}, runs) for m in heads]
    if not quick:
        found += [("parity", {"dim": DIM, "heads": m, "gadget": "dot"}, runs) for m in (2, 4)]
        found += [("parity", {"dim": LARGE, "heads": m}, 2) for m in heads]
    some = heads[:1] if quick else heads
    found += [("rounding", {"dim": DIM, "modulus": 17, "levels": 2, "heads": m}, runs) for m in some]
    paths = (0.5,) if quick else (0.1, 0.5)
    found += [("interpolation", {"dim": DIM, "heads": m, "rho": rho}, runs) for rho in paths for m in some]
    found += [("nondegenerate", {"dim": DIM, "tokens": 2, "heads": m}, runs) for m in some]
    return found


def tasks(quick: bool) -> list[Task]:
    """Every registered learner on every entry; Adam only where torch is installed."""
    from hardness import learning

    known = [name for name in learning.names() if name != "adam" or find_spec("torch")]
    return [task for name in known for task in guest(quick, name)]


def guest(quick: bool, learner: str) -> list[Task]:
    """One learner, registered or ``package.module:Class``, on every entry."""
    found = []
    for options, most in VARIANTS.get(learner, OTHERS):
        solver = {"kind": "stress", "learner": learner, "params": options}
        for family, params, runs in entries(quick):
            cap = most if learner in CHEAP else BEYOND if params["dim"] > DIM else QUICK if quick else most
            budget = {"samples": min(most, cap), "from": LEAST, "factor": 4 if quick else 2}
            found += [Task(family, params, solver, budget, run) for run in range(runs)]
    return found


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: of one that fails, but for searches on layers that are nice enough to be quick."""
    learner, params = task.solver["learner"], task.params
    if learner in ("direct", "lbfgs") and (task.family == "nondegenerate" or params.get("rho", 0) >= 0.5):
        return 1.0
    failing = {"direct": 13.0, "lbfgs": 13.0, "low-degree": 1.0, "provable": 0.7, "sgd": 1.0}.get(learner, 3.0)
    most = VARIANTS.get(learner, OTHERS)[0][1]
    return failing * (int(params["dim"]) / DIM) ** 2 * int(task.budget["samples"]) / most


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
    from hardness import families, learning

    deadline = time.monotonic() + guard
    shared = Task(task.family, task.params, {}, {}, task.repetition)
    instance = Instance.generate(families.get(task.family)(**task.params), shared.seed(root, "instance"))
    stream, fresh = shared.seed(root, "examples"), instance.examples(JUDGED, shared.seed(root, "fresh")).X
    params = {"learner": task.solver["learner"], "heads": instance.heads, "options": task.solver["params"]}
    detail: dict[str, Any] = {"degree": degree(instance)}
    tried, source, refused = 0, None, None
    for size in sizes(task.budget):
        try:
            with Apart(FITTER, params, task.seed(root, "solver"), deadline) as learner:
                source = learner.source
                train = instance.examples(size, stream)
                learner.partial_fit(train.X, train.Y)
                scores = learning.judge(instance, fresh, learner.predict(fresh))
        except LOST as error:
            refused = lost(error, tried, guard, source)
            if refused.status != "refused":
                return Outcome(refused.status, tried, {**detail, **refused.detail}, source=source)
        else:
            refused = None
            detail |= {name: round(value, 3) for name, value in scores.items() if value is not None}
            if learning.solved(scores):
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
        return 2 * hidden_size(instance.parameters) + 1 if instance.family.name == "parity" else None
    table = np.ascontiguousarray(teacher.labels(every_pair(instance.family.dim))[:, 0, 0])
    walsh_hadamard(table)
    (present,) = np.nonzero(np.abs(table) > 1e-9 * len(table))
    return int(np.bitwise_count(present).max())


def monomials(bits: int, degree: int) -> int:
    """Monomials of degree at most `degree` in `bits` signs: the block-size null model, in examples.

    Regression with fewer examples is underdetermined; with about as many it succeeds, whatever the family.

    >>> [monomials(2 * 8, 2 * s + 1) for s in (1, 2, 3)]
    [697, 6885, 26333]
    """
    return sum(comb(bits, j) for j in range(min(degree, bits) + 1))


def sq_bound(family: str, params: Any, tolerance: float = TOLERANCE) -> float | None:
    """Queries of this tolerance that any statistical-query learner needs at least; None where nothing is proved.

    parity: 8 τ² (C(d-1, s) - 1), theory 2.5; rounding: theory 2.6 for the labels of its m heads. Less than one query is
    nothing proved.

    >>> [sq_bound("parity", {"dim": 12, "heads": m}) for m in (4, 11)], sq_bound("nondegenerate", {"dim": 16})
    ([26.320000000000004, None], None)
    """
    from hardness.concepts import RoundingConcepts
    from hardness.sq.bounds.parity import window_bound
    from hardness.sq.bounds.rounding import adversary_bounds

    bound = 0.0
    if family == "parity":
        bound = window_bound(comb(int(params["dim"]) - 1, hidden_size(params)), tolerance)
    if family == "rounding":
        concepts = RoundingConcepts(params["dim"] - 1, params["modulus"], params["levels"], heads=params["heads"])
        bound = adversary_bounds(concepts, tolerance).get("window", 0.0)
    return bound if bound >= 1 else None
