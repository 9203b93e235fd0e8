"""Linear attention as a linear function of cubic features (Yau et al. 2024, arXiv 2410.10101, section 2).

A head reads Σ_i V z_i (z_iᵀ Q q) = V S Q q, with S = Σ_i z_i z_iᵀ over all tokens and q the query token. The paper's
tokens are the columns of a d×n matrix and its query the last one; here tokens are rows, and `query` says which asks.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def feature_count(dim: int) -> int:
    """Return ψ = d²(d+1)/2, the number of features <z_j, z_k> q_l, j <= k.

    >>> [feature_count(d) for d in (2, 4, 8, 12, 16, 20, 24, 32)]
    [6, 40, 288, 936, 2176, 4200, 7200, 16896]
    """
    return dim * dim * (dim + 1) // 2


def weights(dim: int) -> Array:
    """Return √2 for features with j < k, 1 with j = k: so weighted, features have `kernel` as inner product."""
    j, k = np.triu_indices(dim)
    return np.repeat(np.where(j < k, np.sqrt(2), 1.0), dim)


def features(X: Array, query: int = -1) -> Array:
    """Return H(X) (n, ψ): S_jk q_l at index (pair j <= k, l), of tokens X (n, k, d)."""
    x = np.asarray(X, dtype=np.float64)
    j, k = np.triu_indices(x.shape[2])
    return np.asarray((x.transpose(0, 2, 1) @ x)[:, j, k, None] * x[:, query, None, :]).reshape(len(x), -1)


def attention(V: Array, Q: Array, X: Array, query: int = -1) -> Array:
    """Return Σ_h V_h S Q_h q, (n, outputs): V (H, outputs, d), Q (H, d, d), tokens X (n, k, d)."""
    x = np.asarray(X, dtype=np.float64)
    scores = x @ Q[:, None] @ x[:, query, :, None]
    return np.asarray((V[:, None] @ (x.transpose(0, 2, 1) @ scores)).sum(axis=0)[..., 0])


def parameters(V: Array, Q: Array) -> Array:
    """Return p (outputs, ψ), attention(V, Q, X) = features(X) @ p.T: two layers are one function iff p agrees."""
    W = np.einsum("haj,hkl->ajkl", V, Q)
    j, k = np.triu_indices(V.shape[2])
    both = W[:, j, k] + W[:, k, j]
    both[:, j == k] /= 2
    return np.asarray(both.reshape(len(both), -1))


def kernel(X: Array, q: int, Z: Array, p: int) -> Array:
    """Return <x_q, z_p> Σ_ij <x_i, z_j>², (n, n'): inner products of weighted `features` of X, query q, and Z, p."""
    from learner.regression import row_blocks

    gram = np.empty((len(X), len(Z)))
    dim, pairs = X.shape[2], X.shape[1] * Z.shape[1]
    if dim < pairs:
        right = (Z.transpose(0, 2, 1) @ Z).reshape(len(Z), -1).T
    for rows in row_blocks(len(X), len(Z)):
        part = X[rows]
        if dim < pairs:
            total = (part.transpose(0, 2, 1) @ part).reshape(len(part), -1) @ right
        else:
            total = np.zeros((len(part), len(Z)))
            for i, j in np.ndindex(X.shape[1], Z.shape[1]):
                total += np.square(part[:, i] @ Z[:, j].T)
        gram[rows] = total * (part[:, q] @ Z[:, p].T)
    return gram
