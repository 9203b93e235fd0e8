"""The study `needs`."""

from hardness.studies.games import game
from hardness.studies.needs.page import write
from hardness.studies.needs.tasks import QUESTION, seconds, tasks
from hardness.study.study import Study

STUDY = Study("needs", QUESTION, tasks, seconds, game, write, guard=600.0, role="proved")
