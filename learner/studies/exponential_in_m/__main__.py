"""The tuning of the attention student: its runs as rows of a store, and `tuning.csv` of them."""

import csv
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hardness.engine.outcome import Row
from hardness.engine.progress import Progress
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.engine.tuned import Results, tune
from hardness.evaluation.tuning import APART
from learner.studies.exponential_in_m.settings import ROOT, ROWS, cells, halving, wanted
from learner.studies.exponential_in_m.trial import trial


def _line(row: Row) -> tuple[Any, ...]:
    task, outcome = row.task, row.outcome
    assert outcome
    place = task.family, int(task.params["heads"]), int(task.params["dim"])
    setting = [task.solver["params"][name] for name in ("rate", "batch", "l1")]
    run = task.repetition - APART, int(task.budget["samples"])
    return (*place, *setting, *run, outcome.status, int(outcome.cost or 0))


def main(folder: Path = Path("out/tuning"), workers: int = 2) -> None:
    """Run what the store in `folder` lacks of the tuning, and write `tuning.csv`."""
    with Store(folder / "rows.db", {"study": "exponential-in-m tuning", "seed": ROOT}) as store:

        def ran(tasks: Sequence[Task]) -> Results:
            seconds = partial(lambda task: float(task.budget["samples"]))
            run(tasks, store, trial, root=ROOT, guard=900.0, workers=workers, seconds=seconds, progress=Progress())
            return {row.task.identity: row.outcome for row in store.rows() if row.outcome}

        tune({cell: halving(cell) for cell in cells()}, wanted, ran)
        own = {(cell.family, cell.s, cell.d) for cell in cells()}
        lines = sorted(line for row in store.rows() if row.outcome and (line := _line(row))[:3] in own)
    with ROWS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["family", "s", "d", "rate", "batch", "l1", "seed", "cap", "status", "cost"])
        writer.writerows(lines)


if __name__ == "__main__":
    main()
