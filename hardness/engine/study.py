"""What a study is: a question, a grid of tasks, the trial that runs one, and the page that shows the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.task import Task

if TYPE_CHECKING:
    from hardness.report.content import Content


@dataclass(frozen=True)
class Study:
    """A named grid. `tasks(quick)` lists it, `seconds(task)` predicts a trial, `guard` ends one, in seconds.

    `user_learner_tasks(quick, learner)` lists what a learner of the user, ``package.module:Class``, adds to the grid.
    `trial(task, root, guard)` runs one. `content(rows)`, or ``package.module:content``, which is imported only when a
    page is written, makes numbers, figures and tables of the rows, and the Markdown file `template` makes the page of
    them (`hardness.report`). `page(store, folder)` writes a page by other means and returns its headline. `role` is
    where the study stands on the index: a word of `hardness.report.report.ROLES`. `formerly` names studies that this
    one took over, each with what it asked. `plan(file)` lists the trials of a plan that was fixed before them.
    """

    name: str
    question: str
    tasks: Callable[[bool], list[Task]]
    seconds: Callable[[Task], float]
    trial: Callable[[Task, int, float], Outcome]
    page: Callable[[Store, Path], str] | None = None
    guard: float = 120.0
    user_learner_tasks: Callable[[bool, str], list[Task]] | None = None
    role: str = "measured"
    content: "Callable[[Sequence[Row]], Content] | str | None" = None
    template: Path | None = None
    formerly: Mapping[str, str] = field(default_factory=dict)
    plan: Callable[[Path], list[Task]] | None = None


def written_by(module: str, **known: Any) -> Callable[[Store, Path], str]:
    """The function `write(store, folder, **known)` of a module, for `Study.page`; the module is imported when a page is
    written, since most commands write none and drawing takes a second to import."""

    def write(store: Store, folder: Path) -> str:
        return str(import_module(module).write(store, folder, **known))

    return write
