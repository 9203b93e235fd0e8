"""Phase 7, ours: local search on all entries, from where phase 6 ended and, as a control, from a random start."""

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from hardness.scores import relative_error
from learner.attempt import EXACT, attempt, examples_wanted, leaves_noise, random_theta
from learner.base import Phase
from learner.last_fit import drop_head

Array = NDArray[np.float64]
MORE, MOST_ROWS = 16, 20_000  # times the examples of the first try that the others see, and the most
SPARE = 2  # heads that the last try has beside those it was given


def search(
    X: Array, Y: Array, theta: Array, test: tuple[Array, Array], rng: np.random.Generator, name: str
) -> tuple[MultiHeadAttention, Phase]:
    """The layer that variable projection reaches from Θ (m, d, d), and its `Phase`, judged on `test`.

    If no layer fits the first examples exactly, labels are noisy, and more examples show where to go; or Θ is a trap,
    and spare heads, dropped again, lead out of it. That end counts only if it is exact, or leaves noise alone.
    """
    m, d = len(theta), X.shape[2]
    rows = examples_wanted(m, X.shape[1], d)
    more = max(rows, min(MORE * rows, MOST_ROWS))
    end = attempt(X[:rows], Y[:rows], theta, heads=m, iterations=200)
    for spare in (0, SPARE) if end.residual > EXACT else ():
        start = np.concatenate([theta, random_theta(rng, spare, d)])
        other = attempt(X[:more], Y[:more], start, heads=m, iterations=200)
        while len(other.theta) > m:
            fewer = drop_head(X[:more], Y[:more], other.theta)
            other = attempt(X[:more], Y[:more], fewer, heads=m, iterations=200)
        settles = other.residual <= EXACT or leaves_noise(X[:more], Y[:more], other.theta, rng)
        if settles or not spare:
            end = other
        if settles:
            break
    layer = MultiHeadAttention(end.theta, end.w)
    error = relative_error(layer(test[0]), test[1])
    seen = {"relative_error": error, "residual": end.residual, "evaluations": end.evaluations}
    return layer, Phase(name, "ok" if error < 1e-6 else "failed", diagnostics=seen)


def polish(
    X: Array, Y: Array, layer: MultiHeadAttention, test: tuple[Array, Array], rng: np.random.Generator
) -> tuple[MultiHeadAttention, list[Phase]]:
    """The better of `layer` and what the search from it reaches; the random start is told, and never used."""
    m, d = layer.heads, layer.dim
    order = rng.permutation(len(X))[: max(MOST_ROWS, examples_wanted(m, X.shape[1], d))]
    X, Y = X[order], Y[order]
    # Drawn first: the search from `layer` draws as often as it fails, and the control must not depend on that.
    start = random_theta(rng, m, d)
    polished, phase = search(X, Y, layer.theta, test, rng, "polish")
    control = search(X, Y, start, test, rng, "random-start control")[1]
    better = phase.diagnostics["relative_error"] < relative_error(layer(test[0]), test[1])
    return (polished if better else layer), [phase, control]
