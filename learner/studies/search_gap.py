"""The study `search-gap`: layers that their examples determine, and a local search does not find."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation import judge as judging
from hardness.evaluation.adapters import plain
from hardness.layer import MultiHeadAttention
from hardness.report.drawing import INK, Drawing, style
from hardness.report.report import Note, table_page
from learner.attempt import attempt, random_theta
from learner.last_fit import counting_floor
from learner.studies.curves import chance, critical, curve, legend, look, panels, paper, rounded, spread, timed
from learner.studies.layers import instance_of, task_of

EXACT = judging.EXACT.threshold
QUESTION = "How many equations an unknown does a local search need, where the examples already determine the layer?"
KIND, NEAR, SCRATCH = "search-gap", "near the truth", "from scratch"
STARTS, OFF = 4, 0.3  # random starts; relative distance of a start near the truth
Table = Sequence[Mapping[str, Any]]
LEAST = "least ratio"
KINDS = {"verdict": "measured"}
NOTES: tuple[Note, ...] = (
    (
        "proved",
        "A layer of m heads has 2md² unknowns, an example of k tokens gives kd equations, and a single Θ is seen "
        "through k(k−1) scores an example. The ratio, equations an unknown, is the number of examples over the larger "
        "of 2md/k and d²/(k(k−1)): below 1 almost no layer is determined (learner 1.9).",
    ),
    (
        "measured",
        "Layers are random, labels exact. Variable projection (the search of the learner direct) starts at the true Θ "
        f"moved by {OFF:.0%} of its norm, or at up to {STARTS} random Θ, and has the right number of heads. “found” "
        f"counts the layers that end at relative error {EXACT:g} or below on fresh examples; “{LEAST}” is the least of "
        "the grid from which on half of them do. Where the start near the truth finds the layer the examples determine "
        "it nearby. Between there and where random starts do lies the gap of this search; it says nothing of other "
        "algorithms.",
    ),
)


def tasks(quick: bool) -> list[Task]:
    """Both kinds of start at growing ratios of equations to unknowns."""
    cells = [(2, 2, 8)] if quick else [(2, 2, 8), (4, 2, 8), (6, 2, 8)]
    ratios = (1.05, 2.0) if quick else (1.05, 1.2, 1.5, 2.0, 2.5)
    return [
        task_of(m, k, d, {"kind": KIND, "start": start, "ratio": ratio}, ceil(ratio * counting_floor(m, k, d)), r)
        for m, k, d in cells
        for start in (NEAR, SCRATCH)
        for ratio in ratios
        for r in range(2 if quick else 5)
    ]


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial. Deterministic in the task and the root seed.

    >>> trial(tasks(True)[-1], 0, 60.0).status
    'solved'
    """
    same, instance = task.shared(kind=KIND), instance_of(task, root)
    data = instance.examples(int(task.budget["samples"]), same.seed(root, "examples"))
    judged = judging.fresh(instance, 2000, same.seed(root, "fresh"))
    rng = np.random.default_rng(task.seed(root, "solver"))
    X, truth, best = data.X.astype(np.float64), instance.layer(), np.inf
    near, starts = task.solver["start"] == NEAR, 0
    while best > EXACT and starts < (1 if near else STARTS):
        starts += 1
        theta = random_theta(rng, truth.heads, truth.dim)
        if near:
            theta = truth.theta + OFF * theta * np.linalg.norm(truth.theta) / np.linalg.norm(theta)
        end = attempt(X, data.Y, theta, heads=truth.heads, iterations=400)
        error = judging.scores(judged, MultiHeadAttention(end.theta, end.w)(judged.X))["relative_error"]
        best = min(best, np.inf if error is None else error)
    detail = rounded(plain({"relative_error": best, "starts": starts}))
    return Outcome("solved" if best <= EXACT else "wrong", len(X), detail)


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per cell and start: the share found at each ratio, and the least ratio from which on half are."""
    groups: dict[tuple[int, int, int, str], dict[float, list[bool]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status in ("solved", "wrong"):
            p, s = row.task.params, row.task.solver
            cell = groups.setdefault((int(p["tokens"]), int(p["dim"]), int(p["heads"]), s["start"]), {})
            cell.setdefault(float(s["ratio"]), []).append(row.outcome.status == "solved")
    lines = []
    for (k, d, m, start), grid in sorted(groups.items()):
        found = {ratio: f"{sum(grid[ratio])}/{len(grid[ratio])}" for ratio in sorted(grid)}
        least = critical({ratio: float(np.mean(grid[ratio])) for ratio in grid})
        lines.append({"k": k, "d": d, "m": m, "start": start, LEAST: least, "found": found})
    return lines


def _figure(table: Table) -> Drawing:
    """Share found against equations an unknown, a panel a cell, a line a kind of start."""
    cells = sorted({(line["k"], line["d"], line["m"]) for line in table})
    starts = list(dict.fromkeys(line["start"] for line in table))
    drawing = Drawing("search-gap", *paper(len(cells)))
    drawing.caption = (
        "Share of layers found, with exact 95 % intervals. Left of the dashed line there are too few equations."
    )
    drawing.kinds = "measured proved"
    with style(drawing.name):
        for (k, d, m), axes in panels(drawing, cells, sharey=True).items():
            for i, start in enumerate(starts):
                own = [e for e in table if (e["k"], e["d"], e["m"], e["start"]) == (k, d, m, start)]
                points = {ratio: chance(text) for e in own for ratio, text in e["found"].items()}
                curve(drawing, axes, points, f"{start}, m = {m}, k = {k}, d = {d}", look(i), "ratio")
            axes.axvline(1.0, color=INK, linewidth=0.7, linestyle=(0, (4, 2)))
            axes.set(xlabel="equations an unknown", title=f"m = {m}, k = {k}, d = {d}", ylim=(-0.05, 1.05))
            axes.grid(visible=True)
        legend(drawing, {start: look(i) for i, start in enumerate(starts)})
    return drawing


def _verdict(table: Table) -> str:
    said = []
    for start in (NEAR, SCRATCH):
        least = [line[LEAST] for line in table if line["start"] == start]
        known = [ratio for ratio in least if ratio is not None]
        if not least:
            continue
        none = len(least) - len(known)
        missing = f" (at no ratio tried in {none} of {len(least)} cells)" if known and none else ""
        said.append(f"{start} {spread(known) if known else 'at no ratio tried'}{missing}")
    return f"Least equations an unknown at which half of the layers are found: {'; '.join(said)}."


def write(store: Store, folder: Path) -> str:
    """Write the page of `search-gap` into `folder`: a pure function of the rows. Returns its verdict."""
    lines = table(store.rows())
    verdict = _verdict(lines) if lines else "No trial has been run."
    return table_page(store, folder, QUESTION, verdict, lines, NOTES, [_figure(lines)] if lines else [], KINDS)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: random starts that do not arrive use up all their steps."""
    m, d = int(task.params["heads"]), int(task.params["dim"])
    lost = task.solver["start"] == SCRATCH and task.solver["ratio"] < 1.5
    return (1.0 if lost else 0.01) * m * m * (d / 8) ** 3


STUDY = Study("search-gap", QUESTION, tasks, seconds, trial, write, guard=600.0)
