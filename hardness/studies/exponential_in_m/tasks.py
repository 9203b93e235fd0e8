"""The grid of `exponential-in-m`: games that check, a student on hard and nice layers, controls, a break."""

from math import comb

from hardness.engine.task import Task
from hardness.studies.wall import tasks as wall

QUESTION = "Does the cost of learning an m-head attention layer grow exponentially in the number of heads m?"

PLANE = [(d, m) for m in (2, 3, 4) for d in (8, 12, 16, 20)] + [(d, m) for m in (5, 6) for d in (8, 12)]
TOLERANCE = 0.1  # of statistical queries, everywhere on the page
CHECKED = ((16, 2), (16, 3), (16, 4), (24, 5), (32, 5), (48, 5), (64, 5))  # (d, m) of the games that are played
PRODUCTS_CAP, PRODUCTS_RUNS = 800_000, 5  # examples and runs of the network that is handed the products
RAY = [(4 * m, m) for m in (2, 3, 4, 6, 8, 12, 16)]  # where elimination is shown beyond the student's plane
ELIMINATION_RUNS, ELIMINATION_SIZES = 5, {"from": 0.5, "factor": 1.02, "samples": 100}
CONTROL_CAP, CONTROL_RUNS = 1_000_000, 6  # random labels, all together
ROUNDING = [(5, 4), (8, 5)]


def tasks(quick: bool) -> list[Task]:
    """Everything the page measures or checks; `quick` leaves m = 2 and 3 at d = 12 and 16, two runs each."""
    found = [*games(), *student(wall.STUDENT), *rounding(), *products(), *elimination(), *controls()]
    return [task for task in found if not quick or _small(task)]


def _small(task: Task) -> bool:
    return int(task.params["heads"]) <= 3 and int(task.params["dim"]) in (12, 16) and task.repetition < 2


def student(learner: str) -> list[Task]:
    """A learner on hard and on nice layers."""
    cells = [make(cell) for make in (wall.parity, wall.nice) for cell in PLANE]
    return wall.runs(cells, wall.SMALL_RUNS, wall.SMALL_CAP, learner)


def games() -> list[Task]:
    """Sign batches against the greedy window, one game a cell: what they pay is known in closed form."""
    solver = {"kind": "game", "oracle": "window", "tolerance": TOLERANCE, "strategy": "sign-batch"}
    return [Task("parity", {"dim": d, "heads": m}, solver, {"queries": 4 * comb(d - 1, m)}, 0) for d, m in CHECKED]


def rounding() -> list[Task]:
    """The student on rounded inner products of the smallest sizes."""
    return wall.runs(map(wall.rounding, ROUNDING), wall.SMALL_RUNS, wall.SMALL_CAP)


def products() -> list[Task]:
    """The best case, labelled so: a network handed the products x_1j x_2j, in which a parity is one character."""
    solver = {"kind": "learner", "learner": "sgd", "params": {}}
    return [
        Task("parity", {"dim": d, "heads": m}, solver, {"samples": PRODUCTS_CAP}, run)
        for d, m in PLANE
        for run in range(PRODUCTS_RUNS)
    ]


def elimination() -> list[Task]:
    """Gaussian elimination on noiseless parities: the control of known polynomial cost, and the break."""
    return [
        Task("parity", {"dim": d, "heads": m}, {"kind": "elimination"}, ELIMINATION_SIZES, run)
        for d, m in dict.fromkeys([*PLANE, *RAY])
        for run in range(ELIMINATION_RUNS)
    ]


def controls() -> list[Task]:
    """The student on labels with an independent sign an example: nothing can be learned."""
    places = [wall.parity((16, m)) for m in (2, 3)]
    return wall.runs(places, CONTROL_RUNS // len(places), CONTROL_CAP, labels="independent")


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """A learner of the user's own on the student's plane."""
    return [task for task in student(learner) if not quick or _small(task)]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    d, m = int(task.params["dim"]), int(task.params["heads"])
    match task.solver["kind"]:
        case "game":
            return 0.1 + comb(d - 1, m) / 7e5
        case "learner":
            return 0.5 + 350 * 2.1**m * float((d / 16) ** (0.9 * m - 1.1)) / 1e5
        case "elimination":
            return 0.05
    return wall.seconds(task)
