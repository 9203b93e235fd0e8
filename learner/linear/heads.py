"""From parameters p back to heads: by singular vectors (many), or by alternating least squares (few)."""

import numpy as np
from numpy.typing import NDArray

from learner.linear.features import lift, parameters

Array = NDArray[np.float64]


def parameter_distance(p: Array, q: Array) -> float:
    """|p − q|_F: zero iff two layers are the same function of all inputs."""
    return float(np.linalg.norm(p - q))


def svd_heads(p: Array, dim: int, tol: float = 1e-9) -> tuple[Array, Array]:
    """Heads V (H, outputs, d), Q (H, d, d) with these parameters p (outputs, ψ): H <= d · min(d, outputs).

    Their number says little: one random head comes back as up to d · outputs (see `gauge_heads`).
    """
    outputs = len(p)
    U, s, R = np.linalg.svd(lift(p, dim).reshape(outputs * dim, dim * dim), full_matrices=False)
    keep = s > tol * s.max(initial=0.0)
    root = np.sqrt(s[keep])
    return (U[:, keep] * root).T.reshape(-1, outputs, dim), (R[keep] * root[:, None]).reshape(-1, dim, dim)


def gauge_heads(
    p: Array, dim: int, heads: int, rng: np.random.Generator, restarts: int = 5, sweeps: int = 500
) -> tuple[Array, Array, float]:
    """V, Q and relative error of the best layer of `heads` heads for parameters p, from random starts.

    The matrix W = Σ vec V vec Qᵀ is free up to terms antisymmetric in the pair (j, k), which no input sees; so few
    heads may do where the symmetric `lift` has full rank. Not convex: no guarantee.
    """
    size = float(np.linalg.norm(p)) or 1.0
    best: tuple[Array, Array, float] = (np.zeros((heads, len(p), dim)), np.zeros((heads, dim, dim)), 1.0)
    for _ in range(restarts):
        Q, error = rng.normal(size=(heads, dim, dim)), np.inf
        for _ in range(sweeps):
            V = _values(p, Q)
            Q = _scores(p, V)
            before, error = error, float(np.linalg.norm(parameters(V, Q) - p)) / size
            if error < best[2]:
                best = V, Q, error
            if error < 1e-13 or before - error < 1e-9 * error:
                break
        if best[2] < 1e-10:
            break
    return best


def _values(p: Array, Q: Array) -> Array:
    """V of least squares for given Q: p is linear in it."""
    dim = Q.shape[1]
    rows = np.concatenate([parameters(np.eye(dim)[None], q[None]) for q in Q])
    return _least_squares(rows.T, p.T).reshape(len(Q), dim, -1).transpose(0, 2, 1)


def _scores(p: Array, V: Array) -> Array:
    """Q of least squares for given V; the columns of Q separate and share one matrix."""
    heads, outputs, dim = V.shape
    j, k = np.triu_indices(dim)
    matrix = np.zeros((outputs, len(j), heads, dim))
    pair = np.arange(len(j))
    for h, v in enumerate(V):
        matrix[:, pair, h, k] += v[:, j]
        matrix[:, pair, h, j] += np.where(j < k, v[:, k], 0.0)
    right = p.reshape(outputs * len(j), dim)
    return _least_squares(matrix.reshape(len(right), -1), right).reshape(heads, dim, dim)


def _least_squares(matrix: Array, right: Array) -> Array:
    """Least squares with a ridge of 1e-12, which keeps heads from growing against one another."""
    gram = matrix.T @ matrix
    gram.flat[:: len(gram) + 1] += 1e-12 * np.trace(gram) / len(gram)
    return np.asarray(np.linalg.solve(gram, matrix.T @ right))
