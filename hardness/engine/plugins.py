"""The part of a study's grid that is asked for, with learners, attacks and strategies of others on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hardness import registry
from hardness.engine.study import Study
from hardness.engine.task import Task, named_in
from hardness.errors import InputError, unknown
from hardness.evaluation.solver import is_streamed

SOLVERS = ("learner", "attack", "strategy")
OWN = ("cryptanalysis", "scaling")  # kinds of trials whose solvers are built in


def chosen(
    study: Study,
    quick: bool,
    added: Mapping[str, Sequence[str]] | None = None,
    kept: Sequence[str] = (),
    only: Sequence[str] = (),
    tier: str | None = None,
) -> list[Task]:
    """Return the tasks of a study's grid, and of the solvers `added` to it, that pass all the filters given.

    The grid is smaller if `quick`. `added` lists names by kind (learner, attack, strategy): each replaces the solver of
    its kind in copies of the grid's trials. Filters are families in `kept`, solvers in `only`, and the `tier` of named
    instances; an empty one lets all pass. Raises `InputError` for a name that no task has and a kind that no trial has.
    """
    grid = study.tasks(quick)
    tasks = [*grid]
    for kind, names in (added or {}).items():
        for name in names:
            tasks += _added_tasks(study, grid, quick, kind, name)
    tasks = _with(
        tasks, f"tier of study {study.name}", [tier] if tier else [], lambda task: {task.params.get("tier")}
    )
    tasks = _with(tasks, f"family of study {study.name}", kept, lambda task: {task.family})
    tasks = _with(
        tasks, "solver", only, lambda task: {name for kind, name in named_in(task) if kind in SOLVERS}
    )
    return list({task.identity: task for task in tasks}.values())


def _with(
    tasks: list[Task], kind: str, names: Sequence[str], of: Callable[[Task], set[str | None]]
) -> list[Task]:
    """Return the tasks whose set `of(task)` has one of `names`, or all if `names` is empty; errors state the `kind`."""
    known = set().union(*map(of, tasks)) - {None}
    if strange := [name for name in names if name not in known]:
        raise unknown(kind, strange[0], map(str, known))
    return [task for task in tasks if not names or of(task) & {*names}]


def _added_tasks(study: Study, grid: Sequence[Task], quick: bool, kind: str, name: str) -> list[Task]:
    """Return the trials that solver `name` of a `kind` (learner, …) adds; `InputError` if the grid has no such kind."""
    here = [task for task in grid if task.solver.get(kind) and task.solver["kind"] not in OWN]
    if any(task.solver[kind] == name for task in here):
        return []
    if not here:
        raise InputError(f"no trial of study {study.name} has a place for a --{kind}")
    if kind == "strategy":
        from hardness.sq.strategies import STRATEGIES

        if name not in STRATEGIES["parity"]:
            registry.get(kind, name, STRATEGIES["parity"])
    whole = kind == "learner" and not is_streamed(name)  # a name that is no learner's is said here
    if kind == "learner" and study.user_learner_tasks is not None:
        return study.user_learner_tasks(quick, name)
    added: dict[str, Task] = {}
    for task in here:
        if not (whole and task.solver["kind"] == "learner"):
            solver = {**task.solver, kind: name, **({"params": {}} if "params" in task.solver else {})}
            task = replace(task, solver=solver)
            added.setdefault(replace(task, budget={}).identity, task)
    return list(added.values())
