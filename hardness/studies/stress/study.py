"""The study `stress`."""

from hardness.engine.study import Study
from hardness.studies.stress.page import write
from hardness.studies.stress.tasks import QUESTION, guest, seconds, tasks
from hardness.studies.stress.trial import trial

STUDY = Study("stress", QUESTION, tasks, seconds, trial, write, guard=300.0, guest=guest)
