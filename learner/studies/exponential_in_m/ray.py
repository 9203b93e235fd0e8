"""The trials of one ray d = c m: games of strategies, elimination, learners on hidden sets and on random layers."""

from collections.abc import Iterator, Sequence
from math import comb

from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.evaluation.adapters import is_streamed
from hardness.families.parity import Parity
from learner.studies.exponential_in_m import plan, settings
from learner.studies.exponential_in_m.arms import ARMS, HARD, MILD, Problem

TUNED = "diagonal"  # the learner that the settings are of
LEAST, REACH = 2, 10**8  # c at least; sets at most
TOLERANCE = 0.1  # of the games
GAMES = {"sign-batch": REACH, "flat": 5000}  # strategies, and the sets up to which each is played
RUNS, RUNS_OF_OTHERS = 5, 3
STREAMED_CAP, FITTED_CAP = 500_000, 4096  # examples, of other learners that see each once and that fit once


def tasks(ratio: int, heads: Sequence[int], learners: Sequence[str]) -> list[Task]:
    """The trials along d = `ratio` m: games, elimination, and every learner on hidden sets and on random layers.

    Raises `InputError` for a ray without room for hidden sets, one that is too long, and what is no learner.

    >>> [task.solver["kind"] for task in tasks(4, [2], [])]
    ['game', 'game', 'elimination', 'elimination', 'elimination', 'elimination', 'elimination']
    """
    places = [(m, ratio * m) for m in sorted(set(heads))]
    _check(ratio, places)
    games = [_game(name, d, m) for name, most in GAMES.items() for m, d in places if comb(d - 1, m) <= most]
    learned = [
        task
        for learner in dict.fromkeys(learners)
        for arm in (HARD, MILD)
        for m, d in places
        for task in of_learner(learner, Problem(arm, d, m))
    ]
    return [*games, *eliminations(places), *learned]


def _check(ratio: int, places: Sequence[tuple[int, int]]) -> None:
    if ratio < LEAST:
        raise InputError(f"a ray d = C m has C >= {LEAST}, got {ratio}: fewer features leave nothing to hide")
    for m, d in places:
        Parity(dim=d, heads=m)
        if (count := comb(d - 1, m)) > REACH:
            reached = [m for m in range(2, m) if comb(ratio * m - 1, m) <= REACH]
            advice = f"give heads up to {reached[-1]} on this ray" if reached else "give a smaller C"
            raise InputError(
                f"{m} heads at dim {d} hide one of {count:.2g} sets, beyond the reach of {REACH:,}; {advice}"
            )


def _game(strategy: str, d: int, m: int) -> Task:
    solver = {"kind": "game", "strategy": strategy, "oracle": "window", "tolerance": TOLERANCE}
    return Task("parity", {"dim": d, "heads": m}, solver, {}, 0)


def eliminations(places: Sequence[tuple[int, int]]) -> Iterator[Task]:
    """Gaussian elimination, which is no gradient learner, at places (m, d)."""
    budget = {"from": 0.5, "factor": 1.05, "samples": 100}
    for m, d in places:
        solver = {"kind": "elimination", "series": "elimination"}
        yield from (Task("parity", {"dim": d, "heads": m}, solver, budget, run) for run in range(RUNS))


def of_learner(learner: str, problem: Problem) -> Iterator[Task]:
    """The runs of a learner on a cell: of `diagonal` with its tuned setting, of any other with its defaults."""
    if learner != TUNED:
        return with_defaults(learner, problem)
    setting, cap = settings.tuned(problem), settings.cap(problem)
    return plan.diagonal(problem, setting, cap, range(RUNS), {"series": "ray"})


def with_defaults(learner: str, problem: Problem) -> Iterator[Task]:
    """The runs of any learner, registered or ``package.module:Class``, with its defaults."""
    solver = {"kind": "learner", "learner": learner, "series": learner, "params": {}}
    budget = {"samples": STREAMED_CAP if is_streamed(learner) else FITTED_CAP}
    for run in range(RUNS_OF_OTHERS):
        yield Task(ARMS[problem.arm].family, problem.params, solver, budget, run)
