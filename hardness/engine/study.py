"""What a study is: a question, a grid of tasks, the trial that runs one, and the page that shows the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardness.engine.outcome import Row, Trial
from hardness.engine.task import Task


@dataclass(frozen=True)
class Study:
    """A named grid. `tasks(quick)` lists it, `seconds(task)` predicts a trial, `guard` ends one, in seconds.

    `user_learner_tasks(quick, learner)` lists what a learner of the user, ``package.module:Class``, adds to the grid.
    `trial(task, root, guard)` runs one. `content(rows)`, or ``package.module:content``, which is imported only when a
    page is written, makes numbers, figures and tables of the rows, and the Markdown file `template` makes the page of
    them (`hardness.report`). `role` is where the study stands on the index: a word of `hardness.report.report.ROLES`.
    `formerly` names studies that this one took over, each with what it asked. `plan(file)` lists the trials of a plan
    that was fixed before them. A study that is `timed` prints seconds, and so writes them beside its rows.
    """

    name: str
    question: str
    tasks: Callable[[bool], list[Task]]
    seconds: Callable[[Task], float]
    trial: Trial
    guard: float = 120.0
    user_learner_tasks: Callable[[bool, str], list[Task]] | None = None
    role: str = "measured"
    content: Callable[[Sequence[Row]], Any] | str | None = None
    template: Path | None = None
    formerly: Mapping[str, str] = field(default_factory=dict)
    plan: Callable[[Path], list[Task]] | None = None
    timed: bool = False
