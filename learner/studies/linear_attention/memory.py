"""An associative memory in linear attention, and what its data leave open."""

from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import plain
from learner.base import Array
from learner.linear.certificate import Span
from learner.linear.features import attention, features, parameters, weights
from learner.linear.regressor import LinearAttention
from learner.studies.linear_attention import FRESH, MEMORY_NOISE, MEMORY_STEPS, SIZE
from learner.studies.linear_attention.heads import adam_heads
from learner.studies.recorded import TINY, measured


def memory_data(count: int, unitary: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Draw tokens [key; value], the last [query; noise] (count, 5, 8), the value asked for, and the head's p.

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


def trial(task: Task, root: int) -> Outcome:
    """Learn the memory; return distances |p − p*| from the true head, and errors on Gaussian inputs.

    >>> task = Task("associative-memory", {"size": 4}, {"method": "regression", "unitary": 1.0}, {"samples": 2000}, 0)
    >>> detail = trial(task, 0).detail
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
