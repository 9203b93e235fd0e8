"""Random-feature attention and its rival, the random-feature network (Fu, Guo, Bai, Mei, arXiv 2307.11353).

What a head computes follows the paper's abstract and is reconstructed elsewhere: the constant appended to tokens, an
identity as the mean of biased heads, its size `bias` and `std` are this lab's choices, not the paper's.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.io.fields import one_of, whole
from learner.base import Array
from learner.ridge import GRID, RidgeLearner, refuse_beyond, row_blocks

CHUNK_HEADS = 64
CHUNK_NEURONS = 1024


def arc_cosine(cosine: Array) -> Array:
    """J(θ) = (sin θ + (π − θ) cos θ) / 2π = E relu(<w,u>) relu(<w,v>) for unit u, v at angle θ, w standard normal.

    As a power series in cos θ it has no odd degree from 3 on: un-augmented heads miss those.

    >>> arc_cosine(np.array([1.0, 0.0])).round(6)
    array([0.5     , 0.159155])
    """
    c = np.clip(cosine, -1, 1)
    return np.asarray((np.sqrt(1 - c * c) + (np.pi - np.arccos(c)) * c) / (2 * np.pi))


class _Scaled(RidgeLearner):
    """Divides tokens by their root-mean-square norm in training, so that an appended 1 weighs as much as a token."""

    def _scaled(self, X: Array) -> Array:
        return np.asarray(X, dtype=np.float64) / self.token_norm_

    def _measure(self, X: Array) -> None:
        self.token_norm_ = float(np.sqrt(np.mean(np.sum(np.square(X, dtype=np.float64), axis=2)))) or 1.0


class RandomFeatureAttention(_Scaled):
    """Σ_m mean_i relu(<W_m, x₀ xᵢᵀ>) <v_m, xᵢ>: frozen random W_m, trained v_m, the softmax replaced by a relu.

    `activation` `softmax` puts the softmax back: Σ_m Σ_i softmax_i(<W_m, x₀ xᵢᵀ>) <v_m, xᵢ>. `n_heads` heads, None
    for infinitely many (closed-form kernel; relu without bias only); `bias` μ makes the mean of W_m μ·I, and for relu
    only μ/`std` matters; `augment` appends the constant 1 to tokens: without it even functions of the keys
    alone cannot be represented. The first token asks, and its `keys` are `all` tokens or the `others`. The rest is
    `RidgeLearner`'s.

    >>> X = np.random.default_rng(0).normal(size=(400, 3, 4))
    >>> model = RandomFeatureAttention(200, keys="others", random_state=0).fit(X, X[:, 1:, 0].mean(axis=1))
    >>> model.score(X, X[:, 1:, 0].mean(axis=1)) > 0.99
    True
    """

    def __init__(
        self,
        n_heads: int | None = 1000,
        *,
        bias: float = 0.0,
        std: float = 1.0,
        augment: bool = True,
        activation: str = "relu",
        keys: str = "all",
        alpha: float | tuple[float, ...] = GRID,
        random_state: int | None = None,
    ) -> None:
        super().__init__(alpha, random_state)
        self.n_heads = n_heads
        self.bias = bias
        self.std = std
        self.augment = augment
        self.activation = activation
        self.keys = keys

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float | None:
        """About what a fit of Y (n, k, d) costs: features, their inner products, the factors.

        >>> round(RandomFeatureAttention(1000).multiply_adds(1000, 2, 12) / 1e9, 1)
        42.4
        """
        if self.n_heads is None:
            return None
        rows, wide = float(examples * tokens), dim + self.augment
        size = self.n_heads * wide
        features = rows * self.n_heads * (wide**2 + 2 * tokens * wide)
        smaller = int(min(rows, size))
        return features + rows * size * smaller / 2 + self._solving(smaller)

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        self._measure(X)
        if self.keys not in ("all", "others") or (self.keys == "others" and X.shape[1] < 2):
            raise InputError(f"keys must be 'all' or (with two tokens or more) 'others', got {self.keys!r}")
        one_of("activation", self.activation, ("relu", "softmax"))
        if self.n_heads is None:
            if self.bias or self.activation != "relu":
                raise InputError(
                    "infinitely many heads have a closed form only for relu without bias; set n_heads"
                )
            return None
        whole("n_heads", self.n_heads, 1, why="None stands for infinitely many")
        d, wide = X.shape[2], X.shape[2] + self.augment
        refuse_beyond(4e-9 * self.n_heads * wide**2, f"{self.n_heads} heads")
        mean = np.diag([self.bias] * d + [0.0] * self.augment)
        self.heads_ = (mean + self.std * rng.normal(size=(self.n_heads, wide, wide))).astype(np.float32)
        return int(self.n_heads * wide)

    def _tokens(self, X: Array) -> Array:
        x = self._scaled(X)
        return np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2) if self.augment else x

    def _asked(self, x: NDArray[Any]) -> NDArray[Any]:
        """The keys (n, N, d) of tokens x."""
        return x if self.keys == "all" else x[:, 1:]

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = self._tokens(X).astype(np.float32)
        keys, (n, _, d) = self._asked(x), x.shape
        for start in range(0, len(self.heads_), CHUNK_HEADS):
            heads = self.heads_[start : start + CHUNK_HEADS].transpose(1, 0, 2).reshape(d, -1)
            scores = (x[:, 0] @ heads).reshape(n, -1, d) @ keys.transpose(0, 2, 1)
            if self.activation == "relu":
                weights = np.maximum(scores, 0) / np.float32(keys.shape[1])
            else:
                weights = np.exp(scores - scores.max(axis=2, keepdims=True))
                weights /= weights.sum(axis=2, keepdims=True)
            yield np.asarray(weights @ keys, dtype=np.float32).reshape(n, -1)

    def gram(self, X: Array, Z: Array) -> Array:
        if self.n_heads is not None:
            return super().gram(X, Z)
        x, z = self._tokens(X), self._tokens(Z)
        gram = np.empty((len(x), len(z)))
        for rows in row_blocks(len(x), len(z)):
            gram[rows] = _head_kernel(x[rows, 0], self._asked(x[rows]), z[:, 0], self._asked(z))
        return self.std**2 * gram


def _head_kernel(x: Array, keys: Array, z: Array, others: Array) -> Array:
    """E <φ(x), φ(z)> of one head with standard normal W, for queries x and z (·, d) and their keys (·, N, d)."""
    asked = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(z, axis=1))
    cosine = _ratio(x @ z.T, asked)
    sizes, lengths = np.linalg.norm(keys, axis=2), np.linalg.norm(others, axis=2)
    total = np.zeros_like(asked)
    for i, j in np.ndindex(keys.shape[1], others.shape[1]):
        norms, inner = np.outer(sizes[:, i], lengths[:, j]), keys[:, i] @ others[:, j].T
        total += norms * inner * arc_cosine(cosine * _ratio(inner, norms))
    return np.asarray(asked * total / (keys.shape[1] * others.shape[1]))


def _ratio(inner: Array, norms: Array) -> Array:
    """Cosines; 0 for a token of length 0."""
    return np.divide(inner, norms, out=np.zeros_like(inner), where=norms > 0)


class RandomFeatureMLP(_Scaled):
    """Σ_m a_m relu(<w_m, (x₀, …, x_N, 1)>): frozen standard normal w_m, trained a_m, on the tokens end to end.

    `width` neurons. The rest is `RidgeLearner`'s.

    >>> X = np.random.default_rng(0).normal(size=(400, 2, 3))
    >>> RandomFeatureMLP(1000, random_state=0).fit(X, X[:, 0, 0]).score(X, X[:, 0, 0]) > 0.99
    True
    """

    def __init__(
        self,
        width: int = 1000,
        *,
        alpha: float | tuple[float, ...] = GRID,
        random_state: int | None = None,
    ) -> None:
        super().__init__(alpha, random_state)
        self.width = width

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        self._measure(X)
        whole("width", self.width, 1)
        inputs = X.shape[1] * X.shape[2] + 1
        refuse_beyond(4e-9 * self.width * inputs, f"{self.width} neurons")
        self.neurons_ = rng.normal(size=(inputs, self.width)).astype(np.float32)
        return self.width

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = np.concatenate([self._scaled(X).reshape(len(X), -1), np.ones((len(X), 1))], axis=1).astype(
            np.float32
        )
        for start in range(0, self.width, CHUNK_NEURONS):
            yield np.maximum(x @ self.neurons_[:, start : start + CHUNK_NEURONS], 0)
