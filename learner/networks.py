"""Networks without attention, each example seen once: controls beside the attention student."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from hardness.gadgets.coefficients import informative
from learner.base import Array, Regressor, outputs, signs
from learner.streamed import Streamed

Floats = NDArray[np.float32]


@dataclass(eq=False, repr=False)
class MLP(Streamed):
    """A hidden layer of ReLU units on all signs, online by Adam: hidden parities, from 65,000 examples.

    It fits all outputs at once by the squared error. The network is scikit-learn's `MLPRegressor` with `width` units,
    shown every example once, in the order given, `batch` a step, in float32. It sees raw tokens, and must find by
    itself that labels depend on products of tokens and on coordinate 0. The first 1024 examples set the scale of the
    labels. The step size `rate` was chosen on hidden parities of two coordinates: of 1e-3, 3e-3, 1e-2 and 3e-2 it is
    the one that solved d = 32; at d = 8 and 16 the larger ones are faster.
    """

    ranges = (("width", 1), ("batch", 1), ("rate", "(0, inf)"))

    width: int = 128
    rate: float = 3e-3
    batch: int = 64

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Make one pass over the examples X and Y (n, k, d), from new weights; return self."""
        self._one_pass(X, Y)
        return self

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return the number of multiply-adds of a pass over this many examples, forward and backward."""
        return 3.0 * examples * self.width * 2 * tokens * dim

    def _begin(self) -> None:
        from sklearn.neural_network import MLPRegressor

        self._network = MLPRegressor(
            hidden_layer_sizes=[self.width],
            learning_rate_init=self.rate,
            alpha=0,
            shuffle=False,
            random_state=None if self.random_state is None else self.random_state % 2**32,
        )

    def _train(self, x: NDArray[Any], y: Array, batch: int) -> None:
        inputs, targets = (each.reshape(len(x), -1).astype(np.float32) for each in (x, y))
        self._network.set_params(batch_size=batch)
        self._network.partial_fit(inputs, targets * np.float32(self._scale))

    def _predict(self, x: NDArray[Any]) -> Array:
        self._require_shape(x)
        if not self._scale:
            return np.zeros(x.shape)
        out = self._network.predict(x.reshape(len(x), -1).astype(np.float32))
        return np.asarray(out, dtype=np.float64).reshape(x.shape) / self._scale


@dataclass(eq=False, repr=False)
class OnlineMLP(Regressor):
    """A hidden layer of ReLU units on products of tokens, online by SGD: structured families, from 1,000 examples.

    For the structured families (k = 2 tokens). The network is given the best input that needs no secret: of the
    examples whose tokens differ in coordinate 0 the products v_j = x1_j x2_j, j >= 1, of which a parity label is one
    monomial. Its target is which of two label values was seen. So attention is not to blame for a large need.

    `width` hidden units, `batch` examples an update, step size `rate`; `random_state` (an integer >= 0) seeds the
    initial weights. Examples short of a batch wait for the next call.
    """

    ranges = (("width", 1), ("batch", 1), ("rate", "(0, inf)"))

    width: int = 128
    batch: int = 16
    rate: float = 0.5
    random_state: int | None = field(default=0, kw_only=True)

    def _begin(self, dim: int) -> None:
        rng = np.random.default_rng(self.random_state)
        self.hidden_ = (rng.standard_normal((dim, self.width)) * (2 / dim) ** 0.5).astype(np.float32)
        self.hidden_[0] = 0  # v_0 = -1 wherever z_0 != 0: the weights of coordinate 0 are the biases
        self.out_ = (rng.standard_normal(self.width) * self.width**-0.5).astype(np.float32)
        self.shift_, self.n_features_in_ = np.float32(0), dim
        self.low_, self.high_, self.gate_ = np.inf, -np.inf, 0.0
        self._v, self._y = np.empty((0, dim), np.float32), np.empty(0, np.float32)

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Make one pass over the examples X and Y (n, 2, d), from new initial weights; return self."""
        if hasattr(self, "hidden_"):
            del self.hidden_
        return self.partial_fit(X, Y)

    def partial_fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from tokens X and outputs Y, both (n, 2, d), in one pass; return self.

        Raises `InputError` on another number of tokens, shapes that differ, tokens other than ±1, NaN and infinity.
        """
        x = signs(X)
        y = outputs(Y, x)
        if x.shape[1] != 2:
            raise InputError(f"X must have shape (examples, 2, features), got {x.shape}")
        if not hasattr(self, "hidden_"):
            self.check_options()
            self._begin(x.shape[2])
        open_rows, v = _products(x)
        gated = y[:, 0, 0] * x[:, 0, 0]
        if not open_rows.all():
            self.gate_ = float(gated[~open_rows][0])
        if len(v):
            seen = gated[open_rows]
            self.low_, self.high_ = min(self.low_, float(seen.min())), max(self.high_, float(seen.max()))
            target = np.where(seen > (self.low_ + self.high_) / 2, 1, -1).astype(np.float32)
            self._v, self._y = np.concatenate([self._v, v]), np.concatenate([self._y, target])
        whole = len(self._v) // self.batch * self.batch
        for start in range(0, whole, self.batch):
            self._step(self._v[start : start + self.batch], self._y[start : start + self.batch])
        self._v, self._y = self._v[whole:], self._y[whole:]
        return self

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return the multiply-adds of a training pass over this many examples, half of which have no gradient."""
        return examples / 2 * 3.0 * (dim + 1) * self.width

    def _step(self, v: Floats, y: Floats) -> None:
        h = np.maximum(v @ self.hidden_, 0)
        # The hinge max(0, 1 - y f) moves the weights only by the examples inside the margin.
        pull = y * (y * (h @ self.out_ + self.shift_) < 1) * np.float32(self.rate / self.batch)
        back = (h > 0) * (pull[:, None] * self.out_)
        self.out_ += pull @ h
        self.shift_ += pull.sum()
        self.hidden_ += v.T @ back

    def _predict(self, x: NDArray[Any]) -> Array:
        """Return (n, 2, d), 0 but for column 0: x_a[0] times a label, of two if coordinates 0 differ, else a third."""
        open_rows, v = _products(x)
        value = np.full(len(x), self.gate_)
        margin = np.maximum(v @ self.hidden_, 0) @ self.out_ + self.shift_
        value[open_rows] = np.where(margin > 0, self.high_, self.low_)
        out = np.zeros(x.shape)
        out[:, :, 0] = x[:, :, 0] * value[:, None]
        return out


def _products(x: NDArray[Any]) -> tuple[NDArray[np.bool_], Floats]:
    open_rows = informative(x)
    return open_rows, (x[open_rows, 0] * x[open_rows, 1]).astype(np.float32)
