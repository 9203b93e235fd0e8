"""The tuning of the learner `diagonal`: its runs as rows of a store, and `tuning.csv` of the last run of each."""

import csv
from collections.abc import Sequence
from pathlib import Path

from hardness.engine.outcome import Row
from hardness.engine.progress import Progress
from hardness.engine.run import run
from hardness.engine.store import STORE, Store
from hardness.engine.task import Task
from hardness.engine.tuning import APART, Results, Wanted, tune
from learner.studies.exponential_in_m.arms import Problem
from learner.studies.exponential_in_m.cells import tuning
from learner.studies.exponential_in_m.settings import MENU, ROOT, ROWS, SEEDS, halving, wanted
from learner.studies.exponential_in_m.trial import trial

HEAD = ("arm", "s", "d", "setting", "seed", "cap", "status", "cost")
Line = tuple[str | int, ...]


def lines(rows: Sequence[Row]) -> list[Line]:
    """The rows of `tuning.csv`: of every setting and seed the run with the largest cap.

    Settings that differ in an option which an arm fixes are one run, and a line each.
    """
    last: dict[Line, Line] = {}
    for task, outcome in ((row.task, row.outcome) for row in rows if row.outcome):
        problem = Problem(task.solver["arm"], int(task.params["dim"]), int(task.params["heads"]))
        seed, cap = task.repetition - APART, int(task.budget["samples"])
        if seed >= SEEDS[-1]:
            continue
        for setting in range(len(MENU)):
            at = (problem.arm, problem.s, problem.d, setting, seed)
            same = wanted(problem, Wanted(setting, seed, cap)).identity == task.identity
            if same and (at not in last or cap > int(last[at][0])):
                last[at] = (cap, outcome.status, int(outcome.cost or 0))
    return sorted(at + end for at, end in last.items())


def main(cells: Sequence[Problem], folder: Path = Path("out/tuning"), workers: int = 2) -> None:
    """Run what the store in `folder` lacks of the tuning of cells, and write `tuning.csv` of all that it has."""
    with Store(folder / STORE, {"study": "exponential-in-m tuning", "seed": ROOT}) as store:

        def results(tasks: Sequence[Task]) -> Results:
            run(tasks, store, trial, root=ROOT, guard=900.0, workers=workers, progress=Progress())
            return {row.task.identity: row.outcome for row in store.rows() if row.outcome}

        tune({problem: halving(problem) for problem in cells}, wanted, results)
        table = lines(list(store.rows()))
    with ROWS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        writer.writerows(table)


if __name__ == "__main__":
    main(tuning())
