"""The study `random-features`: what the abstract of Fu, Guo, Bai and Mei (arXiv 2307.11353) claims."""

from pathlib import Path

from hardness.engine.study import Study
from learner.studies.random_features import tasks as grid

STUDY = Study(
    "random-features", grid.QUESTION, grid.tasks, grid.seconds, grid.trial, guard=300.0, role="appendix",
    content="learner.studies.random_features.content:content", template=Path(__file__).with_name("page.md"),
)  # fmt: skip
