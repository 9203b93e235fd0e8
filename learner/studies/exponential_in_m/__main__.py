"""The tuning of the attention student: its runs as rows of a store, and `tuning2.csv` of them."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardness.engine.outcome import Row
from hardness.engine.progress import Progress
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task, canonical
from hardness.engine.tuning import APART, Results, tune
from learner.studies.exponential_in_m.settings import OPTIONS, ROOT, ROWS, Cell, cells, halving, wanted
from learner.studies.exponential_in_m.trial import trial


def _line(cell: Cell, row: Row) -> tuple[Any, ...]:
    task, outcome = row.task, row.outcome
    assert outcome
    setting = [task.solver["params"][name] for name in OPTIONS]
    run = task.repetition - APART, int(task.budget["samples"])
    return (cell.family, cell.panel, cell.s, cell.d, *setting, *run, outcome.status, int(outcome.cost or 0))


def main(own: Sequence[Cell], folder: Path = Path("out/tuning"), workers: int = 2) -> None:
    """Run what the store in `folder` lacks of the tuning of cells, and write `tuning2.csv` of those that it has."""
    of = {(cell.family, *map(canonical, (cell.params, cell.loss))): cell for cell in cells()}
    with Store(folder / "rows.db", {"study": "exponential-in-m tuning", "seed": ROOT}) as store:

        def ran(tasks: Sequence[Task]) -> Results:
            run(tasks, store, trial, root=ROOT, guard=900.0, workers=workers, progress=Progress())
            return {row.task.identity: row.outcome for row in store.rows() if row.outcome}

        tune({cell: halving(cell) for cell in own}, wanted, ran)
        lines = []
        for row in store.rows():
            loss = {name: value for name, value in row.task.solver["params"].items() if name == "loss"}
            cell = of.get((row.task.family, *map(canonical, (row.task.params, loss))))
            lines += [_line(cell, row)] if cell and row.outcome else []
    with ROWS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["family", "panel", "s", "d", *OPTIONS, "seed", "cap", "status", "cost"])
        writer.writerows(sorted(lines))


if __name__ == "__main__":
    main(cells())
