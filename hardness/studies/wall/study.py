"""The study `wall`."""

from hardness.studies.wall.page import write
from hardness.studies.wall.tasks import QUESTION, guest, seconds, tasks
from hardness.studies.wall.trial import trial
from hardness.study.study import Study

STUDY = Study("wall", QUESTION, tasks, seconds, trial, write, guard=3600.0, guest=guest)
