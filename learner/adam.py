"""Adam (Kingma & Ba, 2015) on numpy's arrays or torch's; the compiled student has the same step on its own buffers."""

from collections.abc import Sequence
from typing import Any

# 1 - beta_1, 1 - beta_2: shares of a new gradient and of its square
NEW, NEW_SQUARE, EPSILON = 0.1, 0.001, 1e-8


class Adam:
    """Changes `parameters`, arrays of any shapes, in place: the running means of gradients and of squares are kept.

    >>> import numpy as np
    >>> x = np.array([3.0, -2.0])
    >>> adam = Adam([x])
    >>> for _ in range(200):
    ...     adam.step([2 * x], rate=0.1)
    >>> bool(abs(x).max() < 1e-3)
    True
    """

    def __init__(self, parameters: Sequence[Any], epsilon: float = EPSILON) -> None:
        self.parameters, self.epsilon, self.steps = parameters, epsilon, 0
        self.means = [(0 * parameter, 0 * parameter) for parameter in parameters]

    def step(self, gradients: Sequence[Any], rate: Any) -> None:
        """One update by the gradients; `rate` is a number, or an array that fits every parameter."""
        self.steps += 1
        # Both means begin at 0, and so have had only these shares of their weights.
        share, share_of_squares = 1 - (1 - NEW) ** self.steps, 1 - (1 - NEW_SQUARE) ** self.steps
        for parameter, gradient, (mean, square) in zip(self.parameters, gradients, self.means, strict=True):
            mean += NEW * (gradient - mean)
            square += NEW_SQUARE * (gradient * gradient - square)
            parameter -= rate * (mean / share) / ((square / share_of_squares) ** 0.5 + self.epsilon)
