"""The tuned settings of the learner `diagonal`: `python -m learner.studies.exponential_in_m` measures them.

Hidden sets and controls have the same menu, the same protocol and seeds on which nothing else is measured. The rows are
`tuning.csv` beside this file, and the settings follow from them. A cell that is not tuned takes the setting of the
nearest one that is.
"""

import csv
from collections import defaultdict
from functools import cache
from math import comb, log
from pathlib import Path
from typing import Any

from hardness.engine.task import Task
from hardness.engine.tuning import APART, Halving, Run, Wanted, latest
from learner.studies.exponential_in_m import plan
from learner.studies.exponential_in_m.arms import ARMS, CONTROLS, HARD, OPTIONS, Problem

ROWS = Path(__file__).with_name("tuning.csv")
# Chosen by a pilot of 150 settings, most of them drawn from rates of .003 to .3, batches of 4 to 1024, l1 of 0 to .3
# and starts of 1 to 16, on eleven cells and one or two seeds: what won there, what is near it, and a few far from it.
# Batches of 4 won nowhere. The last four were added for all cells after 24, where edges of batch, rate or l1 had won.
MENU = (
    (0.003, 16, 0.003, 16),
    (0.01, 16, 0.003, 16),
    (0.01, 16, 0.03, 16),
    (0.03, 16, 0.01, 16),
    (0.03, 16, 0.1, 16),
    (0.03, 16, 0.03, 8),
    (0.03, 16, 0.06, 8),
    (0.01, 16, 0.01, 4),
    (0.01, 64, 0.01, 4),
    (0.03, 16, 0.03, 4),
    (0.03, 64, 0.003, 4),
    (0.03, 64, 0.01, 4),
    (0.03, 256, 0.03, 4),
    (0.1, 16, 0.1, 4),
    (0.1, 16, 0.3, 4),
    (0.3, 64, 0.3, 4),
    (0.01, 16, 0.03, 1),
    (0.01, 64, 0.01, 1),
    (0.03, 64, 0.01, 1),
    (0.03, 64, 0.03, 1),
    (0.03, 256, 0.01, 1),
    (0.1, 16, 0.03, 1),
    (0.1, 64, 0.1, 1),
    (0.3, 64, 0.3, 1),
    (0.1, 16, 1.0, 4),
    (0.3, 64, 1.0, 4),
    (0.6, 64, 0.3, 4),
    (0.03, 8, 0.03, 4),
)
SEEDS, KEPT = (1, 3, 5), (6, 2, 1)  # of each setting at first, of the best six, of the best two
LEAST, GROWTH, RISES = 2000, 4, 2  # the first cap at least; what it is multiplied by, and how often at most
PREDICTED = 100.0  # examples, times N/d: what the pilot says of hidden sets
TUNED_TO = 2_100_000  # predicted examples up to which hidden sets are tuned
CAPS, ALWAYS, LEAST_CAPS = 30, 50_000_000, 4  # see `cap`
COSTLY = 400_000  # sets of the tuned cells from which larger ones take their settings
ROOT = 0  # root seed of the tuning runs


def predicted(problem: Problem) -> float:
    """Examples that the pilot predicts: in proportion to N/d for hidden sets, to d for controls."""
    d, s = problem.d, problem.s
    return 200.0 * d if problem.arm in CONTROLS else max(1000.0, PREDICTED * comb(d - 1, s) / d)


def cap(problem: Problem) -> int:
    """Where a run ends that does not solve: 30 times what is predicted, but no more than 5e7 or 4 times that."""
    expected = predicted(problem)
    return round(min(CAPS * expected, max(ALWAYS, LEAST_CAPS * expected)))


def halving(problem: Problem) -> Halving:
    """The protocol: the first cap is half of what is predicted, and rises fourfold as long as few settings solve."""
    start = max(LEAST, round(predicted(problem) / 2))
    return Halving(len(MENU), SEEDS, KEPT, start, start * GROWTH**RISES, GROWTH)


def menu(arm: str) -> list[dict[str, Any]]:
    """The settings that are tried on an arm, as options of the learner.

    >>> len(MENU), menu("hidden set")[0]
    (28, {'rate': 0.003, 'batch': 16, 'l1': 0.003, 'start': 16})
    """
    factor = ARMS[arm].rate
    return [dict(zip(OPTIONS, (factor * rate, *rest), strict=True)) for rate, *rest in MENU]


def wanted(problem: Problem, run: Wanted) -> Task:
    """The task of a run of the tuning."""
    seeds = range(APART + run.seed, APART + run.seed + 1)
    return next(plan.diagonal(problem, menu(problem.arm)[run.setting], run.cap, seeds, {}))


@cache
def rows() -> dict[Problem, list[tuple[int, int, Run]]]:
    """The runs of the tuning: setting, seed and what each came to, by cell."""
    runs = defaultdict(list)
    with ROWS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            run = Run(int(row["cost"]), row["status"] == "solved", row["status"] == "wrong")
            problem = Problem(row["arm"], int(row["d"]), int(row["s"]))
            runs[problem].append((int(row["setting"]), int(row["seed"]), run))
    return dict(runs)


@cache
def winners() -> dict[Problem, dict[str, Any]]:
    """The cheapest setting of every tuned cell, by the rows; a cell that no setting solved is not among them."""
    won = {problem: halving(problem).winner(latest(runs)) for problem, runs in rows().items()}
    return {problem: menu(problem.arm)[index] for problem, index in won.items() if index is not None}


def tuned(problem: Problem) -> dict[str, Any]:
    """The setting of a cell: its own, or that of the nearest tuned cell of its arm."""
    return winners()[tuned_at(problem)]


def tuned_at(problem: Problem) -> Problem:
    """The tuned cell whose setting a cell takes: itself, or the nearest of its arm, in s first and then in log d.

    Hidden sets that are not tuned look among the costliest that are: a large problem needs a large batch.
    """
    if problem in winners():
        return problem
    near = [other for other in winners() if other.arm == problem.arm]
    if problem.arm == HARD:
        near = [other for other in near if comb(other.d - 1, other.s) >= COSTLY]
    return min(near, key=lambda other: (abs(other.s - problem.s), abs(log(other.d / problem.d)), other))


FLOOR = 1024  # examples that the learner reads before its first step: no median is smaller
# Figures of the page's sentences that no row of it gives.
WIDTHS = 16, 64  # heads of the learner
SCALES = 2, 6  # standard deviation of the entries of random layers, times √d
ONE_BIT = {"success": 0.9, "examples": 0.467}  # theory 2.10: one bit an example, N large
LOOKUP = 4.6  # examples a cell of a lookup table until its error is .1: half of all rows inform, 2.3 = ln 10
FLOATS = 32  # bits of the numbers of a gradient
AFTER = {"s": 8, "d": 32, "batch": 1024}  # the pilot run after the plan
FARTHEST = {"s": 4, "d": 96}  # the cell that is farthest from the laws
DENSE_D, DENSE_S = (12, 24), (2, 6)  # of the first two plans
# Of the law that the second plan printed, and of the next bit, eight runs of a setting that the plans' menus lacked.
WITHDRAWN = {"power": 4.42, "s": 7, "d": 15, "millions": (11, 60), "predicted": 10, "interval": (5, 18)}
FITTED_N = 100, 20_000  # of the cells to which the third plan fits its laws
