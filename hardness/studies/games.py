"""Games against the window adversary as trials, and their table: what the studies of statistical queries share."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row
from hardness.engine.task import Task
from hardness.sq.bounds.parity import entropy_floor
from hardness.statistics.fit import LEAST, mean_half_width
from hardness.studies.trials import concepts_of, size_of_class

Line = dict[str, Any]
RUNS = 5  # of whatever draws its queries; on parities what these pay does not depend on what they draw
DETERMINISTIC = ("characters", "sign-batch", "bent", "low-degree")


def runs_of(strategy: str, quick: bool) -> int:
    """Runs of a strategy: one where nothing is drawn."""
    return 1 if strategy in DETERMINISTIC else 2 if quick else RUNS


def game(task: Task, root: int, guard: float) -> Outcome:
    """A strategy against the window adversary. Deterministic in the task and the root seed.

    >>> solver = {"kind": "frontier", "strategy": "sign-batch", "tolerance": 0.1}
    >>> outcome = game(Task("parity", {"dim": 15, "heads": 4}, solver, {"queries": 4000}, 0), 0, 60.0)
    >>> outcome.status, outcome.detail["bound"] <= outcome.cost <= outcome.detail["exhaustive"]
    ('solved', True)
    """
    from hardness.sq.game import play

    concepts, solver = concepts_of(task), task.solver
    seed, limit = task.seed(root, "solver"), int(task.budget["queries"])
    result = play(concepts, solver["strategy"], "window", float(solver["tolerance"]), seed=seed, max_queries=limit)
    detail = {"bound": result.bound, "concepts": result.concepts, "remaining": result.remaining}
    if task.family == "parity":
        detail["exhaustive"] = result.concepts - 1
    return Outcome(result.status, result.queries, detail)


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of a mean (`mean_half_width`); none for fewer than three values.

    >>> [round(x, 2) for x in interval([1.0, 2.0, 3.0])]
    [-0.48, 4.48]
    """
    if len(values) < LEAST:
        return None
    half = float(mean_half_width(np.asarray(values)))
    return mean(values) - half, mean(values) + half


def spread_of(values: Sequence[float], exact: bool) -> Line:
    """Columns of an interval; a deterministic point has none to give."""
    low, high = (None, None) if exact else interval(values) or (None, None)
    return {"low": low, "high": high, "exact": "yes" if exact else ""}


def frontier_table(rows: Iterable[Row]) -> list[Line]:
    """One line a class, strategy and tolerance: mean queries of the solved runs beside the proven bound."""
    groups: dict[tuple[str, int, str, float], list[Row]] = defaultdict(list)
    for row in rows:
        if row.outcome:
            task = row.task
            size = size_of_class(concepts_of(task))
            key = (task.family, size, str(task.solver["strategy"]), float(task.solver["tolerance"]))
            groups[key].append(row)
    table = []
    for (family, size, strategy, tau), found in sorted(groups.items()):
        ended = [row.outcome for row in found if row.outcome]
        costs = [float(o.cost) for o in ended if o.status == "solved" and o.cost is not None]
        detail = next((o.detail for o in ended if "bound" in o.detail), {})
        bound, queries = detail.get("bound"), mean(costs) if costs else None
        table.append({
            "family": family, "m or n": size, "strategy": strategy, "tolerance": tau,
            "runs": f"{len(costs)}/{len(ended)}", "queries": queries, "least": min(costs, default=None),
            **spread_of(costs, family == "parity" and strategy in DETERMINISTIC),
            "gave up at": None if costs else max((o.cost or 0 for o in ended), default=None),
            "left": None if costs else min((o.detail.get("remaining", 0) for o in ended), default=None),
            "concepts": detail.get("concepts"), "proven bound": bound, "exhaustive": detail.get("exhaustive"),
            "entropy": entropy_floor(detail["concepts"], tau) if detail.get("concepts") else None,
            "ratio": queries / bound if queries and bound else None,
        })  # fmt: skip
    return table


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    m, solver = int(task.params.get("heads", 1)), task.solver
    match solver["kind"], solver.get("strategy"):
        case "frontier", strategy if task.family == "rounding":
            n = int(task.params["dim"]) - 1
            return {"adaptive": 150.0, "sign-batch": 40.0, "characters": 20.0}.get(str(strategy), 5.0) * 4.0 ** (n - 8)
        case "frontier", "adaptive":
            return 3.0
        case "frontier", "bent":
            return 0.1 * 4.0 ** (m - 2)
    return 0.5
