"""Learners that see examples once, in the order given, some at a time."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from learner.base import Array, Regressor, outputs, tokens

FIRST = 1024  # examples that set the scale of the labels before the first step


class Streamed(Regressor):
    """Trains by batches, after the first 1024 examples have fixed `_scale`, the factor on labels.

    With it the variances of the d outputs of a token sum to 1. `partial_fit` goes on from where it was, and examples
    short of a batch wait for the next call, so the same examples give the same weights in whatever pieces they come.
    """

    batch: int

    def partial_fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from X and Y (n, k, d) in the order given; return self. Raises `InputError` on other shapes or NaN."""
        x = tokens(X)
        y = outputs(Y, x)
        if not hasattr(self, "_shape"):
            self.check_options()
            self._shape, self.n_features_in_ = x.shape[1:], x.shape[2]
            self._scale, self._x, self._y = 0.0, x[:0], y[:0]
            self._begin()
        self._require_shape(x)
        self._x, self._y = np.concatenate([self._x, x]), np.concatenate([self._y, y])
        if self._scale or len(self._x) >= max(FIRST, self.batch):
            self._take(self.batch)
        return self

    def _one_pass(self, X: ArrayLike, Y: ArrayLike) -> None:
        """Start anew and learn from X and Y (n, k, d) once; the last examples, short of a batch, make a smaller one."""
        if hasattr(self, "_shape"):
            del self._shape
        self.partial_fit(X, Y)
        self._take(self.batch)
        self._take(len(self._x))

    def _take(self, batch: int) -> None:
        """Train on examples that wait for a step, as far as they fill batches of `batch`; the rest goes on waiting."""
        count = len(self._x) // batch * batch if batch else 0
        if not count:
            return
        if not self._scale:
            # Fixed from here on: a scale that went on adapting would change what a step of Adam means.
            spread = float(self._y[: max(FIRST, self.batch)].var(axis=0).sum(axis=1).mean())
            self._scale = spread**-0.5 if spread > 0 else 1.0
        self._train(self._x[:count], self._y[:count], batch)
        self._x, self._y = self._x[count:], self._y[count:]

    def _require_shape(self, x: NDArray[Any]) -> None:
        if x.shape[1:] != self._shape:
            raise InputError(f"X has {x.shape[1:]} tokens and features, earlier examples had {self._shape}")

    @abstractmethod
    def _begin(self) -> None:
        """Draw initial weights for examples of shape `_shape`, (tokens, features)."""

    @abstractmethod
    def _train(self, x: NDArray[Any], y: Array, batch: int) -> None:
        """Make one update of the weights for each `batch` successive examples of x and y (n, k, d)."""
