"""The study `stress`, the board: who solves the named instances of `hardness.suite`, and what it costs."""

from learner.studies.stress.tasks import STUDY as STUDY
