"""The multi-head attention layer F(X) = Σᵢ softmax(X Θᵢ Xᵀ) X Wᵢ: the one dense forward, and the definition."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from hardness.io.fields import all_finite

Array = NDArray[np.float64]
# Examples are computed together by 64, at most four times as many, with this many numbers of a product of theirs
STEP, STEPS, NUMBERS = 64, 4, 1 << 15


def softmax(scores: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    """Return the softmax of floats along an axis, computed in place: `scores` is overwritten.

    The largest score is subtracted first, so that nothing overflows.

    >>> softmax(np.array([[1000.0, 1000.0], [0.0, -np.inf]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    scores -= scores.max(axis=axis, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=axis, keepdims=True)
    return scores


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
        """Return m heads' attention patterns softmax(X Θᵢ Xᵀ) on tokens (n, k, d), as (n, m, k, k); rows sum to 1."""
        x = self._tokens(X)
        n, k, _ = x.shape
        out = np.empty((n, self.heads, k, k))
        for here, *_, patterns in self._portions(x):
            out[here] = patterns.transpose(0, 2, 3, 1)[: len(out[here])]
        return out

    # Parameters near the largest float give infinities, which callers see in the outputs.
    @np.errstate(over="ignore", invalid="ignore")
    def __call__(self, X: ArrayLike) -> Array:
        """Return the output Σᵢ softmax(X Θᵢ Xᵀ) X Wᵢ (n, k, d) on tokens X (n, k, d). Several threads may call it."""
        x = self._tokens(X)
        m, k, d = self.heads, *x.shape[1:]
        total = self.w.sum(axis=0)
        out = np.empty(x.shape)
        for here, tokens, differences, products, patterns in self._portions(x):
            # The rows of a softmax sum to 1: token k - 1 adds x (W₁ + … + Wₘ), each other one its difference to it.
            images = np.matmul(differences, self._beside[1], out=products)
            weights = patterns.reshape(len(tokens), k * m, k)[:, : (k - 1) * m]
            values = weights.transpose(0, 2, 1) @ images.reshape(len(tokens), (k - 1) * m, d)
            values += (tokens[:, -1] @ total)[:, None]
            out[here] = values[: len(out[here])]
        return out

    @cached_property
    def _beside(self) -> tuple[Array, Array]:
        """Return m heads' matrices Θᵢᵀ (attention) side by side, and likewise Wᵢ (projection), both (d, m d)."""
        m, d = self.heads, self.dim
        return self.theta.transpose(2, 0, 1).reshape(d, m * d), self.w.transpose(1, 0, 2).reshape(d, m * d)

    def _portions(self, x: NDArray[Any]) -> Iterator[tuple[slice, Array, Array, Array, Array]]:
        """Yield, for s of the examples x (n, k, d) at a time, their slice of x and four arrays for a forward pass.

        That is: tokens (s, k, d); every token but the last, less the last one, (s (k - 1), d); a buffer (s (k - 1), m
        d) for products of these with m heads' matrices; and attention patterns (s, k, m, k), where [e, b, i, a] is head
        i's weight of token b in row a. All portions have the same size s, the last one padded: products of one shape,
        in whole blocks of BLAS, give an example the same bits in any portion.
        """
        m, (n, k, d) = self.heads, x.shape
        size = STEP * max(1, min(STEPS, NUMBERS // (max(k - 1, 1) * m * d) // STEP))
        tokens, differences = np.zeros((size, k, d)), np.empty((size, k - 1, d))
        products, scores = np.empty((size * (k - 1), m * d)), np.empty((size, k * m, k))
        for start in range(0, n, size):
            here = slice(start, start + size)
            tokens[: len(x[here])] = x[here]
            np.subtract(tokens[:, :-1], tokens[:, -1:], out=differences)
            flat = differences.reshape(len(products), d)
            # A softmax does not see what all scores of its row share: x_a Θᵢ x_{k-1} is taken off.
            keys = np.matmul(flat, self._beside[0], out=products)  # Θᵢ (x_b - x_{k-1})
            scores[:, (k - 1) * m :] = 0.0
            np.matmul(
                keys.reshape(size, (k - 1) * m, d), tokens.transpose(0, 2, 1), out=scores[:, : (k - 1) * m]
            )
            yield here, tokens, flat, products, softmax(scores.reshape(size, k, m, k), axis=1)

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
