"""Tuning a learner: successive halving over a menu of settings, on seeds on which nothing is judged.

What comes next is a function of what the runs so far came to; they are run and stored as rows like any others.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, inf, prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hardness.engine.outcome import CRASHED, Outcome
from hardness.engine.task import APART as APART
from hardness.engine.task import Task
from hardness.errors import InputError

Cell = TypeVar("Cell", bound=Hashable)
Results = Mapping[str, Outcome]  # how trials ended, by identity

MOST = 100_000  # products of lists that are listed before they are drawn from


class Run(NamedTuple):
    """A run of one setting on one tuning seed: the examples it took, and whether they solved.

    `final` says that more examples would not change it: predictions that are not finite, a crash.
    """

    cost: float
    solved: bool
    final: bool = False

    def within(self, cap: int) -> bool:
        """Say whether it solved within so many examples."""
        return self.solved and self.cost <= cap

    def would_go_on(self, cap: int) -> bool:
        """Say whether it had too few examples to tell what it does with so many."""
        return not (self.solved or self.final or self.cost >= cap)


class Wanted(NamedTuple):
    """A run that is to be made: which setting, on which tuning seed, up to how many examples."""

    setting: int
    seed: int
    cap: int


# By setting and seed; of several caps the largest, or the one that solved
Runs = Mapping[tuple[int, int], Run]


@dataclass(frozen=True)
class Halving:
    """Successive halving over `settings` settings.

    Rung r gives `seeds[r]` seeds in all to each setting that is left, and keeps the `kept[r]` cheapest of those that
    solved at all; the last rung keeps one. The cap of the first rung starts at `start` examples and is multiplied by
    `growth` until as many settings as the second rung keeps solve on every seed, up to `max_cap`; the others have twice
    the cap at which the first one ended. The cheapest is the one whose solution costs least if runs that spend the cap
    are started again: all that its runs spent over how many of them solved. So neither cheap runs that mostly fail nor
    sure ones that cost much are chosen.
    """

    settings: int
    seeds: tuple[int, ...]
    kept: tuple[int, ...]
    start: int
    max_cap: int
    growth: int = 2

    def wanted(self, runs: Runs) -> list[Wanted]:
        """Return the runs that come next; none once the winner is known."""
        return self._walk(runs)[0]

    def winner(self, runs: Runs) -> int | None:
        """Return the setting that won; None while runs are wanted, or if none of the last rung solved."""
        wanted, alive, cap = self._walk(runs)
        return None if wanted or self._price(runs, alive[0], self.seeds[-1], cap) == inf else alive[0]

    def _walk(self, runs: Runs) -> tuple[list[Wanted], list[int], int]:
        """Return the runs that come next, the settings that are left, and the cap of their rung."""
        alive, cap, rung = list(range(self.settings)), self.start, 0
        while rung < len(self.seeds):
            seeds = self.seeds[rung]
            every = [Wanted(i, j, cap) for i in alive for j in range(seeds)]
            missing = Run(0.0, solved=False)
            if wanted := [each for each in every if runs.get(each[:2], missing).would_go_on(cap)]:
                return wanted, alive, cap
            # As many as the second rung keeps are enough to choose from; a larger cap only lets in costlier settings.
            sure = [i for i in alive if all(runs[i, j].within(cap) for j in range(seeds))]
            if rung == 0 and len(sure) < self.kept[:2][-1] and cap < self.max_cap:
                cap = min(self.max_cap, self.growth * cap)
                continue
            prices = {i: self._price(runs, i, seeds, cap) for i in alive}
            # Ties go to the setting listed first: the winner follows from the runs, not from their order.
            ranked = sorted(alive, key=lambda i: (prices[i], i))[: self.kept[rung]]
            alive = [i for i in ranked if prices[i] < inf] or ranked
            cap = min(self.max_cap, 2 * cap) if rung == 0 else cap
            rung += 1
        return [], alive, cap

    def _price(self, runs: Runs, setting: int, seeds: int, cap: int) -> float:
        """Return what a solution costs with restarts; infinite if no run solved within the cap."""
        tried = [runs[setting, j] for j in range(seeds)]
        solved = sum(run.within(cap) for run in tried)
        return sum(cap if run.final else min(run.cost, cap) for run in tried) / solved if solved else inf


def halving(settings: int, seeds: int, start: int, max_cap: int) -> Halving:
    """Rungs that multiply the seeds by about three and keep a quarter of the settings, until `seeds` are used.

    >>> halving(24, 7, 1024, 2**20).seeds, halving(24, 7, 1024, 2**20).kept, halving(5, 1, 8, 8).kept
    ((1, 3, 7), (6, 2, 1), (1,))
    """
    rungs = [1]
    while rungs[-1] < seeds:
        rungs.append(min(seeds, 3 * rungs[-1]))
    kept = [ceil(settings / 4 ** (i + 1)) for i in range(len(rungs))]
    return Halving(settings, tuple(rungs), (*kept[:-1], 1), start, max_cap)


def menu(options: Mapping[str, Sequence[Any]], settings: int, seed: int = 0) -> list[dict[str, Any]]:
    """Of all combinations of the listed options `settings` ones, or all if there are no more, in their order."""
    count = prod(len(values) for values in options.values())
    if not 1 <= count <= MOST or settings < 1:
        raise InputError(
            f"a menu has from 1 to {MOST:,} combinations and at least 1 setting, got {count:,}, {settings}"
        )
    drawn = np.random.default_rng(seed).permutation(count)[:settings]
    every = [dict(zip(options, values, strict=True)) for values in product(*options.values())]
    return [every[i] for i in sorted(drawn)]


def tune(
    cells: Mapping[Cell, Halving],
    task: Callable[[Cell, Wanted], Task],
    run: Callable[[Sequence[Task]], Results],
) -> dict[Cell, int | None]:
    """The setting that won in every cell; None where none of its last rung solved.

    `task(cell, wanted)` is the trial of a wanted run; `run` runs those of all cells that come next and returns how they
    ended (from a store, what it holds already is not run again). Cells do not depend on each other.
    """
    runs: dict[Cell, dict[tuple[int, int], Run]] = defaultdict(dict)
    while asked := [(cell, wanted) for cell, rungs in cells.items() for wanted in rungs.wanted(runs[cell])]:
        tasks = [task(cell, wanted) for cell, wanted in asked]
        ended = run(tasks)
        for (cell, wanted), trial in zip(asked, tasks, strict=True):
            runs[cell][wanted.setting, wanted.seed] = run_of(ended[trial.identity], wanted.cap)
    return {cell: rungs.winner(runs[cell]) for cell, rungs in cells.items()}


def run_of(outcome: Outcome, cap: int) -> Run:
    """What a tuning makes of a trial: one that neither solved nor spent its cap would not do better with more."""
    # What does not say what it spent is charged all that it was given: a silent crash must not look cheap.
    spent = cap if outcome.cost is None else float(outcome.cost)
    return Run(spent, outcome.status == "solved", outcome.status in ("wrong", *CRASHED, "refused"))
