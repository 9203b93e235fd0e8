"""The study `wall`."""

from hardness.engine.study import Study, written_by
from hardness.studies.wall.tasks import QUESTION, seconds, tasks, user_learner_tasks
from hardness.studies.wall.trial import trial

PAGE = written_by("hardness.studies.wall.page")
STUDY = Study("wall", QUESTION, tasks, seconds, trial, PAGE, guard=3600.0, user_learner_tasks=user_learner_tasks)
