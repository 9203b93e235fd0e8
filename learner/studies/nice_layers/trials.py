"""The trials of `nice-layers`, one function for each kind of task; those that compare share layers and examples."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.adapters import plain
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.scores import Criterion, fresh, scores
from learner.attempt import random_theta
from learner.base import Array, FitReport
from learner.direct import Direct, JointLBFGS
from learner.provable import sculpt
from learner.provable.pipeline import CERTIFIED, TRUSTED, Provable, hull_error
from learner.provable.polish import search
from learner.studies.nice_layers import LBFGS, LINEAR, LITERAL, PATH, PHASES, RANDOM, RARITY, SCALING
from learner.studies.recorded import rounded

ETAS = (0.3, 0.1, 0.05, 0.02, 0.01)
JUDGED = 2000  # fresh examples
BLOCK = 50_000
LEARNED = Criterion("relative_error", CERTIFIED)
CACHED = 400_000  # examples that are made once and kept, of those that the phases pass over again and again
SEARCHES = {RANDOM: Direct(spare=0, starts=1), LBFGS: JointLBFGS(starts=1)}


def trial(task: Task, root: int) -> Outcome:
    """One trial, by the kind of its solver."""
    outcome = _KINDS[task.solver["kind"]](task, root)
    return replace(outcome, detail=rounded(plain(outcome.detail)))


def instance_of(task: Task, root: int) -> Instance:
    """The random layer of a task, the same for all tasks that share it."""
    return Instance.generate(
        Nondegenerate(**task.params), task.shared(kind=task.solver["kind"]).seed(root, "instance")
    )


def scaling(task: Task, root: int) -> Outcome:
    """A learner on part of a stream of examples, judged on fresh ones: fewer are the first of more."""
    same = task.shared(kind=SCALING)
    instance = instance_of(task, root)
    judged = fresh(instance, JUDGED, same.seed(root, "fresh"))
    count, name, state = (
        int(task.budget["samples"]),
        task.solver["learner"],
        task.seed(root, "solver") % 2**32,
    )
    stream = same.seed(root, "examples")
    detail: dict[str, Any] = {}
    if name in (PHASES, LITERAL):
        kept = list(blocks(instance, stream, count)) if count <= CACHED else None
        learner: Any = Provable(
            heads=instance.heads,
            mode="paper" if name == LITERAL else "practical",
            polish=False,
            random_state=state,
        ).fit_blocks(lambda: kept or blocks(instance, stream, count), count)
        detail = _seen(learner, instance.layer())
    else:
        data = instance.examples(count, stream)
        learner = (
            clone(SEARCHES[name]).set_params(heads=instance.heads, random_state=state).fit(data.X, data.Y)
        )
    judgement = scores(judged, learner.predict(judged.X))
    refused = learner.report_.status == "refused"
    status = "refused" if refused else "solved" if LEARNED.met(judgement) else "wrong"
    return Outcome(status, count, detail | {"error": judgement["relative_error"], "criterion": LEARNED.name})


def _seen(learner: Provable, truth: MultiHeadAttention) -> dict[str, Any]:
    """What phases 1 to 6 say of themselves, and how far their hull is from the true Θ."""
    report = learner.report_
    if report.status == "refused":
        return {"reason": report.reason, "certified": False}
    span = next(p for p in report.phases if p.name == "span")
    return {
        "certified": report.certified,
        "trusted": span.verdict != "failed",
        "eta": span.diagnostics["eta_median"],
        "gap": span.diagnostics["gap"],
        "hull": hull_error(learner.hull_, truth.theta),
    }


def blocks(instance: Instance, seed: int, count: int) -> Iterator[tuple[NDArray[np.int8], Array]]:
    """The first `count` examples of a stream, a block at a time."""
    for start in range(0, count, BLOCK):
        data = instance.examples(min(BLOCK, count - start), seed, start=start)
        yield data.X, data.Y


def rarity(task: Task, root: int) -> Outcome:
    """With the exact ΣW: how many rows are certified at each η."""
    instance, count = instance_of(task, root), int(task.budget["samples"])
    data = instance.examples(count, task.seed(root, "examples"))
    eta = sculpt.certify(data.X.astype(np.float64), data.Y, instance.layer().w.sum(axis=0))[1]
    certified = {str(bound): int((eta < bound).sum()) for bound in ETAS}
    return Outcome("solved", count, {"rows": len(eta), "certified": certified})


def linear(task: Task, root: int) -> Outcome:
    """The share of the variance of a layer of the scaling slice that a linear map of all tokens explains."""
    same = task.shared(kind=SCALING)
    instance = Instance.generate(Nondegenerate(**task.params), same.seed(root, "instance"))
    count = int(task.budget["samples"])
    data = instance.examples(count, task.seed(root, "examples"))
    inputs = np.column_stack([np.ones(count), data.X.reshape(count, -1)])
    outputs = data.Y.reshape(count, -1)
    half = count // 2
    coefficients = np.linalg.lstsq(inputs[:half], outputs[:half], rcond=None)[0]
    rest = outputs[half:] - inputs[half:] @ coefficients
    centred = outputs[half:] - outputs[half:].mean(axis=0)
    return Outcome("solved", count, {"explained": round(float(1 - np.sum(rest**2) / np.sum(centred**2)), 4)})


def path(task: Task, root: int) -> Outcome:
    """The provable learner on (1−ρ) hard + ρ nice, in Θ, in W or in both; the hard layer is a parity of size m.

    A layer that the phases refuse gets no polish. The search from a random start is run on it all the same: what it
    solves there the phases did not need to be asked for.
    """
    nice = instance_of(task, root).layer()
    hard = Instance.generate(
        Parity(dim=nice.dim, heads=nice.heads), task.shared(kind=task.solver["kind"]).seed(root, "hard")
    ).layer()
    where, rho = task.solver["path"], float(task.solver["rho"])
    at = {"theta": rho, "w": rho} if where == "both" else {"theta": 1.0, "w": 1.0, where: rho}
    layer = MultiHeadAttention(
        (1 - at["theta"]) * hard.theta + at["theta"] * nice.theta, (1 - at["w"]) * hard.w + at["w"] * nice.w
    )
    rng = np.random.default_rng(task.seed(root, "examples"))
    X = rng.choice([-1.0, 1.0], size=(int(task.budget["samples"]), 2, nice.dim))
    Y = layer(X)
    report = Provable(heads=nice.heads, random_state=task.seed(root, "solver") % 2**32).fit(X, Y).report_
    alone = report.random_start_error
    if report.status == "refused":
        held, fair = len(X) // 10, np.random.default_rng(task.seed(root, "control"))
        start = random_theta(fair, nice.heads, nice.dim)
        phase = search(X[held:], Y[held:], start, (X[:held], Y[:held]), "random-start control")[1]
        alone = phase.diagnostics["relative_error"]
    detail = {
        "certified": report.certified,
        "certified_error": report.certified_error,
        "polished_error": report.polished_error,
        "random_start_error": alone,
        **_gave_up(report),
    }
    return Outcome(report.status, len(X), detail)


def _gave_up(report: FitReport) -> dict[str, str | None]:
    """The phase that refused, or whose check failed, and why: in its own words, or by the numbers that decided."""
    last = next(
        (
            p
            for p in report.phases
            if p.verdict == "refused" or (p.name in ("span", "net") and p.verdict == "failed")
        ),
        None,
    )
    if last is None:
        return {"gave_up": None, "reason": ""}
    seen = last.diagnostics
    numbers = (
        f"median tolerance {seen['eta_median']:.2g} (at most {TRUSTED:g}), gap {seen['gap']:.2g} (at least "
        f"{sculpt.LEAST_GAP:g})"
        if last.name == "span" and seen["gap"] is not None
        else ""
    )
    return {"gave_up": last.name, "reason": last.reason or numbers}


_KINDS = {SCALING: scaling, RARITY: rarity, PATH: path, LINEAR: linear}
