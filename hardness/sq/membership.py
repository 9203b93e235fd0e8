"""The membership oracle: the learner chooses the input and sees its exact label; queries are counted (theory 2.9)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.sq.oracle import Ledger


class Membership:
    """F(X) for tokens X (k, d) of ±1 that the learner chooses, one input a query; `ledger` counts them.

    `teacher` maps tokens (n, k, d) to outputs of that shape: the noiseless layer. Raises `InputError` for other
    tokens, and `OutOfQueries` beyond `budget`.

    >>> oracle = Membership(lambda X: 2.0 * X, tokens=2, dim=3)
    >>> oracle.label(np.array([[1, 1, -1], [1, 1, 1]])).tolist(), oracle.ledger.queries
    ([[2.0, 2.0, -2.0], [2.0, 2.0, 2.0]], 1)
    """

    def __init__(
        self,
        teacher: Callable[[NDArray[np.int8]], NDArray[np.float64]],
        tokens: int,
        dim: int,
        budget: int | None = None,
    ) -> None:
        self.shape, self.ledger, self._teacher = (tokens, dim), Ledger(budget), teacher

    def label(self, X: NDArray[np.integer]) -> NDArray[np.float64]:
        """F(X), (k, d), of one input X (k, d)."""
        x = np.asarray(X)
        if x.shape != self.shape or not (np.abs(x) == 1).all():
            raise InputError(f"an input is {self.shape} tokens of +1 and -1, got shape {x.shape}")
        self.ledger.charge(0.0)
        return np.asarray(self._teacher(x.astype(np.int8)[None])[0])
