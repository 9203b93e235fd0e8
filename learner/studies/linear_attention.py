"""Study `linear-attention`: one random head recovered from rows, by regression with its certificate and by Adam.

The protocol is that of Yau et al. (arXiv 2410.10101), section 4.1: sequences of 100 Gaussian tokens, the output at
every prefix a row. A prefix is a sequence padded with zeros in front, which linear attention does not see.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation import judge
from hardness.evaluation.adapters import plain
from hardness.report.drawing import GRID, INK, MUTED, Drawing, style
from hardness.report.report import table_page
from learner.base import Array
from learner.linear import LinearAttention, attention, feature_count, parameter_distance, parameters
from learner.linear.adam import adam_heads
from learner.studies.curves import TINY, Mean, curve, dots, legend, look, mean, measured, spread, timed

EXACT = judge.EXACT.threshold
QUESTION = "From how many rows does regression recover a linear attention head, and does Adam need more heads?"

LENGTH = 100
ADAM_ROWS, FRESH = 8192, 2000
EPOCHS, RATE = 60, 0.01  # of Adam
RATIOS = (0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0, 4.0, 16.0)  # rows to features
FEW = (0.5, 1.0, 1.25, 2.0)  # the same at d = 16, where a regression takes a quarter of a minute
EDGE = 1e-14  # the lower edge of the figure of λ_min
NOISE = 0.1  # of the standard deviation of the labels
Table = Sequence[Mapping[str, Any]]


def prefixes(count: int, dim: int, rng: np.random.Generator) -> Array:
    """The first `count` prefixes of random sequences, (count, 100, dim), padded in front; the query is last.

    Tokens are standard normal over 100^(1/3): features are cubic, and so those of a whole sequence are of order one.
    """
    Z = rng.normal(size=(-(-count // LENGTH), LENGTH, dim)) / LENGTH ** (1 / 3)
    end, place = np.ogrid[:LENGTH, :LENGTH]
    at = place - (LENGTH - 1 - end)  # the token in a place of the prefix that ends at `end`
    return np.where(at[:, :, None] >= 0, Z[:, np.maximum(at, 0)], 0.0).reshape(-1, LENGTH, dim)[:count]


def tasks(quick: bool) -> list[Task]:
    """Regression at rows from half the features to sixteen times as many; Adam with 1 .. d² heads."""
    solvers: list[tuple[int, dict[str, Any], int]] = []
    for d in (2, 4, 8) if quick else (2, 4, 8, 16):
        rows = {round(ratio * feature_count(d)) for ratio in (RATIOS if d < 16 else FEW)}
        solvers += [(d, {"method": "regression"}, n) for n in sorted(rows) if n >= 10]
    for d, heads in ((2, (1, 2, 4)), (4, (1, 2, 4, 8, 16)), (8, () if quick else (1, 4, 8, 16, 32, 64))):
        solvers += [(d, {"method": "Adam", "heads": h}, ADAM_ROWS) for h in heads]
    return [
        Task("linear-attention", {"dim": d}, solver, {"samples": n}, r)
        for d, solver, n in solvers
        for r in range(3 if quick else 4 if d == 16 else 10)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    d, n = int(task.params["dim"]), float(task.budget["samples"])
    if task.solver["method"] == "Adam":
        return 0.2 + 1e-6 * ADAM_ROWS * d * int(task.solver["heads"])
    return 0.15 + 1e-5 * n * d + 9e-10 * n * feature_count(d) ** 2


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """Relative squared error on fresh sequences of one random head, learned without and with noise on the labels.

    `solved` is a relative error of 1e-6 (squared, 1e-12) without noise.

    >>> task = Task("linear-attention", {"dim": 4}, {"method": "regression"}, {"samples": 80}, 0)
    >>> outcome = trial(task, 0, 60.0)
    >>> outcome.status, outcome.detail["rank"], outcome.detail["certified"]
    ('solved', 40, 1.0)
    """
    d, n = int(task.params["dim"]), int(task.budget["samples"])
    rng = np.random.default_rng(task.shared().seed(root, "examples"))
    V, Q, fresh = rng.normal(size=(1, 1, d)), rng.normal(size=(1, d, d)), prefixes(FRESH, d, rng)
    truth, p = attention(V, Q, fresh), parameters(V, Q)
    X = prefixes(n, d, rng)
    clean = attention(V, Q, X)
    detail: dict[str, Any]
    if task.solver["method"] == "Adam":
        own = np.random.default_rng(task.seed(root, "solver"))
        v, q, _ = adam_heads(X, clean, int(task.solver["heads"]), own, epochs=EPOCHS, rate=RATE)
        errors = np.mean((attention(v, q, fresh) - truth) ** 2, axis=0) / truth.var()
        detail = {"distance": measured(parameter_distance(parameters(v, q), p), TINY)}
    else:
        Y = np.concatenate([clean, clean + NOISE * clean.std() * rng.normal(size=clean.shape)], axis=1)
        learner = LinearAttention(query=-1, random_state=0).fit(X, Y)
        errors = np.mean((learner.predict(fresh) - truth) ** 2, axis=0) / truth.var()
        found = learner.certificate(X)
        detail = {"noisy": measured(errors[1]), "distance": measured(parameter_distance(learner.p_[:1], p), TINY)}
        detail |= {"rank": found.rank, "lam_min": measured(found.lam_min), "identifiable": found.identifiable}
        detail |= {"certified": learner.certify(fresh).mean()}
    detail["error"] = measured(errors[0], TINY**2)
    return Outcome("solved" if errors[0] <= EXACT**2 else "wrong", n, plain(detail))


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per method, d and rows: how many runs were exact, errors (geometric means), rank and certificate."""
    found: dict[tuple[int, str, int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status in ("solved", "wrong"):
            d, solver = int(row.task.params["dim"]), row.task.solver
            key = d, str(solver["method"]), int(solver.get("heads", 0)), int(row.task.budget["samples"])
            found.setdefault(key, []).append({**row.outcome.detail, "solved": row.outcome.status == "solved"})
    lines = []
    for (d, method, heads, n), runs in sorted(found.items(), key=lambda item: (item[0][1] == "Adam", *item[0])):
        line: dict[str, Any] = {"method": method, "d": d, "heads": heads or None, "rows": n}
        line |= {"rows/ψ": n / feature_count(d), "runs": len(runs), "exact": sum(run["solved"] for run in runs)}
        line |= {"error": mean([run["error"] for run in runs], logarithmic=True), "errors": [r["error"] for r in runs]}
        if method == "regression":
            line |= {"noisy": mean([run["noisy"] for run in runs], logarithmic=True)}
            line |= {"rank": [run["rank"] for run in runs], "identifiable": sum(run["identifiable"] for run in runs)}
            line |= {"lam_min": [run["lam_min"] for run in runs], "certified": mean([r["certified"] for r in runs])}
        lines.append(line)
    return lines


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict line."""
    lines = table(store.rows())
    shown = [
        {"method": line["method"], "d": line["d"], "heads": line["heads"], "rows": line["rows"]}
        | {"rows/ψ": f"{line['rows/ψ']:.3g}", "exact runs": f"{line['exact']}/{line['runs']}"}
        | {"error": str(line["error"]), "error, noise 0.1": str(line["noisy"]) if "noisy" in line else None}
        | ({"rank": spread(line["rank"]), "identifiable": f"{line['identifiable']}/{line['runs']}",
            "λ_min": spread(line["lam_min"]), "fresh inputs certified": f"{line['certified'].value:.3g}"}
           if "rank" in line else {})
        for line in lines
    ]  # fmt: skip
    notes = (
        (
            "claimed",
            "ArXiv 2410.10101 (read): least squares on ψ = d²(d+1)/2 cubic features learns linear attention as "
            "well as the best layer of any number of heads (algorithm 1), and if the second moment of the features has "
            "λ_min > 0, what it finds is the only layer (lemma 2.3). Of its experiment 4.1: with Adam, d² heads "
            "do best and come near that regression; one head ends at a larger error.",
        ),
        (
            "measured",
            f"Here as there: one Gaussian head of one output, sequences of {LENGTH} Gaussian tokens, the output "
            f"at every prefix is a row. Errors are squared, over the variance, on {FRESH // LENGTH} fresh sequences: "
            f"geometric means with 95 % intervals over runs, each with a head of its own. Exact is an error of at most "
            f"{EXACT**2:g}; below {TINY**2:g} it is rounding, and recorded as that. Adam: {ADAM_ROWS:,} rows without "
            f"noise, {EPOCHS} epochs, rate {RATE:g} with a cosine schedule, normalised labels, one start a run; dots "
            f"are its runs.",
        ),
        "λ_min is 0 where the rank (columns equilibrated) is below ψ: open triangles in the grey strip, without a "
        "height, and no certificate. A fresh input is certified if its features lie in the span of those seen. "
        "Rows of one sequence are dependent, and those of short prefixes small: with noise a small λ_min is useless.",
    )
    terms = {
        "ψ": "The number of cubic features, d²(d+1)/2.",
        "H": "The number of heads that Adam trains.",
        "λ_min": "The least eigenvalue of the features' second moment: above 0, they identify the head.",
    }
    found = drawings(lines)
    return table_page(store, folder, QUESTION, verdict(lines), shown, notes, found, {"verdict": "measured"}, terms)


def verdict(lines: Table) -> str:
    """What was measured against what the paper claims."""
    regression = [line for line in lines if line["method"] == "regression"]
    if not regression:
        return "No trial of regression has been run."
    enough = [line for line in regression if line["identifiable"] == line["runs"]]
    few = [line for line in regression if not line["identifiable"]]
    (exact, runs), (lucky, others) = ((sum(e["exact"] for e in part), sum(e["runs"] for e in part))
                                      for part in (enough, few))  # fmt: skip
    said = (
        f"As claimed, regression is exact where the certificate holds: {exact} of {runs} runs at full rank, "
        f"{lucky} of {others} below it."
    )
    adam = [line for line in lines if line["method"] == "Adam"]
    for d in sorted({line["d"] for line in adam}):
        own = {line["heads"]: line for line in adam if line["d"] == d}
        if {1, d * d} <= own.keys():
            said += f" Adam at d = {d}: error {own[1]['error']} with one head, {own[d * d]['error']} with d² = {d * d}."
    return said


def drawings(lines: Table) -> list[Drawing]:
    """Errors and certificate against rows; Adam against heads."""
    found = []
    if any(line["method"] == "regression" for line in lines):
        found.append(_recovery([line for line in lines if line["method"] == "regression"]))
    if any(line["method"] == "Adam" for line in lines):
        found.append(_adam([line for line in lines if line["method"] == "Adam"]))
    return found


def _recovery(lines: Table) -> Drawing:
    drawing, looks = Drawing("recovery", 10.6, 3.9), {d: look(i) for i, d in enumerate((2, 4, 8, 16))}
    drawing.kinds = "measured"
    drawing.caption = (
        "Geometric means over runs with 95 % intervals; dotted, as many rows as features. In the grey strip: λ_min = 0."
    )
    with style(drawing.name):
        panels = drawing.figure.subplots(1, 3)
        for d in sorted({line["d"] for line in lines}):
            own = [line for line in lines if line["d"] == d]
            for axes, key in zip(panels, ("error", "noisy"), strict=False):
                curve(drawing, axes, {e["rows/ψ"]: e[key] for e in own}, f"d = {d}", looks[d], "rows/ψ")
            full = {e["rows/ψ"]: mean(e["lam_min"], logarithmic=True) for e in own if min(e["lam_min"]) > 0}
            curve(drawing, panels[2], full, f"d = {d}, λ_min", looks[d], "rows/ψ")
            for line in own:
                if not min(line["lam_min"]):
                    tip = f"d = {d}, rows/ψ {line['rows/ψ']:.3g}: λ_min = 0, rank {spread(line['rank'])}"
                    drawing.point(
                        panels[2], line["rows/ψ"], EDGE * 3, tip, color=looks[d]["color"], marker="v",
                        markerfacecolor="none",
                    )  # fmt: skip
        for axes, title in zip(
            panels, ("squared error, no noise", f"squared error, noise {NOISE:g}", "λ_min"), strict=True
        ):
            axes.set(xscale="log", yscale="log", xlabel="rows / ψ", title=title)
            axes.axvline(1, color=MUTED, linewidth=0.8, linestyle=(0, (1.2, 1.5)))
            axes.set_xticks((0.5, 1, 2, 4, 16), ("½", "1", "2", "4", "16"))
            axes.set_xticks((), minor=True)
            axes.grid(axis="y")
        panels[0].axhline(EXACT**2, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
        panels[0].annotate("exact below", (16, EXACT**2), ha="right", va="bottom", fontsize=8.5)
        panels[2].axhspan(EDGE, EDGE * 9, color=GRID, alpha=0.6, linewidth=0)
        panels[2].set_ylim(bottom=EDGE)
        legend(drawing, {f"d = {d}": looks[d] for d in sorted({line["d"] for line in lines})})
    return drawing


def _adam(lines: Table) -> Drawing:
    dims = sorted({line["d"] for line in lines})
    drawing = Drawing("adam", 1.2 + 3.0 * len(dims), 3.6)
    drawing.kinds = "measured"
    drawing.caption = "Adam without noise: single runs, geometric means with 95 % intervals."
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(dims), sharey=True, squeeze=False)[0]
        for axes, d in zip(panels, dims, strict=True):
            own = {float(line["heads"]): line for line in lines if line["d"] == d}
            for heads, line in own.items():
                dots(axes, heads, line["errors"])
            points: dict[float, Mean] = {heads: line["error"] for heads, line in own.items()}
            curve(drawing, axes, points, f"Adam, d = {d}", look(0), "heads")
            axes.axhline(EXACT**2, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
            axes.set(xscale="log", yscale="log", xlabel="heads H", title=f"d = {d}, d² = {d * d}")
            axes.set_xticks(list(own), [f"{heads:g}" for heads in own])
            axes.set_xticks((), minor=True)
            axes.grid(axis="y")
        panels[0].set_ylabel("squared error / variance")
        panels[0].annotate("exact below", (panels[0].get_xlim()[0], EXACT**2), ha="left", va="bottom", fontsize=8.5)
    return drawing


STUDY = Study("linear-attention", QUESTION, tasks, seconds, trial, write, guard=300.0, role="appendix")
