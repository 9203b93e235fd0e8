"""The study `stress`, the board: who solves the named instances of `hardness.suite`, and what it costs."""

from pathlib import Path

from hardness.engine.study import Study
from learner.studies.stress import tasks as grid
from learner.studies.stress import trial as run

STUDY = Study(
    "stress", grid.QUESTION, grid.tasks, grid.seconds, run.trial, guard=300.0, role="measured",
    user_learner_tasks=grid.user_learner_tasks,
    content="learner.studies.stress.content:content", template=Path(__file__).with_name("page.md"),
    formerly={
        "who-wins": "which strategy, learner or attack solves which family",
        "ladder": "what every rung is predicted to cost, and who solves it",
        "contest": "who solves what",
    },
)  # fmt: skip
