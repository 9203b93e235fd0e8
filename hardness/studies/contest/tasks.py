"""The grids of `who-wins` and `ladder`: families, solvers and m."""

from math import comb
from typing import Any

from hardness.engine.task import Task
from hardness.studies.lattices.tasks import task as cryptanalysis

WHO_WINS = "Which strategy, learner or attack solves which family at m heads?"
RUNGS = (2, 4, 6, 8, 10, 12, 14, 16, 24, 32, 48, 64)  # heads
LADDER = (
    f"A ladder of challenges, m = {RUNGS[0]} to {RUNGS[-1]}: what is each rung predicted to cost, and who solves it?"
)
# What is refused by its kind, whatever the instance, is tried once.
ABLE = {"parity": ("gaussian", "search"), "rounding": ("bkw", "lattice"), "nondegenerate": ()}
ATTACKS = ("bkw", "gaussian", "lattice", "search")
ATTACK_EXAMPLES, ATTACK_BUDGET = 40_000, {"bkw": 2**22, "gaussian": 2_000_000, "lattice": 100, "search": 2**30}
WIDE, FEWER = 200, 10_000  # of dimensions beyond this, so many examples: nobody comes near
# Two starts: the second has spare heads, which is what it takes on nice layers; on hard ones each start is dear.
LEARNERS: dict[str, dict[str, Any]] = {
    "low-degree": {},
    "random-features": {},
    "direct": {"starts": 2, "iterations": 200},
    "provable": {},
}
FIT_EXAMPLES = 2000
SGD_EXAMPLES = 200_000
TOLERANCE, CONCEPTS = 0.1, 3_000_000  # of games, and up to how many concepts they are played
RUNS, DEAR_RUNS = 10, 3  # of attacks; of games, of learners, and of attacks from streams that take half a minute
DEAR = 40  # dimensions from which on those do
MODULUS, MASS = 97, 1e-3
# Dimensions by levels and heads: the largest at which the median error mass of 31 secrets is at most `MASS` (beyond
# 80, of 11 secrets and to a fortieth). Fewer heads hold so few dimensions that all inputs can be listed.
SIZES = {
    2: {6: 13, 8: 22, 10: 32, 12: 46, 14: 62, 16: 80, 20: 128, 24: 189, 32: 314},
    8: {24: 11, 32: 18, 48: 41},
}
LADDER_FLIP, LADDER_DIM = 0.125, 8  # label noise of the parity rungs, and their d/m


def who_wins(quick: bool) -> list[Task]:
    """Families × solvers × m, negative controls included: random layers for attacks, a constant learner for all."""
    heads = (2, 4, 8) if quick else (2, 3, 4, 6, 8, 12)
    entries: list[tuple[str, dict[str, Any]]] = []
    for m in heads:
        dim = max(17, 2 * m + 1)
        entries.append(("parity", {"dim": dim, "heads": m}))
        entries.append(("parity", {"dim": dim, "heads": m, "flip": 0.1}))
        if m < 8:
            entries.append(("nondegenerate", _random_layer(m)))
    for m, p in ((6, 2), (8, 2), (32, 8)) if quick else ((6, 2), (8, 2), (12, 2), (14, 2), (32, 8), (48, 8)):
        entries.append(("rounding", rounding(m, p)))
    return [task for family, params in entries for task in _field(family, params, quick)]


def ladder(quick: bool) -> list[Task]:
    """A challenge at every m: parity of m bits in d = 8m with noisy labels, and rounding to two levels where m fits.

    The attacks on rounding draw their rows from streams, so that no rung stands for want of examples.
    """
    heads = (2, 4, 8, 16) if quick else RUNGS
    found = []
    for m in heads:
        parity = {"dim": LADDER_DIM * m, "heads": m, "flip": LADDER_FLIP}
        found += _field("parity", parity, quick, {"attack", "sgd", "game", "control"})
        n = SIZES[2].get(m)
        if n is not None:
            for attack in ABLE["rounding"]:
                runs = 1 if quick else DEAR_RUNS if n >= DEAR else RUNS
                found += [cryptanalysis(attack, None, MODULUS, 2, n, m, run) for run in range(runs)]
            found += _field("rounding", rounding(m, 2), quick, {"control"})
    return found


def rounding(heads: int, p: int) -> dict[str, Any]:
    """The dense instance of `SIZES`. What one secret's labels miss, which a trial's row states, varies about it."""
    return {"dim": SIZES[p][heads] + 1, "modulus": MODULUS, "levels": p, "heads": heads}


def _random_layer(m: int) -> dict[str, Any]:
    return {"dim": 8, "tokens": 2, "heads": m}


def _field(family: str, params: dict[str, Any], quick: bool, names: set[str] | None = None) -> list[Task]:
    """Every solver that takes part at one instance: games where an oracle exists, learners, attacks."""
    out: list[Task] = []

    def enter(kind: str, solver: dict[str, Any], budget: dict[str, Any], runs: int) -> None:
        if names is None or kind in names:
            out.extend(Task(family, params, solver, budget, run) for run in range(1 if quick else runs))

    if family == "parity" and comb(params["dim"] - 1, params["heads"]) <= CONCEPTS:
        queries = {"queries": 4 * comb(params["dim"] - 1, params["heads"])}
        game = {"kind": "game", "oracle": "window", "tolerance": TOLERANCE, "strategy": "sign-batch"}
        enter("game", game, queries, DEAR_RUNS)
    if family != "nondegenerate" and params["dim"] <= WIDE:
        enter("sgd", {"kind": "learner", "learner": "sgd", "params": {}}, {"samples": SGD_EXAMPLES}, DEAR_RUNS)
    for learner, options in LEARNERS.items():
        enter("fit", {"kind": "fit", "learner": learner, "params": options}, {"samples": FIT_EXAMPLES}, DEAR_RUNS)
    control = {"kind": "fit", "learner": "hardness.evaluation.adapters:Constant", "params": {}}
    enter("control", control, {"samples": FIT_EXAMPLES}, 1)
    for attack in ATTACKS:
        budget = {"samples": ATTACK_EXAMPLES if params["dim"] <= WIDE else FEWER, "work": ATTACK_BUDGET[attack]}
        enter("attack", {"kind": "attack", "attack": attack}, budget, RUNS if attack in ABLE[family] else 1)
    return out


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    solver, heads, dim = task.solver, int(task.params["heads"]), int(task.params["dim"])
    match solver["kind"], solver.get("learner"):
        case "fit", "direct":
            return 1 + heads * dim / 30
        case "fit", "random-features":
            return 3 + dim / 4
        case "cryptanalysis", _:
            return dim / 4
        case "attack", _:
            return 6.0 if solver["attack"] in ("bkw", "lattice") and task.family == "rounding" else 1.0
    return 2.0
