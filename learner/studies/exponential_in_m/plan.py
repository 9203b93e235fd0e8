"""Plan 4: cells, widths, settings, seeds and caps, fixed before any of its rows; `plan4.toml` beside this file.

What is run is a function of the plan and, for the settings that win their cells, of the runs that tuned them.
"""

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

from hardness.engine.task import APART, Task, canonical
from hardness.engine.tuning import Halving, Results, Wanted, tune
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
    """A hidden set of m bits in dimension d, or a control of m heads, before a learner of `width` heads."""

    arm: str
    m: int
    d: int
    width: int

    @property
    def sets(self) -> int:
        """N = C(d - 1, m)."""
        return comb(self.d - 1, self.m)


def law(cell: Cell) -> float:
    """Return 110 sqrt(N) + 16 N/M, examples, of the pilot: what caps are multiples of."""
    return float(110 * cell.sets**0.5 + 16 * cell.sets / cell.width)


def digest(plan: Plan) -> str:
    """Return SHA-256 of all that a plan says but its digest, in hex: the root seed of its trials."""
    return hashlib.sha256(canonical({key: plan[key] for key in plan if key != "digest"}).encode()).hexdigest()


def read(path: Path = FILE) -> dict[str, Any]:
    """Return the plan of a file. Raises `InputError` if it is none, or is not what its digest says that it was."""
    try:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the plan {path}: {error}") from error
    if plan.get("digest") != (now := digest(plan)):
        raise InputError(
            f"{path} was changed after it was fixed: its digest is {now[:12]}, and it says "
            f"{str(plan.get('digest'))[:12]}; bring the plan back as it was"
        )
    return plan


def tasks(path: Path = FILE) -> list[Task]:
    """Return all trials of a plan that do not depend on tuning. Raises `InputError` for another plan than this one."""
    plan = read(path)
    if plan["digest"] != read()["digest"]:
        raise InputError(f"{path} is another plan than this study fixed; its rows would not be judged")
    return [*(task for part in parts(plan) for task in part), *largest(plan)]


def parts(plan: Plan) -> Iterator[list[Task]]:
    """Yield those trials part by part, in the order in which they are run, but for `largest`."""
    yield [*beside(plan)]
    for cells in (hidden(plan), controls(plan)):
        yield [task for cell in cells for task in runs(plan, cell, "default", {}, range(plan["runs"]))]
    yield [*flips(plan), *coins(plan)]


def largest(plan: Plan) -> list[Task]:
    """Return the trials that are run last."""
    cells = [Cell(HARD, m, d, width) for width, m, d in plan["largest"]]
    return [task for cell in cells for task in runs(plan, cell, "default", {}, range(plan["largest_runs"]))]


def hidden(plan: Plan) -> list[Cell]:
    """Return the cells of hidden sets, every one once, with its widths."""
    places = dict.fromkeys((m, d) for line in plan["hidden"].values() for m, d in line)
    cells = [Cell(HARD, m, d, width) for m, d in places for width in plan["widths"]]
    narrowest, most = min(plan["widths"]), plan["most_sets_of_narrowest"]
    cells = [cell for cell in cells if cell.width > narrowest or cell.sets <= most]
    return [*cells, *(Cell(HARD, m, d, width) for width, m, d in plan["wider"])]


def controls(plan: Plan) -> list[Cell]:
    """Return the cells of controls."""
    cells = [Cell(arm, m, d, width) for m, d in plan["tuned"] for arm in CONTROLS for width in plan["widths"]]
    return [cell for cell in cells if exists(cell)]


def exists(cell: Cell) -> bool:
    """Return whether there is such a problem: a tent of the level is one for even m >= 4 alone."""
    return cell.arm != TENT or (cell.m >= 4 and cell.m % 2 == 0)


def runs(
    plan: Plan, cell: Cell, series: str, setting: Mapping[str, Any], repetitions: Sequence[int], **params: Any
) -> Iterator[Task]:
    """Yield runs of a cell: the learner `diagonal` of `width` heads with its defaults but for `setting`."""
    cap = int(plan["reach"] * max(law(cell), cell.m**3 * (cell.d - 1)))
    for task in trials(cell, series, setting, cap, repetitions, plan=plan["digest"]):
        yield replace(task, params={**task.params, **params})


def trials(
    cell: Cell, series: str, setting: Mapping[str, Any], cap: int, repetitions: Sequence[int], **said: Any
) -> Iterator[Task]:
    """Yield runs of the learner on a cell, each with at most `cap` examples."""
    family, more = FAMILIES[cell.arm]
    options = {"heads": cell.width, **setting}
    solver = {"kind": "diagonal", "learner": "diagonal", "arm": cell.arm, "series": series, "params": options}
    for run in repetitions:
        yield Task(family, {"dim": cell.d, "heads": cell.m, **more}, solver | said, {"samples": cap}, run)


def flips(plan: Plan) -> Iterator[Task]:
    """Yield runs on hidden sets of which a tenth of the labels is flipped."""
    for m, d in plan["flipped"]:
        for width in plan["widths"]:
            yield from runs(plan, Cell(HARD, m, d, width), "flips", {}, range(plan["runs"]), flip=0.1)


def coins(plan: Plan) -> Iterator[Task]:
    """Yield runs on labels that are coins: whatever a learner says of them, it has not learned."""
    for m, d in plan["coins"]:
        cell = Cell(HARD, m, d, 64)
        most = int(20 * law(cell))
        yield from trials(cell, "coins", {}, most, range(20), plan=plan["digest"], labels="coins")


def beside(plan: Plan) -> Iterator[Task]:
    """Yield what is no gradient learner: elimination and search; and the lottery's prediction, of 4000 random heads."""
    places = dict.fromkeys((m, d) for line in plan["hidden"].values() for m, d in line)
    places |= dict.fromkeys((m, d) for _, m, d in plan["largest"])
    named = {"plan": plan["digest"]}
    for m, d in places:
        where = {"dim": d, "heads": m}
        if m < d - 1:
            yield Task("parity", where, {"kind": "lottery", "arm": "lottery", "heads": 4000, **named}, {}, 0)
        for attack in ("search", "gaussian"):
            if attack == "gaussian" or comb(d - 1, m) <= plan["most_sets_of_search"]:
                solver = {"kind": "attack", "attack": attack, "arm": attack, **named}
                yield from (Task("parity", where, solver, {"samples": 10_000}, run) for run in range(5))


def tuned(plan: Plan) -> list[Cell]:
    """Return the cells in which settings are tuned: hidden sets and controls at the same places and widths."""
    return [*(Cell(HARD, m, d, width) for m, d in plan["tuned"] for width in plan["widths"]), *controls(plan)]


def tuning(plan: Plan, cell: Cell, wanted: Wanted) -> Task:
    """Return the run of a setting of the menu on a tuning seed; no judged run has that seed."""
    setting, repetitions = plan["menu"][wanted.setting], [APART + wanted.seed]
    (task,) = trials(cell, "tuning", setting, wanted.cap, repetitions, plan=plan["digest"])
    return task


def halving(plan: Plan, cell: Cell) -> Halving:
    """Return how a cell is tuned: three seeds for the whole menu, nine for the best three of it."""
    at_most = int(plan["tuning_reach"] * law(cell))
    first = at_most // plan["tuning_reach"] + 1 if cell.arm == HARD else min(at_most, 20_000)
    return Halving(len(plan["menu"]), (3, plan["tuning_seeds"]), (3, 1), first, at_most, growth=4)


def winners(plan: Plan, cell: Cell, run: Callable[[Sequence[Task]], Results]) -> list[Task]:
    """Return the judged runs of the setting that wins a cell; `run(tasks)` makes those that choose."""
    chosen = tune({cell: halving(plan, cell)}, lambda cell, wanted: tuning(plan, cell, wanted), run)[cell]
    fresh = range(plan["runs"], 2 * plan["runs"])
    return [] if chosen is None else [*runs(plan, cell, "tuned", plan["menu"][chosen], fresh)]
