"""The grid of `stress`: every learner of the house at every m, on hidden parities and on random layers."""

from importlib.util import find_spec
from typing import Any

from hardness import registry
from hardness.engine.task import Task

QUESTION = "Which learners solve hard and nice layers of m heads within equal budgets?"

DIM, RUNS = 12, 5
HEADS = (2, 3, 4, 5, 6, 7, 8)
NICE_HEADS = (2, 4, 6, 8)  # where random layers are tried: the outcomes change little with m
EXAMPLES, WORK = 1 << 20, 10_000_000_000  # what every run may spend: examples, and multiply-adds
SMALL_DIM, SMALL_HEADS, SMALL_RUNS = 8, (2, 3), 1
SMALL_EXAMPLES, SMALL_WORK = 1 << 17, 1_000_000_000
LEAST = 256  # examples that a learner which fits once is given first; then twice as many each time
HANDED = ("sgd",)  # who is handed the products of the tokens: a best case, for parities alone
# Variants of a learner. Searches make one start a fit, and ridges are told their penalty: both then reach further.
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "student": ({}, {"optimizer": "sgd"}),
    "direct": ({"starts": 1},),
    "lbfgs": ({"starts": 1, "iterations": 1000},),
    "adam": ({"iterations": 1000},),
    "low-degree": ({"alpha": 1e-3},),
    "random-features": ({"alpha": 1e-3, "n_heads": 150},),
    "linear-attention": ({"alpha": 1e-6},),
}
# Seconds of a run that spends its budget on parities; what has no entry is taken for the last.
FAILING = {"direct": 2.5, "lbfgs": 2.5, "adam": 5.0, "low-degree": 0.6, "provable": 0.5, "sgd": 1.2, "": 1.5}


def tasks(quick: bool) -> list[Task]:
    """Every learner of the house on every cell; Adam only where torch is installed."""
    known = [name for name in registry.names("learner", builtin=True) if name != "adam" or find_spec("torch")]
    return [task for name in known for task in user_learner_tasks(quick, name)]


def cells(quick: bool) -> list[tuple[str, dict[str, Any]]]:
    """Family and parameters of every cell."""
    dim, heads, nice = (SMALL_DIM, SMALL_HEADS, SMALL_HEADS) if quick else (DIM, HEADS, NICE_HEADS)
    found: list[tuple[str, dict[str, Any]]] = [("parity", {"dim": dim, "heads": m}) for m in heads]
    return [*found, *(("nondegenerate", {"dim": dim, "tokens": 2, "heads": m}) for m in nice)]


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """One learner, registered or ``package.module:Class``, on every cell."""
    samples, work, runs = (SMALL_EXAMPLES, SMALL_WORK, SMALL_RUNS) if quick else (EXAMPLES, WORK, RUNS)
    return [
        Task(
            family,
            params,
            {"kind": "stress", "learner": learner, "params": options},
            {"samples": samples, "work": work, "from": LEAST},
            run,
        )
        for options in VARIANTS.get(learner, ({},))
        for family, params in cells(quick)
        if family == "parity" or learner not in HANDED
        for run in range(runs)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: on parities of one that spends its budget, on random layers of a third."""
    whole = FAILING.get(task.solver["learner"], FAILING[""]) * float(task.budget["work"]) / WORK
    return 0.1 + whole * (1.0 if task.family == "parity" else 0.3)
