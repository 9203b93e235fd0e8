"""One random head of linear attention, learned by regression, or by Adam as a control."""

from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import plain
from hardness.scores import EXACT
from learner.adam import Adam
from learner.base import Array
from learner.linear.features import attention, parameters
from learner.linear.regressor import LinearAttention
from learner.studies.linear_attention import EPOCHS, FRESH, LENGTH, NOISE, RATE, REGRET
from learner.studies.recorded import TINY, measured

BATCH = 256  # examples of a step of Adam


def prefixes(count: int, dim: int, rng: np.random.Generator) -> Array:
    """Draw the first `count` prefixes of random sequences, (count, 100, dim), padded in front; the query is last.

    Tokens are standard normal over 100^(1/3): features are cubic, and so those of a whole sequence are of order one.
    Linear attention does not see the padding, as it is 0.
    """
    Z = rng.normal(size=(-(-count // LENGTH), LENGTH, dim)) / LENGTH ** (1 / 3)
    end, place = np.ogrid[:LENGTH, :LENGTH]
    at = place - (LENGTH - 1 - end)  # the token in a place of the prefix that ends at `end`
    return np.where(at[:, :, None] >= 0, Z[:, np.maximum(at, 0)], 0.0).reshape(-1, LENGTH, dim)[:count]


def trial(task: Task, root: int) -> Outcome:
    """Learn one random head without and with noise on the labels; return relative squared errors on fresh sequences.

    `solved` is a relative error of 1e-6 (squared, 1e-12) without noise. By method `agnostic` the labels are those of
    `agnostic_trial`.

    >>> outcome = trial(Task("linear-attention", {"dim": 4}, {"method": "regression"}, {"samples": 80}, 0), 0)
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
    if task.solver["method"] == "agnostic":
        direction = rng.normal(size=d)
        return agnostic_trial((X, clean), (fresh, truth), direction / np.linalg.norm(direction))
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


def agnostic_trial(seen: tuple[Array, Array], judged: tuple[Array, Array], direction: Array) -> Outcome:
    """Learn a head from labels of which an even function of the query makes half of the variance; return the regret.

    Linear attention is odd in its tokens and the law of the tokens is even, so that no linear attention, of any number
    of heads, has a covariance with that function. The head itself is the best one, and the regret is the mean square
    of how far the fit is from it. It is given over the variance of the labels. `seen` and `judged` are tokens
    (n, length, d) and the outputs of the head (n, 1).
    """
    (X, clean), (fresh, truth) = seen, judged
    scale = float(clean.std())
    learner = LinearAttention(query=-1, random_state=0).fit(X, clean + scale * even_part(X, direction))
    labels = truth + scale * even_part(fresh, direction)
    regret = float(np.mean((learner.predict(fresh) - truth) ** 2) / labels.var())
    least = float(np.mean((labels - truth) ** 2) / labels.var())
    status = "solved" if regret <= REGRET else "wrong"
    return Outcome(status, len(X), plain({"regret": measured(regret), "least": measured(least)}))


def even_part(X: Array, direction: Array) -> Array:
    """Return (⟨direction, query⟩² − its mean) over its standard deviation, (n, 1); the query is a normal last token.

    >>> X = prefixes(100_000, 2, np.random.default_rng(0))
    >>> values = even_part(X, np.array([0.6, 0.8]))
    >>> bool(abs(values.mean()) < 0.02), bool(abs(values.std() - 1) < 0.02)
    (True, True)
    """
    squares = (X[:, -1] @ direction) ** 2 * LENGTH ** (2 / 3)
    return np.asarray((squares - 1) / 2**0.5)[:, None]


def adam_heads(
    X: Array, Y: Array, heads: int, rng: np.random.Generator, *, epochs: int = 60, rate: float = 0.01
) -> tuple[Array, Array, float]:
    """Fit `heads` heads to Y (n, outputs) by Adam with a cosine schedule; return V, Q and the relative training error.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3, 2)); Y = (X[:, :, 0] ** 2).sum(axis=1, keepdims=True) * X[:, -1:, 1]
    >>> adam_heads(X, Y, 4, rng)[2] < 0.01
    True
    """
    n, dim = len(X), X.shape[2]
    S, q = X.transpose(0, 2, 1) @ X, X[:, -1]
    size, unit = (
        float(np.sqrt(np.mean(Y**2))) or 1.0,
        float(np.sqrt(np.mean(S**2) * np.mean(q**2))) * dim**1.5,
    )
    S, y = S / unit, Y / size
    weights = [rng.normal(size=(heads, y.shape[1], dim)) / dim, rng.normal(size=(heads, dim, dim)) / dim**0.5]
    adam = Adam(weights, epsilon=1e-12)
    total = epochs * (n // BATCH)
    for step in range(1, total + 1):
        if step % (n // BATCH) == 1:
            order = rng.permutation(n)
        part = order[(step - 1) % (n // BATCH) * BATCH :][:BATCH]
        V, Q = weights
        read = S[part] @ (q[part] @ Q.transpose(0, 2, 1))[..., None]  # (heads, batch, dim, 1)
        wrong = np.einsum("had,hnd->na", V, read[..., 0]) - y[part]
        back = S[part] @ (wrong @ V)[..., None]
        gradients = [np.einsum("na,hnd->had", wrong, read[..., 0]), back[..., 0].transpose(0, 2, 1) @ q[part]]
        pace = rate * 0.5 * (1 + np.cos(np.pi * step / total))
        adam.step([2 * gradient / BATCH for gradient in gradients], pace)
    V, Q = weights
    error = np.einsum("had,hnd->na", V, (S @ (q @ Q.transpose(0, 2, 1))[..., None])[..., 0]) - y
    return V * (size / unit), Q, float(np.sqrt(np.mean(error**2)))
