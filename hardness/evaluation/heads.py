"""How well the heads that a learner found are those of the instance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention

RECOVERED = 0.01  # relative error of Θ and W up to which a head counts as recovered


def recovery(layer: MultiHeadAttention, true: MultiHeadAttention, tokens: int) -> dict[str, Any] | None:
    """Match heads up to order, and up to sign at two tokens; None of layers of different shapes.

    Returns `order`, the found head that stands for each true one, the `worst` relative error of a Θ or W, and how many
    heads are `recovered`, to 1 %. At two tokens (−Θ, −W) differs from (Θ, W) by a head that attends uniformly.

    >>> rng = np.random.default_rng(0)
    >>> theta, w = rng.normal(size=(2, 3, 4, 4))
    >>> recovery(MultiHeadAttention(theta[::-1], w[::-1]), MultiHeadAttention(theta, w), 2)
    {'recovered': 3, 'worst': 0.0, 'order': [2, 1, 0]}
    """
    from scipy.optimize import linear_sum_assignment

    if layer.theta.shape != true.theta.shape:
        return None
    signs = (1.0, -1.0) if tokens == 2 else (1.0,)
    errors = np.min(
        [
            np.maximum(_distances(true.theta, sign * layer.theta), _distances(true.w, sign * layer.w))
            for sign in signs
        ],
        axis=0,
    )
    rows, order = linear_sum_assignment(errors)
    matched = errors[rows, order]
    return {
        "recovered": int((matched <= RECOVERED).sum()),
        "worst": float(matched.max()),
        "order": order.tolist(),
    }


def _distances(true: NDArray[np.float64], layer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return |found_j − true_i|/|true_i| for all pairs of matrices, as (m, m)."""
    norms = np.linalg.norm(true, axis=(1, 2))
    apart = np.linalg.norm(true[:, None] - layer[None], axis=(2, 3))
    return np.asarray(apart / np.where(norms > 0, norms, 1.0)[:, None])
