"""The study `lattices`: how far do a lattice attack and integer BKW get on rounding, and were their times predicted?"""

from pathlib import Path

from hardness.engine.study import Study
from hardness.studies.lattices import tasks as grid

STUDY = Study(
    "lattices",
    "How far do a lattice attack and integer BKW get on rounding, and were their times predicted?",
    grid.tasks,
    grid.seconds,
    grid.trial,
    guard=600.0,
    role="broken",
    content="hardness.studies.lattices.content:content",
    template=Path(__file__).with_name("page.md"),
    timed=True,
)
