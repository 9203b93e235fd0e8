"""Adam (Kingma & Ba, 2015) in place on numpy's arrays, compiled."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from learner.compiled import compiled

# 1 - beta_1, 1 - beta_2: shares of a new gradient and of its square
NEW, NEW_SQUARE, EPSILON = 0.1, 0.001, 1e-8


@compiled
def update(
    step: int, rate: float, epsilon: float, parameter: Any, gradient: Any, mean: Any, square: Any
) -> Any:
    """Take step number `step` = 1, 2, … in `parameter`: flat arrays of one type, float32 or float64, and one size.

    `mean` and `square` are the running means of gradients and of their squares, 0 before the first step.
    """
    number = parameter.dtype.type
    # Both means began at 0, and so have had only these shares of their weights.
    share, share_of_squares = 1 - (1 - NEW) ** step, 1 - (1 - NEW_SQUARE) ** step
    factor, least = number(rate * share_of_squares**0.5 / share), number(epsilon * share_of_squares**0.5)
    slow, slower = number(NEW), number(NEW_SQUARE)
    for i in range(parameter.size):
        g = gradient[i]
        mean[i] += slow * (g - mean[i])
        square[i] += slower * (g * g - square[i])
        parameter[i] -= factor * mean[i] / (np.sqrt(square[i]) + least)


class Adam:
    """Changes `parameters`, contiguous arrays of any shapes, in place.

    >>> x = np.array([3.0, -2.0])
    >>> adam = Adam([x])
    >>> for _ in range(200):
    ...     adam.step([2 * x], rate=0.1)
    >>> bool(abs(x).max() < 1e-3)
    True
    """

    def __init__(self, parameters: Sequence[Any], epsilon: float = EPSILON) -> None:
        self.flat = [parameter.reshape(-1) for parameter in parameters]
        self.means = [np.zeros_like(each) for each in self.flat]
        self.squares = [np.zeros_like(each) for each in self.flat]
        self.epsilon, self.steps = epsilon, 0

    def step(self, gradients: Sequence[Any], rate: float) -> None:
        """Take a step by the gradients, of the parameters' shapes."""
        self.steps += 1
        for parameter, gradient, mean, square in zip(
            self.flat, gradients, self.means, self.squares, strict=True
        ):
            update(self.steps, rate, self.epsilon, parameter, gradient.reshape(-1), mean, square)
