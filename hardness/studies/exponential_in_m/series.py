"""The measured rows of `exponential-in-m` as series of cells, each with its verdict or the reason why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hardness.attacks.estimates.low_degree import monomials
from hardness.engine.store import Row
from hardness.engine.task import Task
from hardness.statistics.cells import Cell
from hardness.statistics.verdict import Growth, growth
from hardness.studies.wall.cells import CONTROL, HARD, NICE, kind_of

STUDENT_HARD, STUDENT_NICE = f"student on {HARD}", f"student on {NICE}"
PRODUCTS, ELIMINATION = "network handed the products", "elimination"
ENDED = ("solved", "budget", "wrong")  # a crash, a refusal and a guard are no data


@dataclass(frozen=True)
class Series:
    """Who paid, and what the growth of it is judged to be."""

    name: str
    growth: Growth

    @property
    def cells(self) -> dict[tuple[int, int], Cell]:
        return {(cell.dim, cell.size): cell for cell in self.growth.cells}


def name_of(task: Task) -> str:
    """The series of a task.

    >>> name_of(Task("parity", {"dim": 12, "heads": 2}, {"kind": "elimination"}, {}, 0))
    'elimination'
    """
    match task.solver["kind"]:
        case "game":
            return "games"
        case "elimination":
            return ELIMINATION
        case "learner":
            return PRODUCTS if task.solver["learner"] == "sgd" else f"{task.solver['learner']} on {HARD}"
    kind = kind_of(task)
    return f"{kind.learner} on {kind.layers}"


def series(rows: Iterable[Row]) -> dict[str, Series]:
    """Every measured series by name; those of other layers than a plane of (d, m) have no verdict of their own."""
    runs: dict[str, dict[tuple[int, int], list[Row]]] = {}
    for row in rows:
        name = name_of(row.task)
        if row.outcome and row.outcome.status in ENDED and row.outcome.cost and name != "games":
            place = int(row.task.params["dim"]), int(row.task.params["heads"])
            runs.setdefault(name, {}).setdefault(place, []).append(row)
    return {
        name: Series(name, growth([_cell(*place, own) for place, own in found.items()])) for name, found in runs.items()
    }


def _cell(dim: int, size: int, rows: list[Row]) -> Cell:
    outcomes = [row.outcome for row in rows if row.outcome]
    cap = float(rows[0].task.budget["samples"])
    return Cell(
        dim,
        size,
        np.array([float(o.cost or 0) for o in outcomes]),
        np.array([o.status == "solved" for o in outcomes]),
        cap=cap * dim if rows[0].task.solver["kind"] == "elimination" else cap,
    )


def null(name: str, dim: int, heads: int) -> int | None:
    """The learner's own null: how many monomials of the label's degree there are in the inputs that it is handed.

    A label of m heads has degree 2m + 1 in the 2d signs of two tokens. Handed the products of the tokens and the gate,
    it has degree m in d - 1 signs, at either value of the gate. None for labels of full degree, and for elimination.

    >>> null(STUDENT_HARD, 16, 2), null(PRODUCTS, 16, 2), null(STUDENT_NICE, 16, 2)
    (242825, 242, None)
    """
    if name == PRODUCTS:
        return 2 * monomials(dim - 1, heads)
    return monomials(2 * dim, 2 * heads + 1) if name == STUDENT_HARD else None


def controls(rows: Iterable[Row]) -> tuple[int, int]:
    """How many runs on random labels were solved, and how many there were."""
    ended = [
        row.outcome
        for row in rows
        if row.task.solver["kind"] == "wall" and kind_of(row.task).layers == CONTROL and row.outcome
    ]
    ended = [outcome for outcome in ended if outcome.status in ENDED]
    return sum(outcome.status == "solved" for outcome in ended), len(ended)
