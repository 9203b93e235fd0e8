"""The multi-head attention layer F(X) = Σᵢ softmax(X Θᵢ Xᵀ) X Wᵢ: the one dense forward, and the definition."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError

Array = NDArray[np.float64]
CACHE = 1 << 16  # floats
ROWS, TILE = 256, 24  # rows


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
        n, k, _ = x.shape
        weights, size = np.empty((n, self.heads, k, k)), self._together(k)
        for start in range(0, n, size):
            part = slice(start, start + size)
            self._weights(x[part].astype(np.float64, copy=False), weights[part])
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights

    def __call__(self, X: ArrayLike) -> Array:
        """F(X), shape (n, k, d), of tokens (n, k, d)."""
        from hardness.kernels import attend

        x = self._tokens(X)
        n, k, _ = x.shape
        out, size = np.empty(x.shape), self._together(k)
        room = np.empty((min(n, size), self.heads, k, k))
        for start in range(0, n, size):
            tokens, here = x[start : start + size].astype(np.float64, copy=False), out[start : start + size]
            weights = room[: len(tokens)]
            differences = self._weights(tokens, weights)
            # The rows of a softmax sum to 1, so token k - 1 adds its own image, and the others their difference to it.
            here[:] = _product(_tiles(tokens[:, -1]), self._sum)[: len(tokens), None]
            attend(weights, self._split(_product(differences, self._beside), tokens), here)
        return out

    def _weights(self, x: Array, out: Array) -> Array:
        """Fill `out` with the patterns of x before their rows are made to sum to 1; returns x_b - x_{k-1}, in tiles."""
        from hardness.kernels import attention_scores

        differences = _tiles((x[:, :-1] - x[:, -1:]).reshape(-1, self.dim))
        # One product for all heads: the few that are left of an example are too small for BLAS.
        right = _product(differences, self.theta.reshape(-1, self.dim).T)
        attention_scores(x, self._split(right, x), out)
        np.exp(out, out=out)
        return differences

    def _split(self, product: Array, x: Array) -> Array:
        n, k, _ = x.shape
        return product[: n * (k - 1)].reshape(n, k - 1, self.heads, self.dim)

    @cached_property
    def _beside(self) -> Array:
        return np.ascontiguousarray(self.w.transpose(1, 0, 2)).reshape(self.dim, -1)

    @cached_property
    def _sum(self) -> Array:
        return np.asarray(self.w.sum(axis=0))

    def _together(self, k: int) -> int:
        """Examples at a time: what is made of them stays in cache, and Θ is worth reading for them."""
        return max(1, CACHE // (k * self.heads * (self.dim + k)), ROWS // k)

    def _tokens(self, X: ArrayLike) -> NDArray[Any]:
        x = np.asarray(X)
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise InputError(f"X must have shape (examples, tokens, {self.dim}), got {x.shape}")
        if x.dtype.kind not in "biu":  # integers, such as int8 signs, stay as small as they are
            x = x.astype(np.float64, copy=False)
            if not np.isfinite(x).all():
                raise InputError("X must be finite, got NaN or infinity")
        return x


def _tiles(rows: Array) -> Array:
    """Rows (r, d) and rows of zeros, as tiles (t, TILE, d)."""
    tiles = np.zeros((-(-len(rows) // TILE), TILE, rows.shape[1]))
    tiles.reshape(-1, rows.shape[1])[: len(rows)] = rows
    return tiles


def _product(tiles: Array, matrix: Array) -> Array:
    """Tiles (t, TILE, d) times matrix (d, c), as rows (t·TILE, c).

    BLAS chooses its loops, and so the order of its sums, by the number of rows. With always the same number an
    example has the same bits whichever examples are beside it, and so at any chunk size.
    """
    return (tiles @ matrix).reshape(-1, matrix.shape[1])
