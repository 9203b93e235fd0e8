"""The study `exponential-in-m`: what tuned learners pay for hidden bits, beside what is proved, and a plan."""

from pathlib import Path

from hardness.engine.study import Study
from learner.studies.exponential_in_m import plan
from learner.studies.exponential_in_m import tasks as grid
from learner.studies.exponential_in_m.trial import trial

STUDY = Study(
    "exponential-in-m", grid.QUESTION, grid.tasks, grid.seconds, trial, guard=900.0, role="answer",
    user_learner_tasks=grid.user_learner_tasks, plan=plan.tasks,
    content="learner.studies.exponential_in_m.content:content", template=Path(__file__).with_name("page.md"),
    formerly={"wall": "examples that one student needs, then with one frozen setting"},
)  # fmt: skip
