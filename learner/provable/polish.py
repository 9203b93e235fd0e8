"""Phase 7, ours: local search on all entries, from where phase 6 ended and, as a control, from a random start."""

import numpy as np

from hardness.layer import MultiHeadAttention
from hardness.scores import relative_error
from learner.attempt import EXACT, attempt, examples_wanted, random_theta, relative_residual
from learner.base import SOLVED, Array, Phase

STARTS = 3  # random ones at most, where the phases have no layer to start from
MORE, MOST_ROWS = 4, 20_000  # times the examples of the first try that the second sees, and the most


def search(
    X: Array, Y: Array, theta: Array, test: tuple[Array, Array], name: str
) -> tuple[MultiHeadAttention, Phase]:
    """Return the layer that a local search from Θ (m, d, d) reaches, and a record, `name`, of its error on `test`.

    The search sees as few examples as should suffice. If it cannot fit them exactly, a second one from Θ sees more, and
    the end that fits these better is returned.
    """
    m, d = len(theta), X.shape[2]
    rows = examples_wanted(m, X.shape[1], d)
    more = max(rows, min(MORE * rows, MOST_ROWS))
    ends = [attempt(X[:rows], Y[:rows], theta, heads=m, iterations=200)]
    if ends[0].residual > EXACT:
        ends.append(attempt(X[:more], Y[:more], theta, heads=m, iterations=200))
    end = min(ends, key=lambda each: relative_residual(X[:more], Y[:more], each.theta, each.w))
    layer = MultiHeadAttention(end.theta, end.w)
    error = relative_error(layer(test[0]), test[1])
    return layer, Phase(name, "ok" if error < SOLVED else "failed", diagnostics={"relative_error": error})


def polish(
    X: Array,
    Y: Array,
    layer: MultiHeadAttention | None,
    heads: int,
    test: tuple[Array, Array],
    rng: np.random.Generator,
) -> tuple[MultiHeadAttention, list[Phase]]:
    """Return `layer` improved by local search, and the records of that search and of one from random Θ, its control.

    The better of `layer` and what the search from it reaches, judged on the examples `test`, is returned; what the
    random start of `heads` heads reaches only if `layer` is None.
    """
    d = X.shape[2]
    order = rng.permutation(len(X))[: max(MOST_ROWS, examples_wanted(heads, X.shape[1], d))]
    X, Y = X[order], Y[order]
    start = random_theta(rng, heads, d)
    if layer is None:
        for _ in range(STARTS):
            ending, phase = search(X, Y, start, test, "local search")
            if phase.verdict == "ok":
                break
            start = random_theta(rng, heads, d)
        return ending, [phase]
    polished, phase = search(X, Y, layer.theta, test, "polish")
    control = search(X, Y, start, test, "random-start control")[1]
    better = phase.diagnostics["relative_error"] < relative_error(layer(test[0]), test[1])
    return (polished if better else layer), [phase, control]
