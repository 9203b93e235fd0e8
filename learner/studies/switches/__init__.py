"""The study `switches`: what makes parities easy again, each switch with both bounds and what was measured."""

from pathlib import Path
from typing import Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from learner.studies.switches import tuning
from learner.studies.switches.tuning import BLOCKS as BLOCKS
from learner.studies.switches.tuning import SIZE as SIZE

CHAIN_TOLERANCE, CHAIN_BITS = 0.05, (12, 14, 16, 18, 20)  # games on chains of n bits
CHAIN_PLAYED = ("characters", "sign-batch")
# Of students
CHAIN_DIMS = {1: (12, 16, 24, 32), 2: (12, 16, 20, 24), 3: (10, 12, 14, 16), 6: (12, 14, 16, 20)}
CHAIN_CAP, RUNS = 20_000_000, 4  # of taught and of untaught students

BIASES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BIAS_SIZE, BIAS_TOLERANCE, BIAS_BITS = 4, 0.02, (12, 14, 16, 20, 24)
TAUGHT_SIZE, TAUGHT_BIASES, TAUGHT_DIMS, TAUGHT_CAP = 3, (0.0, 0.3, 0.5, 0.7, 0.9), (10, 12, 16), 2_000_000

PARITY_DIMS, PARITY_SIZE = (64, 128, 256, 512), 6
ROUNDINGS = ((97, 2, 16), (97, 2, 32), (97, 2, 64), (257, 16, 32), (257, 16, 64), (257, 16, 128))  # (q, p, n)
LAYERS = ((2, 2, 8), (3, 2, 8), (3, 2, 16), (3, 4, 16))  # (m, k, d)
ASKED = 3  # runs of each

FLIPS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
NOISY_BITS, NOISY_SIZE, NOISY_TOLERANCE = 20, 4, 0.05
TRIED = {"sq": 2, "low degree": 5, "elimination": 20, "lattice": 2}  # models of computation, and runs of each
MOST_TRIES = 200_000  # of elimination


def tasks(quick: bool) -> list[Task]:
    """Games, students, membership learners and the four models; the small grid has a point or two of each."""
    return [*_chains(quick), *_biased(quick), *_membership(quick), *_noisy(quick)]


def _chains(quick: bool) -> list[Task]:
    trials = []
    for g in BLOCKS:
        chain = {"size": SIZE, "block": g}
        for n in CHAIN_BITS[:3] if quick else CHAIN_BITS:
            for strategy in CHAIN_PLAYED:
                solver = {"kind": "chain", "strategy": strategy, "tolerance": CHAIN_TOLERANCE}
                trials.append(Task("nested", {"dim": n + 1, **chain}, solver, {}, 0))
        cap, runs = (20_000, 2) if quick else (CHAIN_CAP, RUNS)
        for d in CHAIN_DIMS[g][:1] if quick else CHAIN_DIMS[g]:
            trials += [tuning.task(g, d, tuning.tuned(g), cap, run) for run in range(runs)]
    return trials


def _biased(quick: bool) -> list[Task]:
    trials = []
    for mu in (0.0, 0.6) if quick else BIASES:
        for n in BIAS_BITS[:2] if quick else BIAS_BITS:
            solver = {
                "kind": "biased",
                "strategy": "products" if mu else "characters",
                "tolerance": BIAS_TOLERANCE,
            }
            trials.append(Task("parity", {"dim": n + 1, "heads": BIAS_SIZE, "bias": mu}, solver, {}, 0))
    student: dict[str, Any] = {"kind": "learner", "learner": "student", "params": {}}
    budget = {"samples": 20_000 if quick else TAUGHT_CAP}
    for mu in (0.5,) if quick else TAUGHT_BIASES:
        for d in TAUGHT_DIMS[:1] if quick else TAUGHT_DIMS:
            params = {"dim": d, "heads": TAUGHT_SIZE, "bias": mu}
            trials += [Task("parity", params, student, budget, run) for run in range(2 if quick else RUNS)]
    return trials


def _membership(quick: bool) -> list[Task]:
    cells: list[tuple[str, dict[str, Any]]] = [
        ("parity", {"dim": d, "heads": PARITY_SIZE}) for d in PARITY_DIMS
    ]
    cells += [("rounding", {"dim": n + 1, "modulus": q, "levels": p}) for q, p, n in ROUNDINGS]
    cells += [("nondegenerate", {"dim": d, "tokens": k, "heads": m}) for m, k, d in LAYERS]
    if quick:
        cells = [cell for cell in cells if cell[1]["dim"] <= 33 or cell[0] == "parity"]
    solver = {"kind": "membership"}
    return [
        Task(family, params, solver, {}, run)
        for family, params in cells
        for run in range(1 if quick else ASKED)
    ]


def _noisy(quick: bool) -> list[Task]:
    trials = []
    for eta in FLIPS[::2] if quick else FLIPS:
        params = {"dim": NOISY_BITS + 1, "heads": NOISY_SIZE, "flip": eta}
        for model, runs in TRIED.items():
            solver = {"kind": model, "tolerance": NOISY_TOLERANCE}
            trials += [
                Task("parity", params, solver, {}, run) for run in range(min(runs, 2) if quick else runs)
            ]
    return trials


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    from math import comb

    n = int(task.params["dim"]) - 1
    match task.solver["kind"]:
        case "learner":
            g, count = int(task.params.get("block", TAUGHT_SIZE)), int(task.solver["params"].get("labels", 1))
            spent = min(float(task.budget["samples"]), 4e3 * comb(n, g))
            return float(0.5 + count * spent * (4e-7 + 3.2e-9 * n * n))
        case "membership":
            return 6.0 if task.params.get("levels") == 2 and n > 16 else 1.0
        case _:
            return 1.0


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A trial, by the kind of its solver. Deterministic in the task and the root seed, but for its time.

    >>> trial(next(t for t in tasks(True) if t.solver["kind"] == "membership"), 0, 60.0).cost
    63
    """
    from learner.studies.switches import trials  # games and attacks take a while to import

    return trials.trial(task, root, guard)


STUDY = Study(
    "switches",
    "What makes hidden parities easy again, and what does each switch leave of the bounds?",
    tasks,
    seconds,
    trial,
    guard=900.0,
    content="learner.studies.switches.content:content",
    template=Path(__file__).with_name("page.md"),
)
