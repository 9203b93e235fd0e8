"""The studies `who-wins` and `ladder`."""

from collections.abc import Callable

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study, written_by
from hardness.engine.task import Task
from hardness.studies.contest.tasks import LADDER, WHO_WINS, ladder, seconds, who_wins
from hardness.studies.lattices.tasks import trial as cryptanalysis
from hardness.studies.trials import trial as plain


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A trial of any kind that meets in a contest."""
    return (cryptanalysis if task.solver["kind"] == "cryptanalysis" else plain)(task, root, guard)


def _study(name: str, question: str, tasks: Callable[[bool], list[Task]]) -> Study:
    page = written_by("hardness.studies.contest.page", question=question)
    return Study(name, question, tasks, seconds, trial, page, 300.0, role="broken")


CONTEST, RUNGS = _study("who-wins", WHO_WINS, who_wins), _study("ladder", LADDER, ladder)
