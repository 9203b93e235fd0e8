"""One run of `stress`: a learner within a budget of examples and one of multiply-adds, judged on fresh inputs."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardness import registry
from hardness.apart import ask
from hardness.engine.apart import Apart
from hardness.engine.outcome import Ended, Outcome, ended
from hardness.engine.task import Task
from hardness.evaluation import online
from hardness.examples import Examples
from hardness.instance import Instance

FITTER = "hardness.studies.players:Fitter"
JUDGED = 2048  # fresh inputs to judge on
FIRST, SPACING = 1024, 1.1  # an online learner is looked at after so many examples, then this much later each time


def trial(task: Task, root: int, guard: float) -> Outcome:
    """More and more examples of one stream, until nine tenths of the variance of fresh labels are explained.

    A learner with `partial_fit` sees each example once. Another is fitted anew on twice as many examples each time, and
    pays for all its fits. A run ends before it would exceed either budget, and is censored there: `spent` says which.
    All learners meet the same instance and examples in the same repetition.

    >>> solver = {"kind": "stress", "learner": "hardness.engine.apart:Constant", "params": {}}
    >>> budget = {"samples": 2000, "work": 1e9, "from": 256}
    >>> outcome = trial(Task("parity", {"dim": 6, "heads": 2}, solver, budget, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.cost, outcome.detail["explained"], outcome.detail["spent"]
    ('budget', 2000, -0.0, 'examples')
    """
    shared = task.shared()
    instance = Instance.generate(registry.get("family", task.family)(**task.params), shared.seed(root, "instance"))
    judged = online.fresh(instance, JUDGED, shared.seed(root, "fresh"))
    deadline, sizes = time.monotonic() + guard, [1]  # of one example, and of each fit
    while (size := sizes[-1] * 2 if sizes[1:] else int(task.budget["from"])) <= task.budget["samples"]:
        sizes.append(size)
    shapes = [(size, instance.family.tokens, instance.family.dim) for size in sizes]
    streamed, counts = ask.price(task.solver["learner"], task.solver["params"], instance.heads, shapes, deadline)
    costs = dict(zip(sizes, counts, strict=True))
    run = _Run(task, root, guard, deadline, instance, judged, shared.seed(root, "examples"), costs)
    return run.streamed() if streamed else run.climbed()


@dataclass
class _Run:
    """What a trial has, and what it has spent."""

    task: Task
    root: int
    guard: float
    deadline: float
    instance: Instance
    judged: Examples
    stream: int
    costs: Mapping[int, float | None]  # multiply-adds of a fit to so many examples; None: the learner does not count
    work: float = 0.0  # multiply-adds so far

    def streamed(self) -> Outcome:
        """An online learner, looked at as it learns."""
        solver, cap, reason, spent, detail = self.task.solver, int(self.task.budget["samples"]), "examples", 0, {}
        each = self.costs[1]
        if each and self.task.budget["work"] / each < cap:
            cap, reason = int(self.task.budget["work"] / each), "multiply-adds"
        source = None
        try:
            seed = self.task.seed(self.root, "solver")
            with Apart(solver["learner"], solver["params"], seed, self.deadline) as learner:
                source = learner.source
                for size in online.sizes(cap, FIRST, SPACING):
                    online.stream(self.instance, learner, self.stream, spent, size)
                    spent = size
                    share = online.evaluate(learner, size, self.judged, None).explained
                    detail = self._detail(share, None if each is None else each * size)
                    if share is None:
                        return Outcome("wrong", spent, detail | {"reason": "predictions are not finite"}, source=source)
                    if share >= online.EXPLAINED:
                        return Outcome("solved", spent, detail, source=source)
        except (Ended, TimeoutError) as error:
            return self._ended(error, spent, detail, source)
        return Outcome("budget", spent, detail | {"spent": reason}, source=source)

    def climbed(self) -> Outcome:
        """Fits of a learner that fits once. It refused if it refused the most examples that it was given."""
        budget, heads = self.task.budget, self.instance.heads
        params = {"learner": self.task.solver["learner"], "heads": heads, "options": self.task.solver["params"]}
        size, spent, reason, source, refused = int(budget["from"]), 0, "examples", None, None
        detail = self._detail(None, None)
        while size <= budget["samples"]:
            cost = self.costs[size]
            if cost and self.work + cost > budget["work"]:
                reason = "multiply-adds"
                break
            try:
                with Apart(FITTER, params, self.task.seed(self.root, "solver"), self.deadline) as learner:
                    source, refused = learner.source, None
                    train = self.instance.examples(size, self.stream)
                    learner.partial_fit(train.X, train.Y)
                    share = online.evaluate(learner, size, self.judged, None).explained
            except (Ended, TimeoutError) as error:
                refused = self._ended(error, size, detail, source)
                if refused.status != "refused":  # a crash adds no hardness
                    return self._ended(error, spent, detail, source)
            else:
                self.work += cost or 0.0
                detail = self._detail(share, self.work if cost else None)
                if share is not None and share >= online.EXPLAINED:
                    return Outcome("solved", size, detail, source=source)
            spent, size = size, 2 * size
        return refused or Outcome("budget", spent, detail | {"spent": reason}, source=source)

    def _detail(self, share: float | None, work: float | None) -> dict[str, Any]:
        shown = None if share is None else round(float(np.maximum(share, -1e6)), 3)
        return {"explained": shown, "multiply_adds": work}

    def _ended(self, error: BaseException, spent: int, detail: dict[str, Any], source: str | None) -> Outcome:
        found = ended(error, self.guard)
        return Outcome(found.status, spent, {**detail, **found.detail}, source=source)
