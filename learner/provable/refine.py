"""Phase 3: a better ΣWᵢ, from rows on which the hull predicts that all heads nearly agree."""

import numpy as np

from hardness.layer import softmax
from learner.base import Array
from learner.provable.sculpt import Hull, least, slices
from learner.varpro import attend


def agreement_rows(X: Array, Y: Array, hull: Hull) -> Array:
    """Return ΣWᵢ (d, d) by least squares on the output rows whose attention patterns vary least over `hull`.

    `hull` is an affine space that holds all Θᵢ: where patterns vary little over it, all heads attend alike. The fit is
    Y_a ≈ p_a X W, p_a the pattern of the hull's point of least norm.
    """
    h = np.concatenate([disagreement(X[part], hull) for part in slices(len(X))])
    best = least(h, max(20 * X.shape[2], 400))
    example, a = np.divmod(best, X.shape[1])
    x, y, h = X[example], Y[example, a], h[best]
    # An offset in the weight: rows of equal tokens have h = 0 and would outweigh all others.
    # It multiplies rows, so a squared error counts (h + …)^(−1/2): milder than 1/h, by which few rows would decide.
    weight = (h + 0.1 * h[-1] + 1e-300) ** -0.25
    Z = attend(x, hull.theta[None])[1].reshape(x.shape)[np.arange(len(x)), a]
    return np.asarray(np.linalg.lstsq(Z * weight[:, None], y * weight[:, None])[0], dtype=np.float64)


def disagreement(X: Array, hull: Hull) -> Array:
    """Return Σ_q |∂(p_a X)/∂c_q|², (n·k,): how far attended tokens p_a X move with Θ along the hull's directions q."""
    n, k, d = X.shape
    basis = np.concatenate([hull.theta[None], hull.directions])
    left = (X.reshape(n * k, d) @ basis.transpose(1, 0, 2).reshape(d, -1)).reshape(n, k * len(basis), d)
    S = (left @ X.transpose(0, 2, 1)).reshape(n, k, len(basis), k)
    P = softmax(S[:, :, 0])
    # |dp X|² = dp (X Xᵀ) dpᵀ, on k × k matrices: no attended token (n, k, d) is made for a direction.
    gram = X @ X.transpose(0, 2, 1)
    h = np.zeros((n, k))
    for q in range(1, len(basis)):
        dP = P * (S[:, :, q] - (P * S[:, :, q]).sum(axis=-1, keepdims=True))
        h += np.einsum("nab,nab->na", dP @ gram, dP)
    return np.maximum(h, 0.0).ravel()
