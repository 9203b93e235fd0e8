"""A network on raw tokens: the student without attention."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from hardness.io.fields import whole
from learner.base import Array, Regressor, outputs, tokens

FIRST = 1024  # examples that set the scale of the labels


class MLP(Regressor):
    """A hidden layer of ReLU units on all signs of an input, all outputs at once: Adam on the squared error, online.

    The network is scikit-learn's `MLPRegressor`, shown every example once, in the order given, `batch` a step, in
    float32. It sees raw tokens and nothing else; products and the gate are for it to find. The first 1024 examples
    set the scale of the labels, as with the attention student. `rate` is frozen after hidden parities of two: of
    1e-3, 3e-3, 1e-2 and 3e-2 the one that solved d = 32; at d = 8 and 16 the larger ones are faster.

    >>> from hardness.families.nondegenerate import Nondegenerate
    >>> from hardness.instance import Instance
    >>> nice = Instance.generate(Nondegenerate(dim=5, tokens=2, heads=1), seed=0).examples(20_000, seed=1)
    >>> model = MLP(random_state=0).fit(nice.X, nice.Y)
    >>> bool(np.sum((model.predict(nice.X) - nice.Y) ** 2) < 0.2 * np.sum(nice.Y**2))
    True
    """

    def __init__(
        self, width: int = 128, rate: float = 3e-3, batch: int = 64, random_state: int | None = None
    ) -> None:
        self.width = width
        self.rate = rate
        self.batch = batch
        self.random_state = random_state

    def _start(self, x: NDArray[np.generic]) -> None:
        from sklearn.neural_network import MLPRegressor

        for name in ("width", "batch"):
            whole(name, getattr(self, name), 1)
        seed = None if self.random_state is None else self.random_state % 2**32
        self._network = MLPRegressor(
            hidden_layer_sizes=[self.width],
            batch_size=self.batch,
            learning_rate_init=self.rate,
            alpha=0,
            shuffle=False,
            random_state=seed,
        )
        self._shape, self._scale, self.n_features_in_ = x.shape[1:], 0.0, x.shape[2]
        # Inputs and outputs of examples short of a batch.
        self._waiting = [np.empty((0, x[0].size), dtype=np.float32) for _ in "xy"]

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """One pass over all examples, from new weights; returns self."""
        if hasattr(self, "_network"):
            del self._network
        self.partial_fit(X, Y)
        self._take(len(self._waiting[0]))
        return self

    def partial_fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from X and Y, both (n, k, d); examples short of a batch wait. Raises `InputError` on other shapes."""
        x = tokens(X)
        y = outputs(Y, x)
        if not hasattr(self, "_network"):
            self._start(x)
        elif x.shape[1:] != self._shape:
            raise InputError(
                f"X has {x.shape[1:]} tokens and features, the examples before had {self._shape}"
            )
        flat = (each.reshape(len(x), -1).astype(np.float32) for each in (x, y))
        self._waiting = [np.concatenate(parts) for parts in zip(self._waiting, flat, strict=True)]
        if self._scale or len(self._waiting[0]) >= max(FIRST, self.batch):
            self._take(len(self._waiting[0]) // self.batch * self.batch)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """F̂(X), shape (n, k, d): 0 before the first step."""
        x = self._to_predict(X, "_network")
        if x.shape[1:] != self._shape:
            raise InputError(
                f"X has {x.shape[1:]} tokens and features, but the learner was fitted on {self._shape}"
            )
        if not self._scale:
            return np.zeros(x.shape)
        out = self._network.predict(x.reshape(len(x), -1).astype(np.float32))
        return np.asarray(out, dtype=np.float64).reshape(x.shape) * self._scale

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Multiply-adds of a pass over so many examples: forward and backward.

        >>> MLP(width=128).multiply_adds(1, 2, 12)
        18432.0
        """
        return 3.0 * examples * self.width * 2 * tokens * dim

    def _take(self, count: int) -> None:
        """Train on the first examples that wait."""
        x, y = (part[:count] for part in self._waiting)
        if not count:
            return
        if not self._scale:
            self._scale = float(np.sqrt(y[:FIRST].var(axis=0).sum() / self._shape[0])) or 1.0
        self._network.set_params(batch_size=min(self.batch, count))
        self._network.partial_fit(x, y / np.float32(self._scale))
        self._waiting = [part[count:] for part in self._waiting]
