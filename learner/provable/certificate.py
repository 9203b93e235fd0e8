"""The certificate of heads: a ball around a layer that holds at most one layer that fits the examples.

Newton's and Kantorovich's argument for F(X; u) = Y, more equations than unknowns (learner 1.14). Steps are measured
relative to the layer, |Δ|² = Σᵢ |ΔΘᵢ|²/|Θᵢ|² + |ΔWᵢ|²/|Wᵢ|². With ρ the norm of the residual, σ the least singular
value of the Jacobian and L a Lipschitz bound of it, a layer within R = σ/L that fits lies within
r = (σ − √(σ² − 2Lρ))/L, and there is no second one. Nothing says that the true layer lies within R.
"""

from dataclasses import dataclass

import numpy as np

from hardness.layer import MultiHeadAttention
from learner.attempt import examples_wanted
from learner.base import Array
from learner.varpro import attend, blocks

UNIT = float(np.finfo(np.float64).eps)  # twice the rounding of one operation: what is left pays for the sums
REACH = 0.1  # the Lipschitz bound is computed for balls up to this radius
MOST_UNKNOWNS = 8000  # whose matrix, 512 MB, is factored twice


@dataclass(frozen=True)
class Ball:
    """Holds relative radii around a layer: at most one layer within `outer` fits the examples, and it is in `inner`."""

    inner: float
    outer: float


def ball(X: Array, Y: Array, layer: MultiHeadAttention) -> Ball | None:
    """Return two radii, relative to `layer`, within which only one layer can fit X and Y, or None without a proof.

    The only layer within `outer` that can fit X and Y (n, k, d) lies within `inner`. Labels with noise prove nothing.
    """
    m, d = layer.heads, layer.dim
    if 2 * m * d * d > MOST_UNKNOWNS:
        return None
    count = examples_wanted(m, X.shape[1], d)
    X, Y = X[:count], Y[:count]
    residual = float(np.linalg.norm(Y - layer(X)) + 2 * rounding(X, layer)) * (1 + X.size * UNIT)
    sigma, lipschitz = least_singular(X, layer), lipschitz_bound(X, layer)
    room = sigma**2 - 2 * lipschitz * residual
    if sigma <= 0 or room <= 0:
        return None
    # (σ − √(σ² − 2Lρ))/L without cancellation.
    inner = 2 * residual / (sigma + room**0.5) * (1 + 8 * UNIT)
    outer = min(sigma / lipschitz, REACH)
    return Ball(inner, outer) if inner < outer else None


def least_singular(X: Array, layer: MultiHeadAttention) -> float:
    """Return a proved lower bound (0 if none) of the least singular value of the outputs' derivative by Θ and W on X.

    X is (n, k, d). The entries of every Θᵢ and Wᵢ are measured in units of that matrix's norm.
    """
    from scipy.linalg import cho_factor, cho_solve

    A = normal_matrix(X, layer)
    size = len(A)
    # What forming JᵀJ and factoring it may have rounded away (Higham 2002, theorem 10.3), and something to spare.
    slack = 4 * (X.size + size) * UNIT * float(A.trace())
    try:
        factor = cho_factor(A, lower=True, check_finite=False)
        v = np.ones(size) / size**0.5
        for _ in range(20):
            v = cho_solve(factor, v, check_finite=False)
            value = 1 / float(np.linalg.norm(v))
            v *= value
        del factor
        A.flat[:: size + 1] -= 0.5 * value
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return 0.0
    return float(max(0.5 * value - slack, 0.0) ** 0.5)


def normal_matrix(X: Array, layer: MultiHeadAttention) -> Array:
    """Return JᵀJ (2md², 2md²), J the outputs' derivative on X by Θ and W, every Θᵢ and Wᵢ in units of its own norm."""
    m, d = layer.heads, layer.dim
    P, Z = attend(X, layer.theta)
    A, C = blocks(X, P, Z, layer.w)
    half = m * d * d
    full = np.empty((2 * half, 2 * half))
    full[:half, :half] = A.reshape(half, half)
    full[half:, :half] = C.reshape(half, half)
    full[:half, half:] = C.reshape(half, half).T
    full[half:, half:] = np.kron(Z.T @ Z, np.eye(d))
    unit = np.concatenate([np.linalg.norm(part.reshape(m, -1), axis=1) for part in (layer.theta, layer.w)])
    scale = np.repeat(unit, d * d)
    full *= scale[:, None]
    full *= scale
    return full


def lipschitz_bound(X: Array, layer: MultiHeadAttention) -> float:
    """Return a bound of the norm of the outputs' second derivative by Θ and W on X (n, k, d), near `layer`.

    It maps two changes of the Θᵢ and Wᵢ, in units of these matrices' norms (Frobenius), to one of all outputs
    (Euclidean). The bound holds wherever Θ and W are within a relative distance of .1 of the layer (learner 1.14).
    """
    k, d = X.shape[1:]
    centred = X - X.mean(axis=1, keepdims=True)
    width = np.linalg.norm(centred, 2, axis=(1, 2))
    longest = np.linalg.norm(X, axis=2).max(axis=1)
    pairs = np.stack([X[:, b] - X[:, c] for b in range(k) for c in range(b)], axis=1)
    diameters = np.linalg.norm(np.einsum("npl,ilc->nipc", pairs, layer.w, optimize=True), axis=3).max(axis=2)
    theta, w = (np.linalg.norm(part, axis=(1, 2)) for part in (layer.theta, layer.w))
    diameters = diameters + REACH * w * np.linalg.norm(pairs, axis=2).max(axis=1)[:, None]
    # Λ is the largest Σ over rows of |s|² for |ΔΘᵢ| = 1.
    table = (X[:, :, None, :, None] * centred[:, None, :, None, :]).reshape(-1, d * d)
    largest = float(np.linalg.eigvalsh(table.T @ table)[-1]) ** 0.5
    of_scores = 0.5 * float(((diameters * (longest * width)[:, None]).max(axis=0) * theta**2).max())
    of_both = float((width.max() * theta * w).max())
    rounded = 1 + 4 * len(table) * d * UNIT
    return float((of_scores + of_both) * largest * rounded)


def rounding(X: Array, layer: MultiHeadAttention) -> float:
    """Return a bound of the Euclidean norm of all rounding errors together in the outputs of `layer` on X (n, k, d)."""
    n, k, d = X.shape
    token = float(np.abs(X).max())
    scores = 2 * d * UNIT * token**2 * np.abs(layer.theta).sum(axis=(1, 2))
    # A pattern errs by twice what its scores do, and each sum by a unit a term.
    part = (4 * scores + (2 * d + k + 16) * UNIT) * np.linalg.norm(np.abs(layer.w).sum(axis=1), axis=1)
    return float(part.sum() * token * (n * k) ** 0.5)
