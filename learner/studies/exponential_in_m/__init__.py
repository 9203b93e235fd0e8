"""The study `exponential-in-m`: what hidden sets cost along rays d = c m, beside controls, and three plans."""

from collections.abc import Iterator
from pathlib import Path

from hardness.engine.study import Ray, Study
from hardness.engine.task import Task
from learner.studies.exponential_in_m import plan, ray
from learner.studies.exponential_in_m.arms import CONTROLS, HARD, Problem, has_tent
from learner.studies.exponential_in_m.cells import RAYS
from learner.studies.exponential_in_m.settings import cap, predicted, tuned
from learner.studies.exponential_in_m.trial import trial

QUESTION = "How does the cost of learning grow with the number of heads when the dimension grows with it?"
RAY, HEADS, QUICK_HEADS = 4, range(2, 8), range(2, 6)  # d = 4m
RUNS = 5
GAPS, GAP_RUN = ((3, 12), (4, 16), (5, 15), (6, 18)), (16, 4)  # (s, d); (d, s)
STARTS = (1, 4, 8, 16)  # scales r
SMALL = ((2, 8), (3, 12))  # (s, d) for a learner of the user


def tasks(quick: bool) -> list[Task]:
    """Hidden sets and controls along d = 4m; on the full grid elimination too, on all rays."""
    places = [(m, RAY * m) for m in (QUICK_HEADS if quick else HEADS)]
    cells = [Problem(arm, d, m) for arm in (HARD, *CONTROLS) for m, d in places if has_tent(arm, m)]
    runs = [task for problem in cells for task in _runs(problem)]
    return runs if quick else [*runs, *_eliminations(), *_gaps()]


def _runs(problem: Problem) -> Iterator[Task]:
    return plan.diagonal(problem, tuned(problem), cap(problem), range(RUNS), {"series": "ray"})


def _eliminations() -> Iterator[Task]:
    """Gaussian elimination, which is no gradient learner."""
    return ray.eliminations(sorted({(s, c * s) for c, sizes in RAYS.items() for s in sizes}))


def _gaps() -> Iterator[Task]:
    """n_1 of random starts at every scale; and along one run of the learner, beside its error."""
    for s, d in GAPS:
        for start in STARTS:
            solver = {"kind": "gap", "series": "gap", "start": start}
            yield Task("parity", {"dim": d, "heads": s}, solver, {"starts": 5}, 0)
    problem = Problem(HARD, *GAP_RUN)
    yield from plan.diagonal(problem, tuned(problem), cap(problem), range(1), {"series": "gap", "gaps": True})


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """One more learner, registered or ``package.module:Class``, on small hidden sets."""
    places = SMALL[:1] if quick else SMALL
    return [task for s, d in places for task in ray.with_defaults(learner, Problem(HARD, d, s))]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    solver, d, s = task.solver, int(task.params["dim"]), int(task.params["heads"])
    if solver["kind"] in ("elimination", "gap", "game"):
        return 0.1 if d < 17 or solver["kind"] != "gap" else 4.0
    cap = float(task.budget["samples"])
    if solver["kind"] == "learner":
        return 0.2 + 1e-6 * cap
    expected = cap if "labels" in solver else predicted(Problem(solver["arm"], d, s))
    return 0.1 + 5e-7 * min(cap, expected)


STUDY = Study(
    "exponential-in-m",
    QUESTION,
    tasks,
    seconds,
    trial,
    guard=3600.0,
    role="answer",
    user_learner_tasks=user_learner_tasks,
    plan=plan.tasks,
    ray=Ray(
        ray.tasks, "learner.studies.exponential_in_m.ray_content:content", Path(__file__).with_name("ray.md")
    ),
    content="learner.studies.exponential_in_m.content:content",
    template=Path(__file__).with_name("page.md"),
    formerly={"wall": "examples that one student needs, then with one frozen setting"},
)
