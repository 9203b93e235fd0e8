"""The study `wall`."""

from hardness.engine.study import Study, written_by
from hardness.studies.wall.tasks import QUESTION, guest, seconds, tasks
from hardness.studies.wall.trial import trial

PAGE = written_by("hardness.studies.wall.page")
STUDY = Study("wall", QUESTION, tasks, seconds, trial, PAGE, guard=3600.0, guest=guest)
