"""The study `critical-rho`: how far from a hidden parity must a layer be before learners find it, past phase 1?"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hardness import registry
from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.adapters import make, plain
from hardness.evaluation.worker import opened
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.report.drawing import Drawing, style
from hardness.report.report import Note, table_page
from learner.base import Array
from learner.provable.pipeline import Provable
from learner.studies.curves import chance, critical, curve, legend, look, panels, paper, rounded, spread, timed
from learner.studies.layers import instance_of, task_of

QUESTION = (
    "How far from a hidden parity must a layer be for learners to find it, where phase 1 has a sum to start from?"
)
KIND, PHASES = "critical-rho", "phases 1 to 6"
STARTS, ITERATIONS = 2, {"direct": 100, "lbfgs": 150}  # where nothing is to be found a search takes minutes
EXAMPLES, FEWER = 20_000, 2000  # of the phases, and of learners that need fewer; these pay for each at every step
EXPLAINED = 0.9  # share of the variance of output 0 that counts as found
Table = Sequence[Mapping[str, Any]]
KINDS = {"verdict": "measured"}
NOTES: tuple[Note, ...] = (
    (
        "measured",
        "m heads lie on the path (1−ρ) parity + ρ random, in Θ and W, and write into output 0 alone; one more head is "
        "random throughout and writes into the other outputs. So ΣW has full rank, and phase 1 something to start from "
        "at every ρ, while at ρ = 0 output 0 is a parity of m hidden coordinates. Inputs have two tokens, "
        f"and learners are told m + 1 heads. “{PHASES}” is the provable learner without its polish and sees "
        f"{EXAMPLES:,} examples; direct and lbfgs, which need fewer and pay for each at every step, see the first "
        f"{FEWER:,} and search from {STARTS} random starts of at most {ITERATIONS['direct']} and "
        f"{ITERATIONS['lbfgs']} iterations. A longer search may "
        "find more.",
    ),
    (
        "proved",
        "Of a parity alone phase 1 sees 0, or a matrix of rank one, and has to refuse (learner 5). The random head "
        "takes that away, so that what stops the phases here is a lack of certificates.",
    ),
    (
        "measured",
        f"Found: {EXPLAINED:.0%} of the variance of output 0 is explained on fresh examples. “critical rho” is the "
        "least of the grid from which on at least half of the layers are found; where it is empty not even ρ = 1 is, "
        "and where it is 0 the parity itself is found. A learner of one's own joins by --learner, on the fewer "
        "examples.",
    ),
)


def tasks(quick: bool) -> list[Task]:
    """Every learner on the path, m and d in turn; all meet the same layers, and the first examples of one stream."""
    return [task for name in (PHASES, "direct", "lbfgs") for task in guest(quick, name)]


def guest(quick: bool, learner: str) -> list[Task]:
    """The grid of one learner."""
    cells = [(2, 12)] if quick else [(2, 12), (3, 12), (4, 12), (2, 16)]
    steps = (0.0, 0.5, 1.0) if quick else (0.0, 0.1, 0.3, 1.0)
    count = EXAMPLES if learner == PHASES and not quick else FEWER
    return [
        task_of(m, 2, d, {"kind": KIND, "learner": learner, "rho": rho}, count, r)
        for m, d in cells
        for rho in steps
        for r in range(1 if quick else 3)
    ]


def layer_at(
    nice: MultiHeadAttention, hard: MultiHeadAttention, other: MultiHeadAttention, rho: float
) -> MultiHeadAttention:
    """The m heads at ρ, in output 0, and a random head (that of `other`) in the other outputs.

    >>> rng = np.random.default_rng(0)
    >>> nice, hard, other = (MultiHeadAttention(*rng.normal(size=(2, m, 4, 4))) for m in (2, 2, 1))
    >>> layer_at(nice, hard, other, 0.5).w[:, 0].round(1).tolist()[0][1:]
    [0.0, 0.0, 0.0]
    """
    theta = (1 - rho) * hard.theta + rho * nice.theta
    w = (1 - rho) * hard.w + rho * nice.w
    w[:, :, 1:] = 0
    aside = other.w[:1].copy()
    aside[:, :, 0] = 0
    return MultiHeadAttention(np.concatenate([theta, other.theta[:1]]), np.concatenate([w, aside]))


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial. Deterministic in the task and the root seed."""
    same = task.shared(kind=KIND)
    nice = instance_of(task, root).layer()
    hard = Instance.generate(Parity(dim=nice.dim, heads=nice.heads), same.seed(root, "hard")).layer()
    other = Instance.generate(instance_of(task, root).family, same.seed(root, "other")).layer()
    layer = layer_at(nice, hard, other, float(task.solver["rho"]))
    rng = np.random.default_rng(same.seed(root, "examples"))
    count, heads, state = int(task.budget["samples"]), layer.heads, task.seed(root, "solver") % 2**32
    X, fresh = (rng.choice([-1.0, 1.0], size=(n, 2, layer.dim)) for n in (count, 2000))
    name = task.solver["learner"]
    if not registry.is_builtin("learner", name):
        with opened({"learner": name, "known": heads}, state, time.monotonic() + guard) as worker:
            worker.partial_fit(X, layer(X))
            found = explained(layer(fresh), worker.predict(fresh))
        return Outcome("solved" if found >= EXPLAINED else "wrong", count, rounded({"explained": found}))
    learner = (
        Provable(heads=heads, polish=False, random_state=state)
        if name == PHASES
        else make(registry.get("learner", name), heads, state)
    )
    if "starts" in getattr(learner, "get_params", dict)():
        learner.set_params(starts=STARTS)
    if name in ITERATIONS:
        learner.set_params(iterations=ITERATIONS[name])
    learner.fit(X, layer(X))
    report = getattr(learner, "report_", None)
    found = explained(layer(fresh), np.asarray(learner.predict(fresh), dtype=np.float64))
    detail = {
        "explained": found,
        "reason": getattr(report, "reason", ""),
        "certified": getattr(report, "certified", None),
    }
    refused = getattr(report, "status", "") == "refused"
    status = "refused" if refused else "solved" if found >= EXPLAINED else "wrong"
    return replace(Outcome(status, count), detail=rounded(plain(detail)))


def explained(Y: Array, predicted: Array) -> float:
    """Share of the variance of output 0 that a prediction explains.

    >>> Y = np.array([[[1.0, 5.0]], [[-1.0, 5.0]]])
    >>> explained(Y, Y), explained(Y, 0 * Y)
    (1.0, 0.0)
    """
    target = Y[..., 0]
    power = float(np.sum((target - target.mean()) ** 2)) or 1.0
    return 1 - float(np.sum((target - predicted[..., 0]) ** 2)) / power


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per learner, m and d: the share of layers found at each ρ, refusals, and the critical ρ."""
    groups: dict[tuple[str, int, int], dict[float, list[str]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status in ("solved", "wrong", "refused", "budget"):
            p, s = row.task.params, row.task.solver
            cell = groups.setdefault((s["learner"], int(p["heads"]), int(p["dim"])), {})
            cell.setdefault(float(s["rho"]), []).append(row.outcome.status)
    lines = []
    for (name, m, d), grid in sorted(groups.items(), key=lambda item: (item[0][1:], item[0][0])):
        shares = {rho: float(np.mean([s == "solved" for s in grid[rho]])) for rho in sorted(grid)}
        found = {rho: f"{grid[rho].count('solved')}/{len(grid[rho])}" for rho in sorted(grid)}
        line: dict[str, Any] = {"learner": name, "m": m, "d": d, "critical rho": critical(shares)}
        line |= {"runs": max(map(len, grid.values())), "refused": sum(v.count("refused") for v in grid.values())}
        lines.append(line | {"found": found})
    return lines


def _figure(table: Table) -> Drawing:
    """Share of layers found against ρ, a panel an (m, d), a line a learner."""
    cells = sorted({(line["m"], line["d"]) for line in table})
    names = list(dict.fromkeys(line["learner"] for line in table))
    drawing = Drawing("critical-rho", *paper(len(cells)))
    drawing.caption = (
        "Share of layers found, with exact 95 % intervals: ρ = 0 is a hidden parity in one output, 1 is random."
    )
    drawing.kinds = "measured"
    with style(drawing.name):
        for (m, d), axes in panels(drawing, cells, sharey=True).items():
            for i, name in enumerate(names):
                own = [line for line in table if (line["m"], line["d"], line["learner"]) == (m, d, name)]
                points = {rho: chance(text) for e in own for rho, text in e["found"].items()}
                curve(drawing, axes, points, f"{name}, m = {m}, d = {d}", look(i), "ρ =")
            axes.set(xlabel="ρ", title=f"m = {m}, d = {d}", ylim=(-0.05, 1.05))
            axes.grid(visible=True)
        legend(drawing, {name: look(i) for i, name in enumerate(names)})
    return drawing


def _verdict(table: Table) -> str:
    said = []
    for name in dict.fromkeys(line["learner"] for line in table):
        own = [line for line in table if line["learner"] == name]
        known = [line["critical rho"] for line in own if line["critical rho"] is not None]
        text = spread(known) if known else "none"
        missing = f" (none in {len(own) - len(known)} cells)" if known and len(known) < len(own) else ""
        said.append(f"{name} {text}{missing}")
    return f"Critical rho over {len({(e['m'], e['d']) for e in table})} cells of m and d: {'; '.join(said)}."


def write(store: Store, folder: Path) -> str:
    """Write the page of `critical-rho` into `folder`: a pure function of the rows. Returns its verdict."""
    lines = table(store.rows())
    verdict = _verdict(lines) if lines else "No trial has been run."
    return table_page(store, folder, QUESTION, verdict, lines, NOTES, [_figure(lines)] if lines else [], KINDS)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    m, d = int(task.params["heads"]), int(task.params["dim"])
    cost = {PHASES: 0.6, "direct": 0.5}.get(task.solver["learner"], 1.3)
    return cost * m * (d / 12) ** 2


STUDY = Study("critical-rho", QUESTION, tasks, seconds, trial, write, guard=600.0, guest=guest)
