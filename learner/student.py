"""The attention student: a multi-head layer trained on raw tokens, each example seen once."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner import varpro
from learner.adam import Adam, one_thread
from learner.base import Array, Learner, Phase, SearchResult, gradient_work
from learner.streamed import Streamed

EXPLAINED = 0.9  # share of the labels' variance that counts as solved


@dataclass(eq=False, repr=False)
class Student(Streamed, Learner):
    """A multi-head attention layer, online by Adam: random layers from 25,000 examples, hidden parities from 75,000.

    It is trained in float32 from Θ ~ N(0, 1/d) and W ~ N(0, 1/(d M)), sees raw tokens (n, k, d) and all outputs, and
    takes a step a batch. The first 1024 examples scale the labels, so that the variances of a token's outputs sum to 1.

    `heads` is the number M of heads; `rate`, the step size, was tuned once on hidden parities of two coordinates;
    `batch` examples make a step; `l1`: after each step every entry of Θ goes towards 0 by rate · l1, and no further
    (soft threshold), which helps where Θ is sparse. The loss is half the squared error.

    `fit` starts anew, holds a tenth out and makes one pass over the rest. `report_` says `solved` where it explains
    `EXPLAINED` = .9 of the labels' variance.
    """

    solved_at: ClassVar[float] = (1 - EXPLAINED) ** 0.5
    ranges = (("heads", 1), ("batch", 1), ("rate", "(0, inf)"), ("l1", "[0, inf)"))

    heads: int = 16
    rate: float = 3e-3
    batch: int = 64
    l1: float = 0.0

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return the number of multiply-adds of a training pass over this many examples of shape (tokens, dim)."""
        an_example = 4.0 * self.heads * dim**2 if tokens == 2 else gradient_work(self.heads, tokens, dim)
        return examples * an_example

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        self._one_pass(X, Y)
        if self.layer_ is None:
            return SearchResult(None, refused="the weights are no longer finite: lower the rate")
        return SearchResult(self.layer_, (Phase("train", diagnostics={"examples": len(X)}),))

    def _predict(self, x: NDArray[Any]) -> Array:
        # NaN, where zeros would pass for a learner that explains nothing: divergence is told from failure.
        out = super()._predict(x)
        return out if self.layer_ or not self._scale else np.full_like(out, np.nan)

    def _begin(self) -> None:
        rng = np.random.default_rng(self.random_state)
        self._weights = initial(rng, int(self.heads), self.n_features_in_)
        self._optimizer = Adam(self._weights)
        self.layer_: MultiHeadAttention | None = None

    def _train(self, x: NDArray[Any], y: Array, batch: int) -> None:
        theta, w = self._weights
        tokens, targets = x.astype(np.float32), (y * self._scale).astype(np.float32)
        cut = self.rate * self.l1
        with one_thread(), np.errstate(over="ignore", invalid="ignore"):  # a rate may diverge
            for start in range(0, len(tokens), batch):
                part = slice(start, start + batch)
                self._optimizer.step(gradients(theta, w, tokens[part], targets[part]), float(self.rate))
                # A proximal step: |Θ| has no derivative at 0, where entries are to stay. W is not sparse.
                if cut:
                    theta -= np.clip(theta, -cut, cut)
        finite = bool(np.isfinite(theta).all() and np.isfinite(w).all())
        self.layer_ = MultiHeadAttention(theta.copy(), w.astype(np.float64) / self._scale) if finite else None


def initial(rng: Any, heads: int, dim: int) -> tuple[Any, Any]:
    """Draw Θ with entries N(0, 1/d) and W with entries N(0, 1/(d M)), both (M, d, d) float32: M heads, d = dim."""
    theta, w = rng.standard_normal((2, heads, dim, dim), dtype="float32")
    theta *= dim**-0.5
    w *= (heads * dim) ** -0.5
    return theta, w


def gradients(theta: Any, w: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the gradients (M, d, d) by Θ and W of |F(x) − y|²/2, F the layer: means over examples x, y (B, k, d)."""
    B, k, d = x.shape
    if k == 2:
        return of_pairs(theta, w, x, y)
    patterns, mixed = varpro.attend(x, theta)
    error = mixed @ w.reshape(-1, d) - y.reshape(-1, d)
    return varpro.pull_back(x, patterns, w, error) / B, (mixed.T @ error).reshape(w.shape) / B


def of_pairs(theta: Any, w: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the same gradients as `gradients`, for two tokens (k = 2) and with a third of the multiplications.

    With z = (x_1 - x_2)/2 and s = (x_1 + x_2)/2 head i adds s W_i + tanh(x_a Θ_i z) z W_i to output row a. Both rows
    share Θ_i z and z W_i.
    """
    (B, _, d), M = x.shape, len(theta)
    z, s = (x[:, 0] - x[:, 1]) / 2, (x[:, 0] + x[:, 1]) / 2
    scored = (z @ theta.reshape(M * d, d).T).reshape(B, M, d)
    moved = (z @ w.transpose(1, 0, 2).reshape(d, M * d)).reshape(B, M, d)
    t = np.tanh(x @ scored.transpose(0, 2, 1))  # (B, 2, M)
    error = (s @ w.sum(axis=0))[:, None] + t @ moved - y
    pull = (error @ moved.transpose(0, 2, 1)) * (1 - t * t)
    by_theta = (pull.transpose(0, 2, 1) @ x).reshape(B, M * d).T @ z
    by_w = z.T @ (t.transpose(0, 2, 1) @ error).reshape(B, M * d)
    by_each = by_w.reshape(d, M, d).transpose(1, 0, 2) + s.T @ error.sum(axis=1)
    return by_theta.reshape(theta.shape) / B, by_each / B
