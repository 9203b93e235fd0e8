"""The study `exponential-in-m`: what tuned learners pay for hidden bits, beside what is proved, and a plan."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hardness.engine.study import Study
from hardness.engine.task import Task
from learner.studies.exponential_in_m import plan
from learner.studies.exponential_in_m.settings import HARD, NICE, PANEL_DIM, PANELS, Cell, tuned
from learner.studies.exponential_in_m.trial import trial

QUESTION = "Does the cost of learning grow exponentially in the number of hidden bits, for learners that are tuned?"
GRID = {2: (8, 12, 16, 20, 24), 3: (8, 12, 16, 20, 24), 4: (12, 16, 20, 24)}  # d by s, at least 2s + 1
SMALL = ((2, 8), (3, 8), (2, 12), (3, 12))  # (s, d) of the learners beside the student
LARGER = ((8, 32), (16, 64))  # (s, d) of elimination alone
RUNS, SIDE_RUNS, CONTROL_RUNS = 5, 3, 10
CAPS = {2: 1_000_000, 3: 2_000_000, 4: 6_000_000}
NICE_CAP = 500_000
POOLS = (1024, 2048, 4096, 8192, 16384)  # distinct examples
POOL_CAP = 500_000  # gradient examples of a pool
ONCE_CAP, ONE_START = 1024, {"starts": 1, "iterations": 100}  # of learners that search once, on all examples


def tasks(quick: bool) -> list[Task]:
    """The tuned student on hidden parities and random layers, and on a quick grid no more than that."""
    grid = {2: (8, 12), 3: (8, 12)} if quick else GRID
    cells = [Cell(family, d, s) for family in (HARD, NICE) for s, dims in grid.items() for d in dims]
    found = [task for cell in cells for task in runs("tuned", cell, "student", tuned(cell), RUNS)]
    return found if quick else [*found, *_others(), *_panels(), *_reference()]


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """One more learner, registered or ``package.module:Class``, on small hidden parities and random layers."""
    cells = [Cell(family, d, s) for family in (HARD, NICE) for s, d in (SMALL[:2] if quick else SMALL)]
    return [task for cell in cells for task in runs(learner, cell, learner, {}, SIDE_RUNS)]


def runs(
    series: str, cell: Cell, learner: str, params: Mapping[str, Any], count: int, cap: int = 0, **more: Any
) -> list[Task]:
    """Runs of a learner on a cell, `more` in its solver."""
    solver = {"kind": "learner", "learner": learner, "series": series, "params": dict(params), **more}
    cap = cap or (NICE_CAP if cell.family == NICE else CAPS[cell.s])
    return [Task(cell.family, cell.params, solver, {"samples": cap}, run) for run in range(count)]


def _others() -> Iterable[Task]:
    """The student as it was frozen once, on a pool and on random labels; learners of other kinds on small sizes."""
    for s, d in [(s, d) for s, dims in GRID.items() for d in dims if s < 4]:
        yield from runs("frozen", Cell(HARD, d, s), "student", {}, SIDE_RUNS)
    for s, d in SMALL:
        cell = Cell(HARD, d, s)
        for pool in POOLS:
            yield from runs(f"pool of {pool}", cell, "student", tuned(cell), SIDE_RUNS, POOL_CAP, pool=pool)
        yield from runs("mlp", cell, "mlp", {}, SIDE_RUNS, 200_000)
        for learner in ("direct", "lbfgs") if d == 8 else ():
            yield from runs(learner, cell, learner, ONE_START, SIDE_RUNS, ONCE_CAP)
        if d == PANEL_DIM:
            yield from runs("random labels", cell, "student", tuned(cell), CONTROL_RUNS, 200_000, labels="independent")


def _panels() -> Iterable[Task]:
    """Other gadgets, label noise and other losses: the student with a setting tuned on the panel's own cell."""
    for panel, sizes in PANELS.items():
        for s in sizes:
            yield from runs(panel, cell := Cell(HARD, PANEL_DIM, s, panel), "student", tuned(cell), RUNS)


def _reference() -> Iterable[Task]:
    """Gaussian elimination, which is no gradient learner, in every cell of the student and in larger ones."""
    budget = {"from": 0.5, "factor": 1.05, "samples": 100}
    for s, d in [*((s, d) for s, dims in GRID.items() for d in dims), *LARGER]:
        solver = {"kind": "elimination", "series": "elimination"}
        yield from (Task(HARD, Cell(HARD, d, s).params, solver, budget, run) for run in range(RUNS))


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    d, s = int(task.params["dim"]), int(task.params["heads"])
    if task.solver["kind"] == "elimination":
        return 0.1
    usual = 2e3 * d if task.family == NICE else 3e3 * 3**s * (d / 12) ** 1.5
    learner, cap = task.solver["learner"], float(task.budget["samples"])
    if learner != "student":
        return 4.0
    return 0.2 + (cap if {"pool", "labels"} & set(task.solver) else min(cap, usual)) * 1e-6


STUDY = Study(
    "exponential-in-m", QUESTION, tasks, seconds, trial, guard=900.0, role="answer",
    user_learner_tasks=user_learner_tasks, plan=plan.tasks,
    content="learner.studies.exponential_in_m.content:content", template=Path(__file__).with_name("page.md"),
    formerly={"wall": "examples that one student needs, then with one frozen setting"},
)  # fmt: skip
