"""Heads of linear attention: those of a regression's parameters, and those that Adam trains beside it as a control."""

import numpy as np

from learner.adam import Adam
from learner.base import Array
from learner.linear.features import lift

BATCH = 256  # examples of a step


def svd_heads(p: Array, dim: int, tol: float = 1e-9) -> tuple[Array, Array]:
    """Return heads V (H, outputs, d), Q (H, d, d) with these parameters p (outputs, ψ): H <= d · min(d, outputs).

    Their number says little: one random head comes back as up to d · outputs, since no input sees the terms of
    Σ vec V vec Qᵀ that are antisymmetric in the pair (j, k).
    """
    outputs = len(p)
    U, s, R = np.linalg.svd(lift(p, dim).reshape(outputs * dim, dim * dim), full_matrices=False)
    keep = s > tol * s.max(initial=0.0)
    root = np.sqrt(s[keep])
    return (U[:, keep] * root).T.reshape(-1, outputs, dim), (R[keep] * root[:, None]).reshape(-1, dim, dim)


def adam_heads(
    X: Array, Y: Array, heads: int, rng: np.random.Generator, *, epochs: int = 60, rate: float = 0.01
) -> tuple[Array, Array, float]:
    """Fit `heads` heads to Y (n, outputs) by Adam with a cosine schedule; return V, Q and the relative training error.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3, 2)); Y = (X[:, :, 0] ** 2).sum(axis=1, keepdims=True) * X[:, -1:, 1]
    >>> adam_heads(X, Y, 4, rng)[2] < 0.01
    True
    """
    n, dim = len(X), X.shape[2]
    S, q = X.transpose(0, 2, 1) @ X, X[:, -1]
    size, unit = (
        float(np.sqrt(np.mean(Y**2))) or 1.0,
        float(np.sqrt(np.mean(S**2) * np.mean(q**2))) * dim**1.5,
    )
    S, y = S / unit, Y / size
    weights = [rng.normal(size=(heads, y.shape[1], dim)) / dim, rng.normal(size=(heads, dim, dim)) / dim**0.5]
    adam = Adam(weights, epsilon=1e-12)
    total = epochs * (n // BATCH)
    for step in range(1, total + 1):
        if step % (n // BATCH) == 1:
            order = rng.permutation(n)
        part = order[(step - 1) % (n // BATCH) * BATCH :][:BATCH]
        V, Q = weights
        read = S[part] @ (q[part] @ Q.transpose(0, 2, 1))[..., None]  # (heads, batch, dim, 1)
        wrong = np.einsum("had,hnd->na", V, read[..., 0]) - y[part]
        back = S[part] @ (wrong @ V)[..., None]
        gradients = [np.einsum("na,hnd->had", wrong, read[..., 0]), back[..., 0].transpose(0, 2, 1) @ q[part]]
        pace = rate * 0.5 * (1 + np.cos(np.pi * step / total))
        adam.step([2 * gradient / BATCH for gradient in gradients], pace)
    V, Q = weights
    error = np.einsum("had,hnd->na", V, (S @ (q @ Q.transpose(0, 2, 1))[..., None])[..., 0]) - y
    return V * (size / unit), Q, float(np.sqrt(np.mean(error**2)))
