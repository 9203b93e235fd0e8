"""How far a learned layer is from the truth, parameter by parameter: heads have no order, so they are matched first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.layer import MultiHeadAttention


@dataclass(frozen=True)
class Matched:
    """Largest relative errors |Θ̂ − Θ| / |Θ| and |Ŵ − W| / |W| over heads, `order[i]` being the learned head of i."""

    theta: float
    w: float
    order: tuple[int, ...]


def matched(learned: MultiHeadAttention, truth: MultiHeadAttention) -> Matched:
    """The errors of `learned` after the permutation of heads that makes its Θ nearest to those of `truth`.

    Raises `InputError` if the layers have different heads or dimensions: then there is nothing to match.

    >>> rng = np.random.default_rng(0)
    >>> layer = MultiHeadAttention(*rng.normal(size=(2, 3, 4, 4)))
    >>> matched(MultiHeadAttention(layer.theta[[2, 0, 1]], layer.w[[2, 0, 1]]), layer)
    Matched(theta=0.0, w=0.0, order=(1, 2, 0))
    """
    from scipy.optimize import linear_sum_assignment

    if learned.theta.shape != truth.theta.shape:
        raise InputError(f"layers of shapes {learned.theta.shape} and {truth.theta.shape} cannot be matched")
    m = truth.heads
    apart = np.linalg.norm((truth.theta[:, None] - learned.theta[None]).reshape(m, m, -1), axis=2)
    order = linear_sum_assignment(apart**2)[1]
    return Matched(
        _worst(learned.theta[order], truth.theta), _worst(learned.w[order], truth.w), tuple(int(i) for i in order)
    )


def _worst(found: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    axes = (1, 2)
    size = np.linalg.norm(true, axis=axes)
    return float((np.linalg.norm(found - true, axis=axes) / np.where(size > 0, size, 1.0)).max())
