"""Phase 7, ours: local search on all entries, from where phase 6 ended and, as a control, from a random start."""

from time import process_time

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner.base import Phase, judge
from learner.direct import attempt, examples_wanted, random_theta

Array = NDArray[np.float64]


def search(X: Array, Y: Array, theta: Array, test: tuple[Array, Array], name: str) -> tuple[MultiHeadAttention, Phase]:
    """The layer that variable projection reaches from Θ (m, d, d) on X and Y, and its `Phase`, judged on `test`."""
    began = process_time()
    end = attempt(X, Y, theta, heads=len(theta), iterations=200)
    layer = MultiHeadAttention(end.theta, end.w)
    error = judge(layer(test[0]), test[1])["relative_error"]
    seen = {"relative_error": error, "residual": end.residual, "evaluations": end.evaluations}
    return layer, Phase(name, "ok" if error < 1e-6 else "failed", diagnostics=seen, seconds=process_time() - began)


def polish(
    X: Array, Y: Array, layer: MultiHeadAttention, test: tuple[Array, Array], control: bool, rng: np.random.Generator
) -> tuple[MultiHeadAttention, list[Phase]]:
    """The better of `layer` and what the search from it reaches; the `control` is told, and never used."""
    m, d = layer.heads, layer.dim
    rows = rng.permutation(len(X))[: examples_wanted(m, X.shape[1], d)]
    X, Y = X[rows], Y[rows]
    start = random_theta(rng, m, d) if control else None
    polished, phase = search(X, Y, layer.theta, test, "polish")
    phases = [phase]
    if start is not None:
        phases.append(search(X, Y, start, test, "random-start control")[1])
    better = phase.diagnostics["relative_error"] < judge(layer(test[0]), test[1])["relative_error"]
    return (polished if better else layer), phases
