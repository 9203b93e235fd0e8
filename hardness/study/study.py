"""What a study is: a question, a grid of tasks, the trial that runs one, and the page that shows the rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hardness.study.outcome import Outcome
from hardness.study.store import Store
from hardness.study.task import Task


@dataclass(frozen=True)
class Study:
    """A named grid. `tasks(quick)` lists it, `seconds(task)` predicts a trial, `guard` ends one, in seconds.

    `guest(quick, learner)` lists what a learner of the user's own, ``package.module:Class``, adds to the grid.
    `trial(task, root, guard)` runs one. `page(store, folder)` writes the page of a store into a folder and returns the
    verdict line. `role` is where the study stands on the index: a word of `hardness.study.page.report.ROLES`.
    """

    name: str
    question: str
    tasks: Callable[[bool], list[Task]]
    seconds: Callable[[Task], float]
    trial: Callable[[Task, int, float], Outcome]
    page: Callable[[Store, Path], str]
    guard: float = 120.0
    guest: Callable[[bool, str], list[Task]] | None = None
    role: str = "measured"
