"""The multi-head attention layer F(X) = Σᵢ softmax(X Θᵢ Xᵀ) X Wᵢ: the one dense forward, and the definition."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from hardness.io.fields import all_finite

if TYPE_CHECKING:
    from hardness.kernels.dense import TiledAttention

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
            all_finite(name, value)
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if self.theta.shape != self.w.shape:
            raise InputError(f"theta {self.theta.shape} and w {self.w.shape} must have the same shape")

    def __repr__(self) -> str:
        return f"MultiHeadAttention(heads={self.heads}, dim={self.dim})"

    @property
    def heads(self) -> int:
        return int(self.theta.shape[0])

    @property
    def dim(self) -> int:
        return int(self.theta.shape[1])

    def patterns(self, X: ArrayLike) -> Array:
        """Attention patterns softmax(X Θᵢ Xᵀ) of tokens (n, k, d), as (n, m, k, k): each row sums to 1."""
        return self._tiled.patterns(self._tokens(X))

    def __call__(self, X: ArrayLike) -> Array:
        """F(X), shape (n, k, d), of tokens (n, k, d). Calls from several threads run side by side."""
        return self._tiled.forward(self._tokens(X))

    @cached_property
    def _tiled(self) -> "TiledAttention":
        from hardness.kernels.dense import TiledAttention

        return TiledAttention(self.theta, self.w)

    def _tokens(self, X: ArrayLike) -> NDArray[Any]:
        x = np.asarray(X)
        if x.ndim != 3 or x.shape[1] == 0 or x.shape[2] != self.dim:
            raise InputError(
                f"X must have shape (examples, tokens, {self.dim}) with a token at least, got {x.shape}"
            )
        if x.dtype.kind not in "biu":  # integers, such as int8 signs, stay as small as they are
            x = x.astype(np.float64, copy=False)
            all_finite("X", x)
        return x
