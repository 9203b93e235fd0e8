"""The study `stress`, the board: who solves the named instances of `hardness.instance.suite`, and what it costs."""

from collections.abc import Mapping
from dataclasses import replace
from math import comb, log2
from pathlib import Path
from typing import Any

from hardness import families, registry
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.effort import MULTIPLY_ADDS as MULTIPLY_ADDS
from hardness.evaluation.effort import SIZE as SIZE
from hardness.families.parity import Parity
from hardness.instance import suite
from learner.studies.stress import trial as run

QUESTION = "Which learners, attacks and strategies solve which named layers, and at what price?"

EXAMPLES, WORK = 1 << 18, 6_000_000_000  # what every learner may spend at most: examples, and multiply-adds
SIGNS = 1 << 23  # of a token, in all examples: so many fit into a gigabyte for any learner
SMALL_WORK = 1_000_000_000
SAME = ("torch-student",)  # takes the steps of `student`, where torch is installed
HANDED = ("sgd",)  # is handed the products of the tokens: a best case, for structured families alone
# Searches make one start a fit, and ridges are told their penalty: both then reach further.
OPTIONS: dict[str, dict[str, Any]] = {
    "direct": {"starts": 1},
    "lbfgs": {"starts": 1, "iterations": 1000},
    "adam": {"iterations": 1000},
    "low-degree": {"alpha": 1e-3},
    "random-features": {"alpha": 1e-3, "n_heads": 150},
    "linear-attention": {"alpha": 1e-6},
}
# Settings of the student that were the best of a menu on other layers of as many hidden bits.
TUNED = {
    2: {"rate": 0.03, "l1": 0.12},
    3: {"rate": 0.03, "batch": 512, "l1": 0.03},
    5: {"rate": 0.01, "l1": 0.01},
}
PASSES = 64  # over a pool, of the student that sees examples again
ATTACKED = 40_000  # examples of an attack
# What each counts by itself
WORKS = {"bkw": 1 << 22, "gaussian": 2_000_000, "lattice": 100, "search": 1 << 34}
TOLERANCE, ORACLE = 0.1, "window"
STRATEGIES = (
    "characters",
    "random",
    "low-degree",
    "sign-batch",
    "bent",
    "adaptive",
    "flat",
    "spread",
    "dependent",
    "gradient",
    "mlp-gradient",
    "attention-gradient",
)
SETS = 1 << 14  # of classes on which games are played


def tasks(quick: bool) -> list[Task]:
    """Every built-in solver on every instance; games once per cell."""
    known = [name for name in registry.names("learner", builtin=True) if name not in SAME]
    planned = [task for name in known for task in user_learner_tasks(quick, name)]
    for entry in _instances(quick):
        bits = _bits(entry)
        planned += (
            [_student(entry, bits, passes, quick) for passes in (None, PASSES)] if bits in TUNED else []
        )
        if entry.family != "nondegenerate":
            planned += [_attack(entry, name) for name in registry.names("attack", builtin=True)]
        if bits and entry.name.endswith("-0") and comb(int(entry.params["dim"]) - 1, bits) <= SETS:
            planned += [_game(entry, name, bits) for name in STRATEGIES]
    return planned


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """One learner, registered or ``package.module:Class``, on every instance."""
    solver = {"kind": "learner", "learner": learner, "params": OPTIONS.get(learner, {})}
    return [
        _task(each, solver, _budget(each, quick))
        for each in _instances(quick)
        if each.family != "nondegenerate" or learner not in HANDED
    ]


def _bits(entry: suite.Entry) -> int:
    """The hidden bits of a parity, 0 of another layer."""
    family = families.build(entry.family, entry.params)
    return family.size if isinstance(family, Parity) else 0


def _instances(quick: bool) -> list[suite.Entry]:
    return [each for each in suite.tier("easy" if quick else None) if not quick or each.name.endswith("-0")]


def _budget(entry: suite.Entry, quick: bool) -> dict[str, Any]:
    most = min(EXAMPLES, _examples_in_memory(entry.params["dim"]))
    return {"samples": most // 4, "work": SMALL_WORK} if quick else {"samples": most, "work": WORK}


def _examples_in_memory(dim: int) -> int:
    return 1 << int(log2(SIGNS / dim))


def within(task: Task, examples: int | None, work: float | None) -> Task:
    """A learner's task within other budgets, of as many examples as any learner can hold; other tasks as they are.

    >>> [task] = [each for each in user_learner_tasks(True, "mlp") if each.params["instance"] == "parity-s2-d8-0"]
    >>> dict(within(task, 1 << 30, None).budget)
    {'samples': 1048576, 'work': 1000000000}
    """
    if task.solver["kind"] != "learner":
        return task
    cap = task.budget["samples"] if examples is None else examples
    samples = min(cap, _examples_in_memory(task.params["dim"]))
    return replace(task, budget={"samples": samples, "work": task.budget["work"] if work is None else work})


def _task(entry: suite.Entry, solver: Mapping[str, Any], budget: Mapping[str, Any]) -> Task:
    """A task on a named instance; the digest is a part of its identity."""
    named = {"instance": entry.name, "tier": entry.tier, "digest": f"sha256:{entry.digest[:16]}"}
    kept = {name: value for name, value in solver.items() if value not in ({}, None)}
    return Task(entry.family, {**entry.params, **named}, kept, budget, int(entry.name.rpartition("-")[2]))


def _student(entry: suite.Entry, bits: int, passes: int | None, quick: bool) -> Task:
    solver = {
        "kind": "learner",
        "learner": "student",
        "params": TUNED[bits],
        "setting": "tuned",
        "passes": passes,
    }
    return _task(entry, solver, _budget(entry, quick))


def _attack(entry: suite.Entry, name: str) -> Task:
    return _task(
        entry, {"kind": "attack", "attack": name}, {"samples": ATTACKED, "work": WORKS.get(name, 1 << 30)}
    )


def _game(entry: suite.Entry, name: str, bits: int) -> Task:
    solver = {"kind": "game", "strategy": name, "oracle": ORACLE, "tolerance": TOLERANCE}
    return _task(entry, solver, {"queries": 4 * comb(int(entry.params["dim"]) - 1, bits) + 64})


# Seconds of a run that spends its budget; what has no entry is taken for the last.
FAILING = {"adam": 3.0, "direct": 2.0, "provable": 2.0, "linear-attention": 1.4, "sgd": 0.3, "": 0.6}


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    if task.solver["kind"] != "learner":
        return 0.5
    return 0.1 + FAILING.get(task.solver["learner"], FAILING[""]) * float(task.budget["work"]) / WORK


STUDY = Study(
    "stress",
    QUESTION,
    tasks,
    seconds,
    run.trial,
    guard=300.0,
    role="measured",
    user_learner_tasks=user_learner_tasks,
    within=within,
    timed=True,
    content="learner.studies.stress.content:content",
    template=Path(__file__).with_name("page.md"),
)
