"""Studies of the learners: `rarity`, `learner-scaling` and `anatomy`, as tasks and a trial of the study engine.

`hardness study run` finds them by the entry point `hardness.studies`; the tables turn rows into lines of their pages.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.learning import EXACT, get, judge, plain
from hardness.studies.catalog import Study
from hardness.study.store import Row
from hardness.study.task import Task
from hardness.study.trial import Outcome
from learner.provable import sculpt
from learner.provable.pipeline import Provable
from learner.studies import associative_memory as associative_memory_study
from learner.studies import automata as automata_study
from learner.studies import linear_attention as linear_attention_study
from learner.studies import random_features as random_features_study
from learner.studies import universal_machine as machine_study
from learner.studies.curves import rounded, timed

Array = NDArray[np.float64]
ETAS = (0.3, 0.1, 0.05, 0.02, 0.01)
PHASES = "provable, phases alone"
TAIL_ROWS = 300  # fewer certified rows below 0.05 and the exponent is fitted below 0.1
BATCH = 100_000


def rarity_tasks(quick: bool) -> list[Task]:
    """All (m, k) whose predicted exponent (m−1)(k−1) is at most 6, at d = 16, on random layers of tau = 1 and 3."""
    cells = [(m, k) for m in range(2, 8) for k in range(2, 8) if (m - 1) * (k - 1) <= (3 if quick else 6)]
    return [
        _task(m, k, 16, {"kind": "rarity"}, BATCH, r, scale)
        for scale in (1.0, 3.0)
        for m, k in cells
        for r in range(2 if quick else 8)
    ]


def scaling_tasks(quick: bool) -> list[Task]:
    """Examples to a relative error of 1e-6 against m: every learner at growing numbers of examples.

    m heads have 128m unknowns and an example gives 16 equations: 8m examples are the least that could do.
    """
    ratios = (12, 16, 24, 64) if quick else (12, 16, 20, 24, 32, 64)
    counts = (200, 2000) if quick else (200, 2000, 20_000, 200_000)
    return [
        _task(m, 2, 8, {"kind": "learn", "learner": name}, count, r)
        for m in (range(1, 4) if quick else range(1, 9))
        for name in ("provable", "direct", "lbfgs")
        for count in (counts if name == "provable" else [m * ratio for ratio in ratios])
        for r in range(2 if quick else 5)
    ]


def anatomy_tasks(quick: bool) -> list[Task]:
    """The provable learner on the path from a hard layer (rho = 0) to a nice one (1), in Θ, in W and in both."""
    steps = (0.0, 0.5, 1.0) if quick else (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)
    return [
        _task(m, 2, 8, {"kind": "anatomy", "path": path, "rho": rho}, 20_000, r)
        for m in (2, 3)
        for path in ("theta", "w", "both")
        for rho in steps
        for r in range(1 if quick else 3)
    ]


def _task(m: int, k: int, d: int, solver: Mapping[str, Any], samples: int, repetition: int, scale: float = 2.0) -> Task:
    params = {"dim": d, "tokens": k, "heads": m, "scale": scale}
    return Task("nondegenerate", params, solver, {"samples": samples}, repetition)


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial of any of the three. Deterministic in the task and the root seed.

    >>> outcome = trial(rarity_tasks(True)[0], 0, 60.0)
    >>> 0.6 < outcome.detail["exponent"] < 1.4
    True
    """
    outcome = _TRIALS[task.solver["kind"]](task, root)
    return replace(outcome, detail=rounded(plain(outcome.detail)))


def _rarity(task: Task, root: int) -> Outcome:
    """With the exact ΣW: the share of rows certified at each η, and the exponent of their law."""
    instance = _instance(task, root)
    count = int(task.budget["samples"])
    data = instance.examples(count, task.seed(root, "examples"))
    eta = sculpt.certify(data.X.astype(np.float64), data.Y, instance.layer().w.sum(axis=0)).eta
    tail = np.sort(eta[eta < 0.1])
    detail: dict[str, Any] = {
        "rows": len(eta),
        "certified": {str(bound): int((eta < bound).sum()) for bound in ETAS},
        "logs": {str(top): float(np.sum(np.log(top / tail[tail < top]))) for top in (0.05, 0.1)},
    }
    detail["exponent"] = exponent([detail])[0]
    return Outcome("solved", count, detail)


def exponent(details: Iterable[Mapping[str, Any]]) -> tuple[float | None, float | None, int]:
    """Maximum-likelihood exponent a of P(η < t) ~ t^a below a threshold, its standard error a/√n, and n.

    Hill's estimator n / Σ ln(top/η), pooled over trials, with top = 0.05, or 0.1 if too few rows lie below that.

    >>> a, error, n = exponent([{"certified": {"0.05": 400, "0.1": 900}, "logs": {"0.05": 200.0, "0.1": 1.0}}])
    >>> a, error, n
    (2.0, 0.1, 400)
    """
    parts = list(details)
    total = {top: sum(part["certified"][top] for part in parts) for top in ("0.05", "0.1")}
    top = "0.05" if total["0.05"] >= TAIL_ROWS else "0.1"
    n, logs = total[top], sum(part["logs"][top] for part in parts)
    return (n / logs, n**0.5 / logs, n) if n and logs else (None, None, n)


def _fit(task: Task, root: int) -> Outcome:
    instance = _instance(task, root)
    count = int(task.budget["samples"])
    data = instance.examples(count, task.seed(root, "examples"))
    fresh = instance.examples(2000, task.seed(root, "fresh")).X
    learner = get(task.solver["learner"])(heads=instance.heads, random_state=task.seed(root, "solver") % 2**32)
    learner.fit(data.X, data.Y)
    scores = judge(instance, fresh, learner.predict(fresh))
    error = scores["relative_error"]
    status = (
        "refused"
        if learner.report_.status == "refused"
        else "solved"
        if error is not None and error <= EXACT
        else "wrong"
    )
    net = [p.diagnostics["relative_error"] for p in learner.report_.phases if p.name == "net"]
    return Outcome(status, count, {"relative_error": error, "net": net[0] if net else None})


def _anatomy(task: Task, root: int) -> Outcome:
    """A layer on the path w -> (1−ρ) hard + ρ nice, Θ likewise; the hard one is a parity of |S| = m."""
    nice = _instance(task, root).layer()
    hard = Instance.generate(Parity(dim=nice.dim, heads=nice.heads), _shared(task).seed(root, "hard")).layer()
    path, rho = task.solver["path"], float(task.solver["rho"])
    at = {"theta": rho, "w": rho} if path == "both" else {"theta": 1.0, "w": 1.0, path: rho}
    layer = MultiHeadAttention(
        (1 - at["theta"]) * hard.theta + at["theta"] * nice.theta, (1 - at["w"]) * hard.w + at["w"] * nice.w
    )
    rng = np.random.default_rng(task.seed(root, "examples"))
    X = rng.choice([-1.0, 1.0], size=(int(task.budget["samples"]), 2, nice.dim))
    report = Provable(heads=nice.heads, random_state=task.seed(root, "solver") % 2**32).fit(X, layer(X)).report_
    return Outcome(report.status, len(X), {"reason": report.reason, "phases": report.phases})


def _shared(task: Task) -> Task:
    """What trials that differ only in learner, examples or place on a path have in common: they share its instance."""
    return Task(task.family, task.params, {"kind": task.solver["kind"]}, {}, task.repetition)


def _instance(task: Task, root: int) -> Instance:
    return Instance.generate(Nondegenerate(**task.params), _shared(task).seed(root, "instance"))


_TRIALS: dict[str, Callable[[Task, int], Outcome]] = {"rarity": _rarity, "learn": _fit, "anatomy": _anatomy}


def rarity_table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per (tau, m, k): the law's exponent, the fitted one with its 95% interval, and the rows it rests on."""
    groups: dict[tuple[float, int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status == "solved":
            p = row.task.params
            groups.setdefault((float(p["scale"]), int(p["heads"]), int(p["tokens"])), []).append(row.outcome.detail)
    table = []
    for (tau, m, k), details in sorted(groups.items()):
        a, error, n = exponent(details)
        low, high = (a - 1.96 * error, a + 1.96 * error) if a is not None and error is not None else (None, None)
        seen = sum(int(d["rows"]) for d in details)
        shares = {bound: sum(int(d["certified"][bound]) for d in details) / seen for bound in map(str, ETAS)}
        table.append(
            {"tau": tau, "m": m, "k": k, "law": (m - 1) * (k - 1), "fitted": a, "low": low, "high": high, "rows": n}
            | {f"share {bound}": share for bound, share in shares.items()}
        )
    return table


def scaling_table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per learner and m: the least number of examples at which half of the trials were solved (None: never).

    `seconds` is the median wall-clock of the trials there, on the machine that ran them. The six phases without the
    polish that follows them are a line of their own, judged by their last error.
    """
    seen: dict[tuple[str, int], dict[int, list[float | None]]] = {}
    spent: dict[tuple[str, int, int], list[float]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status in ("solved", "wrong", "refused"):
            name, m, count = row.task.solver["learner"], int(row.task.params["heads"]), int(row.task.budget["samples"])
            detail = row.outcome.detail
            error = detail["relative_error"] if row.outcome.status != "refused" else None
            seen.setdefault((name, m), {}).setdefault(count, []).append(error)
            spent.setdefault((name, m, count), []).append(row.outcome.seconds)
            if name == "provable":
                seen.setdefault((PHASES, m), {}).setdefault(count, []).append(detail["net"])
    table = []
    for (name, m), grid in sorted(seen.items()):
        won = {c: [error is not None and error <= EXACT for error in errors] for c, errors in sorted(grid.items())}
        last = [1.0 if error is None else error for error in grid[max(grid)]]
        least = min((c for c in won if np.mean(won[c]) >= 0.5), default=None)
        seconds = spent.get((name, m, least)) if least is not None else None
        table.append(
            {"learner": name, "m": m, "trials": sum(map(len, won.values())), "examples": least}
            | {"seconds": round(float(np.median(seconds)), 2) if seconds else None}
            | {
                "solved": {c: f"{sum(found)}/{len(found)}" for c, found in won.items()},
                "error at most examples": float(np.median(last)),
            }
        )
    return table


def anatomy_table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per path, m and rho: which phase gave up, in its own words, and what the phases saw last."""
    table = []
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
        table.append(
            {"m": row.task.params["heads"], "path": solver["path"], "rho": solver["rho"], "status": row.outcome.status}
            | {"gave up": gave_up, "reason": row.outcome.detail["reason"]}
            | seen
        )
    return sorted(table, key=lambda line: (line["m"], line["path"], line["rho"]))


def _seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    m, k, count = int(task.params["heads"]), int(task.params["tokens"]), float(task.budget["samples"])
    match task.solver["kind"], task.solver.get("learner"):
        case "rarity", _:
            return 0.03 + 0.025 * k * k
        case "anatomy", _:
            return 0.2
        case _, "provable":
            return float(0.05 + 0.006 * m**3 + 3.5e-6 * count)
        case _, "direct":  # below 16m examples hardly a start ends in a solution, and all are tried
            return float(0.05 + 0.005 * m**4 if count < 16 * m else 0.03 + 0.002 * m * m)
        case _:
            return 0.1 + (0.03 if count < 20 * m else 0.012) * m * m


def _study(name: str, question: str, tasks: Callable[[bool], list[Task]]) -> Study:
    return Study(name, question, tasks, _seconds, 600.0, trial, "learner.studies.pages:write")


STUDIES = {
    study.name: study
    for study in (
        _study("rarity", "Is the share of certified rows eta^((m-1)(k-1))?", rarity_tasks),
        _study("learner-scaling", "How many examples does each learner need at m heads?", scaling_tasks),
        _study("anatomy", "Which phase gives up between a nice layer and a hard one?", anatomy_tasks),
        random_features_study.STUDY,
        linear_attention_study.STUDY,
        associative_memory_study.STUDY,
        automata_study.STUDY,
        machine_study.STUDY,
    )
}
TABLES = {"rarity": rarity_table, "learner-scaling": scaling_table, "anatomy": anatomy_table}
