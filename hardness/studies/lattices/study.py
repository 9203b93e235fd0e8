"""The study `lattices`."""

from hardness.studies.lattices.page import QUESTION, write
from hardness.studies.lattices.tasks import seconds, tasks, trial
from hardness.study.study import Study

STUDY = Study("lattices", QUESTION, tasks, seconds, trial, write, 600.0, role="broken")
