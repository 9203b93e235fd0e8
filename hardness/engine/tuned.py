"""Tuning as rows: the runs that successive halving asks for, of many cells at once, run and stored like any others."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from hardness.engine.outcome import CRASHED, Outcome
from hardness.engine.task import Task
from hardness.evaluation.tuning import Halving, Run, Runs, Wanted

Cell = TypeVar("Cell", bound=Hashable)
Results = Mapping[str, Outcome]  # how trials ended, by identity


def tune(
    cells: Mapping[Cell, Halving], task: Callable[[Cell, Wanted], Task], run: Callable[[Sequence[Task]], Results]
) -> dict[Cell, int | None]:
    """The setting that won in every cell; None where none of its last rung solved.

    `task(cell, wanted)` is the trial of a wanted run; `run` runs those of all cells that come next and returns how they
    ended (from a store, what it holds already is not run again). Cells do not depend on each other.
    """
    found: dict[Cell, dict[tuple[int, int], Run]] = defaultdict(dict)
    while asked := [(cell, wanted) for cell, each in cells.items() for wanted in each.wanted(found[cell])]:
        tasks = [task(cell, wanted) for cell, wanted in asked]
        ended = run(tasks)
        for (cell, wanted), each in zip(asked, tasks, strict=True):
            found[cell][wanted.setting, wanted.seed] = run_of(ended[each.identity], wanted.cap)
    return {cell: each.winner(found[cell]) for cell, each in cells.items()}


def run_of(outcome: Outcome, cap: int) -> Run:
    """What a tuning makes of a trial: one that neither solved nor spent its cap would not do better with more."""
    spent = cap if outcome.cost is None else float(outcome.cost)
    return Run(spent, outcome.status == "solved", outcome.status in ("wrong", *CRASHED, "refused"))


def latest(runs: Iterable[tuple[int, int, Run]]) -> Runs:
    """Runs by setting and seed; of several caps the run that solved, or else the one that spent most.

    >>> latest([(0, 0, Run(100, False)), (0, 0, Run(150, True)), (0, 1, Run(80, True))])[0, 0]
    Run(cost=150, solved=True, final=False)
    """
    found: dict[tuple[int, int], Run] = {}
    for setting, seed, run in runs:
        kept = found.get((setting, seed))
        if kept is None or (run.solved, run.cost) > (kept.solved, kept.cost):
            found[setting, seed] = run
    return found
