"""The normal matrix of the projected problem in Kaufman's form, from products of small feature tables.

Every floating-point operation that counts is a matrix product; the Jacobian, n·k·d rows tall, is never formed.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@lru_cache(maxsize=8)
def _pairs(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Upper-triangle indices of a d × d matrix, and the map (d, d) -> position among them."""
    j, h = np.triu_indices(d)
    position = np.empty((d, d), dtype=np.intp)
    position[j, h] = position[h, j] = np.arange(len(j))
    return j, h, position


def normal_matrix(X: Array, P: Array, Z: Array, w: Array, L: Array) -> Array:
    """Kaufman's JᵀJ − CᵀG⁻¹C over (head, row of Θ, column of Θ), from the derivative x_a[j]·(Cov_{i,a} W_i)[l, ·].

    Cov_{i,a} is the covariance of the tokens under pattern row (i, a), and G = ZᵀZ = L Lᵀ.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.blas import dsyrk

    n, k, d = X.shape
    m = len(w)
    j, h, position = _pairs(d)
    A = np.zeros((m, d, d, m, d, d))
    D = np.zeros((m * len(j), d * m * d))  # Σ Cov[l, l'] · x[j] z[q]
    chunk = max(64, 2_000_000 // (k * d * m * max(d, len(j))))
    for start in range(0, n, chunk):
        x, p = X[start : start + chunk], P[start : start + chunk]
        rows = len(x) * k
        z = Z[start * k : start * k + rows]
        tokens = x.reshape(rows, d)
        xx = tokens[:, j] * tokens[:, h]
        per_head = z.reshape(rows, m, d)
        second = (p.reshape(len(x), m * k, k) @ xx.reshape(len(x), k, -1)).reshape(len(x), m, k, -1)
        cov = second.transpose(0, 2, 1, 3).reshape(rows, m, -1) - per_head[:, :, j] * per_head[:, :, h]
        outer = (tokens[:, :, None] * z[:, None, :]).reshape(rows, -1)
        D += cov.reshape(rows, -1).T @ outer
        if k == 2:
            _add_two_tokens(A, x, p, w, xx)
        else:
            _add_many_tokens(A, cov, w, xx)
    for i in range(m):
        for g in range(i):
            A[i, :, :, g] = A[g, :, :, i].transpose(2, 3, 0, 1)
    # C[(i, j, l), q, c] = Σ_l' D[i, (l, l'), j, q] W_i[l', c]
    full = D.reshape(m, len(j), d, m * d)[:, position]  # (m, l, l', j, q)
    C = np.einsum("iabjq,ibc->qcija", full, w, optimize=True).reshape(m * d, -1)
    V = solve_triangular(L, C, lower=True, check_finite=False).reshape(m * d * d, -1)
    schur = dsyrk(-1.0, V.T, beta=1.0, c=A.reshape(m * d * d, -1).T, lower=0)
    return np.asarray(schur).T  # its lower triangle, which is all that a Cholesky reads


def _add_two_tokens(A: Array, x: Array, p: Array, w: Array, xx: Array) -> None:
    """Two tokens: Cov is rank one, p₁p₂ δδᵀ with δ = x₁ − x₂, so each block is symmetric in l, l' as well."""
    m, d = len(w), x.shape[2]
    j, h, position = _pairs(d)
    delta = x[:, 0] - x[:, 1]
    moved = (delta @ w.transpose(1, 0, 2).reshape(d, m * d)).reshape(len(x), m, d)
    overlap = (moved @ moved.transpose(0, 2, 1))[:, None]  # <δW_i, δW_g>
    weight = (p[..., 0] * p[..., 1]).transpose(0, 2, 1)  # (n, k, m)
    s = (weight[..., :, None] * weight[..., None, :] * overlap).reshape(-1, m, m)
    dd = np.repeat(delta[:, j] * delta[:, h], 2, axis=0)
    for i in range(m):
        for g in range(i, m):
            block = xx.T @ (s[:, i, g, None] * dd)
            A[i, :, :, g] += block[position[:, None, :, None], position[None, :, None, :]]


def _add_many_tokens(A: Array, cov: Array, w: Array, xx: Array) -> None:
    rows, m, _ = cov.shape
    d = w.shape[1]
    position = _pairs(d)[2]
    M = np.stack([(cov[:, i][:, position].reshape(rows * d, d) @ w[i]).reshape(rows, d, d) for i in range(m)], 1)
    for i in range(m):
        for g in range(i, m):
            MM = M[:, i] @ M[:, g].transpose(0, 2, 1)
            block = (xx.T @ MM.reshape(rows, d * d)).reshape(-1, d, d)[position]  # (j, j', l, l')
            A[i, :, :, g] += block.transpose(0, 2, 1, 3)
