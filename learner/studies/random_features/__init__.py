"""The study `random-features`: what the abstract of Fu, Guo, Bai and Mei (arXiv 2307.11353) claims."""

from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report import plots
from hardness.statistics import Mean, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from learner.regression import RidgeLearner

DIM = KEYS = 16
HEADS, MOST, FRESH = 1000, 4096, 1500
COUNTS, QUICK_COUNTS = (64, 128, 256, 512, 1024, 2048, MOST), (64, 256, 1024)
TARGETS = ("f1", "f2", "f4", "g11", "g21", "g31", "g41")
PLAIN, BIASED, BIAS, RIVAL = "RFA", "RFA biased 8:1", 8.0, "RFMLP, as many trained"
MODELS = (PLAIN, BIASED, RIVAL)
PAIRS = "network on pairs"  # of query and key, averaged over the keys; as many trained weights
CONTROLLED = 2048  # examples up to which it is tried
Array = NDArray[np.float64]


def tasks(quick: bool) -> list[Task]:
    """Return the trials of attention and of networks at every number of examples, or at three numbers if `quick`."""
    counts = QUICK_COUNTS if quick else COUNTS
    cells = [(name, n) for name in (*MODELS, PAIRS) for n in counts if name != PAIRS or n <= CONTROLLED]
    return [
        Task("key-averages", {"dim": DIM, "keys": KEYS}, {"model": name, "heads": HEADS}, {"samples": n}, r)
        for name, n in cells
        for r in range(3 if quick else 5)
    ]


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    n, pairs = float(task.budget["samples"]), 20 if task.solver["model"] == PAIRS else 1
    return 0.2 + 7e-11 * n * n * HEADS + 9e-11 * n**3 + 2e-7 * n * HEADS * pairs


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Return one model's test errors on all target functions, over their variance; all models see the same examples.

    >>> outcome = trial(Task("key-averages", {"dim": 16, "keys": 16}, {"model": "RFA", "heads": 64},
    ...                      {"samples": 256}, 0), 0, 60.0)
    >>> outcome.detail["error"]["f1"] < 0.5 < outcome.detail["error"]["f2"]
    True
    """
    rng = np.random.default_rng(task.shared().seed(root, "examples"))
    b, X, n = rng.normal(size=DIM), sphere(MOST + FRESH, rng), int(task.budget["samples"])
    Y = np.stack([target(name, X, b / np.linalg.norm(b)) for name in TARGETS], axis=1)
    learner = model(task.solver["model"], task.solver["heads"], task.seed(root, "solver") % 2**32)
    wrong = learner.fit(X[:n], Y[:n]).predict(X[MOST:]) - Y[MOST:]
    error = np.mean(wrong**2, axis=0) / Y[MOST:].var(axis=0)
    return Outcome("solved", n, {"error": dict(zip(TARGETS, error.tolist(), strict=True))})


def sphere(count: int, rng: np.random.Generator) -> Array:
    """Draw `count` inputs (count, 17, 16), each a query and sixteen keys: uniform unit vectors in 16 dimensions."""
    X = rng.normal(size=(count, KEYS + 1, DIM))
    return np.asarray(X / np.linalg.norm(X, axis=2, keepdims=True))


def target(name: str, X: Array, b: Array) -> Array:
    """Return the values (n,) of the target `name` on inputs X (n, 17, 16), scaled to unit variance.

    "f2" is the mean over keys x_i of <b,x_i>², "g31" that of <x_0,x_i>³ <b,x_i>, for a query x_0 and a unit vector b.
    """
    power, keys = int(name[1]), X[:, 1:] @ b
    y = keys**power if name[0] == "f" else np.einsum("nd,nid->ni", X[:, 0], X[:, 1:]) ** power * keys
    return np.asarray(y.mean(axis=1) / y.mean(axis=1).std())


def model(name: str, heads: int, random_state: int) -> "RidgeLearner":
    """Return the untrained learner `name` (attention or network) with 17 weights to train for each of `heads` heads."""
    from learner.regression import RandomFeatureAttention, RandomFeatureMLP
    from learner.studies.random_features.pairs import RandomFeaturePairs

    if name in (PAIRS, RIVAL):
        network = RandomFeaturePairs if name == PAIRS else RandomFeatureMLP
        return network((DIM + 1) * heads, random_state=random_state)
    bias = BIAS if name == BIASED else 0.0
    return RandomFeatureAttention(heads, keys="others", random_state=random_state, bias=bias)


def linear_error(name: str) -> Fraction:
    """Return the least error of a linear function of the input on a target (as "g21"), over the target's variance.

    The formulas, and why they hold, stand in docs/baselines.md, A.5.

    >>> {name: round(float(linear_error(name)), 3) for name in TARGETS}
    {'f1': 0.0, 'f2': 1.0, 'f4': 1.0, 'g11': 0.484, 'g21': 0.625, 'g31': 0.59, 'g41': 0.869}
    """
    power = int(name[1])
    if name[0] == "f":
        return 1 - moment(power + 1) ** 2 / (moment(2) * moment(2 * power))
    if power % 2 == 0:
        return 1 - moment(power) ** 2 / moment(2 * power)
    shared = moment(power + 1) ** 2
    return 1 - shared / (moment(2 * power) / KEYS + (1 - Fraction(1, KEYS)) * shared)


def moment(power: int) -> Fraction:
    """Return E u^p, p = `power`, for a coordinate u of a uniform unit vector in 16 dimensions; it is 0 for odd p.

    >>> moment(1), moment(2) == Fraction(1, DIM)
    (Fraction(0, 1), True)
    """
    if power % 2:
        return Fraction(0)
    return Fraction(prod(range(1, power, 2)), prod(range(DIM, DIM + power - 1, 2)))


def errors(rows: "DataFrame") -> "DataFrame":
    """Return the test errors as a long table: for each target and run its model, samples, repetition and error."""
    runs = rows.rename(columns={f"error.{name}": name for name in TARGETS})
    return runs.melt(["model", "samples", "repetition"], list(TARGETS), "target", "error")


def error_of(table: "DataFrame", name: str, model: str, n: int = MOST) -> Mean:
    """Return a model's mean test error on the target `name` (as "f2") after n examples, with its 95 % interval."""
    return mean(_runs(table, name, model, n).tolist())


def gap(table: "DataFrame", name: str, n: int, other: tuple[str, int], model: str = PLAIN) -> Mean:
    """Return how much more `model` errs after n examples than `other`, a pair (model, examples), on target `name`."""
    return mean((_runs(table, name, model, n) - _runs(table, name, *other)).tolist())


def _runs(table: "DataFrame", name: str, model: str, n: int) -> Any:
    chosen = table[(table.target == name) & (table.model == model) & (table.samples == n)]
    return chosen.set_index("repetition").error.sort_index()


def least_examples(table: "DataFrame", name: str) -> int:
    """Return from how many examples on attention surely errs less on target `name` than the network does after 4096."""
    behind = [n for n in COUNTS if gap(table, name, n, (RIVAL, MOST)).side(0.0) != -1]
    return COUNTS[COUNTS.index(behind[-1]) + 1] if behind else COUNTS[0]


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints."""
    table = errors(rows)
    enough = max(least_examples(table, name) for name in TARGETS)
    both = {"attention": PLAIN, "network": RIVAL}
    beaten = {
        title: sum(error_of(table, name, model).side(float(linear_error(name))) == -1 for name in TARGETS)
        for title, model in {**both, "biased": BIASED}.items()
    }
    alike = [gap(table, name, CONTROLLED, (PAIRS, CONTROLLED)).side(0.0) for name in TARGETS]
    biased = [gap(table, name, n, (PLAIN, n), BIASED).side(0.0) for name in TARGETS for n in COUNTS]
    return {
        "alike": {"examples": CONTROLLED, "better": alike.count(-1), "worse": alike.count(1)},
        "examples": MOST,
        "enough": enough,
        "won": sum(gap(table, name, enough, (RIVAL, MOST)).side(0.0) == -1 for name in TARGETS),
        "targets": len(TARGETS),
        "mute": sum(error_of(table, name, RIVAL).value >= 1 for name in TARGETS),
        "f2": {title: round(error_of(table, "f2", model).value, 3) for title, model in both.items()},
        "beaten": beaten,
        "biased": {"better": biased.count(-1), "worse": biased.count(1)},
        "intervals": len(TARGETS) * len(COUNTS),
        "runs": int(rows.repetition.nunique()),
        "heads": HEADS,
        "weights": HEADS * (DIM + 1),
        "fresh": FRESH,
    }


def tables(rows: "DataFrame") -> dict[str, "DataFrame"]:
    """Return the table of errors of attention, network and best linear function on each target."""
    import pandas as pd

    table, by_target = errors(rows), []
    for name in TARGETS:
        attention, network = (error_of(table, name, model) for model in (PLAIN, RIVAL))
        line = {"target": name, "formula": formula(name)}
        line |= {"attention": str(attention), "network": str(network)}
        enough = f"{least_examples(table, name):,}" if network.value < 1 else "–"
        by_target.append({**line, "best linear": float(linear_error(name)), "enough": enough})
    return {"by_target": pd.DataFrame(by_target)}


def formula(name: str) -> str:
    """Return the formula that a target, as "g21", averages over the keys, as text."""
    power = {"1": "", "2": "²", "3": "³", "4": "⁴"}[name[1]]
    return f"⟨b, xᵢ⟩{power}" if name[0] == "f" else f"⟨x₀, xᵢ⟩{power}⟨b, xᵢ⟩"


def figures(rows: "DataFrame") -> dict[str, "Figure"]:
    """Return the figure of test error against examples, for attention and the network on the targets "f2" and "g11"."""
    table = errors(rows)
    figure, axes = plots.panels(1, 2, height=3.2)
    for axis, name in zip(axes, ("f2", "g11"), strict=True):
        ends = []
        for model, label in ((PLAIN, "attention"), (BIASED, "attention, biased"), (RIVAL, "network")):
            means = [error_of(table, name, model, n) for n in COUNTS]
            (line,) = axis.plot(COUNTS, [at.value for at in means])
            low, high = zip(*((at.low, at.high) for at in means), strict=True)
            axis.fill_between(COUNTS, low, high, color=line.get_color(), alpha=0.2)
            ends.append((line, label))
        least = [float(linear_error(name))] * 2
        (line,) = axis.plot([COUNTS[0], MOST], least, "--", color="0.4", marker="")
        ends.append((line, "best linear"))
        axis.set_ylim(bottom=0)
        axis.set_xscale("log", base=2)
        axis.set_xticks(COUNTS[::2], map(str, COUNTS[::2]))
        axis.set(title=f"{name}: {formula(name)}", xlabel="examples")
        plots.label_ends(axis, ends)
    axes[0].set_ylabel("test error / variance")
    return {"errors": figure}


STUDY = Study(
    "random-features",
    "Does attention with frozen random heads need fewer examples than a network of frozen random neurons?",
    tasks,
    seconds,
    trial,
    guard=300.0,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
