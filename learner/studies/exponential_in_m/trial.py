"""One trial of `exponential-in-m`: a learner until it meets the target; or elimination."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.engine.outcome import FINISHED, Outcome, Trial, outcome_of
from hardness.engine.task import Task
from hardness.evaluation.adapters import is_streamed, make
from hardness.evaluation.solver import Solver
from hardness.evaluation.until import (
    Ending,
    Evaluation,
    at_sizes,
    cost,
    signed,
    stream,
    until_solved,
)
from hardness.evaluation.worker import opening
from hardness.examples import InformativeExamples, InformativeRows
from hardness.instance import Instance
from hardness.scores import EXPLAINED, OPEN, SIGNS, Criterion, Judged, fresh, sizes
from hardness.studies.trials import solving_cost
from hardness.tokens import TokenStream, unpack
from learner.fourier_gap import at_the_start, examples_of_unit_signal

if TYPE_CHECKING:
    from learner.diagonal import Diagonal

HEADS = 16  # of a learner whose n_1 is asked for
FIRST, SPACING = 256, 1.06  # examples between evaluations, later every 6 %
# Examples at which a learner that fits once is tried first, and the factor between
FIRST_FIT, DOUBLING = 64, 2.0
JUDGED = 2048  # fresh inputs to judge on
KEPT = 1.2  # spacing of the points of the learning curve that a row keeps
Rows = Callable[[int, int], Any]  # informative ones of the examples start..start + count - 1 of a stream
GAP = "n_1"  # of the work that is watched


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A learner or elimination. The root seed of a task of a plan is the plan's digest."""
    if "plan" in task.solver:
        root = int(str(task.solver["plan"]), 16)
    return KINDS[task.solver["kind"]](task, root, guard)


def diagonal(task: Task, root: int, guard: float) -> Outcome:
    """Examples that `diagonal` draws until its mean squared error on fresh rows with an open gate is at most a tenth.

    The unit of the error is the variance of the labels on such rows: 1 for a parity. Noiseless labels judge it. In the
    same repetition all settings meet the same instance and examples. `labels` "independent" leaves nothing to learn.

    >>> solver = {"kind": "diagonal", "learner": "diagonal", "params": {"rate": 0.03, "batch": 16, "l1": 0.03}}
    >>> outcome = diagonal(Task("parity", {"dim": 8, "heads": 2}, solver, {"samples": 20_000}, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.detail["weights"], outcome.detail["informative"] < 0.6 * outcome.cost
    ('solved', 144, True)
    """
    instance, shared = _instance(task, root), task.shared()
    examples, judged = _open_rows(instance, shared, root, task.solver.get("labels") == "independent")
    learner = make(_solver(task, instance), task.seed(root, "solver"))
    watched = WithGap(learner, instance) if task.solver.get("gaps") else learner
    ends = sizes(int(task.budget["samples"]), FIRST, SPACING)
    process = opening(Solver("learner", watched), 0, guard)  # made above: the seed makes nothing
    ending = until_solved(process, at_sizes(examples, ends, streamed=True), True, judged, OPEN)
    status, reason = _status(ending, True, guard)
    if status not in FINISHED:
        return Outcome(status, None, reason)
    last = ending.points[-1]
    detail = {"distinct": last.examples, "open_error": _short(last.scores["open_error"]), **learner.work_}
    gaps = [[p.examples, _short(p.scores["open_error"]), p.work[GAP]] for p in ending.points if GAP in p.work]
    return Outcome(status, last.examples, detail | ({"gaps": gaps} if gaps else {}))


def _open_rows(instance: Instance, shared: Task, root: int, coins: bool) -> tuple[Rows, Judged]:
    """The informative rows of the stream, and fresh inputs to judge on; with `coins`, all labels times signs."""
    seeds = {role: shared.seed(root, role) for role in ("examples", "fresh", "signs", "judged")}
    judged = fresh(instance, 2 * JUDGED, seeds["fresh"])
    assert judged.variance, "a family whose labels are judged on open rows"

    def rows(start: int, count: int) -> InformativeExamples:
        return instance.informative(count, seeds["examples"], start)

    def with_coins(start: int, count: int) -> InformativeExamples:
        part = rows(start, count)
        signs = unpack(TokenStream(seeds["signs"], 1, 1).packed(start, count), 1)
        return replace(part, Y=part.Y * signs[part.X.positions, 0, 0])

    if not coins:
        return rows, judged
    return with_coins, replace(
        judged, Y=signed(lambda start, count: judged, seeds["judged"])(0, len(judged)).Y
    )


class WithGap:
    """The learner `diagonal`, whose work says at every evaluation what n_1 of its weights is."""

    def __init__(self, learner: "Diagonal", instance: Instance) -> None:
        self.learner, self.instance = learner, instance

    def partial_fit(self, X: InformativeRows, Y: NDArray[np.float64]) -> None:
        """Learn from informative rows X and labels Y (r,)."""
        self.learner.partial_fit(X, Y)

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Its predictions (n, 2, d) for tokens X."""
        return self.learner.predict(X)

    @property
    def work_(self) -> dict[str, Any]:
        """The work of the learner, and n_1."""
        return {**self.learner.work_, GAP: gap_of(self.learner, self.instance)}


def gap_of(learner: Any, instance: Instance) -> float:
    """n_1 of the weights as they are: informative examples until a gradient shows the hidden set (theory 3.5)."""
    return round(examples_of_unit_signal(learner.weights_, instance.secret["support"]), 1)


def gap(task: Task, root: int, guard: float) -> Outcome:
    """The median of n_1 over random starts at one scale, exact for every start.

    >>> task = Task("parity", {"dim": 9, "heads": 3}, {"kind": "gap", "start": 4}, {"starts": 3}, 0)
    >>> gap(task, root=0, guard=60.0).detail["n_1"] < 1e5
    True
    """
    d, s = int(task.params["dim"]), int(task.params["heads"])
    rng = np.random.default_rng(task.seed(root, "solver"))
    value = at_the_start(d, s, HEADS, float(task.solver["start"]), int(task.budget["starts"]), rng)
    return Outcome("solved", None, {"n_1": round(value, 1)})


def student(task: Task, root: int, guard: float) -> Outcome:
    """Examples of a learner that sees raw tokens until the target is met for the first time; censored at the cap.

    The target is an open error of .1 on structured families and nine tenths of the variance on random layers. In the
    same repetition all learners meet the same instance, examples and inputs. A learner that fits once is given more and
    more examples, and its cost is the least number that sufficed.

    >>> solver = {"kind": "learner", "learner": "student", "params": {"rate": 0.03, "l1": 0.12}}
    >>> task = Task("nondegenerate", {"dim": 8, "tokens": 2, "heads": 2}, solver, {"samples": 8000}, 0)
    >>> outcome = student(task, root=0, guard=60.0)
    >>> outcome.status, outcome.cost == outcome.detail["distinct"] == outcome.detail["gradient"]
    ('solved', True)
    """
    instance, shared, streamed = _instance(task, root), task.shared(), is_streamed(task.solver["learner"])
    judged = fresh(instance, JUDGED, shared.seed(root, "fresh"))
    target = EXPLAINED if judged.values is None else OPEN
    first, spacing = (FIRST, SPACING) if streamed else (FIRST_FIT, DOUBLING)
    ends = sizes(int(task.budget["samples"]), first, spacing)
    lives = at_sizes(stream(instance, shared.seed(root, "examples")), ends, streamed)
    process = opening(_solver(task, instance), task.seed(root, "solver"), guard)
    ending = until_solved(process, lives, streamed, judged, target)
    status, reason = _status(ending, streamed, guard)
    spent = ending.points[-1].examples if ending.points else None
    return Outcome(status, spent, _detail(task, instance, target, ending.points) | reason)


def _instance(task: Task, root: int) -> Instance:
    """The instance that all learners meet in one repetition."""
    family = registry.get("family", task.family)(**task.params)
    return Instance.generate(family, task.shared().seed(root, "instance"))


def _solver(task: Task, instance: Instance) -> Solver:
    return Solver("learner", task.solver["learner"], task.solver["params"], heads_known=instance.heads)


def _status(ending: Ending, streamed: bool, guard: float) -> tuple[str, dict[str, Any]]:
    """The status of a trial and why; who fits once and refuses all that there is has spent its budget."""
    if ending.error is None:
        return "solved" if ending.solved else "budget", {}
    outcome = outcome_of(ending.error, guard)
    if outcome.status == "refused" and not streamed:
        return "budget", {}
    return outcome.status, dict(outcome.detail)


def _detail(
    task: Task, instance: Instance, target: Criterion, points: Sequence[Evaluation]
) -> dict[str, Any]:
    """Three currencies, the examples to nine tenths of all rows, the last scores, and of the first run its curve."""
    if not points:
        return {"criterion": target.name}
    last = points[-1]
    detail = {
        "criterion": target.name,
        **cost(instance, make(_solver(task, instance), 0), last.examples)._asdict(),
        "explained": next((p.examples for p in points if EXPLAINED.met(p.scores)), None),
        "open_error": _short(last.scores["open_error"]),
        "share": _short(last.scores["explained"]),
    }
    return detail | ({"curve": thinned(points)} if task.repetition == 0 else {})


def thinned(points: Sequence[Evaluation]) -> list[list[float | None]]:
    """Points spaced by `KEPT` and the last one, as [examples, explained, open error] to four digits.

    >>> points = [Evaluation(n, {"explained": 0.12345, "open_error": None}) for n in (100, 110, 120, 130)]
    >>> thinned(points)
    [[100, 0.1235, None], [120, 0.1235, None], [130, 0.1235, None]]
    """
    kept: list[Evaluation] = []
    for point in points:
        if not kept or point.examples >= KEPT * kept[-1].examples or point is points[-1]:
            kept.append(point)
    return [[p.examples, _short(p.scores["explained"]), _short(p.scores["open_error"])] for p in kept]


def _short(value: float | None) -> float | None:
    return None if value is None else round(min(max(value, -1e6), 1e6), 4)


def elimination(task: Task, root: int, guard: float) -> Outcome:
    """Gaussian elimination on more and more examples of one stream, until it names the hidden set.

    The sizes go from `from` times d by `factor` to `samples` times d; the attack itself accepts an answer only if it
    reproduces examples that had no part in finding it, and here fresh labels must be right, too.

    >>> budget = {"from": 0.5, "factor": 1.05, "samples": 100}
    >>> outcome = elimination(Task("parity", {"dim": 16, "heads": 3}, {"kind": "elimination"}, budget, 0), 0, 60.0)
    >>> outcome.status, 2 * 15 <= outcome.cost <= 2 * 15 + 80
    ('solved', True)
    """
    instance, shared = _instance(task, root), task.shared()
    sampling = shared.seed(root, "examples")
    attack = Solver("attack", "gaussian", {"public": instance.public(sampling)})
    process = opening(attack, task.seed(root, "solver"), guard)
    lives = at_sizes(stream(instance, sampling), _multiples(instance.family.dim, task.budget), streamed=False)
    ending = until_solved(process, lives, False, fresh(instance, JUDGED, shared.seed(root, "fresh")), SIGNS)
    status, reason = _status(ending, False, guard)
    return Outcome(status, ending.asked, {"distinct": ending.asked} if status in FINISHED else reason)


def _multiples(dim: int, budget: Mapping[str, Any]) -> Iterator[int]:
    """Numbers of examples from `from` times d by `factor`, the first of at least `samples` times d being the last."""
    size = 0.0
    while size < budget["samples"] * dim:
        size = max(float(budget["from"]) * dim, float(budget["factor"]) * size, size + 1)
        yield int(size)


KINDS: dict[str, Trial] = {
    "diagonal": diagonal,
    "gap": gap,
    "learner": student,
    "elimination": elimination,
    "game": solving_cost,
}
