"""The attention student's step for any number of tokens, on numpy's arrays or torch's.

A student has Θ and W, both (M, d, d), and F(X)_a = Σ_i softmax(x_a Θ_i Xᵀ) X W_i. In float64 this is the reference of
the compiled step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hardness.errors import InputError, missing_extra
from learner.adam import Adam

# Losses by the distance from its label within which an output pulls at nothing; further off the pull is 1. Below 0: it
# is the distance itself, as of half the squared error.
ZONES = {"squared": -1.0, "absolute": 0.0, "hinge": 0.1}


def initial(rng: Any, heads: int, dim: int, hinted: bool = False) -> tuple[Any, Any]:
    """Θ with entries N(0, 1/d) and W with entries N(0, 1/(d M)), both (M, d, d) float32.

    `hinted`: told that Θ is diagonal, it starts with diagonal entries N(0, 1/4) and the others a tenth as large.

    >>> theta, w = initial(np.random.default_rng(0), heads=16, dim=8)
    >>> theta.shape, str(w.dtype), bool(abs(theta.std() - 8**-0.5) < 0.02)
    ((16, 8, 8), 'float32', True)
    """
    theta, w = rng.standard_normal((2, heads, dim, dim), dtype="float32")
    theta *= dim**-0.5
    if hinted:
        theta *= np.where(np.eye(dim, dtype=bool), dim**0.5 / 2, 0.1).astype("float32")
    w *= (heads * dim) ** -0.5
    return theta, w


def forward(xp: Any, theta: Any, w: Any, x: Any) -> tuple[Any, Any, Any]:
    """Outputs (B, k, d), patterns (B, M, k, k) and mixed tokens (B k, M d) of tokens x (B, k, d).

    `xp` is numpy or torch. The largest score of a row is taken off before the exponential, so nothing overflows.
    """
    B, k, d = x.shape
    M = len(theta)
    queries = (x.reshape(B * k, d) @ theta.swapaxes(0, 1).reshape(d, M * d)).reshape(B, k, M, d).swapaxes(1, 2)
    scores = queries @ x[:, None].swapaxes(-1, -2)
    weights = xp.exp(scores - xp.amax(scores, -1)[..., None])
    patterns = weights / weights.sum(-1)[..., None]
    mixed = (patterns @ x[:, None]).swapaxes(1, 2).reshape(B * k, M * d)
    return (mixed @ w.reshape(M * d, d)).reshape(B, k, d), patterns, mixed


def gradients(xp: Any, theta: Any, w: Any, x: Any, y: Any, loss: str = "squared") -> tuple[Any, Any, Any]:
    """Squared error before the step, and the gradients by Θ and W of the loss Σ ℓ(F(X) - Y) / B.

    ℓ(e) is e²/2 (squared), |e| (absolute) or max(0, |e| - .1) (hinge). The squared error is the mean over the B
    examples of the sum over all outputs.
    """
    B, k, d = x.shape
    M = len(theta)
    out, patterns, mixed = forward(xp, theta, w, x)
    error = out - y
    pull = error if loss == "squared" else xp.sign(error) * (abs(error) > ZONES[loss])
    g = pull.reshape(B * k, d) / B
    by_w = (mixed.swapaxes(0, 1) @ g).reshape(M, d, d)
    back = (g @ w.reshape(M * d, d).swapaxes(0, 1)).reshape(B, k, M, d).swapaxes(1, 2)
    by_pattern = back @ x[:, None].swapaxes(-1, -2)
    by_score = patterns * (by_pattern - (patterns * by_pattern).sum(-1)[..., None])
    moved = (by_score @ x[:, None]).swapaxes(1, 2).reshape(B * k, M * d)
    by_theta = (x.reshape(B * k, d).swapaxes(0, 1) @ moved).reshape(d, M, d).swapaxes(0, 1)
    return (error * error).sum() / B, by_theta, by_w


@dataclass
class Weights:
    """Θ and W of a student, arrays (M, d, d) of `xp`, and how they are trained: by Adam or by plain descent."""

    xp: Any
    theta: Any
    w: Any
    adam: bool = True
    loss: str = "squared"

    def __post_init__(self) -> None:
        self.optimizer = Adam((self.theta, self.w)) if self.adam else None

    def step(self, x: Any, y: Any, rate: float, cut: float = 0.0) -> Any:
        """One update by tokens x and targets y (B, k, d); returns the squared error before it.

        Then every entry of Θ goes towards 0 by `cut`, and no further.
        """
        error, *found = gradients(self.xp, self.theta, self.w, x, y, self.loss)
        if self.optimizer:
            self.optimizer.step(found, rate)
        else:
            for parameter, gradient in zip((self.theta, self.w), found, strict=True):
                parameter -= rate * gradient
        if cut:
            self.theta -= self.xp.clip(self.theta, -cut, cut)
        return error


class Arrays(NamedTuple):
    """A library of arrays: itself, and the ways from numpy's to its float32 arrays and back to float64."""

    xp: Any
    put: Callable[[Any], Any]
    get: Callable[[Any], Any]


def arrays_on(device: str | None) -> Arrays:
    """numpy's arrays for None, else torch's on the device of that name (cpu, cuda, cuda:1, …).

    Raises `InputError` where torch is not installed or does not have the device.
    """
    if device is None:
        return Arrays(np, lambda a: np.array(a, "float32"), lambda a: np.array(a, "float64"))
    try:
        import torch
    except ImportError as error:
        raise missing_extra("torch", "torch", "a student on a device") from error
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(f"torch cannot use the device {device!r}: {str(error).splitlines()[0]}") from error
    return Arrays(
        torch,
        lambda a: torch.tensor(np.asarray(a)).to(device).float(),
        lambda a: np.asarray(a.cpu().numpy(), dtype="float64"),
    )


class DenseStudent:
    """A student on any number of tokens, with the interface of the compiled one: Θ and W (M, d, d) are copied.

    `device` is None for numpy, else one that torch knows (`arrays_on`).
    """

    def __init__(self, theta: Any, w: Any, adam: bool = True, loss: str = "squared", device: str | None = None) -> None:
        self.arrays = arrays_on(device)
        self.weights = Weights(self.arrays.xp, self.arrays.put(theta), self.arrays.put(w), adam, loss)

    def layer(self) -> tuple[Any, Any]:
        """Θ and W, both (M, d, d) float32."""
        theta, w = (self.arrays.get(part).astype("float32") for part in (self.weights.theta, self.weights.w))
        return theta, w

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0) -> Any:
        """An update a whole batch of tokens x and targets y times `scale`, both (n, k, d), each shrunk by rate · l1.

        Returns (batches, 2): of each batch before its update, means over examples of the squared error and of the
        squared targets, summed over outputs.
        """
        x, y = self.arrays.put(x), self.arrays.put(y * scale)
        squares = self.arrays.put(np.zeros((len(x) // batch, 2)))
        for i in range(len(squares)):
            part = slice(i * batch, (i + 1) * batch)
            squares[i, 0] = self.weights.step(x[part], y[part], rate, rate * l1)
            squares[i, 1] = (y[part] ** 2).sum() / batch
        return self.arrays.get(squares)
