"""A study: a question, a grid of tasks, the trial that runs one, and the article that shows the rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Trial
from hardness.engine.task import Task

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Study:
    """Define a study: a question, a grid of trials, and the article about its rows.

    `tasks(quick)` lists the grid, a small one if `quick`. `trial(task, root, guard)` runs one task under a root seed,
    `seconds(task)` predicts its duration, and `guard` is its time limit in seconds. `within(task, examples, work)`
    returns the task with other budgets (None: unchanged). `user_learner_tasks(quick, learner)` lists what a user's
    learner ``package.module:Class`` adds. `plan(file)` lists the trials of a plan that was fixed in advance.

    `page` is the article, a Markdown file written by hand about a committed table of rows; without it a study has only
    the dashboard. `numbers(rows)`, `tables(rows)` and `figures(rows)` return by name what the article shows: numbers
    rounded as they are printed, data frames, and matplotlib figures (`hardness.report.plots` helps). Their argument is
    the data frame of `hardness.engine.frames.frame`. `timed`: the article prints seconds, so times are written beside
    the rows. `records` is a CSV file of the cheapest learners known.
    """

    name: str
    question: str
    tasks: Callable[[bool], list[Task]]
    seconds: Callable[[Task], float]
    trial: Trial
    guard: float = 120.0
    user_learner_tasks: Callable[[bool, str], list[Task]] | None = None
    plan: Callable[[Path], list[Task]] | None = None
    within: Callable[[Task, int | None, float | None], Task] | None = None
    timed: bool = False
    numbers: "Callable[[pd.DataFrame], Mapping[str, Any]] | None" = None
    tables: "Callable[[pd.DataFrame], Mapping[str, pd.DataFrame]] | None" = None
    figures: "Callable[[pd.DataFrame], Mapping[str, Figure]] | None" = None
    page: Path | None = None
    records: Path | None = None
