"""The study `nice-layers`: what breaks the learner with the theorem, one condition at a time, and what it needs.

From the top: the grid, the trials, the numbers of the article, its tables and its figures.
"""

from math import ceil, inf
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.learning import recovery
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.report import plots
from hardness.scores import fresh, relative_error
from hardness.statistics import Mean, mean, median, median_interval
from learner.base import counting_floor

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

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
TURNED_HEADS = 0.01  # relative error of the worst head up to which all but the phases count as right
METHODS = ("phases", "rounds", "random_rounds", "search")
BY_HEADS = ("rounds", "search", "race")  # kinds of trials that succeed if every head is right

DIM = 16
PHASE_CELLS = ((1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (2, 3), (3, 3), (2, 4))  # (heads, tokens)
PHASE_SIZES, PHASE_LAYERS = (1000, 3162, 10_000, 31_623, 100_000), 3
ROUND_CELLS = ((1, 2), (2, 2), (4, 2), (8, 2), (2, 3), (4, 3), (2, 4))
ROUND_RATIOS, ROUND_LAYERS = (3.0, 4.0, 6.0, 9.0, 13.0), 3  # examples over the counting floor
# Local search. Far below what it needs, a search of many heads takes long and finds nothing.
SEARCH_LAYERS, MOST_HEADS = 6, 16
FINE, COARSE = (1.05, 1.1, 1.25, 1.5, 1.75, 2.0, 3.0), (1.25, 1.5, 1.75, 2.0, 3.0)
SEARCH_RATIOS: dict[int, tuple[float, ...]] = {
    **dict.fromkeys((1, 2, 3, 4, 6, 8), FINE),
    **dict.fromkeys((12, MOST_HEADS), COARSE),
}
MANY = 8  # heads from which on the number of parameters decides, and no longer the scores of one head
# The rule, fixed before the run: the median over layers of the examples that were enough, with the interval of
# `median_interval`; of the race the layers with every head right, with Clopper and Pearson's interval, and the paired
# differences of rounds, with Student's.
# The race of phase 6b from the end of phase 6 against phase 6b from one random start, with equal rounds.
RACE_DIM, RACE_EXAMPLES = 10, 10_000
RACE_CELLS = tuple((m, k) for k in (2, 3) for m in (1, 2, 3, 4))  # (heads, tokens)
RACE_LAYERS = {"sign": 12, "gaussian": 4}  # by the law of the inputs
STARTS = ("phases", "random")
EARLY = 5  # rounds after which the starts are compared too


def tasks(quick: bool) -> list[Task]:
    """Return every knob at every value, and phases, rounds and local search at growing numbers of examples."""
    if quick:
        knobs = [_turned(name, KNOBS[name][-1], 0) for name in ("coherence", "sum_w")]
        return [
            *knobs,
            _phases(2, 2, 3162, 0),
            _counted("rounds", 2, 2, 4.0, 0),
            _counted("search", 2, 2, 4.0, 0),
            *[_raced(2, 2, "sign", start, 0) for start in STARTS],
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
        for m, ratios in SEARCH_RATIOS.items()
        for ratio in ratios
        for r in range(SEARCH_LAYERS)
    ]
    race = [
        _raced(m, k, inputs, start, r)
        for m, k in RACE_CELLS
        for inputs, layers in RACE_LAYERS.items()
        for start in STARTS
        for r in range(layers)
    ]
    return [*plain, *turned, *phases, *rounds, *searches, *race]


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


def _raced(heads: int, tokens: int, inputs: str, start: str, repetition: int) -> Task:
    params = {"dim": RACE_DIM, "tokens": tokens, "heads": heads, "scale": 2.0, "inputs": inputs}
    return Task(
        "nondegenerate", params, {"kind": "race", "start": start}, {"samples": RACE_EXAMPLES}, repetition
    )


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
        case "race":
            return float(0.5 + 0.1 * m * (k - 1) ** 2)
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
    kind = task.solver["kind"]
    began = process_time()
    if kind == "race":
        errors = _race_trial(instance, X, Y, judged, rng, task.solver["start"])
    else:
        errors = _TRIALS[kind](instance, X, Y, judged, rng)
    spent = process_time() - began
    errors = {
        name: value if isinstance(value, str | int | None) else float(f"{value:.4g}")
        for name, value in errors.items()
    }
    wanted, bound = (
        (errors.get(f"{kind}_head"), HEADS_RIGHT) if kind in BY_HEADS else (errors["phases"], LEARNED)
    )
    status = "refused" if wanted is None else "solved" if wanted <= bound else "wrong"
    return Outcome(status, count, errors, seconds=spent)


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


def _race_trial(
    instance: Instance, X: Any, Y: Any, judged: Any, rng: np.random.Generator, start: str
) -> dict[str, Any]:
    """Return the errors of phase 6b from a start, the rounds it took, and after how many it was near.

    Near is a relative residual of at most .1 on its own examples. If the phases refuse, nothing is run.
    """
    from learner.provable import heads

    m, k, dim = instance.heads, X.shape[1], X.shape[2]
    rows = heads.rows_wanted(m, k, dim)
    theta = heads.random_start(m, dim, rng)
    errors: dict[str, Any] = {}
    if start == "phases":
        layer, errors = _by_phases(instance, X, Y, judged, rng)
        if layer is None:
            return errors
        theta = layer.theta
    end = heads.run(X[:rows], Y[:rows], theta, heads.ROUNDS)
    near = [number for number, residual in enumerate(end.residuals) if residual <= LEARNED]
    ended = _errors("race", MultiHeadAttention(end.theta, end.w), instance, judged)
    return errors | ended | {"near": near[0] if near else None, "taken": len(end.residuals) - 1}


_TRIALS = {"knob": _turn_trial, "phases": _phase_trial, "rounds": _round_trial, "search": _search_trial}


def learned(rows: "DataFrame", method: str) -> Any:
    """Return where a method learned its layer: outputs to .1 of the phases, every head to 1 % of the others."""
    return rows[method] <= LEARNED if method == "phases" else rows[f"{method}_head"] <= TURNED_HEADS


def breaking(rows: "DataFrame", knob: str, method: str) -> list[float]:
    """Return, layer by layer, the mildest value of a knob at which a method misses the layer; infinite if at none."""
    turned = rows[rows.knob == knob]
    first = []
    for repetition in range(TURNED_LAYERS):
        layer = turned[turned.repetition == repetition].set_index(knob)
        missed = [value for value in KNOBS[knob] if not learned(layer.loc[[value]], method).all()]
        first.append(missed[0] if missed else inf)
    return first


def middle(knob: str, first: list[float]) -> float:
    """Return the median over layers of the value at which a method breaks, in the order of a knob's values."""
    order = [*KNOBS[knob], inf]
    return sorted(first, key=order.index)[len(first) // 2]


def span_of(knob: str, first: list[float]) -> str:
    """Return the median over layers and, in brackets, the mildest and the strongest value."""
    order = [*KNOBS[knob], inf]
    ends = sorted(first, key=order.index)
    text = ["none" if value == inf else f"{value:g}" for value in (middle(knob, first), ends[0], ends[-1])]
    return text[0] if text[1] == text[2] else f"{text[0]} [{text[1]}, {text[2]}]"


def first_to_break(rows: "DataFrame", knob: str) -> str:
    """Return the phase that refuses or fails in most of the trials with a knob that phases 1 to 6 miss."""
    turned = rows[(rows.knob == knob) & ~learned(rows, "phases")]
    return "" if turned.empty else str(turned.broken.mode()[0])


def enough(rows: "DataFrame", heads: int, tokens: int, kind: str) -> list[float]:
    """Return, layer by layer, the least examples from which on all trials of a kind succeed; infinite if none do."""
    chosen = rows[(rows.kind == kind) & (rows.heads == heads) & (rows.tokens == tokens)]
    least = []
    for _, layer in chosen.groupby("repetition"):
        layer = layer.sort_values("samples")
        missed = layer[layer.status != "solved"].samples
        later = layer[layer.samples > (missed.max() if len(missed) else 0)].samples
        least.append(float(later.min()) if len(later) else inf)
    return sorted(least)


def per_parameter(heads: int, tokens: int, examples: float) -> float:
    """Return the numbers that this many examples show, over the 2md² parameters of a layer."""
    return examples * tokens * DIM / (2 * heads * DIM**2)


def needed_a_parameter(rows: "DataFrame", heads: int) -> tuple[float, float, float]:
    """Return what local search needs, in numbers a parameter: the median over layers and its interval.

    A layer that is missed with the most examples tried counts as one that needs more than these.
    """
    least = enough(rows, heads, 2, "search")
    missed = [count == inf for count in least]
    most = rows[(rows.kind == "search") & (rows.heads == heads)].samples.max()
    counts = [float(most) if count == inf else count for count in least]
    low, high, _ = median_interval(counts, missed)
    middle = median(counts, missed).value
    return per_parameter(heads, 2, middle), per_parameter(heads, 2, low), per_parameter(heads, 2, high)


def raced(rows: "DataFrame", heads: int, tokens: int, inputs: str, start: str) -> "DataFrame":
    """Return the trials of phase 6b from a start, by layer."""
    chosen = rows[(rows.kind == "race") & (rows.heads == heads) & (rows.tokens == tokens)]
    chosen = chosen[(chosen.inputs == inputs) & (chosen.start == start)]
    return chosen.set_index("repetition").sort_index()


def found(trials: "DataFrame") -> tuple[int, int, float, float]:
    """Return the layers with every head right, all layers, and Clopper and Pearson's interval of the share."""
    from scipy.stats import binomtest

    right, layers = int((trials.status == "solved").sum()), len(trials)
    interval = binomtest(right, layers).proportion_ci()
    return right, layers, float(interval.low), float(interval.high)


def saved(rows: "DataFrame", heads: int, tokens: int, inputs: str, column: str) -> Mean:
    """Return how many rounds less the phases' end takes than a random start, on layers that both find."""
    phases, random = (raced(rows, heads, tokens, inputs, start) for start in STARTS)
    both = (phases.status == "solved") & (random.status == "solved")
    return mean((random[column] - phases[column])[both].astype(float).tolist())


def seconds_lost(rows: "DataFrame", heads: int, tokens: int, inputs: str) -> Mean:
    """Return the processor seconds that phases and rounds take beyond those of the rounds from a random start."""
    phases, random = (raced(rows, heads, tokens, inputs, start).seconds for start in STARTS)
    return mean((phases - random).tolist())


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return every number of the article."""
    plain = rows[(rows.knob == "scale") & (rows.scale == 2.0)]
    unequal = rows[(rows.knob == "norm_ratio") & (rows.norm_ratio == KNOBS["norm_ratio"][-1])]
    sixteen = rows[(rows.kind == "search") & (rows.heads == MOST_HEADS)]
    solved = (sixteen.status == "solved").groupby(sixteen.samples).sum()
    many = [needed_a_parameter(rows, m) for m in SEARCH_RATIOS if m >= MANY]
    search, phases = enough(rows, MOST_HEADS, 2, "search"), enough(rows, 4, 2, "phases")
    broken = {knob: middle(knob, breaking(rows, knob, "phases")) for knob in KNOBS}
    return {
        "sixteen": int(search[-1]),
        "sixteen_ratio": round(per_parameter(MOST_HEADS, 2, search[-1]), 2),
        "four": int(phases[-1]),
        "spread": broken["scale"],
        "sum": broken["sum_w"],
        "breaking": sum(value != inf for value in broken.values()),
        "knobs": len(KNOBS),
        "layers": TURNED_LAYERS,
        "ratio": KNOBS["norm_ratio"][-1],
        "small": {
            "outputs": float(f"{unequal.phases.median():.1g}"),
            "head": float(f"{unequal.phases_head.median():.1g}"),
        },
        "sixteen_missed": int(solved[solved == 0].index.max()),
        "many": {"low": min(low for _, low, _ in many), "high": max(high for *_, high in many)},
        "from": MANY,
        "race": _race_numbers(rows),
        "plain": float(f"{plain.phases.median():.1g}"),
        "examples": TURNED_EXAMPLES,
        "most": PHASE_SIZES[-1],
        "trials": len(rows),
    }


def _race_numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return how often each start found every head, rounds that the phases' end saves, and where it is slower."""
    sizes = [(m, k, inputs) for inputs in RACE_LAYERS for m, k in RACE_CELLS]
    totals = {start: [found(raced(rows, *size, start))[:2] for size in sizes] for start in STARTS}
    near = [saved(rows, m, k, "sign", "near").value for m, k in RACE_CELLS]
    slower = [seconds_lost(rows, *size).side(0.0) == 1 for size in sizes]
    signs = rows[(rows.kind == "race") & (rows.inputs == "sign")]
    early = (signs.near <= EARLY).groupby(signs.start).sum()
    return {
        "early": {
            "rounds": EARLY,
            "layers": len(signs) // 2,
            **{start: int(early[start]) for start in STARTS},
        },
        "found": {start: sum(right for right, _ in counts) for start, counts in totals.items()},
        "layers": sum(layers for _, layers in totals["phases"]),
        "near": {"low": round(min(near)), "high": round(max(near))},
        "slower": sum(slower),
        "sizes": len(sizes),
        "dim": RACE_DIM,
        **RACE_LAYERS,
    }


def tables(rows: "DataFrame") -> dict[str, "DataFrame"]:
    """Return where each knob breaks each method, and how many examples each needs."""
    import pandas as pd

    by_knob = [
        {
            "condition": TITLES[knob],
            "tried": f"{KNOBS[knob][0]:g} to {KNOBS[knob][-1]:g}",
            "phases 1 to 6": span_of(knob, breaking(rows, knob, "phases")),
            "first": first_to_break(rows, knob),
            "6b after them": span_of(knob, breaking(rows, knob, "rounds")),
            "6b, random start": span_of(knob, breaking(rows, knob, "random_rounds")),
            "local search": span_of(knob, breaking(rows, knob, "search")),
        }
        for knob in KNOBS
    ]
    heads_of_two = (1, 2, 3, 4, 5, 6, 8, 12, MOST_HEADS)
    cells = [*((m, 2) for m in heads_of_two), (2, 3), (3, 3), (4, 3), (2, 4)]
    needed = []
    for m, k in cells:
        kinds = {"phases": "phases 1 to 6", "rounds": "6b, random start", "search": "local search"}
        counts = {title: _range(enough(rows, m, k, kind)) for kind, title in kinds.items()}
        share = "–"
        if enough(rows, m, k, "search"):
            share = "{:.1f} [{:.1f}, {:.1f}]".format(*needed_a_parameter(rows, m))
        needed.append({"heads": m, "tokens": k, **counts, "numbers a parameter": share})
    race = [_race_line(rows, m, k, inputs) for inputs in RACE_LAYERS for m, k in RACE_CELLS]
    tables = {"by_knob": by_knob, "needed": needed, "race_table": race}
    return {name: pd.DataFrame(lines) for name, lines in tables.items()}


def _race_line(rows: "DataFrame", heads: int, tokens: int, inputs: str) -> dict[str, Any]:
    """Return a line of the table of the race: what each start found, rounds saved, and seconds."""
    line: dict[str, Any] = {"inputs": inputs, "tokens": tokens, "heads": heads}
    starts = {start: raced(rows, heads, tokens, inputs, start) for start in STARTS}
    line["error of the phases"] = f"{starts['phases'].phases.median():.1g}"
    titles = {"phases": "phases' end", "random": "random start"}
    for start, trials in starts.items():
        line[titles[start]] = "{} of {} [{:.2f}, {:.2g}]".format(*found(trials))
    line["rounds saved to .1"] = str(saved(rows, heads, tokens, inputs, "near"))
    line["rounds saved in all"] = str(saved(rows, heads, tokens, inputs, "taken"))
    for start, trials in starts.items():
        line[f"s, {titles[start]}"] = str(mean(trials.seconds.tolist()))
    return line


def _range(least: list[float]) -> str:
    """Return the least and the most examples over layers, with a dash where nothing was tried."""
    if not least:
        return "–"
    low, high = ("more than tried" if value == inf else f"{value:,.0f}" for value in (least[0], least[-1]))
    return low if low == high else f"{low} to {high}"


def figures(rows: "DataFrame") -> dict[str, "Figure"]:
    """Return examples against heads, and the errors of phases and rounds as each knob is turned."""
    return {
        "examples": _examples_figure(rows),
        "parameters": _parameters_figure(rows),
        "knobs": _knobs_figure(rows),
    }


def _examples_figure(rows: "DataFrame") -> "Figure":
    """Draw the examples after which all layers of a size were learned, against heads, at two tokens."""
    figure, axes = plots.panels(height=3.4)
    ends = []
    for kind, title in (
        ("phases", "phases 1 to 6, error .1"),
        ("rounds", "6b, heads"),
        ("search", "local search"),
    ):
        sizes = sorted(rows[(rows.kind == kind) & (rows.tokens == 2)].heads.unique())
        all_learned = [(m, enough(rows, m, 2, kind)[-1]) for m in sizes]
        (line,) = axes.plot(*zip(*[(m, n) for m, n in all_learned if n < inf], strict=True))
        ends.append((line, title))
        for m, n in all_learned:
            if n == inf:
                tried = rows[(rows.kind == kind) & (rows.heads == m) & (rows.tokens == 2)].samples.max()
                plots.bound(axes, m, tried, line.get_color())
    heads = [1, MOST_HEADS]
    (line,) = axes.plot(heads, [counting_floor(m, 2, DIM) for m in heads], "--", color="0.4", marker="")
    axes.set(xscale="log", yscale="log", xlabel="heads", ylabel="examples")
    axes.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    plots.label_ends(axes, [*ends, (line, "unknowns")])
    return figure


def _parameters_figure(rows: "DataFrame") -> "Figure":
    """Draw what local search needs, in numbers a parameter, against heads, with intervals."""
    figure, axes = plots.panels(height=3.0)
    heads = [*SEARCH_RATIOS]
    middle, low, high = zip(*(needed_a_parameter(rows, m) for m in heads), strict=True)
    (line,) = axes.plot(heads, middle)
    axes.vlines(heads, low, high, color=line.get_color(), linewidth=1.5)
    least = [per_parameter(m, 2, counting_floor(m, 2, DIM)) for m in heads]
    (floor,) = axes.plot(heads, least, "--", color="0.4", marker="")
    axes.set(xscale="log", yscale="log", xlabel="heads", ylabel="numbers a parameter")
    axes.set_xticks(heads, [str(m) for m in heads])
    axes.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.minorticks_off()
    plots.label_ends(axes, [(line, "local search"), (floor, "unknowns")])
    return figure


def _knobs_figure(rows: "DataFrame") -> "Figure":
    """Draw the median errors of the outputs at every value of every knob."""
    figure, axes = plots.panels(3, 3, height=1.9, sharey=True)
    for axis, knob in zip(axes.flat, KNOBS, strict=True):
        turned = rows[rows.knob == knob].groupby(knob)
        places = range(len(KNOBS[knob]))
        for method, style in (("phases", "-"), ("random_rounds", "--"), ("search", ":")):
            errors = turned[method].median().reindex(KNOBS[knob])
            axis.plot(places, errors.fillna(1.0).clip(upper=1.0), style, label=method)
        axis.axhline(LEARNED, color="0.6", linewidth=0.8)
        axis.set_xticks(places, [f"{value:g}" for value in KNOBS[knob]])
        axis.set(title=TITLES[knob], yscale="log")
    axes[0, 0].legend(["phases 1 to 6", "6b, random start", "local search"], fontsize="small")
    return figure


STUDY = Study(
    "nice-layers",
    "Which conditions of the learner with the theorem matter, and what does it need where all of them hold?",
    tasks,
    seconds,
    trial,
    guard=600.0,
    timed=True,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
