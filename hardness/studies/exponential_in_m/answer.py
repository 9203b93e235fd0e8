"""The answer of the study `exponential-in-m`: its rows as series of cells, their growth, the verdict."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hardness.studies.exponential_in_m.tasks import REFERENCE
from hardness.studies.trials import concepts_of, size_of_class
from hardness.study.growth.cells import Cell
from hardness.study.growth.verdict import NONE, Growth, growth
from hardness.study.outcome import CRASHED
from hardness.study.store import Row
from hardness.study.task import Task


@dataclass(frozen=True)
class Series:
    """One curve: who paid (`label`), in what (`unit`), at which tolerance (None: no oracle), and how it grows."""

    label: str
    unit: str
    tolerance: float | None
    growth: Growth

    @property
    def cells(self) -> dict[tuple[int, int], Cell]:
        return {(cell.dim, cell.size): cell for cell in self.growth.cells}


@dataclass(frozen=True)
class Answer:
    """Everything the page shows. `adversary` is the cheapest strategy at each cell; what games cost is an identity."""

    adversary: Series
    reference: Series
    honest: Series
    learners: tuple[Series, ...]
    strategies: dict[tuple[int, int], str]
    statuses: dict[str, Counter[str]]
    sources: dict[str, set[str]]

    @property
    def verdict(self) -> str:
        """One line: the verdict on the first learner, since only its costs were not known before."""
        if not self.learners:
            return f"{NONE}: no learner was run, and what games cost is a closed form."
        return (
            f"{self.learners[0].growth.word}: {self.learners[0].label}: {'; '.join(self.learners[0].growth.reasons)}."
        )


def series_of(task: Task) -> str:
    """The name of the series a task belongs to.

    >>> series_of(Task("parity", {}, {"kind": "game", "oracle": "window", "strategy": "bent"}, {}, 0))
    'window adversary, bent'
    """
    solver = task.solver
    if solver["kind"] == "attack":
        return f"attack {solver['attack']}"
    if solver["kind"] in ("learner", "fit"):
        return f"learner {solver['learner']}"
    return f"{'window adversary' if solver['oracle'] == 'window' else 'honest oracle'}, {solver['strategy']}"


def answer(rows: Iterable[Row]) -> Answer:
    """Group the rows and fit every series."""
    runs: dict[str, dict[tuple[int, int], list[Row]]] = defaultdict(lambda: defaultdict(list))
    statuses: dict[str, Counter[str]] = defaultdict(Counter)
    sources: dict[str, set[str]] = defaultdict(set)
    tolerances: dict[str, float] = {}
    for row in rows:
        name = series_of(row.task)
        statuses[name][row.outcome.status if row.outcome else "planned"] += 1
        if "tolerance" in row.task.solver:
            tolerances[name] = float(row.task.solver["tolerance"])
        if row.outcome:
            runs[name][row.task.params["dim"], size_of_class(concepts_of(row.task))].append(row)
            if row.outcome.source:
                sources[name].add(row.outcome.source)

    measured = {
        name: [each for (d, s), found in groups.items() if (each := cell(d, s, found))] for name, groups in runs.items()
    }
    reference, honest = f"window adversary, {REFERENCE}", f"honest oracle, {REFERENCE}"
    strategies = [name for name in statuses if name.startswith("window") and name != reference]
    cheapest = _cheapest({name.split(", ")[1]: measured.get(name, []) for name in strategies})

    def series(label: str, unit: str, name: str, cells: Sequence[Cell] | None = None) -> Series:
        found = measured.get(name, []) if cells is None else cells
        return Series(label, unit, tolerances.get(name), growth(found, identity=not name.startswith("learner")))

    return Answer(
        adversary=series("cheapest strategy", "queries", (strategies or [""])[0], [c for _, c in cheapest.values()]),
        reference=series(REFERENCE, "queries", reference),
        honest=series("honest oracle", "queries", honest),
        learners=tuple(
            series(name.removeprefix("learner ").upper() if name == "learner sgd" else name, "examples", name)
            for name in sorted(statuses)
            if name.startswith("learner")
        ),
        strategies={key: name for key, (name, _) in cheapest.items()},
        statuses=dict(statuses),
        sources=dict(sources),
    )


def cell(dim: int, size: int, rows: Sequence[Row]) -> Cell | None:
    """The runs at one (d, s). A trial that crashed, or of no positive finite cost, is no data; None without any."""
    found = [
        (float(row.outcome.cost), row.outcome.status == "solved", float(row.task.budget.get("samples", np.inf)))
        for row in rows
        if row.outcome and row.outcome.status not in CRASHED and row.outcome.cost and np.isfinite(row.outcome.cost)
    ]
    if not found:
        return None
    cost, solved, cap = (np.array(column) for column in zip(*found, strict=True))
    return Cell(dim, size, cost, solved, float(cap.max()))


def _cheapest(measured: dict[str, list[Cell]]) -> dict[tuple[int, int], tuple[str, Cell]]:
    best: dict[tuple[int, int], tuple[str, Cell]] = {}
    for name, cells in measured.items():
        for each in cells:
            key = each.dim, each.size
            if key not in best or (each.censored, each.median) < (best[key][1].censored, best[key][1].median):
                best[key] = name, each
    return best
