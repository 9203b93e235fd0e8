"""Study `associative-memory`: one head that looks up values by keys, on data that do or do not identify it.

The protocol is that of Yau et al. (arXiv 2410.10101), section 4.2: four keys and values of dimension four, Gaussian in
a share of the examples (identifiable) and random orthonormal in the rest (not).
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
from hardness.report.drawing import MUTED, Drawing, style
from hardness.report.report import table_page
from learner.base import Array
from learner.linear import LinearAttention, attention, features, parameter_distance, parameters
from learner.linear.adam import adam_heads
from learner.linear.certificate import Span
from learner.linear.features import weights
from learner.studies.curves import (
    TINY,
    Mean,
    curve,
    dots,
    legend,
    look,
    mean,
    measured,
    share,
    spread,
    timed,
)

QUESTION = "Does recovering the true parameters show that the data identify them?"

SIZE, FRESH = 4, 2000
NOISE = 0.01
RANK = (2 * SIZE) ** 2 * (2 * SIZE + 1) // 2  # the number of features
HEADS = (1, 2, 4, 8)
STEPS = 60 * 16_384  # examples that Adam sees, repeated
SHARES = (0.0, 0.9, 0.95, 0.99, 0.995, 0.998, 1.0)
CURVES = {"distance": "least norm", "noisy": f"least norm, noise {NOISE:g}", "other": "another exact fit"}
Table = Sequence[Mapping[str, Any]]


def memory(count: int, unitary: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Tokens [key; value], the last [query; noise] (count, 5, 8), the value asked for, and the head's p.

    A share `unitary` of the examples has orthonormal keys and values; those of the others are standard normal.
    """
    parts = [rng.normal(size=(count, SIZE, SIZE)) for _ in range(2)]
    mixed = rng.random(count) < unitary
    keys, values = (np.where(mixed[:, None, None], np.linalg.qr(part)[0], part) for part in parts)
    asked = keys[np.arange(count), rng.integers(SIZE, size=count)]
    last = np.concatenate([asked, rng.normal(size=(count, SIZE))], axis=1)
    X = np.concatenate([np.concatenate([keys, values], axis=2), last[:, None]], axis=1)
    V, Q = np.zeros((1, SIZE, 2 * SIZE)), np.zeros((1, 2 * SIZE, 2 * SIZE))
    V[0, :, SIZE:], Q[0, :SIZE, :SIZE] = np.eye(SIZE), np.eye(SIZE)
    return X, attention(V, Q, X), parameters(V, Q)


def tasks(quick: bool) -> list[Task]:
    """Regression on every mixture; Adam with 1 to 8 heads on the ends, in full also between."""
    count, runs = (4096, 3) if quick else (16_384, 6)
    shares, sizes = ((0.0, 1.0), (1, 4)) if quick else ((0.0, 0.95, 0.99, 1.0), HEADS)
    adam = [(share, heads) for share in shares for heads in sizes]
    solvers: list[dict[str, Any]] = [{"method": "regression", "unitary": share} for share in SHARES]
    solvers += [{"method": "Adam", "heads": heads, "unitary": share} for share, heads in adam]
    return [
        Task("associative-memory", {"size": SIZE}, solver, {"samples": count}, r)
        for solver in solvers
        for r in range(runs)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    n = float(task.budget["samples"])
    return 0.1 + n * 1.2e-4 if task.solver["method"] == "regression" else 0.3 + 0.2 * float(task.solver["heads"])


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """Distances |p − p*| of what is learned from the true head, and errors on Gaussian inputs.

    >>> task = Task("associative-memory", {"size": 4}, {"method": "regression", "unitary": 1.0}, {"samples": 2000}, 0)
    >>> detail = trial(task, 0, 60.0).detail
    >>> detail["distance"] < 1e-10, detail["rank"], detail["other training"] < 1e-10, detail["other"] > 1
    (True, 248, True, True)
    """
    rng = np.random.default_rng(task.shared().seed(root, "examples"))
    own = np.random.default_rng(task.seed(root, "solver"))
    gaussian, truth, p = memory(FRESH, 0.0, rng)
    X, Y, _ = memory(int(task.budget["samples"]), float(task.solver["unitary"]), rng)

    def relative(said: Array, right: Array) -> float:
        return measured(float(np.mean((said - right) ** 2) / right.var()), TINY**2)

    def apart(found: Array) -> float:
        return measured(parameter_distance(found, p), TINY)

    if task.solver["method"] == "Adam":
        V, Q, error = adam_heads(X, Y, int(task.solver["heads"]), own, epochs=STEPS // len(X))
        detail: dict[str, Any] = {
            "training": measured(error**2, TINY**2),
            "distance": apart(parameters(V, Q)),
            "gaussian": relative(attention(V, Q, gaussian), truth),
        }
    else:
        learner = LinearAttention(query=-1).fit(X, np.concatenate([Y, Y + NOISE * own.normal(size=Y.shape)], axis=1))
        found, scale = learner.certificate(X), weights(2 * SIZE)
        least, noisy = learner.p_[:SIZE], learner.p_[SIZE:]
        detail = {
            "distance": apart(least),
            "noisy": apart(noisy),
            "rank": found.rank,
            "lam_min": measured(found.lam_min),
            "certified": learner.certify(gaussian).mean(),
        }
        # What no example sees: directions orthogonal to the span of the (√2-weighted) features.
        basis = Span.of_features(features(X) * scale, Y, learner.rank_tol).basis
        hidden = (p / scale) - (p / scale) @ basis @ basis.T
        detail["hidden"] = measured(float(np.linalg.norm(hidden) / np.linalg.norm(p / scale)), TINY)
        if basis.shape[1] < len(basis):
            step = own.normal(size=p.shape)
            step -= step @ basis @ basis.T
            other = least + step * scale * np.linalg.norm(p) / np.linalg.norm(step * scale)
            detail |= {
                "other": apart(other),
                "other training": relative(features(X) @ other.T, Y),
                "other gaussian": relative(features(gaussian) @ other.T, truth),
            }
    return Outcome("solved", len(X), plain(detail))


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per method, heads and share of orthonormal examples: every measured number over its runs."""
    found: dict[tuple[str, int, float], dict[str, list[float]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status == "solved":
            solver = row.task.solver
            key = str(solver["method"]), int(solver.get("heads", 0)), float(solver["unitary"])
            for name, value in row.outcome.detail.items():
                found.setdefault(key, {}).setdefault(name, []).append(float(value))
    order = sorted(found, key=lambda key: (key[0] == "Adam", key[1], key[2]))
    return [{"method": m, "heads": h or None, "unitary": u, **found[m, h, u]} for m, h, u in order]


def distance(line: Mapping[str, Any], name: str = "distance") -> Mean:
    """Geometric mean of a measured number."""
    return mean(line[name], logarithmic=True)


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict line."""
    lines = table(store.rows())
    names = {
        "distance": "|p − p*|", "noisy": f"with noise {NOISE:g}", "other": "of another exact fit",
        "training": "training",
        "gaussian": "Gaussian", "other training": "other fit, training", "other gaussian": "other fit, Gaussian",
    }  # fmt: skip
    shown = [
        {"method": line["method"], "heads": line["heads"], "orthonormal": f"{100 * line['unitary']:g} %"}
        | ({"rank": spread([int(rank) for rank in line["rank"]]), "λ_min": spread(line["lam_min"]),
            "p* unseen": f"{max(line['hidden']):.1g}", "certified": f"{mean(line['certified']).value:.3g}"}
           if "rank" in line else {})
        | {title: str(distance(line, name)) for name, title in names.items() if name in line}
        for line in lines
    ]  # fmt: skip
    notes = (
        (
            "claimed",
            "ArXiv 2410.10101, section 4.2 (read): on data that identify the head (λ_min > 0) gradient descent "
            "finds its parameters; on data that do not, it reaches zero training error far from them, and the distance "
            "grows as λ_min falls.",
        ),
        (
            "measured",
            "Here as there: four keys and values of dimension four, the query one of the keys, the label what the head "
            "V = (0, I), Q = diag(I, 0) says (so the labels are realisable); in a share of the examples keys and "
            "values are random orthonormal matrices. p are the coefficients that are the function: two layers are the "
            f"same function if and only if they have the same p. |p*| = {SIZE}. Intervals: 95 %, of geometric means "
            f"over runs; dots are runs of Adam. Distances below {TINY:g} are rounding, and recorded as that.",
        ),
        (
            "proved",
            "Why least norm hides it: p* has no part in the directions that orthonormal data do not show (p* unseen, "
            "relative), and among all exact fits least norm takes the one without such a part, which is p* itself. "
            f"Another exact fit adds a random vector of those directions, of norm {SIZE}: as exact in training, wrong "
            f"on Gaussian inputs. Label noise of {NOISE:g} shows the conditioning instead. Certified is the share of "
            "Gaussian inputs that the pointwise certificate vouches for: it says what least norm does not. Errors are "
            "squared, over the variance of the labels.",
        ),
    )
    terms = {
        "p": "The coefficients that determine the function of a linear-attention layer; p* are the true ones.",
        "λ_min": "The least eigenvalue of the features' second moment: above 0, they identify the head.",
        "V": "The value matrix of the head.",
        "Q": "The query-key matrix of the head.",
        "H": "The number of heads that Adam trains.",
    }
    found = drawings(lines)
    return table_page(store, folder, QUESTION, verdict(lines), shown, notes, found, {"verdict": "measured"}, terms)


def verdict(lines: Table) -> str:
    """What was measured against what the paper claims."""
    ends = {line["unitary"]: line for line in lines if line["method"] == "regression"}
    if not {0.0, 1.0} <= ends.keys() or "other" not in ends[1.0]:
        return "Too few trials have been run."
    adam = {(line["heads"], line["unitary"]): line for line in lines if line["method"] == "Adam"}
    hidden, seen = ends[1.0], ends[0.0]
    said = (
        f"Recovery proves nothing by itself: on orthonormal data (rank {hidden['rank'][0]:g} of {RANK}, λ_min = 0) "
        f"least norm is within {distance(hidden).value:.0e} of the true parameters, another exact fit at "
        f"{distance(hidden, 'other').value:.1f}; {mean(hidden['certified']).value:.0%} of Gaussian inputs are "
        f"certified (trained on Gaussian data: {mean(seen['certified']).value:.0%})."
    )
    if {(SIZE, 0.0), (SIZE, 1.0)} <= adam.keys():
        said += (
            f" Adam with {SIZE} heads ends at distance {distance(adam[SIZE, 1.0])} there (training error "
            f"{distance(adam[SIZE, 1.0], 'training').value:.0e}), and at {distance(adam[SIZE, 0.0])} on Gaussian data "
            f"({distance(adam[SIZE, 0.0], 'training').value:.0e}); {claim(adam[SIZE, 0.0], adam[SIZE, 1.0])}."
        )
    return said


def claim(seen: Mapping[str, Any], hidden: Mapping[str, Any]) -> str:
    """Whether Adam ends nearer to the truth on data that identify the head, as the paper claims: if intervals part.

    >>> near, far = {"distance": [1.0, 1.1, 0.9]}, {"distance": [2.0, 2.1, 1.9]}
    >>> claim(near, far)
    'nearer where data identify the head, as the paper claims'
    >>> claim(far, near)
    'farther where data identify the head, against the paper'
    >>> claim(near, {"distance": [0.5, 1.0, 2.0]})
    'the intervals overlap, so neither for the paper nor against it'
    """
    near, far = distance(seen), distance(hidden)
    if near.high is not None and far.low is not None and near.high < far.low:
        return "nearer where data identify the head, as the paper claims"
    if far.high is not None and near.low is not None and far.high < near.low:
        return "farther where data identify the head, against the paper"
    return "the intervals overlap, so neither for the paper nor against it"


def drawings(lines: Table) -> list[Drawing]:
    """Distances against the share of orthonormal examples: of regression, and of Adam."""
    if not lines:
        return []
    place = {share: float(i) for i, share in enumerate(SHARES)}
    looks = {name: look(i) for i, name in enumerate((*CURVES.values(), *(f"Adam, H = {h}" for h in HEADS)))}
    drawing = Drawing("distances", 10.6, 4.2)
    drawing.kinds = "measured"
    drawing.caption = "Geometric means over runs with 95 % intervals; certified: means of shares. Dots: runs of Adam."
    with style(drawing.name):
        panels = drawing.figure.subplots(1, 3)
        regression = [line for line in lines if line["method"] == "regression"]
        for name, title in CURVES.items():
            points = {place[line["unitary"]]: distance(line, name) for line in regression if name in line}
            curve(drawing, panels[0], points, title, looks[title], "mixture")
        for heads in HEADS:
            own = [line for line in lines if line["heads"] == heads]
            title = f"Adam, H = {heads}"
            for line in own:
                dots(panels[1], place[line["unitary"]], line["distance"])
            points = {place[line["unitary"]]: distance(line) for line in own}
            curve(drawing, panels[1], points, title, looks[title], "mixture")
        sure = {place[line["unitary"]]: share(line["certified"]) for line in regression}
        curve(drawing, panels[2], sure, "certified", look(0) | {"linestyle": "-"}, "mixture")
        for axes, title in zip(
            panels,
            ("regression: |p − p*|", "Adam: |p − p*|", "Gaussian inputs certified"),
            strict=True,
        ):
            axes.set_title(title)
            axes.set_xticks(list(place.values()), [f"{100 * share:g}" for share in place])
            axes.set_xlabel("% orthonormal examples")
            axes.grid(axis="y")
        for axes in panels[:2]:
            axes.set_yscale("log")
            axes.axhline(SIZE, color=MUTED, linewidth=0.8, linestyle=(0, (1.2, 1.5)))
        panels[0].annotate("|p*|", (0, SIZE), va="bottom", fontsize=8.5)
        panels[2].set_ylim(-0.04, 1.04)
        legend(drawing, looks)
    return [drawing]


STUDY = Study("associative-memory", QUESTION, tasks, seconds, trial, write, guard=300.0, role="appendix")
