"""Phase 3: a better ΣWᵢ, from rows on which the hull predicts that all heads nearly agree."""

from typing import Any

import numpy as np

from learner.base import Array
from learner.provable.rows import Best, chunks
from learner.provable.sculpt import Hull
from learner.varpro import attend


def agreement_rows(X: Array, Y: Array, hull: Hull) -> tuple[Array, dict[str, Any]]:
    """Return Ŵ (d, d) by least squares on the rows where patterns along the hull differ least, and its numbers.

    The fit is Y_a ≈ p_a X Ŵ, and p is the pattern of the point of least norm. The choice of rows does not look at Y.
    One-sparse rows are among them: there the patterns do not move at all.
    """
    best = Best(max(20 * X.shape[2], 400))
    for part, labels in chunks(X, Y):
        best.add(disagreement(part, hull), part, labels)
    h, x, a, y = best.rows()
    # An offset in the weight: rows of equal tokens have h = 0 and would outweigh all others.
    # It multiplies rows, so a squared error counts (h + …)^(−1/2): milder than 1/h, by which few rows would decide.
    weight = (h + 0.1 * h[-1] + 1e-300) ** -0.25
    Z = attend(x, hull.theta[None])[1].reshape(x.shape)[np.arange(len(x)), a.astype(np.intp)]
    w = np.asarray(np.linalg.lstsq(Z * weight[:, None], y * weight[:, None])[0], dtype=np.float64)
    residual = float(np.linalg.norm(y - Z @ w) / (np.linalg.norm(y) or 1.0))
    return w, {"rows": len(Z), "disagreement": float(h[-1]), "residual": residual}


def disagreement(X: Array, hull: Hull) -> Array:
    """h (n·k,): Σ_q |∂(p_a X)/∂c_q|² along the unit directions of the hull."""
    n, k, d = X.shape
    basis = np.concatenate([hull.theta[None], hull.directions])
    if k == 2:
        from learner.provable.kernels import disagree_two

        return disagree_two(X, np.ascontiguousarray(basis.transpose(0, 2, 1)))
    left = (X.reshape(n * k, d) @ basis.transpose(1, 0, 2).reshape(d, -1)).reshape(n, k * len(basis), d)
    S = (left @ X.transpose(0, 2, 1)).reshape(n, k, len(basis), k)
    P = np.exp(S[:, :, 0] - S[:, :, 0].max(axis=-1, keepdims=True))
    P /= P.sum(axis=-1, keepdims=True)
    # |dp X|² = dp (X Xᵀ) dpᵀ, on k × k matrices: no attended token (n, k, d) is made for a direction.
    gram = X @ X.transpose(0, 2, 1)
    h = np.zeros((n, k))
    for q in range(1, len(basis)):
        dP = P * (S[:, :, q] - (P * S[:, :, q]).sum(axis=-1, keepdims=True))
        h += np.einsum("nab,nab->na", dP @ gram, dP)
    return np.maximum(h, 0.0).ravel()
