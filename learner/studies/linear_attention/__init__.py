"""The study `linear-attention`: what Yau et al. (arXiv 2410.10101) claim of linear attention and regression."""

from pathlib import Path
from typing import Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task

# Families of tasks
HEAD, MEMORY, AUTOMATA, MACHINE = "linear-attention", "associative-memory", "automata", "machine"

LENGTH, ADAM_ROWS = 100, 8192  # tokens of a sequence; rows of which Adam learns a head
RATIOS = (0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0, 4.0, 16.0)  # rows to features
FEW = (0.5, 1.0, 1.25, 2.0)  # the same at d = 16, where a regression takes a quarter of a minute
HEADS = {2: (1, 2, 4), 4: (1, 2, 4, 8, 16), 8: (1, 4, 8, 16, 32, 64)}  # that Adam trains, by d

SIZE = 4  # keys, values, and their dimension
MIXTURES = (0.0, 0.9, 0.95, 0.99, 0.995, 0.998, 1.0)  # shares of orthonormal examples
MEMORY_HEADS = (1, 2, 4, 8)

AUTOMATON_SIZES = ((2, 2), (3, 2), (4, 2), (4, 4), (6, 3))  # states and letters
AUTOMATON_RATIOS = (0.5, 0.75, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # rows to the rank of the span

MACHINE_SIZES = ((3, 2), (4, 2), (6, 3))  # states and symbols
MACHINE_RATIOS = (0.5, 0.8, 1.0, 1.1, 1.2, 1.36, 1.5, 1.7)


def tasks(quick: bool) -> list[Task]:
    """Regression from too few rows to more than enough of each, and Adam where the paper trains by descent."""
    return [*_heads(quick), *_memories(quick), *_automata(quick), *_machines(quick)]


def _heads(quick: bool) -> list[Task]:
    from learner.linear.features import feature_count

    solvers: list[tuple[int, dict[str, Any], int]] = []
    for d in (2, 4, 8) if quick else (2, 4, 8, 16):
        rows = {round(ratio * feature_count(d)) for ratio in (RATIOS if d < 16 else FEW)}
        solvers += [(d, {"method": "regression"}, n) for n in sorted(rows) if n >= 10]
    for d in (2, 4) if quick else HEADS:
        solvers += [(d, {"method": "Adam", "heads": h}, ADAM_ROWS) for h in HEADS[d]]
    return [
        Task(HEAD, {"dim": d}, solver, {"samples": n}, r)
        for d, solver, n in solvers
        for r in range(3 if quick else 4 if d == 16 else 10)
    ]


def _memories(quick: bool) -> list[Task]:
    """Regression on every mixture; Adam on the ends, in full also between."""
    count, runs = (4096, 3) if quick else (16_384, 6)
    mixtures, sizes = ((0.0, 1.0), (1, 4)) if quick else ((0.0, 0.95, 0.99, 1.0), MEMORY_HEADS)
    solvers: list[dict[str, Any]] = [{"method": "regression", "unitary": share} for share in MIXTURES]
    solvers += [{"method": "Adam", "heads": h, "unitary": share} for share in mixtures for h in sizes]
    return [
        Task(MEMORY, {"size": SIZE}, solver, {"samples": count}, r) for solver in solvers for r in range(runs)
    ]


def _automata(quick: bool) -> list[Task]:
    from learner.studies.linear_attention.automata import span_rank

    return [
        Task(AUTOMATA, {"states": Q, "letters": A}, {"method": "regression"}, {"samples": n}, r)
        for Q, A in AUTOMATON_SIZES[: 4 if quick else 5]
        for n in sorted({max(10, round(ratio * span_rank(Q, A))) for ratio in AUTOMATON_RATIOS})
        for r in range(8 if quick else 20)
    ]


def _machines(quick: bool) -> list[Task]:
    from learner.studies.linear_attention.machine import Machine

    return [
        Task(MACHINE, {"states": Q, "symbols": A}, {"method": "regression"}, {"samples": n}, r)
        for Q, A in MACHINE_SIZES[: 2 if quick else 3]
        for n in (round(ratio * Machine(Q, A).span_rank) for ratio in MACHINE_RATIOS)
        for r in range(4 if quick or Q == 6 else 20)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    from learner.linear.features import feature_count
    from learner.studies.linear_attention.machine import Machine

    n, heads, params = float(task.budget["samples"]), int(task.solver.get("heads", 0)), task.params
    match task.family:
        case "linear-attention":
            d = int(params["dim"])
            return (
                0.2 + 1e-6 * n * d * heads
                if heads
                else 0.15 + 1e-5 * n * d + 9e-10 * n * feature_count(d) ** 2
            )
        case "associative-memory":
            return 0.3 + 0.2 * heads if heads else 0.1 + n * 1.2e-4
        case "automata":
            return 0.01 + 8e-5 * n
    return 0.05 + n * (5e-5 + 6e-9 * Machine(int(params["states"]), int(params["symbols"])).dim ** 2)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A trial of the task's family, deterministic in the task and the root seed.

    >>> task = Task("automata", {"states": 2, "letters": 2}, {"method": "regression"}, {"samples": 100}, 0)
    >>> trial(task, 0, 60.0).status
    'solved'
    """
    from learner.studies.linear_attention.trials import TRIALS  # learners take a second to import

    return TRIALS[task.family](task, root)


STUDY = Study(
    "linear-attention",
    "When does regression recover linear attention, and does it know when it has?",
    tasks,
    seconds,
    trial,
    guard=600.0,
    role="appendix",
    content="learner.studies.linear_attention.content:content",
    template=Path(__file__).with_name("page.md"),
)
