"""The study `games`: strategies against the greedy window, on parities and on rounded inner products."""

from pathlib import Path

from hardness.engine.study import Study
from hardness.studies.games import tasks as grid

STUDY = Study(
    "games",
    grid.QUESTION,
    grid.tasks,
    grid.seconds,
    grid.trial,
    guard=3600.0,
    role="proved",
    content="hardness.studies.games.content:content",
    template=Path(__file__).with_name("page.md"),
    formerly={
        "exact-games": "what is known exactly of games on parities",
        "query-frontier": "every strategy at every tolerance",
        "rounding-games": "games on rounded inner products",
    },
)
