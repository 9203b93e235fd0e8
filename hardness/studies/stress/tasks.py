"""The grid of `stress`: every learner on every family at m heads, with the most examples each is given."""

from importlib.util import find_spec
from typing import Any

from hardness import registry
from hardness.study.task import Task

QUESTION = "How many examples does each learner need on each family at m heads?"

LEAST = 64  # the smallest size on every grid of sizes
DIM, LARGE = 8, 12
# Variants of a learner: options, and the most examples it is given, set by what a failing fit takes in time.
VARIANTS: dict[str, tuple[tuple[dict[str, Any], int], ...]] = {
    "direct": (({}, 2**10),),
    "lbfgs": (({}, 2**9),),
    "low-degree": (({}, 2**11), ({"degree": 5}, 2**13)),  # degree 5, that of a parity of two, is the null model itself
    "provable": (({}, 2**15),),
    "random-features": (({}, 2**10),),
    "sgd": (({}, 2**16),),
}
OTHERS: tuple[tuple[dict[str, Any], int], ...] = (({}, 2**11),)
CHEAP = ("provable", "sgd")  # the others get at most `QUICK` examples on the quick grid, and `BEYOND` beyond d = 8
QUICK, BEYOND = 2**10, 2**9
Entry = tuple[str, dict[str, Any], int]


def entries(quick: bool) -> list[Entry]:
    """Family, parameters and number of runs of every instance of the grid."""
    heads, runs = ((2, 3), 1) if quick else ((2, 3, 4), 5)
    found: list[Entry] = [("parity", {"dim": DIM, "heads": m}, runs) for m in heads]
    if not quick:
        found += [("parity", {"dim": DIM, "heads": m, "gadget": "dot"}, runs) for m in (2, 4)]
        found += [("parity", {"dim": LARGE, "heads": m}, 2) for m in heads]
    some = heads[:1] if quick else heads
    found += [("rounding", {"dim": DIM, "modulus": 17, "levels": 2, "heads": m}, runs) for m in some]
    paths = (0.5,) if quick else (0.1, 0.5)
    found += [("interpolation", {"dim": DIM, "heads": m, "rho": rho}, runs) for rho in paths for m in some]
    found += [("nondegenerate", {"dim": DIM, "tokens": 2, "heads": m}, runs) for m in some]
    return found


def tasks(quick: bool) -> list[Task]:
    """Every learner of the house on every entry; Adam only where torch is installed."""
    known = [name for name in registry.names("learner", house=True) if name != "adam" or find_spec("torch")]
    return [task for name in known for task in guest(quick, name)]


def guest(quick: bool, learner: str) -> list[Task]:
    """One learner, registered or ``package.module:Class``, on every entry."""
    found = []
    for options, most in VARIANTS.get(learner, OTHERS):
        solver = {"kind": "stress", "learner": learner, "params": options}
        for family, params, runs in entries(quick):
            cap = most if learner in CHEAP else BEYOND if params["dim"] > DIM else QUICK if quick else most
            budget = {"samples": min(most, cap), "from": LEAST, "factor": 4 if quick else 2}
            found += [Task(family, params, solver, budget, run) for run in range(runs)]
    return found


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: of one that fails, but for searches on layers that are nice enough to be quick."""
    learner, params = task.solver["learner"], task.params
    if learner in ("direct", "lbfgs") and (task.family == "nondegenerate" or params.get("rho", 0) >= 0.5):
        return 1.0
    failing = {"direct": 13.0, "lbfgs": 13.0, "low-degree": 1.0, "provable": 0.7, "sgd": 1.0}.get(learner, 3.0)
    most = VARIANTS.get(learner, OTHERS)[0][1]
    return failing * (int(params["dim"]) / DIM) ** 2 * int(task.budget["samples"]) / most
