"""Phase 3: a better ΣWᵢ, from rows on which the hull predicts that all heads nearly agree."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learner.provable.sculpt import CHUNK, Hull
from learner.varpro import attend

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Refined:
    """Ŵ (d, d), from `rows` rows; `disagreement` is the largest predicted among them, `residual` that of the fit."""

    w: Array
    rows: int
    disagreement: float
    residual: float

    def diagnostics(self) -> dict[str, Any]:
        """The numbers of the phase, for its `Phase`."""
        return {"rows": self.rows, "disagreement": self.disagreement, "residual": self.residual}


def agreement_rows(X: Array, Y: Array, hull: Hull) -> Refined:
    """Least squares Y_a ≈ p_a X Ŵ on the rows where patterns along the hull differ least (the default).

    p is the pattern of the point of least norm. The choice of rows does not look at Y. One-sparse rows are among
    them: there the patterns do not move at all.
    """
    n, k, d = X.shape
    count = min(max(20 * d, 400), n * k)
    h = np.concatenate([_disagreement(X[i : i + CHUNK], hull) for i in range(0, n, CHUNK)])
    rows = np.argpartition(h, count - 1)[:count]
    worst = float(h[rows].max())
    # An offset in the weight: rows of equal tokens have h = 0 and would outweigh all others.
    weight = (h[rows] + 0.1 * worst + 1e-300) ** -0.25
    Z = attend(X[rows // k], hull.theta[None])[1].reshape(-1, k, d)[np.arange(count), rows % k]
    return _solve(Z, Y[rows // k, rows % k], weight, worst)


def sparse_rows(X: Array, Y: Array, hull: Hull) -> Refined:
    """The literal phase 3: least squares Y_a ≈ x_b Ŵ on the 20 d rows of widest margin. Its error is e^(−margin)."""
    n, k, d = X.shape
    count = min(20 * d, n * k)
    scores = ((X.reshape(-1, d) @ hull.theta).reshape(n, k, d) @ X.transpose(0, 2, 1)).reshape(-1, k)
    top = np.sort(scores, axis=1)[:, -2:]
    margin = top[:, 1] - top[:, 0]
    rows = np.argpartition(-margin, count - 1)[:count]
    chosen = X[rows // k, scores[rows].argmax(axis=1)]
    return _solve(chosen, Y[rows // k, rows % k], np.ones(count), float(np.exp(-margin[rows].min())))


def _disagreement(X: Array, hull: Hull) -> Array:
    """h (n·k,): Σ_q |∂(p_a X)/∂c_q|² along the unit directions of the hull."""
    n, k, d = X.shape
    P = attend(X, hull.theta[None])[0][:, 0]
    h = np.zeros((n, k))
    for direction in hull.directions:
        S = (X.reshape(-1, d) @ direction).reshape(n, k, d) @ X.transpose(0, 2, 1)
        dP = P * (S - (P * S).sum(axis=2, keepdims=True))
        h += ((dP @ X) ** 2).sum(axis=2)
    return h.ravel()


def _solve(Z: Array, Y: Array, weight: Array, worst: float) -> Refined:
    w = np.asarray(np.linalg.lstsq(Z * weight[:, None], Y * weight[:, None])[0], dtype=np.float64)
    residual = float(np.linalg.norm(Y - Z @ w) / (np.linalg.norm(Y) or 1.0))
    return Refined(w, len(Z), worst, residual)
