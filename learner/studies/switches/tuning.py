"""The settings of the students of chains: `python -m learner.studies.switches.tuning` measures them.

Students taught by blocks of every size g, and untaught, have the same menu, the same protocol, the same cap, the same
dimension and seeds on which nothing else is measured. The runs are `tuning.csv` beside this file, and the settings
follow from them.
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.engine.tuning import APART, Halving, Run, Wanted
from hardness.families.controls import blocks_of

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

ROWS = Path(__file__).with_name("tuning.csv")
COLUMNS = ("g", "d", "rate", "batch", "l1", "seed", "status", "cost")
OPTIONS = ("rate", "batch", "l1")
MENU = (
    (0.003, 16, 0.01),
    (0.003, 64, 0.003),
    (0.003, 64, 0.01),
    (0.01, 64, 0.01),
    (0.01, 64, 0.03),
    (0.03, 256, 0.03),
    (0.03, 256, 0.06),
    (0.03, 64, 0.25),
)
CAP, GUARD = 5_000_000, 1800.0  # examples of a run, and seconds
PROTOCOL = Halving(len(MENU), seeds=(1, 3), kept=(3, 1), start=CAP, max_cap=CAP)
SIZE, BLOCKS, DIM = 6, (1, 2, 3, 6), 12  # s of the chains, the sizes g of their blocks, and d
Runs = dict[tuple[int, int], Run]  # by setting and seed


def task(g: int, d: int, options: Mapping[str, Any], cap: int, repetition: int) -> Task:
    """A run of a student with these options, of chains whose blocks have g coordinates, in dimension d.

    The untaught one (g = s) is the plain student on the labels as they are. It is the cheaper one: of their signs
    alone, which is what a chain of one label leaves, it learns nothing from five times as many examples.
    """
    if g == SIZE:
        solver = {"kind": "learner", "learner": "student", "params": {**options}}
    else:
        params = {"labels": len(blocks_of(SIZE, g)), **options}
        solver = {"kind": "learner", "learner": "learner.chain:ChainStudent", "params": params}
    return Task("nested", {"dim": d, "size": SIZE, "block": g}, solver, {"samples": cap}, repetition)


def options_of(setting: int) -> dict[str, Any]:
    """A setting of the menu as options of the student.

    >>> options_of(0)
    {'rate': 0.003, 'batch': 16, 'l1': 0.01}
    """
    return dict(zip(OPTIONS, MENU[setting], strict=True))


@cache
def runs(g: int) -> Runs:
    """The runs of the tuning on blocks of g."""
    ended: Runs = {}
    with ROWS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if int(row["g"]) == g:
                setting = MENU.index((float(row["rate"]), int(row["batch"]), float(row["l1"])))
                ended[setting, int(row["seed"])] = Run(int(row["cost"]), row["status"] == "solved")
    return ended


@cache
def tuned(g: int) -> dict[str, Any]:
    """The options with which students of blocks of g are measured. Raises `LookupError` if no setting solved."""
    winner = PROTOCOL.winner(runs(g))
    if winner is None:
        raise LookupError(f"no setting of the menu solves blocks of {g} within {CAP:,} examples")
    return options_of(winner)


def _trial(task: Task) -> Outcome:
    from hardness.studies.trials import online

    return online(task, 0, GUARD)


def _wanted(g: int, run: Wanted) -> Task:
    return task(g, DIM, options_of(run.setting), run.cap, APART + run.seed)


def tuning(g: int, pool: "ProcessPoolExecutor") -> list[dict[str, Any]]:
    """The rows of blocks of g: what the protocol wants, until it wants no more."""
    ended: Runs = {}
    lines = []
    while wanted := PROTOCOL.wanted(ended):
        for run, outcome in zip(wanted, pool.map(_trial, [_wanted(g, run) for run in wanted]), strict=True):
            ended[run.setting, run.seed] = Run(int(outcome.cost or CAP), outcome.status == "solved")
            values = (g, DIM, *MENU[run.setting], run.seed, outcome.status, outcome.cost)
            lines.append(dict(zip(COLUMNS, values, strict=True)))
    return lines


if __name__ == "__main__":
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor() as pool, ROWS.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for g in BLOCKS:
            table.writerows(tuning(g, pool))
