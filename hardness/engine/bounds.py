"""What is proved of the cost of a game: computed where rows are read, which hold what was measured and nothing else."""

import json
from functools import lru_cache

from hardness import families, registry
from hardness.engine.outcome import Row
from hardness.engine.task import Task, canonical
from hardness.errors import InputError


def beside_cost(row: Row) -> dict[str, float]:
    """The `bound` that is proved of a game that ended, and the `ratio` of its cost to that, if it solved.

    >>> from hardness.engine.outcome import Outcome
    >>> solver = {"kind": "game", "strategy": "flat", "oracle": "window", "tolerance": 0.1}
    >>> task = Task("parity", {"dim": 15, "heads": 4}, solver, {}, 0)
    >>> {name: round(value, 2) for name, value in beside_cost(Row(task, Outcome("solved", 120))).items()}
    {'bound': 80.0, 'ratio': 1.5}
    """
    bound = proved_bound(row.task) if row.outcome else None
    if not bound or row.outcome is None:
        return {}
    if row.outcome.status != "solved" or not row.outcome.cost:
        return {"bound": bound}
    return {"bound": bound, "ratio": row.outcome.cost / bound}


def proved_bound(task: Task) -> float | None:
    """The proven lower bound on the queries of a game, as `hardness sq play` prints it; None where none is proved.

    Also None for a family that is not registered: what a file names is not imported to read its rows.
    """
    oracle, tolerance = task.solver.get("oracle", "window"), task.solver.get("tolerance")
    if "strategy" not in task.solver or not isinstance(tolerance, int | float):
        return None
    if task.family not in registry.names("family"):
        return None
    return _bound(task.family, canonical(task.params), str(oracle), float(tolerance))


@lru_cache(4096)
def _bound(family: str, params: str, oracle: str, tolerance: float) -> float | None:
    from hardness.sq.bounds.floors import check_tolerance
    from hardness.sq.game import bound_of
    from hardness.sq.oracle import ORACLES

    try:
        built = families.build(family, json.loads(params))
        return bound_of(built, ORACLES[oracle], check_tolerance(tolerance))
    except (InputError, LookupError):  # no concept class, or an oracle of a plug-in
        return None
