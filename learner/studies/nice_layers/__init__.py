"""The study `nice-layers`: what breaks the learner with the theorem, one condition at a time, and what it needs."""

from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.learning import recovery
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.report import plots
from hardness.scores import Judged, fresh, relative_error
from hardness.statistics import median
from learner.base import Array, counting_floor

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

LEARNED, HEADS_RIGHT = 0.1, 1e-3  # relative error of the outputs, and of the worst head
JUDGED = 2000  # fresh examples
FAR = 99.0  # what a larger error of a head is written as

# Each knob: its title, and its values from mild to strong; in a random layer none is turned, and scores spread by 2.
KNOBS: dict[str, tuple[str, tuple[float, ...]]] = {
    "coherence": ("cosine of two Θ", (0.5, 0.7, 0.8, 0.9, 0.97)),
    "stable_rank": ("stable rank of Θ", (3.0, 2.0, 1.5, 1.2, 1.05)),
    "diagonal": ("diagonal of Θ", (4.0, 6.0, 8.0, 10.0, 11.5)),
    "column": ("heaviest column of Θ", (0.5, 0.7, 0.8, 0.9, 0.97)),
    "lattice": ("distance of Θ to a lattice", (0.1, 0.05, 0.02, 0.01, 0.0)),
    "norm_ratio": ("ratio of the norms of Θ", (0.3, 0.2, 0.1, 0.05, 0.02)),
    "scale": ("spread of the scores", (8.0, 12.0, 16.0, 24.0, 32.0)),
    "coherence_w": ("cosine of two W", (0.7, 0.8, 0.9, 0.97, 0.99)),
    "sum_w": ("size of the sum of W", (0.3, 0.2, 0.1, 0.05, 0.0)),
}
TURNED, TURNED_EXAMPLES, TURNED_LAYERS = {"dim": 12, "tokens": 2, "heads": 2}, 10_000, 5
TURNED_ROUNDS = 60  # of phase 6b, from each start
TURNED_HEADS = 0.01  # relative error of the worst head up to which all but the phases count as right
METHODS = {
    "phases": "phases 1 to 6",
    "rounds": "6b after them",
    "random_rounds": "6b, random start",
    "search": "local search",
}

DIM = 16
# Examples over the counting floor, by heads. Far below its need, a search of many heads is long and finds nothing.
FINE, COARSE = (1.05, 1.1, 1.25, 1.5, 1.75, 2.0, 3.0), (1.25, 1.5, 1.75, 2.0, 3.0)
SEARCH_RATIOS = {**dict.fromkeys((1, 2, 3, 4, 6, 8), FINE), **dict.fromkeys((12, 16), COARSE)}
MANY = 8  # heads from which on the number of parameters decides, and no longer the scores of one head


def tasks(quick: bool) -> list[Task]:
    """Return trials at every value of each knob (a condition on layers), and of local search for growing layers."""
    if quick:
        return [turned("coherence", 0.97, 0), turned("sum_w", 0.0, 0), searched(2, 4.0, 0)]
    values = [("scale", 2.0), *((name, value) for name, (_, values) in KNOBS.items() for value in values)]
    return [
        *(turned(name, value, r) for name, value in values for r in range(TURNED_LAYERS)),
        *(searched(m, ratio, r) for m, ratios in SEARCH_RATIOS.items() for ratio in ratios for r in range(6)),
    ]


def turned(knob: str, value: float, repetition: int) -> Task:
    """Return the trial that runs all learning methods on a layer of which a `knob` (as "coherence") has this value."""
    params, solver = {**TURNED, "scale": 2.0, knob: value}, {"kind": "knob", "knob": knob}
    return Task("nondegenerate", params, solver, {"samples": TURNED_EXAMPLES}, repetition)


def searched(heads: int, ratio: float, repetition: int) -> Task:
    """Return a trial of local search for a layer from `ratio` times as many examples as match equations to unknowns."""
    params = {"dim": DIM, "tokens": 2, "heads": heads, "scale": 2.0}
    solver = {"kind": "search", "ratio": ratio}
    budget = {"samples": ceil(ratio * counting_floor(heads, 2, DIM))}
    return Task("nondegenerate", params, solver, budget, repetition)


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    return 2.0 if task.solver["kind"] == "knob" else 0.1 + 0.02 * float(task.params["heads"]) ** 2


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run one trial; its detail has the errors of outputs and of the worst head, for each learning method that ran.

    >>> outcome = trial(searched(1, 4.0, 0), 0, 60.0)
    >>> outcome.status, outcome.detail["search_head"] < HEADS_RIGHT
    ('solved', True)
    """
    from learner.provable import heads

    given = given_in(task, root)
    if task.solver["kind"] == "search":
        errors = by_search(given)
        wanted, bound = errors["search_head"], HEADS_RIGHT
    else:
        m, (_, tokens, dim) = given.instance.heads, given.X.shape
        count = heads.rows_wanted(m, tokens, dim)
        few = given._replace(X=given.X[:count], Y=given.Y[:count])
        phases, errors = by_phases(given)
        starts = {"rounds": phases, "random_rounds": heads.random_start(m, dim, given.rng)}
        for name, theta in starts.items():
            if theta is not None:
                end = heads.run(few.X, few.Y, theta, TURNED_ROUNDS)
                errors |= given.errors(name, end.theta, end.w)
        errors |= by_search(few)
        wanted, bound = errors["phases"], LEARNED
    detail = {
        name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in errors.items()
    }
    status = "refused" if wanted is None else "solved" if wanted <= bound else "wrong"
    return Outcome(status, len(given.X), detail)


class Given(NamedTuple):
    """Hold a layer to learn, its examples X and Y (n, k, d), inputs to judge on, and the generator of random starts."""

    instance: Instance
    X: Array
    Y: Array
    judged: Judged
    rng: np.random.Generator

    def errors(self, name: str, theta: Array, w: Array) -> dict[str, Any]:
        """Return as `name` the output error of a found layer (theta, w), and as `name`_head that of its worst head."""
        layer = MultiHeadAttention(theta, w)
        match = recovery(layer, self.instance.layer(), self.X.shape[1])
        error = relative_error(layer(self.judged.X), self.judged.Y)
        return {name: error, f"{name}_head": min(match["worst"], FAR) if match else FAR}


def given_in(task: Task, root: int) -> Given:
    """Return a trial's layer and data; their seeds are the same for all learning methods and all values of a knob."""
    size = {name: task.params[name] for name in ("dim", "tokens", "heads")}
    same = Task(task.family, size, {}, {}, task.repetition)
    instance = Instance.generate(Nondegenerate(**task.params), same.seed(root, "instance"))
    judged = fresh(instance, JUDGED, same.seed(root, "fresh"))
    data = instance.examples(int(task.budget["samples"]), same.seed(root, "examples"))
    rng = np.random.default_rng(task.seed(root, "solver"))
    return Given(instance, data.X.astype(np.float64), data.Y, judged, rng)


def by_phases(given: Given) -> tuple[Array | None, dict[str, Any]]:
    """Return the matrices Θ found by the learner `provable` (None: it refused), its errors, and which phase failed."""
    from learner.provable.pipeline import Provable

    seed = int(given.rng.integers(2**32))
    learner = Provable(given.instance.heads, polish=False, rounds=0, random_state=seed).fit(given.X, given.Y)
    report = learner.report_
    last = {phase.name: phase.verdict for phase in report.phases}
    broken = [name for name in ("span", "net") if last.get(name) == "failed"]
    broken = [report.refused_by.partition(" ")[0]] if report.refused_by else broken
    seen: dict[str, Any] = {"phases": None, "broken": broken[0] if broken else None}
    layer = learner.layer_
    if layer is None:
        return None, seen
    return layer.theta, seen | given.errors("phases", layer.theta, layer.w)


def by_search(given: Given) -> dict[str, Any]:
    """Return the errors of a layer found by local search (variable projection) from one random start."""
    from learner.attempt import attempt, random_theta

    m = given.instance.heads
    start = random_theta(given.rng, m, given.X.shape[2])
    end = attempt(given.X, given.Y, start, heads=m, iterations=400)
    return given.errors("search", end.theta, end.w)


def breaking(rows: "DataFrame", knob: str, method: str) -> list[float]:
    """Return by layer, sorted, the mildest value of a `knob` (as "coherence") at which a method fails; inf: at none.

    The method "phases" has to learn outputs to a relative error of .1, the others, as "search", every head to .01.
    """
    order, first = [*KNOBS[knob][1], inf], []
    bound, column = (LEARNED, method) if method == "phases" else (TURNED_HEADS, f"{method}_head")
    for _, layer in rows[(rows.knob == knob) & rows[knob].isin(order)].groupby("repetition"):
        missed = layer[~(layer[column] <= bound)][knob]
        first.append(min(missed, key=order.index, default=inf))
    return sorted(first, key=order.index)


def span_of(first: list[float]) -> str:
    """Return as text the median of sorted values and, in brackets, the first and the last; inf is "never"."""
    middle, low, high = (
        "never" if value == inf else f"{value:g}" for value in (first[len(first) // 2], first[0], first[-1])
    )
    return middle if low == high else f"{middle} ({low} to {high})"


def enough(rows: "DataFrame", heads: int) -> list[float]:
    """Return by layer, sorted, from how many examples on local search finds all its heads; inf if it never does."""
    least = []
    for _, layer in rows[(rows.kind == "search") & (rows.heads == heads)].groupby("repetition"):
        missed = layer[layer.status != "solved"].samples.max()
        later = layer.samples[~(layer.samples <= missed)]
        least.append(float(later.min()) if len(later) else inf)
    return sorted(least)


def needed_a_parameter(rows: "DataFrame", heads: int) -> tuple[float, float, float]:
    """Return how many output numbers per parameter local search needs to find a layer: median layer, least and most.

    Least and most of six layers enclose the median of all such layers with probability .97 (order statistics).
    """
    least = enough(rows, heads)
    middle = median(least, [count == inf for count in least]).value
    return per_parameter(heads, middle), per_parameter(heads, least[0]), per_parameter(heads, least[-1])


def per_parameter(heads: int, examples: float) -> float:
    """Return how many output scalars `examples` of two tokens have per parameter of a layer (2md² for m heads)."""
    return examples / (heads * DIM)


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints."""
    plain = rows[(rows.knob == "scale") & (rows.scale == 2.0)]
    unequal = rows[(rows.knob == "norm_ratio") & (rows.norm_ratio == 0.02)]
    sixteen = rows[(rows.kind == "search") & (rows.heads == 16)]
    solved = (sixteen.status == "solved").groupby(sixteen.samples).sum()
    many = [needed_a_parameter(rows, m) for m in SEARCH_RATIOS if m >= MANY]
    sixteen_needs = enough(rows, 16)[-1]
    broken = {knob: breaking(rows, knob, "phases")[TURNED_LAYERS // 2] for knob in KNOBS}
    return {
        "sixteen": int(sixteen_needs),
        "sixteen_ratio": round(per_parameter(16, sixteen_needs), 2),
        "spread": broken["scale"],
        "sum": broken["sum_w"],
        "edge": float(
            f"{rows[(rows.knob == 'scale') & (rows.scale == KNOBS['scale'][1][0])].phases.median():.1g}"
        ),
        "breaking": sum(value != inf for value in broken.values()),
        "knobs": len(KNOBS),
        "layers": TURNED_LAYERS,
        "ratio": 0.02,
        "small": {
            "outputs": float(f"{unequal.phases.median():.1g}"),
            "head": float(f"{unequal.phases_head.median():.1g}"),
        },
        "sixteen_missed": int(solved[solved == 0].index.max()),
        "many": {"low": min(low for _, low, _ in many), "high": max(high for *_, high in many)},
        "from": MANY,
        "plain": float(f"{plain.phases.median():.1g}"),
        "examples": TURNED_EXAMPLES,
    }


def tables(rows: "DataFrame") -> dict[str, "DataFrame"]:
    """Return the table of the values of each condition on layers at which each learning method fails."""
    import pandas as pd

    by_knob = []
    for knob, (title, values) in KNOBS.items():
        spans = [span_of(breaking(rows, knob, method)) for method in METHODS]
        missed = rows[(rows.knob == knob) & ~(rows.phases <= LEARNED)].broken
        first = "" if missed.empty else str(missed.mode()[0])
        line = {"condition": title, "tried": f"{values[0]:g} to {values[-1]:g}", "phases: outputs": spans[0]}
        heads = {
            f"{title}: heads": span for title, span in zip([*METHODS.values()][1:], spans[1:], strict=True)
        }
        by_knob.append({**line, "fails first": first, **heads})
    return {"by_knob": pd.DataFrame(by_knob)}


def figures(rows: "DataFrame") -> dict[str, "Figure"]:
    """Return the figures of the data that local search needs, and of output errors at all values of each condition."""
    return {"parameters": parameters_figure(rows), "knobs": knobs_figure(rows)}


def parameters_figure(rows: "DataFrame") -> "Figure":
    """Draw how many output numbers per parameter local search needs at each number of heads, with intervals."""
    figure, axes = plots.panels(height=3.0)
    heads = [*SEARCH_RATIOS]
    middle, low, high = zip(*(needed_a_parameter(rows, m) for m in heads), strict=True)
    (line,) = axes.plot(heads, middle)
    axes.vlines(heads, low, high, color=line.get_color(), linewidth=1.5)
    least = [per_parameter(m, counting_floor(m, 2, DIM)) for m in heads]
    (floor,) = axes.plot(heads, least, "--", color="0.4", marker="")
    axes.set(xscale="log", yscale="log", xlabel="heads", ylabel="numbers for each parameter")
    axes.set_xticks(heads, [str(m) for m in heads])
    axes.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.minorticks_off()
    plots.label_ends(axes, [(line, "local search"), (floor, "at least")])
    return figure


def knobs_figure(rows: "DataFrame") -> "Figure":
    """Draw each learning method's median output errors at all values of every knob (a condition on layers)."""
    figure, axes = plots.panels(3, 3, height=1.9, sharey=True)
    for axis, (knob, (title, values)) in zip(axes.flat, KNOBS.items(), strict=True):
        by_value, places = rows[rows.knob == knob].groupby(knob), range(len(values))
        for method, style in (("phases", "-"), ("random_rounds", "--"), ("search", ":")):
            errors = by_value[method].median().reindex(values)
            axis.plot(places, errors.fillna(1.0).clip(upper=1.0), style, label=METHODS[method])
        axis.axhline(LEARNED, color="0.6", linewidth=0.8)
        axis.set_xticks(places, [f"{value:g}" for value in values])
        axis.set(title=title, yscale="log")
    axes[2, 0].legend(fontsize="small", loc=(0.03, 0.45))
    return figure


STUDY = Study(
    "nice-layers",
    "Which conditions of the learner with the theorem matter, and what does it need where all of them hold?",
    tasks,
    seconds,
    trial,
    guard=600.0,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
