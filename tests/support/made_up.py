"""Rows of `exponential-in-m` that nobody ran: costs near a law, for tests of its page."""

from math import comb

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task


def outcome(task: Task, rng: np.random.Generator) -> Outcome:
    """60 N/d examples on hidden sets, 100 d on controls, 2 d for elimination, with a scatter of a fifth."""
    d, s = int(task.params["dim"]), int(task.params["heads"])
    spread, solver = float(np.exp(0.2 * rng.normal())), task.solver
    if solver["kind"] == "gap":
        return Outcome("solved", None, {"n_1": 1000.0})
    cap = float(task.budget["samples"])
    if solver["kind"] == "elimination":
        return Outcome("solved", round(2 * d * spread))
    weights = int(solver["params"].get("heads", 16)) * (d + 1)
    if "labels" in solver:
        return Outcome("budget", cap, {"weights": weights})
    law = 60 * comb(d - 1, s) / d if task.family == "parity" else 100 * d
    cost = min(max(64, round(law * spread * (16 * (d + 1) / weights))), cap)
    detail = {"weights": weights} | (
        {"gaps": [[256, 1.0, 100.0], [cost, 0.1, 10.0]]} if "gaps" in solver else {}
    )
    return Outcome("solved" if cost < cap else "budget", cost, detail, rng.uniform())
