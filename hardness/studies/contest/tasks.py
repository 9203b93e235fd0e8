"""The grids of `who-wins` and `ladder`: families, solvers and m."""

from math import comb
from typing import Any

from hardness.study.task import Task

WHO_WINS = "Which strategy, learner or attack solves which family at m heads?"
LADDER = "A ladder of challenges, m = 2 to 64: what is each rung predicted to cost, and who solves it?"
ATTACKS = ("bkw", "gaussian", "lattice", "search")
ATTACK_EXAMPLES, ATTACK_BUDGET = 40_000, {"bkw": 2**22, "gaussian": 2_000_000, "lattice": 6, "search": 2**30}
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
FEWEST = {2: 5, 8: 18}  # heads, by levels
TAIL = 3.29  # error mass 1e-3 of head-limited rounding (theory 1.4)


def who_wins(quick: bool) -> list[Task]:
    """Families × solvers × m, negative controls included: random layers for attacks, a constant learner for all."""
    heads, runs = ((2, 4, 8), 1) if quick else ((2, 3, 4, 6, 8, 12), 3)
    entries: list[tuple[str, dict[str, Any]]] = []
    for m in heads:
        dim = max(17, 2 * m + 1)
        entries.append(("parity", {"dim": dim, "heads": m}))
        entries.append(("parity", {"dim": dim, "heads": m, "flip": 0.1}))
        if m < 8:
            entries.append(("nondegenerate", _random_layer(m)))
    for m, p in (
        ((6, 2), (8, 2), (32, 8)) if quick else ((6, 2), (8, 2), (10, 2), (12, 2), (16, 2), (24, 8), (32, 8), (48, 8))
    ):
        entries.append(("rounding", rounding(m, 97, p)))
    return [task for run in range(runs) for family, params in entries for task in _field(family, params, run)]


def ladder(quick: bool) -> list[Task]:
    """A challenge at every m from 2 to 64: sparse noisy parity in d = 3m, and rounding p = 2 where a size fits m."""
    heads = (2, 4, 8, 16) if quick else (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
    rungs: list[tuple[str, dict[str, Any]]] = []
    for m in heads:
        rungs.append(("parity", {"dim": max(16, 3 * m), "heads": m, "flip": 0.05}))
        if m >= FEWEST[2]:
            rungs.append(("rounding", rounding(m, 97, 2)))
    names = {"attack", "sgd", "game", "control"}
    runs = range(1 if quick else 3)
    return [task for run in runs for family, params in rungs for task in _field(family, params, run, names)]


def rounding(heads: int, q: int, p: int) -> dict[str, Any]:
    """The dense instance that m heads hold at a nominal error mass 1e-3: n = 12 (m/(3.29 p))² dimensions (theory 1.4).

    Nominal: one secret's own mass, which a trial's row states, may differ by orders of magnitude. Below `FEWEST` heads
    not even five dimensions fit.
    """
    n = round(12 * (heads / (TAIL * p)) ** 2)
    return {"dim": n + 1, "modulus": q, "levels": p, "heads": heads}


def _random_layer(m: int) -> dict[str, Any]:
    return {"dim": 8, "tokens": 2, "heads": m}


def _field(family: str, params: dict[str, Any], run: int, names: set[str] | None = None) -> list[Task]:
    """Every solver that takes part at one instance: games where an oracle exists, learners, attacks."""
    out = []

    def enter(kind: str, solver: dict[str, Any], budget: dict[str, Any]) -> None:
        if names is None or kind in names:
            out.append(Task(family, params, solver, budget, run))

    if family == "parity" and comb(params["dim"] - 1, params["heads"]) <= CONCEPTS:
        queries = {"queries": 4 * comb(params["dim"] - 1, params["heads"])}
        game = {"kind": "game", "oracle": "window", "tolerance": TOLERANCE, "strategy": "sign-batch"}
        enter("game", game, queries)
    if family != "nondegenerate":
        enter("sgd", {"kind": "learner", "learner": "sgd", "params": {}}, {"samples": SGD_EXAMPLES})
    for learner, options in LEARNERS.items():
        enter("fit", {"kind": "fit", "learner": learner, "params": options}, {"samples": FIT_EXAMPLES})
    control = {"kind": "fit", "learner": "hardness.study.apart:Constant", "params": {}}
    enter("control", control, {"samples": FIT_EXAMPLES})
    for attack in ATTACKS:
        budget = {"samples": ATTACK_EXAMPLES, "work": ATTACK_BUDGET[attack]}
        enter("attack", {"kind": "attack", "attack": attack}, budget)
    return out


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    solver, heads, dim = task.solver, int(task.params["heads"]), int(task.params["dim"])
    match solver["kind"], solver.get("learner"):
        case "fit", "direct":
            return 1 + heads * dim / 30
        case "fit", "random-features":
            return 3 + dim / 4
        case "attack", _:
            return 6.0 if solver["attack"] in ("bkw", "lattice") and task.family == "rounding" else 1.0
    return 2.0
