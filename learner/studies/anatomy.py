"""The study `anatomy`: which phase gives up between a nice layer and a hard one?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.adapters import plain
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.report.drawing import RAMP, Drawing, style
from hardness.report.report import Note, table_page
from learner.base import SOLVED
from learner.provable.pipeline import TRUSTED, Provable
from learner.provable.sculpt import LEAST_GAP
from learner.studies.curves import rounded, timed
from learner.studies.layers import instance_of, task_of

VERDICTS = ("certified", "certified_error", "polished_error", "random_start_error")
QUESTION = "Which phase gives up between a nice layer and a hard one?"
Table = Sequence[Mapping[str, Any]]
PASSED = "all passed"
PHASES = ("crude", "sculpt 1", "sculpt 2", "span", "net", PASSED)
DIM, EXAMPLES = 8, 20_000
KINDS = {"verdict": "measured"}
NOTES: tuple[Note, ...] = (
    (
        "measured",
        "A layer lies on the path (1−ρ) hard + ρ nice, in Θ, in W or in both; nice is a random layer, hard a parity "
        f"of a hidden set of size m, at d = {DIM} on two tokens, learned from {EXAMPLES:,} examples. Where only Θ or "
        "only W is on the path the other is the random layer's. “gave up” names the phase that refused, or the span "
        "that was not certified, and the reason is in its own words or numbers. Where Θ or W alone is hard a refusal "
        "says that an assumption of the algorithm fails, not that the layer is hard for every learner.",
    ),
    (
        "proved",
        "At ρ = 0 in both, the estimate of phase 1 is exactly 0 if m is even, on every sample, and its expectation has "
        "rank one if m is odd (learner 5): in both cases nothing can be certified, and phase 1 has to refuse.",
    ),
    (
        "measured",
        "Two verdicts, never one: “certified” and “certified_error” are those of phases 1 to 6, which are the "
        "theorem's; “polished_error” is that of the local search from where they end, “random_start_error” that of the "
        "same search from a random start. Where the last is as small, the phases were not what solved the layer. A "
        "layer that is refused has no error: the polish is not run.",
    ),
)


def tasks(quick: bool) -> list[Task]:
    """The provable learner on the path from a hard layer (rho = 0) to a nice one (1), in Θ, in W and in both."""
    steps = (0.0, 0.5, 1.0) if quick else (0.0, 0.1, 0.2, 0.4, 0.7, 1.0)
    return [
        task_of(m, 2, DIM, {"kind": "anatomy", "path": path, "rho": rho}, EXAMPLES, r)
        for m in (2, 3)
        for path in ("theta", "w", "both")
        for rho in steps
        for r in range(1 if quick else 3)
    ]


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial. Deterministic in the task and the root seed."""
    outcome = _trial(task, root)
    return replace(outcome, detail=rounded(plain(outcome.detail)))


def _trial(task: Task, root: int) -> Outcome:
    """A layer on the path w -> (1−ρ) hard + ρ nice, Θ likewise; the hard one is a parity of |S| = m."""
    nice = instance_of(task, root).layer()
    hard = Instance.generate(
        Parity(dim=nice.dim, heads=nice.heads), task.shared(kind=task.solver["kind"]).seed(root, "hard")
    ).layer()
    path, rho = task.solver["path"], float(task.solver["rho"])
    at = {"theta": rho, "w": rho} if path == "both" else {"theta": 1.0, "w": 1.0, path: rho}
    layer = MultiHeadAttention(
        (1 - at["theta"]) * hard.theta + at["theta"] * nice.theta, (1 - at["w"]) * hard.w + at["w"] * nice.w
    )
    rng = np.random.default_rng(task.seed(root, "examples"))
    X = rng.choice([-1.0, 1.0], size=(int(task.budget["samples"]), 2, nice.dim))
    report = Provable(heads=nice.heads, random_state=task.seed(root, "solver") % 2**32).fit(X, layer(X)).report_
    # Times differ from run to run, and rows must not.
    phases = tuple(replace(phase, seconds=None) for phase in report.phases)
    verdicts = {name: getattr(report, name) for name in VERDICTS}
    return Outcome(report.status, len(X), {"reason": report.reason, "phases": phases} | verdicts)


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per path, m and rho: which phase gave up, in its own words, and what the phases saw last."""
    lines = []
    for row in rows:
        if row.outcome is None or "phases" not in row.outcome.detail:  # not run, or crashed
            continue
        phases = row.outcome.detail["phases"]
        seen = {name: p["diagnostics"].get(name) for p in phases for name in ("ratio", "rank", "gap", "eta_median")
                if name in p["diagnostics"]}  # fmt: skip
        last = [
            p["name"] for p in phases if p["verdict"] == "refused" or (p["name"], p["verdict"]) == ("span", "failed")
        ]
        gave_up = last[0] if last else None
        solver = row.task.solver
        lines.append(
            {"m": row.task.params["heads"], "path": solver["path"], "rho": solver["rho"], "status": row.outcome.status}
            | {name: row.outcome.detail.get(name) for name in VERDICTS}
            | {"gave up": gave_up, "reason": _reason(phases, gave_up)}
            | seen
        )
    return sorted(lines, key=lambda line: (line["m"], line["path"], line["rho"]))


def _reason(phases: Sequence[Mapping[str, Any]], gave_up: str | None) -> str:
    """The words of the phase that gave up; where it has none, the numbers that decided."""
    if gave_up is None:
        return ""
    own = next(phase for phase in phases if phase["name"] == gave_up)
    if own["reason"]:
        return str(own["reason"])
    eta, gap = own["diagnostics"].get("eta_median"), own["diagnostics"].get("gap")
    if gap is None:
        return ""
    return f"median tolerance {eta:.2g} (at most {TRUSTED:g}), gap {gap:.2g} (at least {LEAST_GAP:g})"


def _figure(table: Table) -> Drawing:
    """The phase that gave up against ρ, a panel a path and m; the area of a point is its number of layers."""
    paths, sizes = (list(dict.fromkeys(line[name] for line in table)) for name in ("path", "m"))
    gave = {line["gave up"] or PASSED for line in table}
    phases = [name for name in PHASES if name in gave] + sorted(gave - {*PHASES})
    drawing = Drawing("anatomy", 1.6 + 3.0 * len(paths), 0.9 + 1.9 * len(sizes))
    drawing.caption = "Where the provable learner gave up, from a hard layer (ρ = 0) to a nice one (1). Area: layers."
    with style(drawing.name):
        panels = drawing.figure.subplots(len(sizes), len(paths), sharex=True, sharey=True, squeeze=False)
        for line, m in zip(panels, sizes, strict=True):
            for axes, path in zip(line, paths, strict=True):
                own = [(e["rho"], e["gave up"] or PASSED) for e in table if (e["m"], e["path"]) == (m, path)]
                for (rho, phase), count in sorted(Counter(own).items()):
                    tip = f"m = {m}, {path}, ρ = {rho:g}: {phase}, {count} of {sum(r == rho for r, _ in own)} layers"
                    color, marker = (RAMP[2], "o") if phase == PASSED else (RAMP[5], "X")
                    mark = {"color": color, "marker": marker, "markersize": 5 * count**0.5}
                    drawing.point(axes, rho, phases.index(phase), tip, **mark)
                axes.set_title(f"m = {m}, path in {'Θ' if path == 'theta' else 'W' if path == 'w' else 'Θ and W'}")
                axes.set_yticks(range(len(phases)), phases)
                axes.set_ylim(-0.6, len(phases) - 0.4)
                axes.grid(visible=True)
        for axes in panels[-1]:
            axes.set_xlabel("ρ")
    return drawing


def _verdict(table: Table) -> str:
    certified = [line for line in table if line["certified"]]
    solved = [line for line in table if line["status"] == "solved"]
    alone = [line for line in solved if not line["certified"]]
    control = [line for line in solved if (line["random_start_error"] or 1.0) <= SOLVED]
    phases = [line["gave up"] for line in table if line["gave up"]]
    counts = ", ".join(f"{name} {phases.count(name)}" for name in dict.fromkeys(phases)) or "none"
    worst = max((line["certified_error"] for line in certified), default=None)
    text = f", with relative errors up to {worst:.2g}" if worst is not None else ""
    exact = max((line["polished_error"] for line in solved), default=None)
    reached = f" (relative errors up to {exact:.1g})" if exact is not None else ""
    return (
        f"Of {len(table)} layers on the paths, phases 1 to 6 certify {len(certified)}{text}. The polish ends in an "
        f"exact layer for {len(solved)}{reached}, {len(alone)} of them not certified; the same search from a random "
        f"start does for {len(control)} of these. Gave up: {counts}."
    )


def write(store: Store, folder: Path) -> str:
    """Write the page of `anatomy` into `folder`: a pure function of the rows. Returns its verdict."""
    lines = table(store.rows())
    drawings = [_figure(lines)] if lines else []
    verdict = _verdict(lines) if lines else "No trial has been run."
    return table_page(store, folder, QUESTION, verdict, lines, NOTES, drawings, KINDS)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    return 2.0


STUDY = Study("anatomy", QUESTION, tasks, seconds, trial, write, guard=600.0)
