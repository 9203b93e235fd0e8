"""The study `nice-layers`: what the theorem's algorithm needs on random layers, and what its phases add to a search."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from learner.last_fit import counting_floor

QUESTION = (
    "What does the theorem's algorithm need on random layers, and what do its phases add to a local search?"
)
# Kinds of tasks; layers follow from them
SCALING, RARITY, PATH, LINEAR = "scaling", "rarity", "anatomy", "linear map"
PHASES, LITERAL, RANDOM, LBFGS = "phases", "literal phases", "polish from a random start", "lbfgs"

HEADS = (1, 2, 3, 4, 5)
SIZES = (1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000)  # by √10
# Where a finer step is taken
BETWEEN = {2: (1000, 3162), 3: (3162, 10_000), 4: (10_000, 31_623), 5: (31_623, 316_228)}
FINER = 10**0.125
MAIN, SIDES = (2, 16), ((2, 12), (2, 24), (3, 16))  # (k, d); k·d is at least 24, so that inputs do not repeat
# Examples of a local search over the counting floor; a tenth of them is held out
RATIOS = 1.2, 1.5, 2.0, 4.0
LITERAL_DIM, LITERAL_SIZES = 12, SIZES[:4]  # the body's linear programs take minutes at d = 16
SPREADS, WIDE, SATURATED = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0), (2, 2, 10, 40_000), 16.0
PATH_DIM, PATH_EXAMPLES = 8, 20_000
SPREAD = 2.0  # of the scores of random layers, unless it is varied
LINEAR_EXAMPLES = 40_000  # of which a half is fitted and a half judged
RARITY_DIM, ROWS = 16, 100_000  # examples whose rows are certified, or not, with the exact sum of projections


def tasks(quick: bool) -> list[Task]:
    """Phases and searches at growing numbers of examples, rarity, paths from hard to nice layers."""
    return [*_scaling(quick), *_spreads(quick), *_rarity(quick), *_paths(quick), *_linear(quick)]


def _scaling(quick: bool) -> list[Task]:
    if quick:
        trials = [_phases(m, 2, 12, n, r) for m in (1, 2, 3) for n in SIZES[1:4] for r in range(2)]
        trials += [
            _local(m, 2, 12, name, 2.0, r) for m in (1, 2) for name in (RANDOM, LBFGS) for r in range(2)
        ]
        return [*trials, _phases(2, 2, 12, SIZES[0], 0, LITERAL)]
    k, d = MAIN
    trials = [_phases(m, k, d, n, r) for m in HEADS for n in sizes(m) for r in range(6)]
    trials += [
        _local(m, k, d, name, x, r)
        for m in HEADS
        for name in (RANDOM, LBFGS)
        for x in RATIOS
        for r in range(4)
    ]
    for k, d in SIDES:
        heads: Sequence[int] = (2, 3, 4) if k == 2 else (2, 3)
        trials += [_phases(m, k, d, n, r) for m in heads for n in SIZES[1:-1] for r in range(4)]
    return trials + [
        _phases(m, 2, LITERAL_DIM, n, r, LITERAL) for m in (2, 3) for n in LITERAL_SIZES for r in range(3)
    ]


def sizes(m: int) -> list[int]:
    """Numbers of examples of the main slice, with a finer step where layers begin to be learned.

    >>> sizes(2)
    [1000, 1334, 1778, 2371, 3162, 10000, 31623, 100000, 316228]
    """
    low, high = BETWEEN.get(m, (1, 0))
    steps = {round(1000 * FINER**i) for i in range(25)}
    return sorted({*(SIZES if m > 2 else SIZES[:-1]), *(n for n in steps if low < n < high)})


def _spreads(quick: bool) -> list[Task]:
    """The phases against the spread of the scores; many layers where patterns begin to saturate."""
    m, k, d, n = WIDE
    if quick:
        return [_phases(m, k, d, n // 4, r, scale=scale) for scale in SPREADS[-2:] for r in range(2)]
    return [
        _phases(m, k, d, n, r, scale=scale)
        for scale in SPREADS
        for r in range(24 if scale == SATURATED else 6)
    ]


def _rarity(quick: bool) -> list[Task]:
    """All (m, k) whose predicted exponent (m−1)(k−1) is at most 6, on layers of score spread 1 and 3."""
    cells = [(m, k) for m in range(2, 8) for k in range(2, 8) if (m - 1) * (k - 1) <= (3 if quick else 6)]
    return [
        task_of(m, k, RARITY_DIM, {"kind": RARITY}, ROWS, r, scale)
        for scale in (1.0, 3.0)
        for m, k in cells
        for r in range(3 if quick else 8)
    ]


def _paths(quick: bool) -> list[Task]:
    """The provable learner on the path from a hard layer (rho = 0) to a nice one (1), in Θ, in W and in both."""
    steps = (0.0, 0.5, 1.0) if quick else (0.0, 0.1, 0.2, 0.4, 0.7, 1.0)
    return [
        task_of(m, 2, PATH_DIM, {"kind": PATH, "path": path, "rho": rho}, PATH_EXAMPLES, r)
        for m in (2, 3)
        for path in ("theta", "w", "both")
        for rho in steps
        for r in range(1 if quick else 3)
    ]


def _linear(quick: bool) -> list[Task]:
    """How much of a layer of the main slice a linear map explains, which asks nothing of attention."""
    if quick:
        return [task_of(2, 2, 12, {"kind": LINEAR}, LINEAR_EXAMPLES, 0)]
    return [task_of(m, *MAIN, {"kind": LINEAR}, LINEAR_EXAMPLES, r) for m in HEADS for r in range(6)]


def task_of(
    m: int, k: int, d: int, solver: Mapping[str, Any], samples: int, repetition: int, scale: float = SPREAD
) -> Task:
    """A task on random layers of m heads on k tokens in dimension d, with scores of spread `scale`."""
    params = {"dim": d, "tokens": k, "heads": m, "scale": scale}
    return Task("nondegenerate", params, solver, {"samples": samples}, repetition)


def _phases(m: int, k: int, d: int, n: int, r: int, learner: str = PHASES, scale: float = SPREAD) -> Task:
    return task_of(m, k, d, {"kind": SCALING, "learner": learner}, n, r, scale)


def _local(m: int, k: int, d: int, learner: str, ratio: float, r: int) -> Task:
    return task_of(m, k, d, {"kind": SCALING, "learner": learner}, ceil(ratio * counting_floor(m, k, d)), r)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    m, k, d = (int(task.params[name]) for name in ("heads", "tokens", "dim"))
    count = float(task.budget["samples"])
    match task.solver:
        case {"kind": "rarity"}:
            return 0.03 + 0.025 * k * k
        case {"kind": "linear map"}:
            return 0.5
        case {"kind": "anatomy"}:
            return 2.0
        case {"learner": "phases"}:
            return 0.3 + 0.02 * m * (d / 12) ** 4 + count * (5e-6 if k == 2 else 1.5e-5)
        case {"learner": "literal phases"}:
            return 4.0 * (m - 1)
    return 0.05 * m * m * (d / 12) ** 2


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial. Deterministic in the task and the root seed."""
    from learner.studies.nice_layers import trials  # learners take a second to import

    return trials.trial(task, root)


STUDY = Study(
    "nice-layers",
    QUESTION,
    tasks,
    seconds,
    trial,
    guard=3600.0,
    content="learner.studies.nice_layers.content:content",
    template=Path(__file__).with_name("page.md"),
    formerly={
        "learner-scaling": "examples to an error",
        "rarity": "how rare certified rows are",
        "anatomy": "which phase gives up between a nice and a hard layer",
        "search-gap": "how many examples a local search needs",
        "critical-rho": "how far from a parity a layer must be; its control failed",
    },
)
