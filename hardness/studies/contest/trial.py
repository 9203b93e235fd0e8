"""The contests: which strategy, learner or attack solves which family at m heads. Studies `who-wins` and `ladder`."""

import time
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.study.apart import Apart
from hardness.study.task import Task
from hardness.study.trial import LOST, Outcome, lost

ATTACKS = ("gaussian", "lattice", "search")
ATTACK_EXAMPLES, ATTACK_BUDGET = 40_000, {"gaussian": 2_000_000, "lattice": 6, "search": 2**30}
# Two starts: the second has spare heads, which is what it takes on nice layers; on hard ones each start is dear.
LEARNERS: dict[str, dict[str, Any]] = {
    "low-degree": {},
    "random-features": {},
    "direct": {"starts": 2, "iterations": 200},
    "provable": {},
}
FIT_EXAMPLES, JUDGED = 2000, 1000
SGD_EXAMPLES = 200_000
TOLERANCE, CONCEPTS = 0.1, 3_000_000  # of games, and up to how many concepts they are played
TAIL = 3.29  # error mass 1e-3 of head-limited rounding (theory 1.4)


def who_wins(quick: bool) -> list[Task]:
    """Families × solvers × m, negative controls included: random layers for attacks, a constant learner for all."""
    heads, runs = ((2, 4, 8), 1) if quick else ((2, 3, 4, 6, 8, 12), 3)
    entries: list[tuple[str, dict[str, Any]]] = []
    for m in heads:
        dim = max(17, 2 * m + 1)
        entries.append(("parity", {"dim": dim, "heads": m}))
        entries.append(("parity", {"dim": dim, "heads": m, "flip": 0.1}))
        entries.append(("rounding", rounding(m, 97, 2)))
        entries.append(("rounding", rounding(m, 97, 8)) if m >= 8 else ("nondegenerate", _random_layer(m)))
    return [task for run in range(runs) for family, params in entries for task in _field(family, params, run)]


def ladder(quick: bool) -> list[Task]:
    """A challenge at every m from 2 to 64, for both families: sparse noisy parity in d = 3m, and rounding p = 2."""
    heads = (2, 4, 8, 16) if quick else (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
    rungs: list[tuple[str, dict[str, Any]]] = []
    for m in heads:
        rungs.append(("parity", {"dim": max(16, 3 * m), "heads": m, "flip": 0.05}))
        rungs.append(("rounding", rounding(m, 97, 2)))
    names = {"attack", "sgd", "game", "control"}
    runs = range(1 if quick else 3)
    return [task for run in runs for family, params in rungs for task in _field(family, params, run, names)]


def rounding(heads: int, q: int, p: int) -> dict[str, Any]:
    """The largest dense instance that m heads hold at error mass 1e-3: n = 12 (m/(3.29 p))² dimensions (theory 1.4)."""
    n = max(4, round(12 * (heads / (TAIL * p)) ** 2))
    return {"dim": n + 1, "modulus": q, "levels": p, "heads": heads}


def _random_layer(m: int) -> dict[str, Any]:
    return {"dim": 8, "tokens": 2, "heads": m}


def _field(family: str, params: dict[str, Any], run: int, names: set[str] | None = None) -> list[Task]:
    """Every solver that takes part at one instance: games where an oracle exists, learners, attacks."""
    out = []

    def enter(kind: str, solver: dict[str, Any], budget: dict[str, Any]) -> None:
        if names is None or kind in names:
            out.append(Task(family, params, solver, budget, run))

    if family == "parity" and comb(params["dim"] - 1, params["heads"]) <= CONCEPTS:
        queries = {"queries": 4 * comb(params["dim"] - 1, params["heads"])}
        game = {"kind": "game", "oracle": "window", "tolerance": TOLERANCE, "strategy": "sign-batch"}
        enter("game", game, queries)
    if family != "nondegenerate":
        enter("sgd", {"kind": "learner", "learner": "sgd", "params": {}}, {"samples": SGD_EXAMPLES})
    for learner, options in LEARNERS.items():
        enter("fit", {"kind": "fit", "learner": learner, "params": options}, {"samples": FIT_EXAMPLES})
    control = {"kind": "fit", "learner": "hardness.study.clean:Constant", "params": {}}
    enter("control", control, {"samples": FIT_EXAMPLES})
    for attack in ATTACKS:
        budget = {"samples": ATTACK_EXAMPLES, "work": ATTACK_BUDGET[attack]}
        enter("attack", {"kind": "attack", "attack": attack}, budget)
    return out


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    solver, heads, dim = task.solver, int(task.params["heads"]), int(task.params["dim"])
    match solver["kind"], solver.get("learner"):
        case "fit", "direct":
            return 1 + heads * dim / 30
        case "fit", "random-features":
            return 3 + dim / 4
        case "attack", _:
            return 6.0 if solver["attack"] == "lattice" and task.family == "rounding" else 1.0
    return 2.0


class Ended(Exception):
    """An attack that ended other than solved; the text is its status and reason."""


class Attacker:
    """An attack as a learner: examples in, predictions of the secret it names out. It sees `public` and no more."""

    def __init__(self, attack: str, public: dict[str, Any], budget: int, random_state: int) -> None:
        self.attack, self.public, self.budget, self.seed = attack, public, budget, random_state

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Attacker":
        """Attack the examples X, Y (n, 2, d). Raises `Ended` unless it is solved."""
        from hardness import attacks

        try:
            outcome = attacks.get(self.attack)(X, Y, self.public, budget=self.budget, seed=self.seed)
        except InputError as error:
            raise Ended(f"refused: {error}") from error
        if outcome.secret is None:
            raise Ended(f"{outcome.status}: {outcome.detail.get('reason', '')}")
        self.secret = outcome.secret
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Noiseless labels (n, 2, d) under the secret found."""
        from hardness.attacks.equations import labels

        return labels(self.secret, self.public, X)


class Fitter:
    """A learner of the registry that fits once, told the heads, as an online learner that is shown one batch."""

    def __init__(self, learner: str, heads: int, options: dict[str, Any], random_state: int) -> None:
        from hardness import learning

        self.inner = learning.make(learning.get(learner), heads, random_state % 2**32)
        if options:
            self.inner.set_params(**options)

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Fitter":
        """Fit X, Y (n, k, d). Raises `Ended` if the learner's own report says that it refused."""
        fit = self.inner.fit if hasattr(self.inner, "fit") else self.inner.partial_fit
        try:
            fit(X, Y)
        except InputError as error:
            raise Ended(f"refused: {error}") from error
        report = getattr(self.inner, "report_", None)
        if getattr(report, "status", None) == "refused":
            raise Ended(f"refused: {getattr(report, 'reason', '')}")
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Its predictions (n, k, d)."""
        return np.asarray(self.inner.predict(X), dtype=np.float64)


def contest(task: Task, root: int, guard: float) -> Outcome:
    """A trial of kind `attack` or `fit`: the solver gets arrays in a process apart, and is judged on fresh inputs."""
    from hardness import families, learning
    from hardness.instance import Instance

    deadline = time.monotonic() + guard
    instance = Instance.generate(families.get(task.family)(**task.params), task.seed(root, "instance"))
    stream, count = task.seed(root, "examples"), int(task.budget["samples"])
    train = instance.examples(count, stream)
    fresh = instance.examples(JUDGED, stream, start=count).X
    solver = task.solver
    if solver["kind"] == "attack":
        name = "hardness.studies.contest.trial:Attacker"
        params = {"attack": solver["attack"], "public": instance.public(stream), "budget": int(task.budget["work"])}
    else:
        name = "hardness.studies.contest.trial:Fitter"
        params = {"learner": solver["learner"], "heads": instance.heads, "options": solver["params"]}
    source = None
    try:
        with Apart(name, params, task.seed(root, "solver"), deadline) as player:
            source = player.source
            player.partial_fit(train.X, train.Y)
            scores = learning.judge(instance, fresh, player.predict(fresh))
    except LOST as error:
        return lost(error, count, guard, source)
    shown = {name: round(value, 6) for name, value in scores.items() if value is not None}
    return Outcome("solved" if learning.solved(scores) else "wrong", count, shown, source=source)
