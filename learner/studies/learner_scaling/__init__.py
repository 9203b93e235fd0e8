"""The study `learner-scaling`: examples and accuracy of the theorem's phases against m, k and d, and beside them."""

from hardness.engine.study import Study
from learner.studies.learner_scaling.page import QUESTION, write
from learner.studies.learner_scaling.trials import seconds, tasks, trial

STUDY = Study("learner-scaling", QUESTION, tasks, seconds, trial, write, guard=3600.0)
