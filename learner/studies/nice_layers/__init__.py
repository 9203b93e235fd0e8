"""The study `nice-layers`: what the theorem's algorithm needs on random layers, and what its phases add to a search."""

from pathlib import Path

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from learner.studies.nice_layers import tasks as grid


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial. Deterministic in the task and the root seed."""
    from learner.studies.nice_layers import trials  # learners take a second to import

    return trials.trial(task, root)


STUDY = Study(
    "nice-layers", grid.QUESTION, grid.tasks, grid.seconds, trial, guard=3600.0,
    content="learner.studies.nice_layers.content:content", template=Path(__file__).with_name("page.md"),
    formerly={
        "learner-scaling": "examples to an error",
        "rarity": "how rare certified rows are",
        "anatomy": "which phase gives up between a nice and a hard layer",
        "search-gap": "how many examples a local search needs",
        "critical-rho": "how far from a parity a layer must be; its control failed",
    },
)  # fmt: skip
