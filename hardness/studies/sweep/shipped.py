"""Grids with names, which `hardness sweep NAME` runs."""

from hardness.studies.sweep.grid import Grid

SIZES = {"dim": "4*heads", "heads": [2, 3]}
SOLVER = {"learner": "lbfgs"}
BUDGET = {"samples": 256}
SHIPPED: dict[str, tuple[Grid, ...]] = {
    "nice-and-hard": (
        Grid("nondegenerate", {**SIZES, "tokens": 2}, SOLVER, BUDGET, runs=3),
        Grid("parity", SIZES, SOLVER, BUDGET, runs=3),
    ),
}
