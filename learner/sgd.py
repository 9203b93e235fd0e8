"""Online SGD on a small network: the control learner of theory 3.5."""

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.gadgets.coefficients import informative
from learner.base import Regressor, outputs, signs

Floats = NDArray[np.float32]


class OnlineMLP(Regressor):
    """One hidden layer of ReLU units, hinge loss, plain mini-batch SGD, every example seen once.

    For the structured families (k = 2 tokens). The network is given the most generous public representation: of
    the examples with z_0 != 0 the products v_j = x1_j x2_j, j >= 1, in which a parity label is a single
    character, and as target which of the two label values was seen. So a large need is not due to attention.

    Parameters: hidden units, examples an update, step size, and the seed of the initial weights (an integer >= 0).
    Deterministic: the same examples in the same calls give the same predictions.

    >>> from hardness.tokens import TokenStream, unpack
    >>> X = unpack(TokenStream(seed=1, tokens=2, dim=6).packed(0, 4000), 6)
    >>> Y = np.zeros(X.shape); Y[:, :, 0] = X[:, :, 0] * X[:, :1, 3] * X[:, 1:, 3]
    >>> model = OnlineMLP(random_state=0).partial_fit(X[:3000], Y[:3000])
    >>> informative = X[3000:, 0, 0] != X[3000:, 1, 0]
    >>> bool(np.mean((model.predict(X[3000:]) * Y[3000:])[informative, 0, 0] > 0) > 0.9)
    True
    """

    def __init__(self, width: int = 128, batch: int = 16, rate: float = 0.5, random_state: int = 0) -> None:
        self.width = width
        self.batch = batch
        self.rate = rate
        self.random_state = random_state

    def _start(self, inputs: int) -> None:
        rng = np.random.default_rng(self.random_state)
        self.hidden_ = (rng.standard_normal((inputs, self.width)) * (2 / inputs) ** 0.5).astype(np.float32)
        self.hidden_[0] = 0  # v_0 = -1 wherever z_0 != 0: the weights of coordinate 0 are the biases
        self.out_ = (rng.standard_normal(self.width) * self.width**-0.5).astype(np.float32)
        self.shift_ = np.float32(0)
        self.low_, self.high_, self.gate_ = np.inf, -np.inf, 0.0
        self._v = np.empty((0, inputs), dtype=np.float32)
        self._y = np.empty(0, dtype=np.float32)

    def fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "OnlineMLP":
        """One pass over all examples, from new initial weights; returns self."""
        if hasattr(self, "hidden_"):
            del self.hidden_
        return self.partial_fit(X, Y)

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "OnlineMLP":
        """One pass over tokens (n, 2, d) and outputs (n, 2, d); examples short of a batch wait for the next call.

        Raises `InputError` on another number of tokens, shapes that differ, tokens other than ±1, NaN and infinity.
        """
        X = signs(X)
        Y = outputs(Y, X)
        if X.shape[1] != 2:
            raise InputError(f"X must have shape (examples, 2, features), got {X.shape}")
        informative, v = _products(X)
        if not hasattr(self, "hidden_"):
            self._start(v.shape[1])
        gated = Y[:, 0, 0] * X[:, 0, 0]
        if not informative.all():
            self.gate_ = float(gated[~informative][0])
        if len(v):
            seen = gated[informative]
            self.low_, self.high_ = min(self.low_, float(seen.min())), max(self.high_, float(seen.max()))
            target = np.where(seen > (self.low_ + self.high_) / 2, 1, -1).astype(np.float32)
            self._v, self._y = np.concatenate([self._v, v]), np.concatenate([self._y, target])
        whole = len(self._v) // self.batch * self.batch
        for start in range(0, whole, self.batch):
            self._step(self._v[start : start + self.batch], self._y[start : start + self.batch])
        self._v, self._y = self._v[whole:], self._y[whole:]
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Predicted outputs (n, 2, d): one of the two label values seen where z_0 != 0, else the gate value."""
        informative, v = _products(X)
        value = np.full(len(X), self.gate_)
        margin = np.maximum(v @ self.hidden_, 0) @ self.out_ + self.shift_
        value[informative] = np.where(margin > 0, self.high_, self.low_)
        Y = np.zeros(X.shape)
        Y[:, :, 0] = X[:, :, 0] * value[:, None]
        return Y

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Multiply-adds of a pass over so many examples, half of which move the weights.

        >>> OnlineMLP(width=128).multiply_adds(2, 2, 12)
        4992.0
        """
        return examples / 2 * 3.0 * (dim + 1) * self.width

    def _step(self, v: Floats, y: Floats) -> None:
        h = np.maximum(v @ self.hidden_, 0)
        # The hinge max(0, 1 - y f) moves the weights only by the examples inside the margin.
        pull = y * (y * (h @ self.out_ + self.shift_) < 1) * np.float32(self.rate / self.batch)
        back = (h > 0) * (pull[:, None] * self.out_)
        self.out_ += pull @ h
        self.shift_ += pull.sum()
        self.hidden_ += v.T @ back


def _products(X: NDArray[np.int8]) -> tuple[NDArray[np.bool_], Floats]:
    open_rows = informative(X)
    return open_rows, (X[open_rows, 0] * X[open_rows, 1]).astype(np.float32)
