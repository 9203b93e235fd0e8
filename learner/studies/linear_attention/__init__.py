"""The study `linear-attention`: what Yau et al. (arXiv 2410.10101) claim of linear attention and regression."""

from pathlib import Path

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from learner.studies.linear_attention import tasks as grid


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A trial of the task's family, deterministic in the task and the root seed.

    >>> task = Task("automata", {"states": 2, "letters": 2}, {"method": "regression"}, {"samples": 100}, 0)
    >>> trial(task, 0, 60.0).status
    'solved'
    """
    from learner.studies.linear_attention.trials import TRIALS  # learners take a second to import

    return TRIALS[task.family](task, root)


STUDY = Study(
    "linear-attention", "When does regression recover linear attention, and does it know when it has?",
    grid.tasks, grid.seconds, trial, guard=600.0, role="appendix",
    content="learner.studies.linear_attention.content:content", template=Path(__file__).with_name("page.md"),
    formerly={
        "associative-memory": "whether recovery shows that the data identify a head",
        "automata": "when automata never seen are executed",
        "universal-machine": "when programs never seen are run",
    },
)  # fmt: skip
