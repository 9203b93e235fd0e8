"""The study `needs`."""

from hardness.engine.study import Study, written_by
from hardness.studies.games import game
from hardness.studies.needs.tasks import QUESTION, seconds, tasks

PAGE = written_by("hardness.studies.needs.page")
STUDY = Study("needs", QUESTION, tasks, seconds, game, PAGE, guard=600.0, role="proved")
