"""Phase 3: a better ΣWᵢ, from rows on which the hull predicts that all heads nearly agree."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.provable.rows import Best, Rows
from learner.provable.sculpt import Hull
from learner.varpro import attend

Array = NDArray[np.float64]
Refined = tuple[Array, dict[str, Any]]  # Ŵ (d, d), and the numbers of the phase


def agreement_rows(rows: Rows, examples: int, hull: Hull) -> Refined:
    """Least squares Y_a ≈ p_a X Ŵ on the rows where patterns along the hull differ least (the default).

    p is the pattern of the point of least norm. The choice of rows does not look at Y. One-sparse rows are among
    them: there the patterns do not move at all.
    """
    best = Best(max(20 * rows.dim, 400))
    for X, Y in rows.upto(examples):
        best.add(disagreement(X, hull), X, Y)
    h, X, a, y = best.rows()
    # An offset in the weight: rows of equal tokens have h = 0 and would outweigh all others.
    # It multiplies rows, so a squared error counts (h + …)^(−1/2): milder than 1/h, by which few rows would decide.
    weight = (h + 0.1 * h[-1] + 1e-300) ** -0.25
    Z = attend(X, hull.theta[None])[1].reshape(X.shape)[np.arange(len(X)), a.astype(np.intp)]
    return _solve(Z, y, weight, float(h[-1]))


def sparse_rows(rows: Rows, examples: int, hull: Hull) -> Refined:
    """The literal phase 3: least squares Y_a ≈ x_b Ŵ on the 20 d rows of widest margin. Its error is e^(−margin)."""
    best = Best(20 * rows.dim)
    for X, Y in rows.upto(examples):
        scores = ((X.reshape(-1, rows.dim) @ hull.theta).reshape(X.shape) @ X.transpose(0, 2, 1)).reshape(
            -1, X.shape[1]
        )
        top = np.sort(scores, axis=1)[:, -2:]
        best.add(
            top[:, 0] - top[:, 1],
            X,
            Y,
            np.take_along_axis(X, scores.argmax(axis=1).reshape(*X.shape[:2], 1), 1),
        )
    margin, _, _, y, chosen = best.rows()
    return _solve(chosen, y, np.ones(len(y)), float(np.exp(margin[-1])))


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


def _solve(Z: Array, Y: Array, weight: Array, worst: float) -> Refined:
    w = np.asarray(np.linalg.lstsq(Z * weight[:, None], Y * weight[:, None])[0], dtype=np.float64)
    residual = float(np.linalg.norm(Y - Z @ w) / (np.linalg.norm(Y) or 1.0))
    return w, {"rows": len(Z), "disagreement": worst, "residual": residual}
