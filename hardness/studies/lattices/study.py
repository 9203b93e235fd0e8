"""The study `lattices`."""

from hardness.engine.study import Study
from hardness.studies.lattices.page import QUESTION, write
from hardness.studies.lattices.tasks import seconds, tasks, trial

STUDY = Study("lattices", QUESTION, tasks, seconds, trial, write, 600.0, role="broken")
