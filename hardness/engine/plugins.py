"""The part of a study's grid that is asked for, with learners, attacks, strategies and families of others on it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from hardness import families, registry
from hardness.engine.study import Study
from hardness.engine.task import Task, named_in
from hardness.errors import InputError, unknown
from hardness.evaluation.solver import is_streamed
from hardness.io.texts import parse_value

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
    """Return the grid of a study and what is `added`; of it the families `kept`, the solvers `only` and the `tier`.

    `added` are names by kind (learner, attack, strategy): each takes the place of its kind in copies of the grid's
    trials. A family that is not on the grid takes the place of those that are, with the parameters of its own example.
    Raises `InputError` for what the study has no place for.
    """
    grid = study.tasks(quick)
    tasks = [*grid]
    for kind, names in (added or {}).items():
        for name in names:
            tasks += _added_tasks(study, grid, quick, kind, name)
    if tier is not None:
        tiers = {str(task.params["tier"]) for task in tasks if "tier" in task.params}
        if tier not in tiers:
            raise unknown(f"tier of study {study.name}", tier, tiers)
        tasks = [task for task in tasks if task.params.get("tier") == tier]
    if kept:
        tasks = [task for name in kept for task in _on_family(tasks, name)]
    if only:
        solvers = [{name for kind, name in named_in(task) if kind in SOLVERS} for task in tasks]
        known = set().union(*solvers)
        if strange := [name for name in only if name not in known]:
            raise unknown("solver", strange[0], known)
        tasks = [task for task, named in zip(tasks, solvers, strict=True) if named & {*only}]
    return list({task.identity: task for task in tasks}.values())


def _added_tasks(study: Study, grid: Sequence[Task], quick: bool, kind: str, name: str) -> list[Task]:
    """Return what one more learner, attack or strategy adds: trials of its kind, each once, with its name."""
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


def _on_family(tasks: Sequence[Task], name: str) -> list[Task]:
    """Return the trials on one family: those there are, or those of another with this one's example in its place."""
    if here := [task for task in tasks if task.family == name]:
        return here
    family: Any = families.get(name)
    words = family.example.split()
    known = {families.option(field.name): field.name for field in fields(family)}
    params = {
        known[option]: True if value.startswith("--") else parse_value(value)
        for option, value in zip(words, [*words[1:], "--"], strict=True)
        if option in known
    }
    if not params:
        raise InputError(f"family {name} has no `example` of its options; give it one to put it on a grid")
    return [replace(task, family=name, params=params) for task in tasks]
