"""The attention student: a multi-head layer trained on raw tokens, each example seen once.

A student has Θ and W, both (M, d, d), and F(X)_a = Σ_i softmax(x_a Θ_i Xᵀ) X W_i. Its steps are taken on two tokens by
`learner.kernels_student.PairStudent`, compiled, and on any number by `DenseStudent`, in numpy.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.layer import MultiHeadAttention
from learner import varpro
from learner.adam import Adam
from learner.base import Array, Learner, Phase, SearchResult, gradient_work, signs
from learner.streamed import Streamed

EXPLAINED = 0.9  # share of the labels' variance that counts as solved


@dataclass(eq=False, repr=False)
class Student(Streamed, Learner):
    """A multi-head attention layer, online by Adam: random layers from 25,000 examples, hidden parities from 75,000.

    It is trained in float32.
    It starts from Θ ~ N(0, 1/d) and W ~ N(0, 1/(d M)), sees raw tokens (n, k, d) of ±1 and all outputs, and takes a
    step a batch. The first 1024 examples scale the labels, so that the outputs of a token have variance 1 in all.

    `heads` M, its width; `rate`, tuned once on hidden parities of two and frozen; `batch` examples a step; `l1`: after
    each step every entry of Θ goes towards 0 by rate · l1, and no further (soft threshold), which helps where Θ is
    sparse. The loss is half the squared error.

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
        """Return the multiply-adds of a pass over this many examples."""
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

    def _read(self, X: ArrayLike) -> NDArray[np.int8]:
        return signs(X)

    def _begin(self) -> None:
        theta, w = initial(np.random.default_rng(self.random_state), int(self.heads), self.n_features_in_)
        self.layer_: MultiHeadAttention | None = None
        self._steps: Any = DenseStudent(theta, w)
        if self._shape[0] == 2:
            from learner.kernels_student import PairStudent  # numba is loaded only where it is used

            self._steps = PairStudent(theta, w)

    def _scale_of(self, y: Array) -> float:
        spread = float(y.var(axis=0).sum(axis=1).mean())
        return spread**-0.5 if spread > 0 else 1.0

    def _train(self, x: NDArray[Any], y: Array, batch: int) -> None:
        self._steps.train(x, y, batch, float(self.rate), self._scale, float(self.l1))
        theta, w = self._steps.layer()
        finite = bool(np.isfinite(theta).all() and np.isfinite(w).all())
        self.layer_ = MultiHeadAttention(theta, w.astype(np.float64) / self._scale) if finite else None


def initial(rng: Any, heads: int, dim: int) -> tuple[Any, Any]:
    """Draw Θ with entries N(0, 1/d) and W with entries N(0, 1/(d M)), both (M, d, d) float32."""
    theta, w = rng.standard_normal((2, heads, dim, dim), dtype="float32")
    theta *= dim**-0.5
    w *= (heads * dim) ** -0.5
    return theta, w


def gradients(theta: Any, w: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the gradients by Θ and W of |F(X) - Y|²/2, summed over tokens and averaged over examples."""
    B, d = len(x), x.shape[2]
    patterns, mixed = varpro.attend(x, theta)
    error = mixed @ w.reshape(-1, d) - y.reshape(-1, d)
    return varpro.pull_back(x, patterns, w, error) / B, (mixed.T @ error).reshape(w.shape) / B


class DenseStudent:
    """A student on any number of tokens, with the interface of the compiled one: Θ and W (M, d, d) are copied.

    Its arrays are of the type of `theta`: float32, or float64 for a reference.
    """

    def __init__(self, theta: Any, w: Any) -> None:
        self.theta, self.w = theta.copy(), w.copy()
        self.optimizer = Adam((self.theta, self.w))

    def layer(self) -> tuple[Any, Any]:
        """Return Θ and W, both (M, d, d)."""
        return self.theta.copy(), self.w.copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0) -> None:
        """Make an update a whole batch of tokens x, targets y times `scale`, (n, k, d); shrink Θ by rate · l1."""
        kind, cut = self.theta.dtype, rate * l1
        x, y = x.astype(kind), (y * scale).astype(kind)
        for start in range(0, len(x) // batch * batch, batch):
            part = slice(start, start + batch)
            self.optimizer.step(gradients(self.theta, self.w, x[part], y[part]), rate)
            # A proximal step: |Θ| has no derivative at 0, where entries are to stay. W is not sparse.
            if cut:
                self.theta -= np.clip(self.theta, -cut, cut)
