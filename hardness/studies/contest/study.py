"""The studies `who-wins` and `ladder`."""

from functools import partial

from hardness.studies.contest.page import write
from hardness.studies.contest.tasks import LADDER, WHO_WINS, ladder, seconds, who_wins
from hardness.studies.lattices.tasks import trial as cryptanalysis
from hardness.studies.trials import trial as plain
from hardness.study.outcome import Outcome
from hardness.study.study import Study
from hardness.study.task import Task


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A trial of any kind that meets in a contest."""
    return (cryptanalysis if task.solver["kind"] == "cryptanalysis" else plain)(task, root, guard)


STUDIES = tuple(
    Study(
        name,
        question,
        tasks,
        seconds,
        trial,
        partial(write, question=question),
        300.0,
        role="broken",
    )
    for name, question, tasks in (("who-wins", WHO_WINS, who_wins), ("ladder", LADDER, ladder))
)
