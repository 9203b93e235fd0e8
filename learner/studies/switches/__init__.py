"""The study `switches`: what makes parities easy again, each switch with both bounds and what was measured."""

from pathlib import Path

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from learner.studies.switches import tasks as grid


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A trial, by the kind of its solver. Deterministic in the task and the root seed, but for its time.

    >>> trial(next(t for t in grid.tasks(True) if t.solver["kind"] == "membership"), 0, 60.0).cost
    63
    """
    from learner.studies.switches import trials  # games and attacks take a while to import

    return trials.trial(task, root, guard)


STUDY = Study(
    "switches",
    "What makes hidden parities easy again, and what does each switch leave of the bounds?",
    grid.tasks, grid.seconds, trial, guard=900.0,
    content="learner.studies.switches.content:content", template=Path(__file__).with_name("page.md"),
)  # fmt: skip
