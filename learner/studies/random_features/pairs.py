"""The control that treats all keys alike: a network of frozen random neurons on pairs of query and key."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from learner.base import Array
from learner.regression import RandomFeatureMLP

AT_ONCE = 256  # neurons whose values on all pairs are made together


class RandomFeaturePairs(RandomFeatureMLP):
    """Fit Σ_m a_m mean_i relu(<w_m, (x₀, xᵢ, 1)>) with frozen normal w_m and trained a_m; x₀ is the query, xᵢ are keys.

    Attention and the study's targets are means over keys too. `width` counts neurons. Ridge regression trains a_m.

    >>> X = np.random.default_rng(0).normal(size=(400, 3, 3))
    >>> model = RandomFeaturePairs(1000, random_state=0).fit(X, X[:, 1:, 0].mean(axis=1))
    >>> bool(np.allclose(model.predict(X), model.predict(X[:, [0, 2, 1]])))
    True
    """

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        return super()._start(X[:, :2], rng)

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = self._scaled(X).astype(np.float32)
        keys, d = x[:, 1:], x.shape[2]
        for start in range(0, self.width, AT_ONCE):
            neurons = self.neurons_[:, start : start + AT_ONCE]
            of_query = x[:, 0] @ neurons[:d] + neurons[-1]
            of_keys = keys @ neurons[d:-1]
            yield np.maximum(of_query[:, None] + of_keys, 0).mean(axis=1)
