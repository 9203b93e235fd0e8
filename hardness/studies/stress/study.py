"""The study `stress`."""

from hardness.engine.study import Study
from hardness.studies.stress.page import write
from hardness.studies.stress.tasks import QUESTION, seconds, tasks, user_learner_tasks
from hardness.studies.stress.trial import trial

STUDY = Study("stress", QUESTION, tasks, seconds, trial, write, guard=300.0, user_learner_tasks=user_learner_tasks)
