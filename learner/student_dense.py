"""One step of the attention student, for any number of tokens and of students at once: numpy's or torch's arrays.

A student has Θ and W, both (M, d, d), and F(X)_a = Σ_i softmax(x_a Θ_i Xᵀ) X W_i. Every array has the students as its
first axis S, so that cells and runs of one shape are one product of matrices; a single student has S = 1. In float64
this is the reference of the compiled step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam (Kingma & Ba, 2015)


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


def forward(xp: Any, theta: Any, w: Any, x: Any) -> tuple[Any, Any, Any]:
    """Outputs (S, B, k, d), patterns (S, B, M, k, k) and mixed tokens (S, B k, M d) of tokens x (S, B, k, d).

    `xp` is numpy or torch. The largest score of a row is taken off before the exponential, so nothing overflows.
    """
    S, B, k, d = x.shape
    M = theta.shape[1]
    keys = x[:, :, None].swapaxes(-1, -2)
    queries = (x.reshape(S, B * k, d) @ _beside(theta)).reshape(S, B, k, M, d).swapaxes(2, 3)
    scores = queries @ keys
    weights = xp.exp(scores - xp.amax(scores, -1)[..., None])
    patterns = weights / weights.sum(-1)[..., None]
    mixed = (patterns @ x[:, :, None]).swapaxes(2, 3).reshape(S, B * k, M * d)
    return (mixed @ w.reshape(S, M * d, d)).reshape(S, B, k, d), patterns, mixed


def gradients(xp: Any, theta: Any, w: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Squared error (S,) before the step, and the gradients by Θ and W of the loss Σ |F(X) - Y|² / (2 B).

    The squared error is the mean over the B examples of the sum over all outputs.
    """
    S, B, k, d = x.shape
    M = theta.shape[1]
    out, patterns, mixed = forward(xp, theta, w, x)
    error = out - y
    g = error.reshape(S, B * k, d) / B
    by_w = (mixed.swapaxes(1, 2) @ g).reshape(S, M, d, d)
    back = (g @ w.reshape(S, M * d, d).swapaxes(1, 2)).reshape(S, B, k, M, d).swapaxes(2, 3)
    by_pattern = back @ x[:, :, None].swapaxes(-1, -2)
    by_score = patterns * (by_pattern - (patterns * by_pattern).sum(-1)[..., None])
    moved = (by_score @ x[:, :, None]).swapaxes(2, 3).reshape(S, B * k, M * d)
    by_theta = (x.reshape(S, B * k, d).swapaxes(1, 2) @ moved).reshape(S, d, M, d).swapaxes(1, 2)
    return (error * error).reshape(S, -1).sum(-1) / B, by_theta, by_w


def _beside(theta: Any) -> Any:
    """Θ (S, M, d, d) as one matrix (S, d, M d)."""
    S, M, d, _ = theta.shape
    return theta.swapaxes(1, 2).reshape(S, d, M * d)


def adam_factors(step: int) -> tuple[float, float]:
    """(a, e) with Adam's update = rate · a · m/(√v + e): the corrections of both moments, made once a step.

    >>> [float(f"{x:.6g}") for x in adam_factors(1)]
    [0.316228, 3.16228e-10]
    """
    root = (1 - BETA2**step) ** 0.5
    return root / (1 - BETA1**step), EPSILON * root


@dataclass
class Weights:
    """Θ and W of S students, their moments, and the number of steps made; arrays (S, M, d, d) of `xp`."""

    xp: Any
    theta: Any
    w: Any
    adam: bool = True
    steps: int = 0

    def __post_init__(self) -> None:
        zeros = self.xp.zeros_like
        self.moments = [[zeros(p), zeros(p)] for p in (self.theta, self.w)] if self.adam else []

    def step(self, x: Any, y: Any, rate: float) -> Any:
        """One update by tokens x and targets y (S, B, k, d); returns the squared error (S,) before it."""
        error, *found = gradients(self.xp, self.theta, self.w, x, y)
        self.steps += 1
        factor, epsilon = adam_factors(self.steps)
        for i, (parameter, g) in enumerate(zip((self.theta, self.w), found, strict=True)):
            if self.adam:
                first, second = self.moments[i]
                first += (1 - BETA1) * (g - first)
                second += (1 - BETA2) * (g * g - second)
                parameter -= rate * factor * first / (second**0.5 + epsilon)
            else:
                parameter -= rate * g
        return error


class DenseStudent:
    """Weights of one student on any number of tokens, with the interface of the compiled one on two."""

    def __init__(self, theta: Any, w: Any, adam: bool = True) -> None:
        self.weights = Weights(np, theta[None].copy(), w[None].copy(), adam)

    def layer(self) -> tuple[Any, Any]:
        """Θ and W, both (M, d, d)."""
        return self.weights.theta[0].copy(), self.weights.w[0].copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0) -> Any:
        """An update a whole batch of tokens x and targets y times `scale`, both (n, k, d).

        Returns (batches, 2): of each batch before its update, means over examples of the squared error and of the
        squared targets, summed over outputs.
        """
        squares = np.zeros((len(x) // batch, 2))
        for i, start in enumerate(range(0, len(squares) * batch, batch)):
            part = slice(start, start + batch)
            target = (y[None, part] * scale).astype(self.weights.w.dtype)
            squares[i] = (
                self.weights.step(x[None, part].astype(target.dtype), target, rate)[0],
                (target**2).sum() / batch,
            )
        return squares
