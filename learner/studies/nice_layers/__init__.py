"""The study `nice-layers`: what breaks the learner with the theorem, one condition at a time, and what it needs.

From the top: the grid, the trials, the numbers of the article, its tables and its figures.
"""

from math import ceil
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.heads import recovery
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.scores import fresh, relative_error
from learner.last_fit import counting_floor

LEARNED, HEADS_RIGHT = 0.1, 1e-3  # relative error of the outputs, and of the worst head
JUDGED = 2000  # fresh examples
FAR = 99.0  # what a larger error of a head is written as

# Each knob from mild to strong; in a random layer none is turned, and the scores have a spread of 2.
KNOBS: dict[str, tuple[float, ...]] = {
    "coherence": (0.5, 0.7, 0.8, 0.9, 0.97),
    "stable_rank": (3.0, 2.0, 1.5, 1.2, 1.05),
    "diagonal": (4.0, 6.0, 8.0, 10.0, 11.5),
    "column": (0.5, 0.7, 0.8, 0.9, 0.97),
    "lattice": (0.1, 0.05, 0.02, 0.01, 0.0),
    "norm_ratio": (0.3, 0.2, 0.1, 0.05, 0.02),
    "scale": (8.0, 12.0, 16.0, 24.0, 32.0),
    "coherence_w": (0.7, 0.8, 0.9, 0.97, 0.99),
    "sum_w": (0.3, 0.2, 0.1, 0.05, 0.0),
}
TITLES = {
    "coherence": "cosine of two Θ",
    "stable_rank": "stable rank of Θ",
    "diagonal": "diagonal of Θ",
    "column": "heaviest column of Θ",
    "lattice": "distance of Θ to a lattice",
    "norm_ratio": "ratio of the norms of Θ",
    "scale": "spread of the scores",
    "coherence_w": "cosine of two W",
    "sum_w": "size of the sum of W",
}
TURNED, TURNED_EXAMPLES, TURNED_LAYERS = {"dim": 12, "tokens": 2, "heads": 2}, 10_000, 5
TURNED_ROUNDS = 60  # of phase 6b, from each start
METHODS = ("phases", "rounds", "random_rounds", "search")

DIM = 16
PHASE_CELLS = ((1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (2, 3), (3, 3), (2, 4))  # (heads, tokens)
PHASE_SIZES, PHASE_LAYERS = (1000, 3162, 10_000, 31_623, 100_000), 3
ROUND_CELLS = ((1, 2), (2, 2), (4, 2), (8, 2), (2, 3), (4, 3), (2, 4))
ROUND_RATIOS, ROUND_LAYERS = (3.0, 4.0, 6.0, 9.0, 13.0), 3  # examples over the counting floor
SEARCH_HEADS, SEARCH_RATIOS, SEARCH_LAYERS = (1, 2, 4, 8), (1.05, 1.1, 1.25, 1.5, 2.0, 3.0), 5
MOST_HEADS, MOST_RATIOS, MOST_LAYERS = 16, (1.25, 1.5, 2.0, 3.0), 3  # of local search


def tasks(quick: bool) -> list[Task]:
    """Return every knob at every value, and phases, rounds and local search at growing numbers of examples."""
    if quick:
        knobs = [_turned(name, KNOBS[name][-1], 0) for name in ("coherence", "sum_w")]
        return [
            *knobs,
            _phases(2, 2, 3162, 0),
            _counted("rounds", 2, 2, 4.0, 0),
            _counted("search", 2, 2, 4.0, 0),
        ]
    turned = [
        _turned(name, value, r) for name in KNOBS for value in KNOBS[name] for r in range(TURNED_LAYERS)
    ]
    plain = [_turned("scale", 2.0, r) for r in range(TURNED_LAYERS)]
    phases = [_phases(m, k, n, r) for m, k in PHASE_CELLS for n in PHASE_SIZES for r in range(PHASE_LAYERS)]
    rounds = [
        _counted("rounds", m, k, ratio, r)
        for m, k in ROUND_CELLS
        for ratio in ROUND_RATIOS
        for r in range(ROUND_LAYERS)
    ]
    searches = [
        _counted("search", m, 2, ratio, r)
        for m in SEARCH_HEADS
        for ratio in SEARCH_RATIOS
        for r in range(SEARCH_LAYERS)
    ]
    searches += [
        _counted("search", MOST_HEADS, 2, ratio, r) for ratio in MOST_RATIOS for r in range(MOST_LAYERS)
    ]
    return [*plain, *turned, *phases, *rounds, *searches]


def _turned(knob: str, value: float, repetition: int) -> Task:
    params = {**TURNED, "scale": 2.0, knob: value}
    return Task(
        "nondegenerate", params, {"kind": "knob", "knob": knob}, {"samples": TURNED_EXAMPLES}, repetition
    )


def _phases(heads: int, tokens: int, examples: int, repetition: int) -> Task:
    params = {"dim": DIM, "tokens": tokens, "heads": heads, "scale": 2.0}
    return Task("nondegenerate", params, {"kind": "phases"}, {"samples": examples}, repetition)


def _counted(kind: str, heads: int, tokens: int, ratio: float, repetition: int) -> Task:
    params = {"dim": DIM, "tokens": tokens, "heads": heads, "scale": 2.0}
    examples = ceil(ratio * counting_floor(heads, tokens, DIM))
    return Task("nondegenerate", params, {"kind": kind, "ratio": ratio}, {"samples": examples}, repetition)


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    m, k, count = task.params["heads"], task.params["tokens"], float(task.budget["samples"])
    match task.solver["kind"]:
        case "knob":
            return 2.0
        case "phases":
            return float(0.2 + 0.1 * m + count * (5e-6 if k == 2 else 1.5e-5))
        case "rounds":
            return float(0.3 + 2e-3 * m * count * (k - 1))
    return float(0.1 + 0.02 * m**2)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Return the errors of one trial; those that compare learners share layer and examples.

    >>> outcome = trial(_counted("search", 1, 2, 4.0, 0), 0, 60.0)
    >>> outcome.status, outcome.detail["search_head"] < HEADS_RIGHT
    ('solved', True)
    """
    # A knob changes a layer and not its secret: all its values share seeds, and so do learners that are compared.
    size = {name: task.params[name] for name in ("dim", "tokens", "heads")}
    same = Task(task.family, size, {}, {}, task.repetition)
    instance = Instance.generate(Nondegenerate(**task.params), same.seed(root, "instance"))
    judged = fresh(instance, JUDGED, same.seed(root, "fresh"))
    count = int(task.budget["samples"])
    data = instance.examples(count, same.seed(root, "examples"))
    X, Y = data.X.astype(np.float64), data.Y
    rng = np.random.default_rng(task.seed(root, "solver"))
    errors = _TRIALS[task.solver["kind"]](instance, X, Y, judged, rng)
    errors = {
        name: value if isinstance(value, str | None) else float(f"{value:.4g}")
        for name, value in errors.items()
    }
    kind = task.solver["kind"]
    wanted, bound = (
        (errors[f"{kind}_head"], HEADS_RIGHT) if kind in METHODS[1:] else (errors["phases"], LEARNED)
    )
    status = "refused" if wanted is None else "solved" if wanted <= bound else "wrong"
    return Outcome(status, count, errors)


def _turn_trial(instance: Instance, X: Any, Y: Any, judged: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return the phase that breaks first, and the errors of the four methods; one that has no start is left out."""
    from learner.provable import heads

    m, dim, tokens = instance.heads, X.shape[2], X.shape[1]
    layer, errors = _by_phases(instance, X, Y, judged, rng)
    rows = heads.rows_wanted(m, tokens, dim)
    start = heads.random_start(m, dim, rng)
    for name, theta in (("rounds", None if layer is None else layer.theta), ("random_rounds", start)):
        if theta is not None:
            errors |= _errors(name, _rounds(X[:rows], Y[:rows], theta, TURNED_ROUNDS), instance, judged)
    return errors | _search_trial(instance, X[:rows], Y[:rows], judged, rng)


def _by_phases(
    instance: Instance, X: Any, Y: Any, judged: Any, rng: np.random.Generator
) -> tuple[MultiHeadAttention | None, dict[str, Any]]:
    """Return the layer of phases 1 to 6, its error (None: refused), and the first phase that refuses or fails."""
    from learner.provable.pipeline import Provable

    learner = Provable(instance.heads, polish=False, rounds=0, random_state=int(rng.integers(2**32))).fit(
        X, Y
    )
    report = learner.report_
    last = {phase.name: phase.verdict for phase in report.phases}
    broken = [name for name in ("span", "net") if last.get(name) == "failed"]
    broken = [report.refused_by.partition(" ")[0]] if report.refused_by else broken
    seen: dict[str, Any] = {"phases": None, "broken": broken[0] if broken else None}
    if learner.layer_ is not None:
        seen |= _errors("phases", learner.layer_, instance, judged)
    return learner.layer_, seen


def _errors(name: str, layer: MultiHeadAttention, instance: Instance, judged: Any) -> dict[str, float]:
    """Return the relative error of a layer, as `name`, and that of its worst head."""
    match = recovery(layer, instance.layer(), judged.X.shape[1])
    worst = match["worst"] if match else FAR
    return {name: relative_error(layer(judged.X), judged.Y), f"{name}_head": min(worst, FAR)}


def _rounds(X: Any, Y: Any, theta: Any, most: int) -> MultiHeadAttention:
    """Return the layer that the rounds of phase 6b end with."""
    from learner.provable import heads

    end = heads.run(X, Y, theta, most)
    return MultiHeadAttention(end.theta, end.w)


def _phase_trial(instance: Instance, X: Any, Y: Any, judged: Any, rng: np.random.Generator) -> dict[str, Any]:
    return _by_phases(instance, X, Y, judged, rng)[1]


def _round_trial(instance: Instance, X: Any, Y: Any, judged: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return the errors of the rounds of phase 6b on all examples, from one random start."""
    from learner.provable import heads

    start = heads.random_start(instance.heads, X.shape[2], rng)
    return _errors("rounds", _rounds(X, Y, start, heads.ROUNDS), instance, judged)


def _search_trial(
    instance: Instance, X: Any, Y: Any, judged: Any, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the errors of variable projection on all examples, from one random start."""
    from learner.attempt import attempt, random_theta

    start = random_theta(rng, instance.heads, X.shape[2])
    end = attempt(X, Y, start, heads=instance.heads, iterations=400)
    return _errors("search", MultiHeadAttention(end.theta, end.w), instance, judged)


_TRIALS = {"knob": _turn_trial, "phases": _phase_trial, "rounds": _round_trial, "search": _search_trial}


STUDY = Study(
    "nice-layers",
    "Which conditions of the learner with the theorem matter, and what does it need where all of them hold?",
    tasks,
    seconds,
    trial,
    guard=600.0,
)
