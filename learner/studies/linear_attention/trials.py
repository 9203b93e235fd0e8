"""The trials of `linear-attention`, one per family of tasks."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.adapters import plain
from hardness.scores import EXACT
from learner.base import Array
from learner.linear.certificate import Span
from learner.linear.features import attention, features, parameters, weights
from learner.linear.regressor import LinearAttention
from learner.studies.linear_attention import AUTOMATA, HEAD, LENGTH, MACHINE, MEMORY, SIZE
from learner.studies.linear_attention.automata import execute, random_automata, steps
from learner.studies.linear_attention.heads import adam_heads
from learner.studies.linear_attention.machine import (
    ADDITION,
    BUSY_BEAVER,
    PALINDROME,
    Integers,
    Machine,
    interpret,
)
from learner.studies.recorded import TINY, measured

FRESH = 2000
EPOCHS, RATE, NOISE = 60, 0.01, 0.1  # of Adam on one head; of the standard deviation of the labels
MEMORY_STEPS, MEMORY_NOISE = 60 * 16_384, 0.01  # examples that Adam sees, repeated
UNSEEN, WORD = 200, 20  # automata, and letters of their words
MAX_STEPS = 200  # of a program


def prefixes(count: int, dim: int, rng: np.random.Generator) -> Array:
    """The first `count` prefixes of random sequences, (count, 100, dim), padded in front; the query is last.

    Tokens are standard normal over 100^(1/3): features are cubic, and so those of a whole sequence are of order one.
    Linear attention does not see the padding, as it is 0.
    """
    Z = rng.normal(size=(-(-count // LENGTH), LENGTH, dim)) / LENGTH ** (1 / 3)
    end, place = np.ogrid[:LENGTH, :LENGTH]
    at = place - (LENGTH - 1 - end)  # the token in a place of the prefix that ends at `end`
    return np.where(at[:, :, None] >= 0, Z[:, np.maximum(at, 0)], 0.0).reshape(-1, LENGTH, dim)[:count]


def head(task: Task, root: int) -> Outcome:
    """Relative squared error on fresh sequences of one random head, learned without and with noise on the labels.

    `solved` is a relative error of 1e-6 (squared, 1e-12) without noise.

    >>> outcome = head(Task("linear-attention", {"dim": 4}, {"method": "regression"}, {"samples": 80}, 0), 0)
    >>> outcome.status, outcome.detail["rank"], outcome.detail["certified"]
    ('solved', 40, 1.0)
    """
    d, n = int(task.params["dim"]), int(task.budget["samples"])
    rng = np.random.default_rng(task.shared().seed(root, "examples"))
    V, Q, fresh = rng.normal(size=(1, 1, d)), rng.normal(size=(1, d, d)), prefixes(FRESH, d, rng)
    truth, p = attention(V, Q, fresh), parameters(V, Q)
    X = prefixes(n, d, rng)
    clean = attention(V, Q, X)
    detail: dict[str, Any]
    if task.solver["method"] == "Adam":
        rng_adam = np.random.default_rng(task.seed(root, "solver"))
        v, q, _ = adam_heads(X, clean, int(task.solver["heads"]), rng_adam, epochs=EPOCHS, rate=RATE)
        errors = np.mean((attention(v, q, fresh) - truth) ** 2, axis=0) / truth.var()
        detail = {"distance": measured(float(np.linalg.norm(parameters(v, q) - p)), TINY)}
    else:
        Y = np.concatenate([clean, clean + NOISE * clean.std() * rng.normal(size=clean.shape)], axis=1)
        learner = LinearAttention(query=-1, random_state=0).fit(X, Y)
        errors = np.mean((learner.predict(fresh) - truth) ** 2, axis=0) / truth.var()
        certificate = learner.certificate(X)
        detail = {
            "noisy": measured(errors[1]),
            "distance": measured(float(np.linalg.norm(learner.p_[:1] - p)), TINY),
        }
        detail |= {
            "rank": certificate.rank,
            "lam_min": measured(certificate.lam_min),
            "identifiable": certificate.identifiable,
        }
        detail |= {"certified": learner.certify(fresh).mean()}
    detail["error"] = measured(errors[0], TINY**2)
    return Outcome("solved" if errors[0] <= EXACT.threshold**2 else "wrong", n, plain(detail))


def memory_data(count: int, unitary: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Tokens [key; value], the last [query; noise] (count, 5, 8), the value asked for, and the head's p.

    A share `unitary` of the examples has orthonormal keys and values; those of the others are standard normal.
    """
    parts = [rng.normal(size=(count, SIZE, SIZE)) for _ in range(2)]
    mixed = rng.random(count) < unitary
    keys, values = (np.where(mixed[:, None, None], np.linalg.qr(part)[0], part) for part in parts)
    asked = keys[np.arange(count), rng.integers(SIZE, size=count)]
    last = np.concatenate([asked, rng.normal(size=(count, SIZE))], axis=1)
    X = np.concatenate([np.concatenate([keys, values], axis=2), last[:, None]], axis=1)
    V, Q = np.zeros((1, SIZE, 2 * SIZE)), np.zeros((1, 2 * SIZE, 2 * SIZE))
    V[0, :, SIZE:], Q[0, :SIZE, :SIZE] = np.eye(SIZE), np.eye(SIZE)
    return X, attention(V, Q, X), parameters(V, Q)


def memory(task: Task, root: int) -> Outcome:
    """Distances |p − p*| of what is learned from the true head, and errors on Gaussian inputs.

    >>> task = Task("associative-memory", {"size": 4}, {"method": "regression", "unitary": 1.0}, {"samples": 2000}, 0)
    >>> detail = memory(task, 0).detail
    >>> detail["distance"] < 1e-10, detail["rank"], detail["other training"] < 1e-10, detail["other"] > 1
    (True, 248, True, True)
    """
    rng = np.random.default_rng(task.shared().seed(root, "examples"))
    rng_solver = np.random.default_rng(task.seed(root, "solver"))
    gaussian, truth, p = memory_data(FRESH, 0.0, rng)
    X, Y, _ = memory_data(int(task.budget["samples"]), float(task.solver["unitary"]), rng)

    def relative(predicted: Array, right: Array) -> float:
        return measured(float(np.mean((predicted - right) ** 2) / right.var()), TINY**2)

    def distance(estimate: Array) -> float:
        return measured(float(np.linalg.norm(estimate - p)), TINY)

    if task.solver["method"] == "Adam":
        V, Q, error = adam_heads(X, Y, int(task.solver["heads"]), rng_solver, epochs=MEMORY_STEPS // len(X))
        detail: dict[str, Any] = {
            "training": measured(error**2, TINY**2),
            "distance": distance(parameters(V, Q)),
            "gaussian": relative(attention(V, Q, gaussian), truth),
        }
        return Outcome("solved", len(X), plain(detail))
    noisy = Y + MEMORY_NOISE * rng_solver.normal(size=Y.shape)
    learner = LinearAttention(query=-1).fit(X, np.concatenate([Y, noisy], axis=1))
    certificate, scale, least = learner.certificate(X), weights(2 * SIZE), learner.p_[:SIZE]
    # What no example sees: directions orthogonal to the span of the (√2-weighted) features.
    basis = Span.of_features(features(X) * scale, Y).basis
    hidden = (p / scale) - (p / scale) @ basis @ basis.T
    detail = {
        "distance": distance(least),
        "noisy": distance(learner.p_[SIZE:]),
        "rank": certificate.rank,
        "lam_min": measured(certificate.lam_min),
        "certified": learner.certify(gaussian).mean(),
        "hidden": measured(float(np.linalg.norm(hidden) / np.linalg.norm(p / scale)), TINY),
    }
    if basis.shape[1] < len(basis):
        step = rng_solver.normal(size=p.shape)
        step -= step @ basis @ basis.T
        other = least + step * scale * np.linalg.norm(p) / np.linalg.norm(step * scale)
        detail |= {
            "other": distance(other),
            "other training": relative(features(X) @ other.T, Y),
            "other gaussian": relative(features(gaussian) @ other.T, truth),
        }
    return Outcome("solved", len(X), plain(detail))


def automata(task: Task, root: int) -> Outcome:
    """Learn from random transitions, then run 200 unseen automata on words of length 20; solved if all runs are right.

    >>> task = Task("automata", {"states": 2, "letters": 2}, {"method": "regression"}, {"samples": 100}, 0)
    >>> outcome = automata(task, 0)
    >>> outcome.status, outcome.detail["rank"], outcome.detail["certified"]
    ('solved', 20, 1.0)
    """
    Q, A, n = int(task.params["states"]), int(task.params["letters"]), int(task.budget["samples"])
    rng = np.random.default_rng(task.seed(root, "examples"))
    learner = LinearAttention(query=-1, random_state=0).fit(*steps(n, Q, A, rng))
    run = execute(learner, random_automata(UNSEEN, Q, A, rng), rng.integers(A, size=(UNSEEN, WORD)))
    detail = plain({"rank": learner.rank_, "steps": UNSEEN * WORD} | run)
    return Outcome("solved" if run["word_accuracy"] == 1 else "wrong", n, detail)


def jobs(machine: Machine, rng: np.random.Generator) -> list[tuple[str, Integers, list[int], int]]:
    """Name, program, tape and place of the head: the named programs that fit `machine`, and ten random ones."""
    listed: list[tuple[str, Integers, list[int], int]] = []
    for a, b in rng.integers(1, 8, size=(3, 2)):
        listed.append(("addition", machine.program(ADDITION), [1] * a + [0] + [1] * b + [0, 0], 0))
    if machine.states >= 4:
        listed.append(("busy beaver", machine.program(BUSY_BEAVER), [0] * 24, 12))
    if machine.states >= 6 and machine.symbols >= 3:
        for size in (4, 5, 6):
            half = rng.integers(1, 3, size=size).tolist()
            for word in (half + half[::-1], rng.integers(1, 3, size=2 * size).tolist()):
                listed.append(("palindrome", machine.program(PALINDROME), [0, *word, 0, 0], 1))
    for program in machine.random_programs(10, rng):
        listed.append(("random", program, rng.integers(machine.symbols, size=12).tolist(), 6))
    return listed


def programs(task: Task, root: int) -> Outcome:
    """Learn from random transitions, then run every job until it halts or a step is not certified.

    Solved if all end as a Turing machine ends. `blind` counts what ends so when nothing is certified.

    >>> task = Task("machine", {"states": 3, "symbols": 2}, {"method": "regression"}, {"samples": 3000}, 0)
    >>> outcome = programs(task, 0)
    >>> outcome.status, outcome.detail["rank"] == Machine(3, 2).span_rank
    ('solved', True)
    """
    machine, n = Machine(int(task.params["states"]), int(task.params["symbols"])), int(task.budget["samples"])
    rng = np.random.default_rng(task.seed(root, "examples"))
    learner = LinearAttention(query=-1, random_state=0).fit(*machine.steps(n, rng))
    counts: dict[str, dict[str, int]] = {}
    for name, program, tape, at in jobs(machine, rng):
        truth = interpret(program, tape, at, MAX_STEPS)
        run, blind = (
            machine.run(learner, program, tape, at, MAX_STEPS, trust=trust) for trust in (False, True)
        )
        count = counts.setdefault(
            name, dict.fromkeys(("jobs", "whole", "blind", "needed", "steps", "wrong"), 0)
        )
        count["jobs"] += 1
        count["whole"] += run == truth
        count["blind"] += blind == truth
        count["needed"] += len(truth[1]) - 1
        count["steps"] += len(run[1]) - 1
        count["wrong"] += sum(a != b for a, b in zip(run[1], truth[1], strict=False))
    whole = all(count["whole"] == count["jobs"] for count in counts.values())
    return Outcome("solved" if whole else "wrong", n, plain({"rank": learner.rank_, "programs": counts}))


TRIALS: Mapping[str, Callable[[Task, int], Outcome]] = {
    HEAD: head,
    MEMORY: memory,
    AUTOMATA: automata,
    MACHINE: programs,
}
