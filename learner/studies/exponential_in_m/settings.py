"""The tuned settings of the attention student: `python -m learner.studies.exponential_in_m` measures them.

Every cell (hidden parities of s bits in d, random layers of s heads, and what a panel varies) has the same menu, the
same protocol and seeds on which nothing else is measured. The rows are `tuning2.csv` beside this file, and the settings
follow from them. `tuning.csv` holds the rows of an earlier tuning, of five settings a cell, which chose the settings
that stand in `plan.toml`: its first cells were decided by too few seeds.
"""

import csv
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from hardness.engine.task import Task
from hardness.engine.tuning import APART, Halving, Run, Wanted, latest

HARD, NICE = "parity", "nondegenerate"
ROWS = Path(__file__).with_name("tuning2.csv")
OPTIONS = ("rate", "batch", "l1")
# The batches rise with the rate, since large steps on small batches do not converge and small ones on large are slow.
STEPS = ((0.003, 16), (0.003, 64), (0.01, 64), (0.01, 256), (0.03, 64), (0.03, 256), (0.03, 1024))
MENU = [(*step, l1) for step, l1 in product(STEPS, (0.003, 0.01, 0.03, 0.06, 0.12, 0.25))]
SEEDS, KEPT = (1, 3, 8), (6, 3, 1)  # of each setting at first, of the best six, of the best three
FIRST = {2: 18_000, 3: 160_000, 4: 360_000, 5: 1_500_000, 6: 2_200_000}  # first cap by s at d = 12
NICE_FIRST, MOST = 1000, 4  # first cap of random layers, times d; the last cap is so many times the first
ROOT = 0  # root seed of the tuning runs
# Where both kinds of layers are tuned: d by s.
DIMS = {2: (8, 12, 14, 16, 18, 20, 24), 3: (8, 12, 14, 16, 18, 20, 24), 4: (12, 14, 16, 18, 20, 24),
        5: (12, 14), 6: (14, 16)}  # fmt: skip
PANEL_DIM = 12
# Panels of one question each, on s = 2 and 3: the parameters of the family and the loss by the name of the series.
PANELS: dict[str, dict[int, dict[str, Any]]] = {
    "sharp": {2: {"heads": 2, "gadget": "sharp", "bits": 2}, 3: {"heads": 2, "gadget": "sharp"}},
    "sharp, balanced": {2: {"heads": 3, "gadget": "sharp", "balance": True, "bits": 2},
                        3: {"heads": 3, "gadget": "sharp", "balance": True}},
    "dot": {2: {"heads": 4, "gadget": "dot"}, 3: {"heads": 6, "gadget": "dot"}},
    "flip .1": {2: {"heads": 2, "flip": 0.1}, 3: {"heads": 3, "flip": 0.1}},
    "absolute loss": {2: {"heads": 2}, 3: {"heads": 3}},
    "hinge loss": {2: {"heads": 2}, 3: {"heads": 3}},
}  # fmt: skip
LOSSES = {"absolute loss": "absolute", "hinge loss": "hinge"}


class Cell(NamedTuple):
    """Hidden parities of s bits in dimension d, or random layers of s heads; or what a panel makes of the former."""

    family: str
    d: int
    s: int
    panel: str = ""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of its family."""
        own = PANELS[self.panel][self.s] if self.panel else {"heads": self.s}
        return {"dim": self.d, **own} | ({"tokens": 2} if self.family == NICE else {})

    @property
    def loss(self) -> dict[str, str]:
        """The student's loss, where it is not the usual one."""
        return {"loss": LOSSES[self.panel]} if self.panel in LOSSES else {}


def menu(cell: Cell) -> list[dict[str, Any]]:
    """The settings that are tried on a cell, as options of the student.

    >>> len(MENU), menu(Cell(HARD, 16, 3))[0]
    (42, {'rate': 0.003, 'batch': 16, 'l1': 0.003})
    """
    return [dict(zip(OPTIONS, each, strict=True)) | cell.loss for each in MENU]


def halving(cell: Cell) -> Halving:
    """The protocol; the first cap is somewhat more than what such cells cost before, and is doubled where few solve."""
    start = int(NICE_FIRST * cell.d if cell.family == NICE else FIRST[cell.s] * (cell.d / 12) ** 1.5)
    return Halving(len(MENU), SEEDS, KEPT, start, MOST * start)


def wanted(cell: Cell, run: Wanted) -> Task:
    """The task of a run of the tuning."""
    solver = {"kind": "learner", "learner": "student", "params": menu(cell)[run.setting]}
    return Task(cell.family, cell.params, solver, {"samples": run.cap}, APART + run.seed)


def cells() -> list[Cell]:
    """All that are tuned."""
    places = [Cell(family, d, s) for family in (HARD, NICE) for s, dims in DIMS.items() for d in dims]
    return places + [Cell(HARD, PANEL_DIM, s, panel) for panel, own in PANELS.items() for s in own]


@cache
def rows() -> dict[Cell, list[tuple[int, int, Run]]]:
    """The runs of the tuning: setting, seed and what each came to, by cell."""
    found = defaultdict(list)
    with ROWS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            setting = MENU.index((float(row["rate"]), int(row["batch"]), float(row["l1"])))
            run = Run(int(row["cost"]), row["status"] == "solved", row["status"] == "wrong")
            cell = Cell(row["family"], int(row["d"]), int(row["s"]), row["panel"])
            found[cell].append((setting, int(row["seed"]), run))
    return dict(found)


@cache
def tuned(cell: Cell) -> dict[str, Any]:
    """The setting that the rows of a cell say is the cheapest. Raises `LookupError` for a cell that is not tuned."""
    winner = halving(cell).winner(latest(rows()[cell]))
    if winner is None:
        raise LookupError(f"no setting of the menu solves {cell}")
    return menu(cell)[winner]
