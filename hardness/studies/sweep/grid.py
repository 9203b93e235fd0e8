"""The grid of a sweep: a family, axes of its parameters, one solver; read from TOML, written to it, made into tasks."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from hardness import families
from hardness.engine.plugins import SOLVERS, stamped
from hardness.engine.task import Task
from hardness.errors import InputError, unknown
from hardness.evaluation.adapters import is_streamed
from hardness.io import schemas
from hardness.io.files import read_bounded
from hardness.io.texts import sanitize
from hardness.sq.lookup import class_of, oracle_of, strategy_of

GUARD = 120.0  # seconds that end a trial unless the grid says otherwise
SAMPLES = 4096  # examples that a learner or an attack is given at most, unless the grid says otherwise
MOST_TRIALS, GRID_BYTES = 10**6, 1 << 16  # trials of a grid, bytes of its file
# A key a.b.c… of so many parts: the time that TOML takes is their number squared.
DOTTED = re.compile(r"""(?<![\w"'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")
TABLES = ("params", "solver", "budget")
OWN = {"strategy": ("strategy", "oracle", "tolerance"), "learner": ("learner", "options"), "attack": ("attack",)}
LIMITS = {"strategy": ("queries",), "learner": ("samples",), "attack": ("samples", "work")}


@dataclass(frozen=True)
class Grid:
    """A family, its `params` (a list is an axis; the grid is their product), one solver and its budget.

    `prints` holds fingerprints of plug-ins that have no file. Raises `InputError` for anything that makes no sense.

    >>> grid = Grid("parity", {"dim": [8, 10], "heads": [2, 3]}, {"strategy": "sign-batch"}, runs=2)
    >>> len(grid.tasks()), grid.name
    (8, 'parity-sign-batch')
    """

    family: str
    params: Mapping[str, Any]
    solver: Mapping[str, Any]
    budget: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 1
    seed: int = 0
    guard: float = GUARD
    prints: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        trials = prod(len(axis) for axis in self.params.values() if isinstance(axis, list))
        if trials <= MOST_TRIALS:
            stated = schemas.parse(json.dumps(asdict(self), default=str), "the grid")  # finite numbers, no deep nesting
            schemas.check("grid", stated, "the grid")
            trials *= self.runs
        if trials > MOST_TRIALS:
            raise InputError(f"the grid has more than {MOST_TRIALS:,} trials; shorten an axis")
        kind = self.kind
        for table, known in (("solver", OWN[kind]), ("budget", LIMITS[kind])):
            for name in getattr(self, table):
                if name not in known:
                    raise unknown(f"{table} entry of a {kind}", name, known)

    @property
    def kind(self) -> str:
        """Who solves: strategy, learner or attack."""
        named = [kind for kind in SOLVERS if kind in self.solver]
        if len(named) != 1:
            raise InputError(f"a sweep has one solver, a strategy, a learner or an attack; got {named or 'none'}")
        return named[0]

    @property
    def name(self) -> str:
        """Family and solver, for a folder."""
        return "-".join(str(name).rpartition(":")[2] for name in (self.family, self.solver[self.kind]))

    def tasks(self) -> list[Task]:
        """One task a cell and run."""
        solver, budget = self._solver()
        axes = [value if isinstance(value, list) else [value] for value in self.params.values()]
        cells = [dict(zip(self.params, cell, strict=True)) for cell in product(*axes)]
        if not cells:
            raise InputError("an axis of the grid is empty")
        for cell in cells:
            family = families.build(self.family, cell)
            if self.kind == "strategy":
                strategy_of(class_of(family), solver["strategy"])
        found = [Task(self.family, cell, solver, budget, run) for cell in cells for run in range(self.runs)]
        return stamped(found, self.prints)

    def _solver(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Solver and budget of its tasks."""
        name = str(self.solver[self.kind])
        if self.kind == "strategy":
            oracle, tolerance = self.solver.get("oracle", "window"), self.solver.get("tolerance", 0.1)
            oracle_of(oracle)
            played = {"kind": "game", "strategy": name, "oracle": oracle, "tolerance": tolerance}
            return played, dict(self.budget)
        solver: dict[str, Any] = {"kind": "sweep", self.kind: name}
        if self.kind == "learner":
            solver |= {"params": dict(self.solver.get("options", {})), "online": is_streamed(name)}
        return solver, {"samples": SAMPLES, **self.budget}

    def toml(self) -> str:
        """The grid as a file that `read` reads again."""
        fields = {name: value for name, value in asdict(self).items() if name != "prints"}
        flat = [f"{name} = {json.dumps(value)}" for name, value in fields.items() if name not in TABLES]
        tables = [f"\n[{name}]\n" + "\n".join(_entries(fields[name])) for name in TABLES if fields[name]]
        return "\n".join([*flat, *tables]) + "\n"


def _entries(table: Mapping[str, Any], prefix: str = "") -> Iterable[str]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _entries(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name} = {json.dumps(value)}"


def read(path: Path) -> Grid:
    """The grid of a file. Raises `InputError` on what is no grid."""
    try:
        text = read_bounded(path, GRID_BYTES).decode()
        if DOTTED.search(text):
            raise ValueError("a key has too many parts")
        found = tomllib.loads(text)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else sanitize(error)
        raise InputError(f"{path} is not TOML: {reason}") from error
    known = ("family", "runs", "seed", "guard", *TABLES)
    for name in found:
        if name not in known:
            raise unknown("entry of a grid", name, known)
    for name in ("family", "params", "solver"):
        if name not in found:
            raise InputError(f"{path} has no {name}; a grid has family, [params] and [solver]")
    for name in TABLES:
        if not isinstance(found.get(name, {}), dict):
            raise InputError(f"{name} of {path} is not a table; write it as [{name}]")
    return Grid(**found)
