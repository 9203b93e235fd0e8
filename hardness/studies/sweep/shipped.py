"""Grids with names, which `hardness sweep NAME` runs."""

from hardness.studies.sweep.grid import Grid

# Of each learner at its defaults, by name: the numbers of heads, the most examples, and the runs of a cell.
LEARNERS = {
    "student": ([2, 3, 4, 5], 2**20, 3),
    "lbfgs": ([2, 3], 256, 1),
}
FAMILIES = {
    "nondegenerate": {"tokens": 2},
    "parity": {},
}
SHIPPED: dict[str, tuple[Grid, ...]] = {
    "nice-and-hard": tuple(
        Grid(
            family,
            {"dim": "4*heads", "heads": heads, **params},
            {"learner": learner},
            {"samples": samples},
            runs=runs,
        )
        for learner, (heads, samples, runs) in LEARNERS.items()
        for family, params in FAMILIES.items()
    ),
}
