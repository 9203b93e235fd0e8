"""The study `exponential-in-m`."""

from hardness.studies.exponential_in_m.page import write
from hardness.studies.exponential_in_m.tasks import QUESTION, seconds, tasks
from hardness.studies.trials import trial
from hardness.study.study import Study

STUDY = Study("exponential-in-m", QUESTION, tasks, seconds, trial, write)
