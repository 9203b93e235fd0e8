"""The attention student's step for any number of tokens, in numpy; in float64 it is the reference of the compiled one.

A student has Θ and W, both (M, d, d), and F(X)_a = Σ_i softmax(x_a Θ_i Xᵀ) X W_i.
"""

from typing import Any

import numpy as np

from learner.adam import Adam

# Losses by the distance from its label within which an output pulls at nothing; further off the pull is 1. Below 0: it
# is the distance itself, as of half the squared error.
ZONES = {"squared": -1.0, "absolute": 0.0, "hinge": 0.1}


def initial(rng: Any, heads: int, dim: int) -> tuple[Any, Any]:
    """Θ with entries N(0, 1/d) and W with entries N(0, 1/(d M)), both (M, d, d) float32.

    >>> theta, w = initial(np.random.default_rng(0), heads=16, dim=8)
    >>> theta.shape, str(w.dtype), bool(abs(theta.std() - 8**-0.5) < 0.02)
    ((16, 8, 8), 'float32', True)
    """
    theta, w = rng.standard_normal((2, heads, dim, dim), dtype="float32")
    theta *= dim**-0.5
    w *= (heads * dim) ** -0.5
    return theta, w


def forward(theta: Any, w: Any, x: Any) -> tuple[Any, Any, Any]:
    """Outputs (B, k, d), patterns (B, M, k, k) and mixed tokens (B k, M d) of tokens x (B, k, d).

    The largest score of a row is taken off before the exponential, so nothing overflows.
    """
    B, k, d = x.shape
    M = len(theta)
    queries = (
        (x.reshape(B * k, d) @ theta.swapaxes(0, 1).reshape(d, M * d)).reshape(B, k, M, d).swapaxes(1, 2)
    )
    scores = queries @ x[:, None].swapaxes(-1, -2)
    weights = np.exp(scores - np.amax(scores, -1)[..., None])
    patterns = weights / weights.sum(-1)[..., None]
    mixed = (patterns @ x[:, None]).swapaxes(1, 2).reshape(B * k, M * d)
    return (mixed @ w.reshape(M * d, d)).reshape(B, k, d), patterns, mixed


def gradients(theta: Any, w: Any, x: Any, y: Any, loss: str = "squared") -> tuple[Any, Any, Any]:
    """Squared error before the step, and the gradients by Θ and W of the loss Σ ℓ(F(X) - Y) / B.

    ℓ(e) is e²/2 (squared), |e| (absolute) or max(0, |e| - .1) (hinge). The squared error is the mean over the B
    examples of the sum over all outputs.
    """
    B, k, d = x.shape
    M = len(theta)
    out, patterns, mixed = forward(theta, w, x)
    error = out - y
    pull = error if loss == "squared" else np.sign(error) * (abs(error) > ZONES[loss])
    g = pull.reshape(B * k, d) / B
    by_w = (mixed.swapaxes(0, 1) @ g).reshape(M, d, d)
    back = (g @ w.reshape(M * d, d).swapaxes(0, 1)).reshape(B, k, M, d).swapaxes(1, 2)
    by_pattern = back @ x[:, None].swapaxes(-1, -2)
    by_score = patterns * (by_pattern - (patterns * by_pattern).sum(-1)[..., None])
    moved = (by_score @ x[:, None]).swapaxes(1, 2).reshape(B * k, M * d)
    by_theta = (x.reshape(B * k, d).swapaxes(0, 1) @ moved).reshape(d, M, d).swapaxes(0, 1)
    return (error * error).sum() / B, by_theta, by_w


class DenseStudent:
    """A student on any number of tokens, with the interface of the compiled one: Θ and W (M, d, d) are copied.

    Its arrays are of the type of `theta`: float32, or float64 for a reference.
    """

    def __init__(self, theta: Any, w: Any, loss: str = "squared") -> None:
        self.theta, self.w, self.loss = theta.copy(), w.copy(), loss
        self.optimizer = Adam((self.theta, self.w))

    def layer(self) -> tuple[Any, Any]:
        """Θ and W, both (M, d, d)."""
        return self.theta.copy(), self.w.copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0) -> Any:
        """An update a whole batch of tokens x and targets y times `scale`, both (n, k, d), each shrunk by rate · l1.

        Returns (batches, 2): of each batch before its update, means over examples of the squared error and of the
        squared targets, summed over outputs.
        """
        kind, cut = self.theta.dtype, rate * l1
        x, y = x.astype(kind), (y * scale).astype(kind)
        squares = np.zeros((len(x) // batch, 2), kind)
        for i in range(len(squares)):
            part = slice(i * batch, (i + 1) * batch)
            squares[i, 0], *gradient = gradients(self.theta, self.w, x[part], y[part], self.loss)
            squares[i, 1] = (y[part] ** 2).sum() / batch
            self.optimizer.step(gradient, rate)
            # A proximal step: |Θ| has no derivative at 0, where entries are to stay. W is not sparse.
            if cut:
                self.theta -= np.clip(self.theta, -cut, cut)
        return squares.astype("float64")
