"""Study `random-features`: heads of frozen weights against a network of frozen weights on averages over keys.

The claims are those of the abstract of Fu, Guo, Bai, Mei (arXiv 2307.11353); targets, sizes and the biased mean are
reconstructed. Inputs are a query and sixteen keys, uniform on the sphere in dimension sixteen.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.adapters import plain
from hardness.report.drawing import INK, Drawing, style
from hardness.report.report import table_page
from learner.base import Array
from learner.random_features import RandomFeatureAttention, RandomFeatureMLP
from learner.ridge import RidgeLearner
from learner.studies.curves import Mean, curve, legend, look, mean, timed

QUESTION = "Does attention with frozen random heads need fewer examples than a network of frozen random neurons?"

DIM = KEYS = 16
HEADS, FEW, MOST, FRESH = 1000, 256, 4096, 1500
AT = 1024  # examples at which the number of heads varies
HALF, TENTH = 0.5, 0.1  # errors, in units of the variance
SIZED = ("f2", "g11")  # targets shown against the number of heads
TARGETS = ("f1", "f2", "f4", "g11", "g21", "g31", "g41")
BIAS = 8.0
BIASED = f"RFA biased {BIAS:g}:1"
MODELS: Mapping[str, Mapping[str, Any]] = {
    "RFA": {},
    "RFA biased 4:1": {"bias": 4.0},
    BIASED: {"bias": BIAS},
    "RFA without constant": {"augment": False},
    "RFA with softmax": {"activation": "softmax"},
    "RFMLP, as many trained": {"neurons": DIM + 1},
    "RFMLP, as many neurons": {"neurons": 1},
}
RIVAL = "RFMLP, as many trained"
Table = Sequence[Mapping[str, Any]]


def sphere(count: int, rng: np.random.Generator) -> Array:
    """A query and sixteen keys (count, 17, 16), uniform on the sphere."""
    X = rng.normal(size=(count, KEYS + 1, DIM))
    return np.asarray(X / np.linalg.norm(X, axis=2, keepdims=True))


def target(name: str, X: Array, b: Array) -> Array:
    """f_p = mean <b,x_i>^p or g_p1 = mean <x_0,x_i>^p <b,x_i>, scaled to unit variance: (n,)."""
    power, keys = int(name[1]), X[:, 1:] @ b
    y = keys**power if name[0] == "f" else np.einsum("nd,nid->ni", X[:, 0], X[:, 1:]) ** power * keys
    return np.asarray(y.mean(axis=1) / y.mean(axis=1).std())


def tasks(quick: bool) -> list[Task]:
    """Every model at every number of examples, and few to infinitely many heads at 1024 examples."""
    counts, sizes = ((64, 256, 1024), (250,)) if quick else ((64, 128, 256, 512, 1024, 2048, MOST), (62, 250, 4000))
    curves = [(name, HEADS, n) for name in MODELS for n in counts]
    heads = [(name, size, AT) for name in ("RFA", BIASED) for size in sizes]
    return [
        Task("key-averages", {"dim": DIM, "keys": KEYS}, {"model": name, "heads": size}, {"samples": n}, r)
        for name, size, n in [*curves, *heads, ("RFA", None, AT)]
        for r in range(3 if quick else 5)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: Gram matrices, then Cholesky factors."""
    n, heads = float(task.budget["samples"]), task.solver["heads"]
    if heads is None:
        return 6.0
    return float(0.2 + 7e-11 * n * n * heads + 9e-11 * n**3 + 2e-7 * n * heads)


def model(name: str, heads: int | None, random_state: int) -> RidgeLearner:
    """The learner called `name`, with what `heads` heads train."""
    options = dict(MODELS[name])
    if "neurons" in options:
        return RandomFeatureMLP(options["neurons"] * (heads or 0) or None, random_state=random_state)
    return RandomFeatureAttention(heads, query=0, keys="others", random_state=random_state, **options)


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """Test error of one model on all targets, in units of their variance; all models see the same examples.

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
    return Outcome("solved", n, plain({"error": dict(zip(TARGETS, error, strict=True))}))


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per target, model and number of heads: test errors at each number of examples, in order of repetition."""
    found: dict[tuple[str, str, int | None], dict[int, dict[int, float]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status == "solved":
            solver, n = row.task.solver, int(row.task.budget["samples"])
            for name, error in row.outcome.detail["error"].items():
                cell = found.setdefault((name, solver["model"], solver["heads"]), {}).setdefault(n, {})
                cell[row.task.repetition] = float(error)
    return [
        {"target": name, "model": who, "heads": heads, "errors": dict(sorted(errors.items()))}
        for name in TARGETS
        for (own, who, heads), errors in found.items()
        if own == name
    ]


def means(line: Mapping[str, Any]) -> dict[float, Mean]:
    """Mean error at each number of examples."""
    return {float(n): mean(list(errors.values())) for n, errors in line["errors"].items()}


def examples_to(line: Mapping[str, Any], error: float) -> int | None:
    """The least number of examples tried at which the mean error is at most `error`; None: at none."""
    return min((int(n) for n, point in means(line).items() if point.value <= error), default=None)


def difference(lines: Table, name: str, one: str, other: str) -> dict[int, Mean]:
    """Error of `one` minus that of `other` on target `name`, paired: both saw the same examples."""
    errors = {line["model"]: line["errors"] for line in lines if (line["target"], line["heads"]) == (name, HEADS)}
    a, b = errors.get(one, {}), errors.get(other, {})
    both = {n: [a[n][r] - b[n][r] for r in a[n] if r in b[n]] for n in a if n in b}
    return {n: mean(values) for n, values in both.items() if values}


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict line."""
    lines = table(store.rows())
    counts = sorted({n for line in lines for n in line["errors"]})
    shown = [
        {"target": line["target"], "model": line["model"], "heads": line["heads"] or "∞"}
        | {f"examples to {HALF:g}": _least(line, HALF), f"to {TENTH:g}": _least(line, TENTH)}
        | {f"n = {n}": str(mean(list(line["errors"][n].values()))) if n in line["errors"] else None for n in counts}
        for line in lines
        if line["heads"] == HEADS or line["target"] in SIZED
    ]
    notes = (
        ("claimed", "Abstract of arXiv 2307.11353 (the text was not at hand): random-feature attention needs fewer "
        "examples than random-feature networks on averages of functions of query and key, and a non-zero mean of the "
        "query-key weights helps on certain natural targets. Targets, "
         f"dimension {DIM}, {KEYS} keys, {HEADS:,} heads and the mean μ·I are this lab's reconstruction, and no number "
         "here is the paper's."),
        "Targets: fp = mean over keys of ⟨b, xᵢ⟩ᵖ, gp1 = mean of ⟨x₀, xᵢ⟩ᵖ⟨b, xᵢ⟩, of unit variance, without "
        "noise: error 1 is that of predicting the mean (dashed). RFA has M = "
        f"{HEADS:,} heads of relu attention, {HEADS * (DIM + 1):,} trained weights; biased a:1 has mean a·I at "
        "standard deviation 1; without constant, no 1 is appended to the tokens; with softmax, the relu is replaced by "
        "one over the keys (not a model of the paper); RFMLP has as many trained weights, or as many neurons, on the "
        "tokens end to end. The penalty of the ridge is chosen on a tenth of the examples.",
        ("measured", "Every point is a mean over repetitions with its 95 % interval (Student's t); in each, all "
         f"models see the same query, keys and b. Examples to {HALF:g} and to {TENTH:g}: the least number tried with a "
         "mean error of at most that; none: not within the largest number tried."),
    )  # fmt: skip
    terms = {
        "M": "The number of frozen random heads.",
        "RFA": "Random-feature attention: heads with frozen weights.",
        "RFMLP": "A network whose neurons have frozen random weights.",
        "n": "The number of examples.",
    }
    found = drawings(lines)
    return table_page(store, folder, QUESTION, verdict(lines), shown, notes, found, {"verdict": "measured"}, terms)


def _least(line: Mapping[str, Any], error: float) -> str:
    least = examples_to(line, error)
    return f"{least}" if least else f"none up to {max(line['errors'])}"


def verdict(lines: Table) -> str:
    """What was measured against what the paper claims, in a sentence or two."""
    own = {(line["target"], line["model"]): line for line in lines if line["heads"] == HEADS}
    if not {("f2", "RFA"), ("f2", RIVAL)} <= own.keys():
        return "Too few trials have been run."
    last = max(own["f2", "RFA"]["errors"])
    ours, theirs = (mean(list(own["f2", who]["errors"].get(last, {0: 1.0}).values())) for who in ("RFA", RIVAL))
    gaps = {name: difference(lines, name, BIASED, "RFA") for name in TARGETS}
    better, worse = (
        ", ".join(
            f"{name} at n = {_runs([n for n in gap if side(gap[n])], list(gap))}"
            for name, gap in gaps.items()
            if any(map(side, gap.values()))
        )
        for side in (_below, _above)
    )
    return (
        f"The advantage over networks that the paper claims is {'' if ours.value < theirs.value else 'not '}seen: on "
        f"f2, {last} examples and as many trained weights, the error is {ours} for attention and {theirs} for the "
        f"network. Biased heads ({BIAS:g}:1) are better than unbiased ones on {better or 'no target'}; worse on "
        f"{worse or 'none'} (paired 95 % intervals)."
    )


def _runs(chosen: Sequence[int], tried: Sequence[int]) -> str:
    """Numbers of examples, neighbours among those tried drawn together.

    >>> _runs([64, 128, 256, 1024], [64, 128, 256, 512, 1024])
    '64–256 and 1024'
    """
    parts: list[list[int]] = []
    for i, n in enumerate(tried):
        if n in chosen:
            if parts and parts[-1][-1] == tried[i - 1]:
                parts[-1].append(n)
            else:
                parts.append([n])
    return " and ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts)


def _below(gap: Mean) -> bool:
    return gap.high is not None and gap.high < 0


def _above(gap: Mean) -> bool:
    return gap.low is not None and gap.low > 0


def drawings(lines: Table) -> list[Drawing]:
    """Error against examples, a panel a target; and against heads, at 1024 examples."""
    return [_curves(lines), _heads(lines)] if lines else []


def _curves(lines: Table) -> Drawing:
    shown = [name for name in TARGETS if any(line["target"] == name for line in lines)]
    looks = {name: look(i) for i, name in enumerate(MODELS)}
    drawing = Drawing("errors", 10.8, 6.2)
    drawing.kinds = "measured"
    drawing.caption = "Means over repetitions with 95 % intervals; dashed, the error of predicting the mean."
    with style(drawing.name):
        panels = drawing.figure.subplots(2, 4, sharex=True, sharey=True).ravel()
        for axes, name in zip(panels, shown, strict=False):
            axes.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
            for line in lines:
                if (line["target"], line["heads"]) == (name, HEADS):
                    who = line["model"]
                    curve(drawing, axes, means(line), f"{name}, {who}", looks[who], "n =")
            formula = "⟨b, xᵢ⟩" if name[0] == "f" else "⟨x₀, xᵢ⟩"
            power = {"1": "", "2": "²", "3": "³", "4": "⁴"}[name[1]]
            axes.set_title(f"{name}: mean of {formula}{power}" + ("" if name[0] == "f" else "⟨b, xᵢ⟩"))
            axes.set_xscale("log")
            axes.set_xticks((64, 256, 1024, 4096), ("64", "256", "1024", "4096"))
            axes.set_xticks((), minor=True)
            axes.set_ylim(bottom=0)
            axes.grid(axis="y")
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        for axes in panels[3:7]:
            axes.set_xlabel("examples n")
            axes.xaxis.set_tick_params(labelbottom=True)
        for axes in panels[::4]:
            axes.set_ylabel("test error / variance")
        legend(drawing, looks)
    return drawing


def _heads(lines: Table) -> Drawing:
    looks = {"RFA": look(0), BIASED: look(2)}
    end = 16_000.0  # where infinitely many are drawn
    drawing = Drawing("heads", 7.4, 3.6)
    drawing.kinds = "measured"
    drawing.caption = "Against the number of heads; ∞ is the closed-form kernel, which only unbiased heads have."
    with style(drawing.name):
        for axes, name in zip(drawing.figure.subplots(1, 2, sharey=True), SIZED, strict=True):
            for who, own in looks.items():
                cells = {
                    float(line["heads"] or end): mean(list(line["errors"][AT].values()))
                    for line in lines
                    if (line["target"], line["model"]) == (name, who) and AT in line["errors"]
                }
                finite = {size: cell for size, cell in sorted(cells.items()) if size < end}
                curve(drawing, axes, finite, f"{name}, {who}", own, "heads")
                curve(drawing, axes, {end: cells[end]} if end in cells else {}, f"{name}, {who}", own, "heads, ∞:")
            axes.set_xscale("log")
            axes.set_ylim(0, 1.3)
            axes.set_xticks((62, 250, 1000, 4000, end), ("62", "250", "1000", "4000", "∞"))
            axes.set_xticks((), minor=True)
            axes.set_xlabel(f"heads M, at n = {AT}")
            axes.set_title(name)
            axes.grid(axis="y")
            axes.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
        drawing.figure.axes[0].set_ylabel("test error / variance")
        legend(drawing, looks)
    return drawing


STUDY = Study("random-features", QUESTION, tasks, seconds, trial, write, guard=300.0, role="appendix")
