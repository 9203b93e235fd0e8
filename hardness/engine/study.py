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
    """A named grid. `tasks(quick)` lists it, `seconds(task)` predicts a trial, `guard` ends one, in seconds.

    `within(task, examples, work)` is a task within other budgets, each None where it stays, of a study that takes them.
    `user_learner_tasks(quick, learner)` lists what a learner of the user, ``package.module:Class``, adds to the grid.
    `trial(task, root, guard)` runs one.

    `page` is the article, a Markdown file written by hand about a committed table of rows. What it shows are functions
    of them, a data frame whose columns have their bare names (`hardness.engine.frames.frame`): `numbers(rows)`, every
    number of the page by its name, rounded as it is printed; `tables(rows)`, data frames by name; `figures(rows)`,
    matplotlib figures by name (`hardness.report.plots` helps). `hardness.report.article` fills the page.

    A study without `page` has the dashboard alone. `plan(file)` lists the trials of a plan that was fixed before them.
    A study that is `timed` prints seconds, and so writes them beside its rows. `records` is a CSV file of the cheapest
    learners known.
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
