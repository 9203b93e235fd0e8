"""The grid of a sweep: a family, axes of its parameters, one solver; read from TOML, made into tasks."""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from math import inf, prod
from pathlib import Path
from typing import Any, get_args

import numpy as np

from hardness import families
from hardness.engine.outcome import Outcome
from hardness.engine.plugins import SOLVERS
from hardness.engine.task import APART, Task
from hardness.errors import InputError, check_names
from hardness.evaluation.solver import Solver, is_streamed, make
from hardness.families.base import types_of
from hardness.io import schemas
from hardness.io.texts import parse_value, sanitize
from hardness.sq.game import class_of, oracle_of, strategy_of
from hardness.studies.sweep import axes

GUARD = 120.0  # seconds that end a trial unless the grid says otherwise
SAMPLES = 4096  # examples that a learner or an attack is given at most, unless the grid says otherwise
MOST_TRIALS = 10**6  # of a grid, and combinations of a menu
TABLES = ("params", "solver", "budget", "tune")
ENTRIES = ("family", "runs", "seed", "guard", "zip", *TABLES)
SETTINGS, SEEDS = 24, 3  # of a tuning, unless the grid says otherwise
OWN = {
    "strategy": ("strategy", "oracle", "tolerance"),
    "learner": ("learner", "options"),
    "attack": ("attack",),
}
LIMITS = {"strategy": ("queries",), "learner": ("samples",), "attack": ("samples", "work")}


@dataclass(frozen=True)
class Grid:
    """Define a sweep: a family, its `params`, solvers of one kind, and their budget; every list is an axis of the grid.

    A parameter may be an expression of others, "4*heads", and the lists named in `zip` are paired index by index
    (`hardness.studies.sweep.axes`). `tune` tunes a learner in every cell: `menu`, or an entry under the learner's name,
    lists values by option; at most `settings` of their combinations are tried on `seeds` seeds each, and the cell is
    run with the cheapest on other seeds. Raises `InputError` for anything that makes no sense.

    >>> grid = Grid("parity", {"dim": "4*heads", "heads": [2, 3]}, {"strategy": ["sign-batch", "flat"]}, runs=2)
    >>> len(grid.tasks()), grid.name
    (8, 'parity-sign-batch-flat')
    """

    family: str
    params: Mapping[str, Any]
    solver: Mapping[str, Any]
    budget: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 1
    seed: int = 0
    guard: float = GUARD
    tune: Mapping[str, Any] = field(default_factory=dict)
    zip: Sequence[str] = ()

    def __post_init__(self) -> None:
        solvers = axes.size(self.solver) * axes.size(self.solver.get("options", {}))
        trials = axes.size(self.params, self.zip) * solvers
        if trials <= MOST_TRIALS:
            # Finite numbers, no deep nesting
            stated = schemas.parse(json.dumps(asdict(self), default=str), "the grid")
            schemas.check("grid", stated, "the grid")
            trials *= self.runs
        if trials > MOST_TRIALS:
            raise InputError(f"the grid has more than {MOST_TRIALS:,} trials; shorten an axis")
        kind = self.kind
        for table, known in (("solver", OWN[kind]), ("budget", LIMITS[kind])):
            check_names(f"{table} entry of a {kind}", getattr(self, table), known)
        if self.tune and kind != "learner":
            raise InputError("a learner is tuned, and this grid has none: leave [tune] out")
        for learner in axes.listed(self.solver["learner"]) if self.tune else ():
            for setting in self.menu(learner):  # it has these options, or says so
                make(Solver("learner", learner, setting, heads_known=1), 0)

    @property
    def kind(self) -> str:
        """Return whether the grid's solver is a strategy, learner or attack; `InputError` unless there is just one."""
        named = [kind for kind in SOLVERS if kind in self.solver]
        if len(named) != 1:
            raise InputError(
                f"a sweep has one solver, a strategy, a learner or an attack; got {named or 'none'}"
            )
        return named[0]

    @property
    def name(self) -> str:
        """Return the grid's name for its folder: the family and the solvers, joined by hyphens."""
        names = (self.family, *axes.listed(self.solver[self.kind]))
        return "-".join(str(name).rpartition(":")[2] for name in names)

    def tasks(self) -> list[Task]:
        """Return one task for each of the grid's solvers, each cell (set of the family's parameters) and each run."""
        family = families.get(self.family)
        types = types_of(family)
        words = [name for name, hint in types.items() if not {int, float} & {hint, *get_args(hint)}]
        check_names(f"parameter of {family.name}", self.params, types)
        solvers, cells = self._solvers(), axes.cells(self.params, self.zip, words)
        if not (cells and solvers):
            raise InputError("an axis of the grid is empty")
        for cell in cells:
            built = families.build(self.family, cell)
            for solver in solvers if self.kind == "strategy" else ():
                strategy_of(class_of(built), solver["strategy"])
        budget = dict(self.budget) if self.kind == "strategy" else {"samples": SAMPLES, **self.budget}
        every = product(solvers, cells, range(self.runs))
        return [Task(self.family, cell, solver, budget, run) for solver, cell, run in every]

    def _solvers(self) -> list[dict[str, Any]]:
        """Return every solver of the grid, with each choice of options, as the `solver` of a task."""
        table = {name: value for name, value in self.solver.items() if name != "options"}
        named, options = axes.cells(table, words=table), self.solver.get("options", {})
        if self.kind == "strategy":
            games: list[dict[str, Any]] = [
                {"kind": "game", "oracle": "window", "tolerance": 0.1} | each for each in named
            ]
            for each in games:
                oracle_of(each["oracle"])
            return games
        if self.kind == "attack":
            return [{"kind": "sweep"} | each for each in named]
        return [
            {"kind": "sweep", **each, "params": params, "online": is_streamed(each["learner"])}
            for each, params in product(named, axes.cells(options, words=options))
        ]

    def menu(self, learner: str) -> list[dict[str, Any]]:
        """Return the settings of a learner's options to try, randomly chosen from its menu if that has too many."""
        menu = self.tune.get(learner) or self.tune.get("menu") or {}
        count = prod(len(values) for values in menu.values()) if menu else 0
        if not 1 <= count <= MOST_TRIALS:
            name = sanitize(learner)
            raise InputError(
                f"no menu for {name}, or a large one: give [tune] menu.OPTION = [values] for all learners, or "
                f"[tune.{name}] OPTION = [values] for this one"
            )
        drawn = np.random.default_rng(self.seed).permutation(count)[
            : int(self.tune.get("settings", SETTINGS))
        ]
        every = [dict(zip(menu, values, strict=True)) for values in product(*menu.values())]
        return [every[i] for i in sorted(drawn)]

    def tuning(self) -> list[list[list[Task]]]:
        """Return the runs that choose a setting, nested by cell, setting and seed; no judged run has their seeds."""
        seeds = range(APART, APART + int(self.tune.get("seeds", SEEDS)))
        return [
            [[replace(task, repetition=seed) for seed in seeds] for task in self._settings(cell)]
            for cell in self.tasks()
            if cell.repetition == 0
        ]

    def _settings(self, cell: Task) -> Iterator[Task]:
        """Yield a copy of the task `cell` for each setting of the learner's options that is to be tried."""
        for setting in self.menu(str(cell.solver["learner"])):
            params = {**cell.solver["params"], **setting}
            yield replace(cell, solver={**cell.solver, "params": params})

    def tuned(self, ended: Mapping[str, Outcome]) -> list[Task]:
        """Return one task per cell and run, with the learner's setting whose tuning runs were cheapest (`price`).

        `ended` has the outcomes of the runs of `tuning`, by identity. A cell that no setting solves has the first one.
        """
        winners = [
            min(settings, key=lambda runs: price([ended[run.identity] for run in runs], runs[0].budget))
            for settings in self.tuning()
        ]
        return [replace(runs[0], repetition=run) for runs in winners for run in range(self.runs)]


def price(runs: Sequence[Outcome], budget: Mapping[str, Any]) -> float:
    """Return what a solution costs if failed runs are started again: all examples spent per solved run, or inf.

    A run that does not say what it spent is charged its whole budget: a silent crash must not look cheap.
    """
    solved = sum(run.status == "solved" for run in runs)
    spent = sum(float(budget["samples"] if run.cost is None else run.cost) for run in runs)
    return spent / solved if solved else inf


def read(path: Path, changes: Iterable[str] = ()) -> Grid:
    """Return the grid of a TOML file after `changes`, each NAME=VALUE or TABLE.NAME=VALUE. Raises `InputError`."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not TOML: {sanitize(error)}") from error
    for change in changes:
        _change(entries, change)
    check_names("entry of a grid", entries, ENTRIES)
    schemas.check("grid", entries, str(path))
    return Grid(**entries)


def _change(entries: dict[str, Any], change: str) -> None:
    """Put a change, TABLE.NAME=VALUE, into a grid's entries; VALUE is TOML or a word, and outer commas make a list."""
    place, _, text = change.partition("=")
    *tables, name = place.split(".")
    if not (name and text) or (tables and tables[0] not in TABLES):
        raise InputError(
            f"--set takes NAME=VALUE or TABLE.NAME=VALUE, a table of {', '.join(TABLES)}; got {sanitize(change)}"
        )
    for table in tables:
        entries = entries.setdefault(table, {})
        if not isinstance(entries, dict):
            raise InputError(f"--set {sanitize(change)}: {table} is no table; nothing in it can be set")
    try:
        entries[name] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        values = [parse_value(word) for word in text.split(",")]
        entries[name] = values[0] if len(values) == 1 else values


# Of each learner at its defaults: the numbers of heads, the most examples, and the runs of a cell.
LEARNERS = {"student": ([2, 3, 4, 5], 2**20, 3), "lbfgs": ([2, 3], 256, 1)}
FAMILIES: dict[str, dict[str, int]] = {"nondegenerate": {"tokens": 2}, "parity": {}}
# Grids with names, which `hardness sweep NAME` runs
SHIPPED = {
    "nice-and-hard": tuple(
        Grid(
            family,
            {"dim": "4*heads", "heads": heads, **params},
            {"learner": learner},
            {"samples": samples},
            runs,
        )
        for learner, (heads, samples, runs) in LEARNERS.items()
        for family, params in FAMILIES.items()
    )
}
