"""The grid of `wall`: cells, runs and caps, the small grid, and the sub-studies of width, batch and optimiser."""

from collections.abc import Iterable, Mapping
from math import comb
from typing import Any

from hardness.engine.task import Task

QUESTION = "How many examples does one attention student need on hard and on nice layers of m heads?"

STUDENT, WIDTH = "student", 16  # who is measured, and its heads wherever nothing else is said
CAP, RUNS = 50_000_000, 10  # examples a run, runs a cell
LARGE_CAP, LARGE_RUNS = 30_000_000, 5  # from m = 5 at d >= 16, and rounding from m = 7
BETWEEN_RUNS = 5  # at odd d
SMALL_CAP, SMALL_RUNS = 3_000_000, 5
CONTROL_CAP, CONTROL_RUNS = 10_000_000, 50  # random labels, all cells together
# So many cells that the rule of `hardness.statistics` finds growth as the root of N in four of five data sets even if
# costs scatter about it by a factor of 1.7.
PLANE = [(d, m) for m in (2, 3, 4) for d in range(8, 25, 2)] + [(28, 2), (32, 2)]
HIGH = [(d, m) for m in (5, 6) for d in range(8, 17, 2)] + [(16, 7), (16, 8)]
BETWEEN = [(d, m) for m in (2, 3, 4) for d in range(9, 24, 2)] + [(d, m) for m in (5, 6) for d in range(9, 16, 2)]
RAY = [(4 * m, m) for m in (2, 3, 4, 5)]
SMALL = [(d, m) for m in (2, 3, 4) for d in (12, 16, 20)]
ROUNDING = [(3, 3), (5, 4), (8, 5), (11, 6), (14, 7), (17, 8)]  # q = 17, p = 2: about as large as m heads hold
PATH, RHOS = [(16, m) for m in (2, 3, 4)], (0.1, 0.5)
OTHERS: tuple[dict[str, Any], ...] = ({"batch": 16}, {"batch": 256}, {"optimizer": "sgd"})
VARIED = [(16, 2), (16, 3)]  # where batch and optimiser are varied
SUB_CAP, SUB_RUNS = 5_000_000, 5

Cell = tuple[str, dict[str, Any]]


def tasks(quick: bool) -> list[Task]:
    """The full grid, or the small one: the plane up to m = 4 and d = 20, hard and nice."""
    if quick:
        return list(runs([*map(parity, SMALL), *map(nice, SMALL)], SMALL_RUNS, SMALL_CAP))
    return [*user_learner_tasks(False, STUDENT), *_controls(), *_variants()]


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """One learner, registered or ``package.module:Class``, on every cell on which the student is measured."""
    if quick:
        return list(runs([*map(parity, SMALL), *map(nice, SMALL)], SMALL_RUNS, SMALL_CAP, learner))
    places = list(dict.fromkeys([*PLANE, *HIGH, *RAY]))
    usual = [make(cell) for make in (parity, nice) for cell in places if not _large(*cell)]
    usual += [rounding(cell) for cell in ROUNDING if cell[1] < 7]
    usual += [between(cell, rho) for rho in RHOS for cell in PATH]
    large = [make(cell) for make in (parity, nice) for cell in places if _large(*cell)]
    large += [rounding(cell) for cell in ROUNDING if cell[1] >= 7]
    odd = [make(cell) for make in (parity, nice) for cell in BETWEEN]
    return [
        *runs(usual, RUNS, CAP, learner),
        *runs(large, LARGE_RUNS, LARGE_CAP, learner),
        *runs(odd, BETWEEN_RUNS, CAP, learner),
    ]


def parity(cell: tuple[int, int]) -> Cell:
    """Hidden parity of m of d - 1 coordinates."""
    return "parity", {"dim": cell[0], "heads": cell[1]}


def nice(cell: tuple[int, int]) -> Cell:
    """A random layer of the same size."""
    return "nondegenerate", {"dim": cell[0], "tokens": 2, "heads": cell[1]}


def rounding(cell: tuple[int, int]) -> Cell:
    """A rounded inner product mod 17 in labels of m heads."""
    return "rounding", {"dim": cell[0], "heads": cell[1], "modulus": 17, "levels": 2}


def between(cell: tuple[int, int], rho: float) -> Cell:
    """On the path from a hidden parity to a random layer."""
    return "interpolation", {"dim": cell[0], "heads": cell[1], "rho": rho}


def _large(d: int, m: int) -> bool:
    return m >= 5 and d >= 16


def _controls() -> Iterable[Task]:
    """Random labels: an independent sign an example, on the parities of d = 16."""
    places = [parity((16, m)) for m in (2, 3, 4, 5, 6)]
    return runs(places, CONTROL_RUNS // len(places), CONTROL_CAP, labels="independent")


def _variants() -> list[Task]:
    """Other widths on the small plane; other batches and plain gradient descent at two places."""
    found: list[Task] = []
    for d, m in SMALL:
        for width in (m, 4 * m):
            found += runs([parity((d, m))], SUB_RUNS, SUB_CAP, params={"heads": width})
    for cell in VARIED:
        for params in OTHERS:
            found += runs([parity(cell)], SUB_RUNS, SUB_CAP, params=params)
    return found


def runs(
    cells: Iterable[Cell],
    runs: int,
    cap: int,
    learner: str = STUDENT,
    params: Mapping[str, Any] | None = None,
    labels: str = "teacher",
) -> list[Task]:
    """So many runs of a learner on every cell, to a cap of examples."""
    solver = {"kind": "wall", "learner": learner, "params": dict(params or {}), "labels": labels}
    return [Task(family, own, solver, {"samples": cap}, run) for family, own in cells for run in range(runs)]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: of a run to its cap if that is likely, else of what such layers cost."""
    d, m, cap = int(task.params["dim"]), int(task.params["heads"]), float(task.budget["samples"])
    width = int(task.solver["params"].get("heads", WIDTH))
    usual = 3e3 * comb(d - 1, m) ** 0.9
    if task.family == "nondegenerate" or "rho" in task.params:
        usual = 2e3 * d * m
    elif task.family == "rounding":
        usual = 7e4 * 3.5 ** (m - 4)
    spent = cap if task.solver["labels"] == "independent" else min(cap, usual)
    return 0.5 + spent * (4e-7 + 2e-10 * width * d * d)
