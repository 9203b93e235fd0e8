"""One trial of `switches`: a game, a student, an attack by chosen inputs, or one of four models under label noise."""

from math import comb

import numpy as np

from hardness import registry
from hardness.attacks.estimates.low_degree import low_degree_rows
from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import plain
from hardness.families.concepts import ParityConcepts
from hardness.instance import Instance
from hardness.sq.bounds.parity import krawtchouk
from hardness.studies.trials import online
from learner.studies.recorded import rounded
from learner.studies.switches import MOST_TRIES

SHOWN = 20_000  # examples an attack is handed
DRAWS = 4000  # data sets, planted and null, of which a low-degree statistic's shift is estimated


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A trial, by the kind of its solver."""
    match task.solver["kind"]:
        case "chain" | "biased":
            return _game(task, root)
        case "learner":
            return online(task, root, guard)
        case "membership":
            return _membership(task, root)
        case "sq":
            return _noisy_game(task, root)
        case "low degree":
            return _low_degree(task, root)
    return _attack(task, root)


def _game(task: Task, root: int) -> Outcome:
    from learner.studies.switches.games import play_biased, play_nested

    family = registry.get("family", task.family)(**task.params)
    n, solver, seed = family.dim - 1, task.solver, task.seed(root, "solver")
    if solver["kind"] == "chain":
        game = play_nested(n, family.blocks, solver["strategy"], solver["tolerance"], seed=seed)
    else:
        concepts = ParityConcepts(n, family.size)
        game = play_biased(concepts, solver["tolerance"], family.bias)
    detail = {"needed": game.needed, "suffice": game.suffice, "remaining": game.remaining}
    return Outcome(game.status, game.queries, rounded(detail))


def _membership(task: Task, root: int) -> Outcome:
    from hardness.attacks.membership import attack

    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), task.seed(root, "instance")
    )
    ended = attack(instance, task.seed(root, "solver"))
    kept = {name: ended.get(name) for name in ("predicted", "floor", "reason")}
    if ended.get("layer_error") is not None:  # to one digit: the rest is rounding
        kept["layer_error"] = float(f"{ended['layer_error']:.0e}")
    return Outcome(ended["status"], ended["queries"], {name: value for name, value in kept.items() if value})


def _noisy_game(task: Task, root: int) -> Outcome:
    from hardness.sq.game import play

    family = registry.get("family", task.family)(**task.params)
    game = play(
        family.concepts(),
        "sign-batch",
        "window",
        task.solver["tolerance"],
        seed=task.seed(root, "solver"),
        flip=family.flip,
    )
    return Outcome(game.status, game.queries, rounded({"needed": game.bound}))


def _low_degree(task: Task, root: int) -> Outcome:
    """Rows at which Σ y e_s(v), the best polynomial of degree s + 1, is one deviation off; and the shift at degree s.

    e_s(v), the sum of all products of s bits, depends on the number of minus signs alone, so a data set of M rows is a
    draw of counts.
    """
    family = registry.get("family", task.family)(**task.params)
    n, s, bias = family.dim - 1, family.size, 1 - 2 * family.flip
    rows = round(low_degree_rows(n, s, family.flip))
    rng = np.random.default_rng(task.seed(root, "solver"))
    law = np.zeros((n + 1, 2))  # of the number of minus signs and of the label's sign, + first
    for inside in range(s + 1):
        for outside in range(n - s + 1):
            sign = bias * (-1) ** inside
            mass = comb(s, inside) * comb(n - s, outside) / 2**n
            law[inside + outside] += mass * (1 + sign) / 2, mass * (1 - sign) / 2
    null = np.repeat(law.sum(axis=1)[:, None] / 2, 2, axis=1)
    shifts = {}
    for degree in (s, s - 1):
        values = np.outer(krawtchouk(n, degree), (1.0, -1.0)).ravel()
        planted, plain_ = (rng.multinomial(rows, p.ravel() / p.sum(), DRAWS) @ values for p in (law, null))
        shifts[degree] = float((planted.mean() - plain_.mean()) / plain_.std())
    detail = {"rows": rows, "shift": shifts[s], "shift at degree s": shifts[s - 1]}
    return Outcome("solved", float(f"{rows / shifts[s] ** 2:.4g}"), rounded(detail))


def _attack(task: Task, root: int) -> Outcome:
    """Elimination (pooled, for learning parity with noise) or the lattice attack on examples; the cost is tries."""
    name = {"elimination": "gaussian", "lattice": "lattice"}[task.solver["kind"]]
    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), task.seed(root, "instance")
    )
    stream = task.seed(root, "examples")
    data = instance.examples(SHOWN, stream)
    ended = registry.get("attack", name)(
        data.X, data.Y, instance.public(stream), budget=MOST_TRIES, seed=task.seed(root, "solver") % 2**32
    )
    status = ended.status
    if ended.secret is not None and ended.secret["support"] != instance.secret["support"].tolist():
        status = "wrong"
    detail = {name: ended.detail[name] for name in ("reason", "equations") if name in ended.detail}
    return Outcome(status, ended.detail.get("tries"), plain(detail))
