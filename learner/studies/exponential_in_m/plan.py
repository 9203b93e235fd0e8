"""Plan 4: cells, widths, settings, seeds and caps, fixed before any of its rows; `plan4.toml` beside this file.

Settings that won their cells follow from the runs that tuned them, `tuning.csv`.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

from hardness.engine.task import Task, canonical
from hardness.errors import InputError

FILE = Path(__file__).with_name("plan4.toml")
HARD, TENT, MILD, STEEP = "hidden set", "tent", "random layers", "steep random layers"
CONTROLS = (TENT, MILD, STEEP)
FAMILIES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    HARD: ("parity", {}),
    TENT: ("tent", {}),
    MILD: ("random-diagonal", {"scale": 2.0}),
    STEEP: ("random-diagonal", {"scale": 6.0}),
}
Plan = Mapping[str, Any]


class Cell(NamedTuple):
    """Name a problem, a hidden set of m bits in dimension d or a control of m heads, and the `width` of a learner."""

    arm: str
    m: int
    d: int
    width: int

    @property
    def sets(self) -> int:
        """Return N = C(d - 1, m), the number of possible hidden sets."""
        return comb(self.d - 1, self.m)

    @property
    def exists(self) -> bool:
        """Return whether there is such a problem: the control named `tent` exists for even m >= 4 only."""
        return self.arm != TENT or (self.m >= 4 and self.m % 2 == 0)


def law(cell: Cell) -> float:
    """Return 110 sqrt(N) + 16 N/width, a pilot's estimate of the examples needed in a cell with N possible sets."""
    return float(110 * cell.sets**0.5 + 16 * cell.sets / cell.width)


def digest(plan: Plan) -> str:
    """Return the SHA-256 of all entries of a plan but `digest`, in hex: the root seed of its trials."""
    return hashlib.sha256(canonical({key: plan[key] for key in plan if key != "digest"}).encode()).hexdigest()


def read(path: Path = FILE) -> dict[str, Any]:
    """Return the study's plan from a TOML file. Raises `InputError` unless it is the one fixed before all runs."""
    fixed = tomllib.loads(FILE.read_text(encoding="utf-8"))["digest"]
    try:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the plan {path}: {error}") from error
    if (now := digest(plan)) != fixed:
        raise InputError(
            f"{path} is not the plan that was fixed before the rows: its digest is {now[:12]}, not {fixed[:12]}"
        )
    return plan


def tasks(path: Path = FILE) -> list[Task]:
    """Return the trials of the plan in a file: learners, exhaustive searches, and predictions of how soon heads learn.

    A tuned setting is judged on fresh seeds. Raises `InputError` for any plan but the one fixed before all runs.
    """
    plan = read(path)
    first, second = range(plan["runs"]), range(plan["runs"], 2 * plan["runs"])
    planned = [*beside(plan), *flips(plan), *coins(plan)]
    for cell in (*hidden(plan), *controls(plan)):
        planned += runs(plan, cell, "default", {}, first)
    for cell, setting in winners(plan).items():
        planned += runs(plan, cell, "tuned", setting, second)
    for width, m, d in plan["largest"]:
        planned += runs(plan, Cell(HARD, m, d, width), "default", {}, range(plan["largest_runs"]))
    return planned


def hidden(plan: Plan) -> list[Cell]:
    """Return the cells with a hidden set of m bits: the plan's pairs (m, d), each with the plan's learner widths."""
    places = dict.fromkeys((m, d) for line in plan["hidden"].values() for m, d in line)
    cells = [Cell(HARD, m, d, width) for m, d in places for width in plan["widths"]]
    narrowest, most = min(plan["widths"]), plan["most_sets_of_narrowest"]
    cells = [cell for cell in cells if cell.width > narrowest or cell.sets <= most]
    return [*cells, *(Cell(HARD, m, d, width) for width, m, d in plan["wider"])]


def controls(plan: Plan) -> list[Cell]:
    """Return the cells of controls, tent and random layers, at the pairs (m, d) at which the plan tunes learners."""
    cells = [Cell(arm, m, d, width) for m, d in plan["tuned"] for arm in CONTROLS for width in plan["widths"]]
    return [cell for cell in cells if cell.exists]


def winners(plan: Plan) -> dict[Cell, Mapping[str, float]]:
    """Return, for each cell in which the learner was tuned, the setting of the plan's menu that won.

    Successive halving gave three tuning seeds to every setting and nine to the best three. The winner is the one of
    these with the least cost of a solution: all examples that its runs read over how many of them solved.
    """
    import pandas as pd

    place = ["arm", "m", "d", "width"]
    every = pd.read_csv(FILE.with_name("tuning.csv")).sort_values("cap", kind="stable")
    last = every.groupby([*place, "setting", "seed"], sort=False).last().reset_index()
    last["solved"] = last.status == "solved"
    spent = last.groupby([*place, "setting"]).agg(
        read=("cost", "sum"), solved=("solved", "sum"), runs=("cost", "size")
    )
    spent = spent[spent.runs == plan["tuning_seeds"]]
    won = (spent["read"] / spent.solved).groupby(place).idxmin()
    return {Cell(arm, m, d, width): plan["menu"][setting] for arm, m, d, width, setting in won}


def runs(
    plan: Plan, cell: Cell, series: str, setting: Mapping[str, Any], repetitions: Sequence[int]
) -> Iterator[Task]:
    """Yield the plan's runs of learner `diagonal` in a cell, options changed by `setting`, under the label `series`."""
    cap = int(plan["reach"] * max(law(cell), cell.m**3 * (cell.d - 1)))
    return trials(cell, series, setting, cap, repetitions, plan=plan["digest"])


def trials(
    cell: Cell, series: str, setting: Mapping[str, Any], cap: int, repetitions: Sequence[int], **said: Any
) -> Iterator[Task]:
    """Yield runs of learner `diagonal` on at most `cap` examples; `series` and `said` enter the tasks' `solver`."""
    family, more = FAMILIES[cell.arm]
    options = {"heads": cell.width, **setting}
    solver = {"kind": "diagonal", "learner": "diagonal", "arm": cell.arm, "series": series, "params": options}
    for run in repetitions:
        yield Task(family, {"dim": cell.d, "heads": cell.m, **more}, solver | said, {"samples": cap}, run)


def flips(plan: Plan) -> Iterator[Task]:
    """Yield the plan's runs on hidden parities of which a tenth of the labels is flipped at random."""
    for m, d in plan["flipped"]:
        for width in plan["widths"]:
            for task in runs(plan, Cell(HARD, m, d, width), "flips", {}, range(plan["runs"])):
                yield replace(task, params={**task.params, "flip": 0.1})


def coins(plan: Plan) -> Iterator[Task]:
    """Yield control runs in which each label gets a random sign, so that nothing can be learned."""
    for m, d in plan["coins"]:
        cell = Cell(HARD, m, d, 64)
        yield from trials(
            cell, "coins", {}, int(20 * law(cell)), range(20), plan=plan["digest"], labels="coins"
        )


def beside(plan: Plan) -> Iterator[Task]:
    """Yield the trials without a learner: exhaustive searches, and predictions of how soon heads find the set."""
    places = dict.fromkeys((m, d) for line in plan["hidden"].values() for m, d in line)
    places |= dict.fromkeys((m, d) for _, m, d in plan["largest"])
    named = {"plan": plan["digest"]}
    for m, d in places:
        where = {"dim": d, "heads": m}
        if m < d - 1:
            yield Task("parity", where, {"kind": "lottery", "arm": "lottery", "heads": 4000, **named}, {}, 0)
        if comb(d - 1, m) <= plan["most_sets_of_search"]:
            solver = {"kind": "attack", "attack": "search", "arm": "search", **named}
            yield from (Task("parity", where, solver, {"samples": 10_000}, run) for run in range(5))
