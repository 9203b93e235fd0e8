"""The study `needs`: queries and tolerance together, for every number of heads."""

from pathlib import Path

from hardness.engine.study import Study
from hardness.studies.needs import tasks as grid

STUDY = Study(
    "needs", grid.QUESTION, grid.tasks, grid.seconds, grid.trial, guard=600.0, role="proved",
    content="hardness.studies.needs.content:content", template=Path(__file__).with_name("page.md"),
    formerly={"head-budget": "how much hardness m heads buy"},
)  # fmt: skip
