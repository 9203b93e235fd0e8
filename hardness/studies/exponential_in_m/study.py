"""The study `exponential-in-m`."""

from hardness.engine.study import Study, written_by
from hardness.studies.exponential_in_m.tasks import QUESTION, seconds, tasks, user_learner_tasks
from hardness.studies.exponential_in_m.trial import trial

PAGE = written_by("hardness.studies.exponential_in_m.page")
STUDY = Study(
    "exponential-in-m",
    QUESTION,
    tasks,
    seconds,
    trial,
    PAGE,
    guard=600.0,
    user_learner_tasks=user_learner_tasks,
    role="answer",
)
