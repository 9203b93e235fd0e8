"""The tuned settings of the attention student: `python -m learner.studies.exponential_in_m` measures them.

Every cell (hidden parities of s bits in d, and random layers of s heads) has the same menu, the same protocol and seeds
on which nothing else is measured. The rows are `tuning.csv` beside this file, and the settings follow from them.
"""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hardness.engine.task import Task
from hardness.engine.tuned import latest
from hardness.evaluation.tuning import APART, Halving, Run, Wanted

HARD, NICE = "parity", "nondegenerate"
ROWS = Path(__file__).with_name("tuning.csv")
# Rate, batch and l1: five settings for every size of hidden sets and five for random layers, those which a pilot over a
# menu of 65 found cheapest there, and neighbours of them.
MENU = {
    2: ((0.03, 64, 0.25), (0.03, 64, 0.12), (0.01, 64, 0.25), (0.01, 64, 0.12), (0.03, 256, 0.25)),
    3: ((0.03, 64, 0.06), (0.03, 256, 0.06), (0.03, 512, 0.03), (0.01, 64, 0.06), (0.01, 64, 0.03)),
    4: ((0.03, 64, 0.03), (0.01, 64, 0.03), (0.03, 512, 0.03), (0.01, 256, 0.03), (0.003, 64, 0.03)),
    5: ((0.01, 64, 0.01), (0.03, 1024, 0.01), (0.01, 256, 0.01), (0.003, 64, 0.01), (0.01, 64, 0.03)),
    6: ((0.01, 64, 0.01), (0.003, 64, 0.01), (0.003, 64, 0.003), (0.01, 256, 0.01), (0.01, 1024, 0.01)),
}
NICE_MENU = ((0.03, 64, 0.25), (0.03, 64, 0.12), (0.01, 64, 0.25), (0.01, 64, 0.12), (0.003, 16, 0.12))
PILOT, LEAST_BATCH = 65, 64  # settings of the pilot; the least batch of most of those kept
SEEDS, KEPT = (1, 4), (2, 1)  # of each setting at first and of the best two; settings that are kept
ROOT = 0  # root seed of the tuning runs
# Where both kinds of layers are tuned: d by s.
DIMS = {2: (8, 10, 12, 14, 16, 18, 20, 24), 3: (8, 10, 12, 14, 16, 18, 20, 24), 4: (10, 12, 14, 16, 18, 20, 24),
        5: (12, 14, 16, 18, 20), 6: (14, 16)}  # fmt: skip


class Cell(NamedTuple):
    """Hidden parities of s bits in dimension d, or random layers of s heads."""

    family: str
    d: int
    s: int

    @property
    def params(self) -> dict[str, int]:
        """The parameters of its family."""
        return {"dim": self.d, "heads": self.s} | ({"tokens": 2} if self.family == NICE else {})


def student(cell: Cell, params: dict[str, float], cap: int, repetition: int) -> Task:
    """A run of the student on a cell."""
    solver = {"kind": "learner", "learner": "student", "params": params}
    return Task(cell.family, cell.params, solver, {"samples": cap}, repetition)


def menu(cell: Cell) -> list[dict[str, float]]:
    """The settings that are tried on a cell, as options of the student.

    >>> menu(Cell(HARD, 16, 3))[0]
    {'rate': 0.03, 'batch': 64, 'l1': 0.06}
    """
    settings = NICE_MENU if cell.family == NICE else MENU[cell.s]
    return [dict(zip(("rate", "batch", "l1"), each, strict=True)) for each in settings]


def halving(cell: Cell) -> Halving:
    """The protocol; the first cap is near what such cells cost in the pilot, doubled where few settings solve."""
    odd = 1.8 if cell.s % 2 else 1.0
    start = 1200 * cell.d if cell.family == NICE else 3000 * 3**cell.s * (cell.d / 12) ** 1.5 * odd
    return Halving(len(menu(cell)), SEEDS, KEPT, int(start), 2 * int(start))


def wanted(cell: Cell, run: Wanted) -> Task:
    """The task of a run of the tuning."""
    return student(cell, menu(cell)[run.setting], run.cap, APART + run.seed)


def cells() -> list[Cell]:
    """All that are tuned."""
    return [Cell(family, d, s) for family in (HARD, NICE) for s, dims in DIMS.items() for d in dims]


@cache
def rows() -> dict[Cell, list[tuple[int, int, Run]]]:
    """The runs of the tuning: setting, seed and what each came to, by cell."""
    found = defaultdict(list)
    with ROWS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cell = Cell(row["family"], int(row["d"]), int(row["s"]))
            setting = menu(cell).index({name: float(row[name]) for name in ("rate", "batch", "l1")})
            run = Run(int(row["cost"]), row["status"] == "solved", row["status"] == "wrong")
            found[cell].append((setting, int(row["seed"]), run))
    return dict(found)


@cache
def tuned(cell: Cell) -> dict[str, float]:
    """The setting that the rows of a cell say is the cheapest. Raises `LookupError` for a cell that is not tuned."""
    winner = halving(cell).winner(latest(rows()[cell]))
    if winner is None:
        raise LookupError(f"no setting of the menu solves {cell}")
    return menu(cell)[winner]
