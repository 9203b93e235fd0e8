"""The studies, by name: each a question, a grid of tasks, and the page that shows its rows.

Other packages add theirs under the entry point `hardness.studies`: a mapping from names to `Study`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from math import comb

from hardness.errors import unknown
from hardness.studies import rounding_games, sq_studies
from hardness.studies.contest import trial as contest
from hardness.studies.stress import trial as stress
from hardness.study.task import Task
from hardness.study.trial import Outcome, hidden_size, run_trial

WINDOW_TOLERANCE = 0.1
HONEST_TOLERANCE, HONEST_SAMPLES = 0.05, 448  # a mean of 448 samples has standard deviation 0.047
STRATEGIES = ("sign-batch",)  # those that scale; the cheapest of them at each (d, s) is the main curve
REFERENCE = "characters"  # costs N - 1 by construction: drawn, never judged
LARGEST = 8_000_000  # concepts
SGD_BUDGET = 800_000  # examples


@dataclass(frozen=True)
class Study:
    """A named grid. `tasks(quick)` lists it, `seconds(task)` predicts a trial, `guard` ends one, in seconds.

    `guest(quick, learner)` lists what a learner of the user's own, ``package.module:Class``, adds to the grid.
    `trial(task, root, guard)` runs one. `page` names, as module:function, what writes the page of a store into a
    folder and returns the verdict line; it is imported when a page is written.
    """

    name: str
    question: str
    tasks: Callable[[bool], list[Task]]
    seconds: Callable[[Task], float]
    guard: float = 120.0
    trial: Callable[[Task, int, float], Outcome] = run_trial
    page: str = "hardness.study.page.report:growth_page"
    guest: Callable[[bool, str], list[Task]] | None = None


def known() -> dict[str, Study]:
    """All studies by name: this package's, then those of the entry point `hardness.studies`."""
    found = dict(STUDIES)
    for point in entry_points(group="hardness.studies"):
        found |= point.load()
    return found


def get(name: str) -> Study:
    """The study called `name`. Raises `InputError` with a suggestion if there is none.

    >>> len(get("exponential-in-m").tasks(True))
    571
    """
    if name in STUDIES:
        return STUDIES[name]
    studies = known()
    if name not in studies:
        raise unknown("study", name, studies)
    return studies[name]


def cells(quick: bool) -> list[tuple[int, int]]:
    """The grid of theory 3.6 from two heads on: (d, s) with C(d-1, s) <= 8e6 and s <= d/2."""
    dims, sizes = ((16, 24, 32, 48), range(2, 6)) if quick else ((16, 24, 32, 48, 64), range(2, 7))
    return [(d, s) for s in sizes for d in dims if comb(d - 1, s) <= LARGEST and s <= d / 2]


def _exponential_in_m(quick: bool) -> list[Task]:
    tasks = []
    for d, s in cells(quick):
        params, limit = {"dim": d, "heads": s, "gadget": "diag"}, {"queries": 4 * comb(d - 1, s)}
        window = {"kind": "game", "oracle": "window", "tolerance": WINDOW_TOLERANCE}
        honest = {"kind": "game", "oracle": "sampled", "tolerance": HONEST_TOLERANCE, "samples": HONEST_SAMPLES}
        runs = 10 if quick else 20
        for strategy in STRATEGIES:
            tasks += [Task("parity", params, window | {"strategy": strategy}, limit, r) for r in range(runs)]
        tasks.append(Task("parity", params, window | {"strategy": REFERENCE}, limit, 0))
        tasks += [Task("parity", params, honest | {"strategy": REFERENCE}, limit, r) for r in range(20)]
        # Beyond these cells hardly a run learns within the budget.
        if s <= 4 or (s == 5 and d <= (32 if quick else 48)) or (s == 6 and d <= 24):
            sgd = {"kind": "learner", "learner": "sgd", "params": {}}
            runs = 5 if quick else 20 if s <= 4 else 10
            tasks += [Task("parity", params, sgd, {"samples": SGD_BUDGET}, r) for r in range(runs)]
    return tasks


def _seconds(task: Task) -> float:
    d, s = int(task.params["dim"]), hidden_size(task.params)
    if task.solver["kind"] == "learner":
        # Samples to success grow about threefold with s and with d^0.8(s-1) (theory 3.5).
        return 0.05 + min(float(task.budget["samples"]), 350 * 2.1**s * float((d / 16) ** (0.9 * s - 1.1))) / 3e5
    return 0.002 + comb(d - 1, s) / (7e6 if task.solver["strategy"] != REFERENCE else 2e7)


STUDIES = {
    "exponential-in-m": Study(
        name="exponential-in-m",
        question="Does the number of statistical queries needed to learn an m-head attention layer grow "
        "exponentially in m?",
        tasks=_exponential_in_m,
        seconds=_seconds,
    ),
    "who-wins": Study(
        name="who-wins",
        question="Which strategy, learner or attack solves which family at m heads?",
        tasks=contest.who_wins,
        seconds=contest.seconds,
        guard=300.0,
        page="hardness.studies.contest.page:write",
    ),
    "ladder": Study(
        name="ladder",
        question="A ladder of challenges, m = 2 to 64: what is each rung predicted to cost, and who solves it?",
        tasks=contest.ladder,
        seconds=contest.seconds,
        page="hardness.studies.contest.page:write",
    ),
    "stress": Study(
        name="stress",
        question="How many examples does each learner need on each family at m heads?",
        tasks=stress.tasks,
        seconds=stress.seconds,
        guard=180.0,
        page="hardness.studies.stress.page:write",
        guest=stress.guest,
    ),
    "query-frontier": Study(
        name="query-frontier",
        question="How many queries does each strategy need at each tolerance, and how far is that from the proven "
        "bound?",
        tasks=sq_studies.frontier_tasks,
        seconds=sq_studies.seconds,
        trial=sq_studies.trial,
        page="hardness.studies.sq_pages:frontier",
    ),
    "tolerance-in-m": Study(
        name="tolerance-in-m",
        question="What is the largest tolerance at which each strategy still identifies the hidden parity of m heads?",
        tasks=sq_studies.need_tasks,
        seconds=sq_studies.seconds,
        trial=sq_studies.trial,
        page="hardness.studies.sq_pages:need",
    ),
    "rounding-games": Study(
        name="rounding-games",
        question="How far from tight is the bound for rounded inner products? Games over all 5^n secrets.",
        tasks=rounding_games.tasks,
        seconds=sq_studies.seconds,
        guard=900.0,
        trial=sq_studies.trial,
        page="hardness.studies.rounding_games_page:write",
    ),
    "head-budget": Study(
        name="head-budget",
        question="How much hardness against statistical queries do m heads buy?",
        tasks=sq_studies.budget_tasks,
        seconds=sq_studies.seconds,
        trial=sq_studies.trial,
        page="hardness.studies.sq_pages:budget",
    ),
}
