"""The multi-head attention layer F(X) = Σᵢ softmax(X Θᵢ Xᵀ) X Wᵢ: the one dense forward, and the definition."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MultiHeadAttention:
    """A layer of m heads on k tokens of d features (Chen & Li, STOC 2025).

    `theta` (m, d, d) holds the attention matrices Θᵢ, `w` (m, d, d) the projection matrices Wᵢ; the softmax is
    taken along each row. Raises `InputError` on other shapes and on entries that are not finite.

    >>> layer = MultiHeadAttention(theta=np.zeros((1, 3, 3)), w=np.eye(3)[None])
    >>> layer(np.array([[[1, 1, -1], [1, -1, -1]]]))  # uniform attention: every row is the mean token
    array([[[ 1.,  0., -1.],
            [ 1.,  0., -1.]]])
    """

    theta: Array
    w: Array

    def __post_init__(self) -> None:
        for name in ("theta", "w"):
            value = np.array(getattr(self, name), dtype=np.float64)
            if value.ndim != 3 or value.shape[1] != value.shape[2] or value.size == 0:
                raise InputError(f"{name} must have shape (heads, dim, dim), got {value.shape}")
            if not np.isfinite(value).all():
                raise InputError(f"{name} must be finite, got NaN or infinity")
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if self.theta.shape != self.w.shape:
            raise InputError(f"theta {self.theta.shape} and w {self.w.shape} must have the same shape")

    @property
    def heads(self) -> int:
        return int(self.theta.shape[0])

    @property
    def dim(self) -> int:
        return int(self.theta.shape[1])

    def patterns(self, X: ArrayLike) -> Array:
        """Attention patterns softmax(X Θᵢ Xᵀ) of tokens (n, k, d), as (n, m, k, k): each row sums to 1."""
        x = self._tokens(X)
        return np.stack([_pattern(x, theta) for theta in self.theta], axis=1)

    def __call__(self, X: ArrayLike) -> Array:
        """F(X), shape (n, k, d), of tokens (n, k, d)."""
        x = self._tokens(X)
        # Head by head: one BLAS product over all examples beats an einsum over heads (theory.md 5).
        out = np.zeros_like(x)
        for theta, w in zip(self.theta, self.w, strict=True):
            out += _pattern(x, theta) @ x @ w
        return out

    def _tokens(self, X: ArrayLike) -> Array:
        x = np.asarray(X, dtype=np.float64)
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise InputError(f"X must have shape (examples, tokens, {self.dim}), got {x.shape}")
        if not np.isfinite(x).all():
            raise InputError("X must be finite, got NaN or infinity")
        return x


def _pattern(x: Array, theta: Array) -> Array:
    scores = (x @ theta) @ x.transpose(0, 2, 1)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores
