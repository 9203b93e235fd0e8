"""Predicted times learned from rows: what trials like a task took."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import median

import numpy as np

from hardness.engine.store import Row
from hardness.engine.task import Task, canonical

SHORTEST_SECONDS = 1e-3  # seconds; shorter trials are not told apart
Numbers = dict[str, float]


def learned(rows: Iterable[Row], otherwise: Callable[[Task], float]) -> Callable[[Task], float]:
    """Seconds of a task: the median of trials that differ in their repetition alone; else a power law in the numeric
    parameters through trials of the same family and solver, of which it takes three; else `otherwise`.

    >>> from hardness.engine.outcome import Outcome
    >>> def row(d, seconds):
    ...     return Row(Task("parity", {"dim": d}, {"strategy": "flat"}, {}, 0), Outcome("solved", 1, {}, seconds))
    >>> predicted = learned([row(8, 2.0), row(16, 8.0), row(32, 32.0)], lambda task: 1.0)
    >>> [round(predicted(row(d, 0.0).task), 3) for d in (8, 16, 64)]
    [2.0, 8.0, 128.0]
    """
    cells: dict[str, list[float]] = defaultdict(list)
    series: dict[str, list[tuple[Numbers, float]]] = defaultdict(list)
    for row in rows:
        if row.outcome:
            seconds = max(row.outcome.seconds, SHORTEST_SECONDS)
            cells[_cell(row.task)].append(seconds)
            series[_series(row.task)].append((_numbers(row.task), seconds))
    laws = {name: _law(points) for name, points in series.items() if len(points) >= 3}

    def predict(task: Task) -> float:
        if (cell := _cell(task)) in cells:
            return float(median(cells[cell]))
        law = laws.get(_series(task))
        return law(_numbers(task)) if law else otherwise(task)

    return predict


def _cell(task: Task) -> str:
    return canonical([task.family, task.params, task.solver, task.budget])


def _series(task: Task) -> str:
    return json.dumps([task.family, task.solver], sort_keys=True, default=str)


def _numbers(task: Task) -> Numbers:
    """What a time may be a power of."""
    return {k: float(v) for k, v in task.params.items() if isinstance(v, (int, float)) and v > 0}


def _law(points: list[tuple[Numbers, float]]) -> Callable[[Numbers], float]:
    names = sorted(set.intersection(*(set(numbers) for numbers, _ in points)))
    design = np.array([[1.0, *(np.log(numbers[name]) for name in names)] for numbers, _ in points])
    logs = np.log([seconds for _, seconds in points])
    middle = design.mean(axis=0) * [0.0, *[1.0] * len(names)]
    weights = np.linalg.lstsq(design - middle, logs, rcond=None)[0]
    top = float(max(logs))

    def law(numbers: Numbers) -> float:
        at = np.array([1.0, *(np.log(numbers.get(name, 1.0)) for name in names)]) - middle
        return float(np.exp(min(at @ weights, top + 10)))

    return law
