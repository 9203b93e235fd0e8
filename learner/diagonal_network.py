"""What the diagonal student computes on informative rows, in numpy: the reference of its compiled step, in float64.

On rows with z_0 != 0 heads with Θ_i = diag(θ_i) and W_i = c_i E_00 have the output x_a[0] f(u) in column 0, with

    f(u) = Σ_i c_i tanh(Σ_j θ_ij u_j),   u_j = |z_j|, u_0 = 1 (theory 1.1),

so that the entry θ_i0 at the gate is the threshold of head i. `weights` (d + 1, M) below hold θ_ij in row j and c in
the last one.

Steps are taken in other coordinates of the same function, in which bits are signs v_j = 1 - 2u_j: f = Σ_i c_i tanh(b_i
+ Σ_j t_ij v_j), t_ij = -θ_ij/2, b_i = θ_i0 + Σ_j θ_ij/2. They do not move the threshold of a head with every weight,
and a tuned student needs 2 to 7 times fewer examples in them than in θ.
"""

from typing import Any

import numpy as np

from learner.adam import EPSILON, NEW, NEW_SQUARE

OPTIMIZERS = ("adam", "momentum", "sign")
ACTIVATIONS = ("tanh", "relu")


def starting(rng: np.random.Generator, heads: int, dim: int, scale: float) -> Any:
    """Weights (d + 1, M) to start from: θ_ij ~ N(0, r²/d), θ_i0 = -Σ_j θ_ij/2 + N(0, r²/d), c ~ N(0, 1/(d M)).

    `scale` is r. The thresholds are centred at every r: a head is as often above its threshold as below.

    >>> weights = starting(np.random.default_rng(0), heads=16, dim=64, scale=4.0)
    >>> weights.shape, bool(abs(weights[1:64].std() - 4 / 64**0.5) < 0.05)
    ((65, 16), True)
    """
    weights = rng.standard_normal((dim + 1, heads)) * dim**-0.5
    weights[:dim] *= scale
    weights[0] -= weights[1:dim].sum(axis=0) / 2
    weights[dim] *= heads**-0.5
    return weights


def centred(weights: Any) -> Any:
    """The coordinates (d + 1, M) in which steps are taken: b_i in row 0, t_ij in row j, c in the last one."""
    moved = weights.copy()
    moved[1:-1] *= -0.5
    moved[0] -= moved[1:-1].sum(axis=0)
    return moved


def entries(moved: Any) -> Any:
    """The weights of coordinates in which steps are taken.

    >>> weights = starting(np.random.default_rng(0), heads=2, dim=3, scale=1.0)
    >>> bool(np.allclose(entries(centred(weights)), weights))
    True
    """
    weights = moved.copy()
    weights[0] += weights[1:-1].sum(axis=0)
    weights[1:-1] *= -2
    return weights


def by_centred(gradient: Any) -> Any:
    """Gradients (…, d + 1, M) by those coordinates, of those by weights."""
    moved = gradient.copy()
    moved[..., 1:-1, :] = gradient[..., :1, :] - 2 * gradient[..., 1:-1, :]
    return moved


def forward(weights: Any, u: Any, activation: str = "tanh") -> Any:
    """f (n,) of bits u (n, d) with u_0 = 1."""
    return activated(u @ weights[:-1], activation)[0] @ weights[-1]


def activated(h: Any, activation: str) -> tuple[Any, Any]:
    """The activation of h and its derivative."""
    if activation == "relu":
        return np.maximum(h, 0), (h > 0).astype(h.dtype)
    t = np.tanh(h)
    return t, 1 - t * t


def gradients(
    weights: Any, u: Any, y: Any, loss_zone: float = -1.0, activation: str = "tanh"
) -> tuple[Any, Any]:
    """Errors f - y (n,) and the gradients (n, d + 1, M) of the losses of single rows: bits u (n, d), labels y (n,).

    The loss of an error e is e²/2 for a zone below 0, else max(0, |e| - zone).
    """
    t, slope = activated(u @ weights[:-1], activation)
    errors = t @ weights[-1] - y
    pull = errors if loss_zone < 0 else np.sign(errors) * (abs(errors) > loss_zone)
    by_theta = u[:, :, None] * (pull[:, None] * weights[-1] * slope)[:, None]
    return errors, np.concatenate([by_theta, (pull[:, None] * t)[:, None]], axis=1)


def clipped(gradient: Any, bound: float) -> Any:
    """Gradients (n, d + 1, M) of single rows, those of a norm above `bound` shortened to it."""
    norms = np.sqrt((gradient**2).sum(axis=(1, 2), keepdims=True))
    return gradient * np.minimum(1, bound / np.maximum(norms, 1e-30))


def updated(weights: Any, gradient: Any, moments: Any, step: int, optimizer: str, rate: float) -> Any:
    """Centred weights after an update by a gradient; `moments`, two arrays like them, are changed in place."""
    first, second = moments
    if optimizer == "sign":
        return weights - rate * np.sign(gradient)
    if optimizer == "momentum":
        first += gradient - NEW * first
        return weights - rate * first
    first += NEW * (gradient - first)
    second += NEW_SQUARE * (gradient**2 - second)
    share, share_of_squares = 1 - (1 - NEW) ** step, 1 - (1 - NEW_SQUARE) ** step
    return weights - rate * (first / share) / (np.sqrt(second / share_of_squares) + EPSILON)


def thresholded(weights: Any, cut: float) -> Any:
    """The soft threshold on centred weights: every t_ij goes towards 0 by `cut`, and no further."""
    weights = weights.copy()
    weights[1:-1] -= np.clip(weights[1:-1], -cut, cut)
    return weights
