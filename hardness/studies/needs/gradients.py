"""The grid of `needs` for gradient learners: descents through an oracle, clipped gradients with noise, exact ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.adapters import make
from hardness.evaluation.solver import Solver
from hardness.families.concepts import ParityConcepts
from hardness.instance import Instance
from hardness.studies.needs.tasks import tolerance
from hardness.studies.trials import concepts_of

LEARNER = "diagonal"

# Descents through the oracle `null`: of every class the exponents that were tried, and the first one at which two of
# three seeds were found to learn in a trial of other seeds is the middle one.
RATES, SEEDS, STEPS = (0.03, 0.1), 3, 1500
MIDDLE = {
    (8, 2): 3.5,
    (8, 3): 4.5,
    (8, 4): 5.5,
    (10, 2): 4.0,
    (10, 3): 4.5,
    (10, 4): 6.0,
    (10, 5): 6.0,
    (12, 2): 4.0,
    (12, 3): 5.0,
    (12, 4): 6.5,
    (12, 5): 7.0,
    (12, 6): 8.0,
}
AROUND = (-1.0, -0.5, 0.0, 0.5)

# Adam with its customary means and one rate for all weights, from a start of scale 1
ADAM = {"start": 1.0, "output_rate": 1.0, "beta1": 0.9, "beta2": 0.999}
# Clipped gradients with noise κ: of every class heads, rate, start, batch and l1, the best of five to eight settings
# on four to eight other seeds, and log2 of the examples of its longest runs; the others take a half, a quarter, ...
KAPPA, CLIP, SUCCESS, RUNS = 4.0, 1.0, 0.9, 20
SETTINGS = {
    (8, 2): (16, 0.03, 2.0, 4096, 0.01),
    (12, 2): (4, 0.03, 2.0, 4096, 0.01),
    (16, 2): (4, 0.03, 2.0, 4096, 0.01),
    (8, 3): (8, 0.1, 2.0, 16384, 0.1),
    (10, 3): (8, 0.1, 1.0, 16384, 0.01),
    (12, 3): (4, 0.03, 2.0, 4096, 0.01),
    (8, 4): (8, 0.03, 1.0, 4096, 0.01),
    (10, 4): (8, 0.03, 1.0, 4096, 0.01),
}
LONGEST = {
    (8, 2): 20,
    (12, 2): 22,
    (16, 2): 23,
    (8, 3): 22,
    (10, 3): 23,
    (12, 3): 24,
    (8, 4): 22,
    (10, 4): 25,
}
HALVINGS = 3
CHUNK = 2**19  # examples made at a time
SEARCHES = 2000  # exhaustive searches of one class

# One linear equation a batch, with Gaussian noise of so many 1/B in every entry of its mean gradient.
BATCH, ATTACKED, NOISES, ATTACKS = 64, (20, 10), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 20


def tasks(quick: bool) -> list[Task]:
    """The trials of gradient learners; the quick ones are of the smallest classes."""
    parts = _descents(quick), _noisy(quick), _searches(quick), _batches(quick)
    return [task for part in parts for task in part]


def _params(d: int, s: int) -> dict[str, Any]:
    return {"dim": d, "heads": s, "gadget": "diag"}


def _descents(quick: bool) -> list[Task]:
    classes = {place: middle for place, middle in MIDDLE.items() if not quick or place[0] == 8}
    seeds = range(1 if quick else SEEDS)
    cells = [(place, tolerance(middle + away)) for place, middle in classes.items() for away in AROUND]
    return [_descent(place, tau, rate, seed) for place, tau in cells for rate in RATES for seed in seeds]


def _descent(place: tuple[int, int], tau: float, rate: float, seed: int) -> Task:
    options = {"learner": LEARNER, "params": {"rate": rate, "l1": 0.0}}
    solver = {"kind": "descent", "oracle": "null", "tolerance": tau, **options}
    return Task("parity", _params(*place), solver, {"steps": STEPS}, seed)


def _noisy(quick: bool) -> list[Task]:
    places = _noisy_places(quick)
    sizes = [
        (place, 2 ** (LONGEST[place] - halved))
        for place in places
        for halved in range(2 if quick else HALVINGS)
    ]
    runs = range(4 if quick else RUNS)
    return [
        Task("parity", _params(*place), _under_noise(place), {"samples": size}, run)
        for place, size in sizes
        for run in runs
    ]


def _under_noise(place: tuple[int, int]) -> dict[str, Any]:
    heads, rate, start, batch, l1 = SETTINGS[place]
    setting = {"heads": heads, "rate": rate, "start": start, "batch": batch, "l1": l1}
    return {"kind": "noisy", "learner": LEARNER, "params": {**setting, "clip": CLIP, "noise": KAPPA}}


def _noisy_places(quick: bool) -> list[tuple[int, int]]:
    return list(LONGEST)[:1] if quick else list(LONGEST)


def _searches(quick: bool) -> list[Task]:
    searches = {"searches": SEARCHES}
    return [
        Task("parity", _params(*place), {"kind": "one-bit"}, searches, 0) for place in _noisy_places(quick)
    ]


def _batches(quick: bool) -> list[Task]:
    solver = {"kind": "batches", "attack": "batch-gradient", "batch": BATCH}
    noises, runs = NOISES[:: 2 if quick else 1], range(2 if quick else ATTACKS)
    return [
        Task("parity", _params(*ATTACKED), solver | {"noise": noise}, {}, run)
        for noise in noises
        for run in runs
    ]


def descent(task: Task, root: int) -> Outcome:
    """Gradient descent by an oracle's answers; the cost is in queries."""
    from hardness.sq.descent import descend

    concepts, solver = concepts_of(task), task.solver
    assert isinstance(concepts, ParityConcepts)
    learner = _learner(task, task.seed(root, "start"))
    ended = descend(
        learner.descend,
        concepts,
        solver["oracle"],
        solver["tolerance"],
        seed=task.seed(root, "solver"),
        steps=int(task.budget["steps"]),
    )
    return Outcome(ended.status, ended.queries, {"steps": ended.steps, "error": round(ended.error or 0.0, 6)})


def noisy(task: Task, root: int) -> Outcome:
    """A learner sees a number of examples that was fixed beforehand, and then names the set that its function is
    closest to; the cost is in informative examples.

    >>> tried = Task("parity", {"dim": 5, "heads": 2}, {"learner": "diagonal", "params": {}}, {"samples": 9000}, 0)
    >>> noisy(tried, root=0).status
    'solved'
    """
    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), task.seed(root, "instance")
    )
    learner, sampling = _learner(task, task.seed(root, "solver")), task.seed(root, "examples")
    samples = int(task.budget["samples"])
    for start in range(0, samples, CHUNK):
        part = instance.informative(min(CHUNK, samples - start), sampling, start)
        learner.partial_fit(part.X, part.Y)
    concepts = concepts_of(task)
    assert isinstance(concepts, ParityConcepts)
    hidden = sum(1 << int(j) - 1 for j in instance.secret["support"])
    right = named(learner.predict(sign_vectors(concepts.n))[:, 0, 0], concepts) == hidden
    return Outcome("solved" if right else "wrong", learner.work_["informative"])


def _learner(task: Task, seed: int) -> Any:
    """The learner that a task names, with its options."""
    return make(Solver("learner", task.solver["learner"], {**ADAM, **task.solver["params"]}), seed % 2**32)


def sign_vectors(n: int) -> NDArray[np.int8]:
    """Tokens (2^n, 2, n + 1) with z_0 != 0, the first all ones, so that v is the second: every v, by its word.

    >>> sign_vectors(2)[1].tolist()
    [[1, 1, 1], [-1, -1, 1]]
    """
    out = np.ones((2**n, 2, n + 1), np.int8)
    out[:, 1, 0] = -1
    out[:, 1, 1:] -= 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.int8)
    return out


def named(values: NDArray[np.float64], concepts: ParityConcepts) -> int:
    """The set, of the class, whose parity has the largest correlation in size with the values (2^n,) of a function.

    >>> named(np.array([0.1, -0.3, -0.2, 0.4]), ParityConcepts(2, 1))
    2
    """
    from hardness.kernels.walsh import walsh_hadamard  # compiled: `study list` does not wait for it

    spectrum, masks = values.copy(), concepts.masks()
    walsh_hadamard(spectrum)
    return int(masks[np.argmax(np.abs(spectrum[masks]))])


def search(task: Task, root: int) -> Outcome:
    """Exhaustive searches that keep one bit an example; the cost is the .9 quantile of their informative examples.

    `low` and `high` are order statistics that hold the quantile in 95 % of such trials.
    """
    from scipy.stats import binom

    from hardness.studies.needs.one_bit import exhaustive_search

    rng, tried = np.random.default_rng(task.seed(root, "solver")), int(task.budget["searches"])
    searches = [exhaustive_search(concepts_of(task).size, rng) for _ in range(tried)]
    # A search that names another set needs more than any number of examples.
    taken = sorted(ended.examples if ended.solved else 10**12 for ended in searches)
    low, high = (int(binom.ppf(tail, tried, SUCCESS)) for tail in (0.025, 0.975))
    detail = {"low": taken[low - 1], "high": taken[high], "right": sum(ended.solved for ended in searches)}
    return Outcome("solved", taken[int(np.ceil(SUCCESS * tried)) - 1], detail)


def batches(task: Task, root: int) -> Outcome:
    """One linear equation from each mean gradient, with noise of so many 1/B; the cost is in informative examples."""
    from hardness.attacks.batch_gradient import attack

    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), task.seed(root, "instance")
    )
    size = int(task.solver["batch"])
    ended = attack(instance, size, seed=task.seed(root, "solver"), noise=task.solver["noise"] / size)
    return Outcome(ended["status"], ended["examples"], {"batches": ended["batches"]})


TRIALS = {"descent": descent, "noisy": noisy, "one-bit": search, "batches": batches}


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    match task.solver["kind"]:
        case "descent":
            return float(4e-4 * task.budget["steps"] * 2.0 ** (task.params["dim"] - 12))
        case "noisy":
            return float(0.1 + 6e-8 * task.budget["samples"])
        case "one-bit":
            return 0.2
    return 0.1
