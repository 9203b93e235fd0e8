"""What plug-ins do to a grid: their fingerprints in its tasks, the parts of it that are asked for, what they add."""

import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from hardness import families, registry
from hardness.engine.study import Study
from hardness.engine.task import Task, named_in
from hardness.errors import InputError, unknown
from hardness.evaluation.solver import is_streamed
from hardness.io.texts import parse_value

SOLVERS = ("learner", "attack", "strategy")
OWN = ("cryptanalysis", "scaling")  # kinds of trials whose solvers are built in


def fingerprint(module: str) -> str | None:
    """Return a digest of the source of a plug-in's module, or of all of its package. Nothing is imported.

    None for what is built in, whose rows carry the version, and where there is no source.
    """
    top = module.partition(".")[0]
    if top in registry.PACKAGES:
        return None
    specs = (finder.find_spec(top, None) for finder in sys.meta_path)
    spec = next(filter(None, specs), None) or PathFinder.find_spec(top, [""])
    if spec is None:
        return None
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    files = sorted(file for place in places for file in place.rglob("*.py"))
    files = files or [Path(spec.origin or "")]
    whole = b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files if file.suffix == ".py")
    return hashlib.sha256(whole).hexdigest()[:16] if whole else None


def stamped(
    tasks: Iterable[Task], known: Mapping[str, str] | None = None, study: Study | None = None
) -> list[Task]:
    """Return the tasks with the fingerprints of the plug-ins that they name: an edit makes other tasks of these alone.

    `known` holds fingerprints of what has no file; the trial of a plugged-in `study` is part of every task.
    """
    always = {}
    if study:
        run = getattr(study.trial, "func", study.trial)  # what a functools.partial holds
        if made := fingerprint(run.__module__):
            always = {f"study {study.name}": made}

    @cache
    def of(kind: str, name: str) -> str | None:
        digest = None if registry.is_builtin(kind, name) else fingerprint(registry.module_of(kind, name))
        return (known or {}).get(name, digest)

    def stamp(task: Task) -> Task:
        digests = always | {name: made for kind, name in named_in(task) if (made := of(kind, name))}
        return replace(task, plugins=digests) if digests else task

    return [stamp(task) for task in tasks]


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
    return stamped({task.identity: task for task in tasks}.values(), study=study)


def _added_tasks(study: Study, grid: Sequence[Task], quick: bool, kind: str, name: str) -> list[Task]:
    """Return what one more learner, attack or strategy adds: trials of its kind, each once, with its name."""
    here = [task for task in grid if task.solver.get(kind) and task.solver["kind"] not in OWN]
    if any(task.solver[kind] == name for task in here):
        return []
    if not here:
        raise InputError(f"no trial of study {study.name} has a place for a --{kind}")
    if kind == "strategy":
        from hardness.sq.strategies import NAMES as known

        if name not in known:
            registry.get(kind, name, known)
    whole = kind == "learner" and not is_streamed(name)  # a name that is no learner's is said here
    if kind == "learner" and study.user_learner_tasks is not None:
        return study.user_learner_tasks(quick, name)
    added: dict[str, Task] = {}
    for task in here:
        if not (whole and task.solver["kind"] == "learner"):
            solver = {**task.solver, kind: name, **({"params": {}} if "params" in task.solver else {})}
            place = Task(task.family, task.params, {**solver, kind: ""}, {}, task.repetition)
            added.setdefault(place.identity, replace(task, solver=solver))
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
