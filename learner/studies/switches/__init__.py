"""The study `switches`: what makes parities easy again, each switch with both bounds and what was measured."""

from hardness.engine.study import Study
from learner.studies.switches.page import QUESTION, write
from learner.studies.switches.tasks import seconds, tasks
from learner.studies.switches.trial import trial

STUDY = Study("switches", QUESTION, tasks, seconds, trial, write, guard=900.0)
