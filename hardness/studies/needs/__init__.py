"""The study `needs`: queries and tolerance together, for every number of heads, and for gradient learners."""

from pathlib import Path

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.studies.needs import gradients
from hardness.studies.needs import tasks as games


def planned(quick: bool) -> list[Task]:
    """Games, bounds of head budgets, and trials of gradient learners."""
    return [*games.tasks(quick), *gradients.tasks(quick)]


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A game, the bounds of a head budget, or a gradient learner."""
    of_learner = gradients.TRIALS.get(task.solver["kind"])
    return of_learner(task, root) if of_learner else games.trial(task, root, guard)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    return gradients.seconds(task) if task.solver["kind"] in gradients.TRIALS else games.seconds(task)


STUDY = Study(
    "needs",
    games.QUESTION,
    planned,
    seconds,
    trial,
    guard=600.0,
    role="proved",
    content="hardness.studies.needs.content:content",
    template=Path(__file__).with_name("page.md"),
)
