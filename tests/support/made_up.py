"""Rows of `exponential-in-m` that nobody ran: costs near a law, for tests of its page."""

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task


def outcome(task: Task, rng: np.random.Generator) -> Outcome:
    """3^s on parities, d on random layers and for elimination, with a scatter of a fifth; random labels never."""
    d, s = int(task.params["dim"]), int(task.params["heads"])
    spread, solver, cap = float(np.exp(0.2 * rng.normal())), task.solver, float(task.budget["samples"])
    if solver["kind"] == "elimination":
        return Outcome("solved", round(2 * d * spread))
    if "labels" in solver:
        return Outcome("budget", cap, {"gradient": cap})
    cost = min(round((300 * d if task.family == "nondegenerate" else 60 * d * 3**s) * spread), cap)
    detail = {"gradient": cost, "distinct": min(cost, solver.get("pool", cost)), "multiply_adds": 1e3 * cost}
    return Outcome("solved" if cost < cap else "budget", cost, detail | {"explained": cost}, rng.uniform())
