"""Random teachers of docs/learner.md: Θ entries N(0, τ²/(2d²)), W entries N(0, 1/d)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention

Array = NDArray[np.float64]


def teacher(heads: int, dim: int, seed: int, tau: float = 2.0, zero_sum: bool = False) -> MultiHeadAttention:
    rng = np.random.default_rng([seed, heads, dim])
    theta = rng.normal(0, tau / (2**0.5 * dim), (heads, dim, dim))
    w = rng.normal(0, dim**-0.5, (heads, dim, dim))
    return MultiHeadAttention(theta, w - w.mean(axis=0) if zero_sum else w)


def examples(layer: MultiHeadAttention, count: int, tokens: int, seed: int) -> tuple[Array, Array]:
    X = np.random.default_rng([seed, 1]).choice([-1.0, 1.0], size=(count, tokens, layer.dim))
    return X, layer(X)


def near_parity(dim: int, heads: int, rho: float, seed: int) -> Instance:
    """A layer on the straight line from a hidden parity (rho = 0) to a random one, as a random layer's instance."""
    nice = Instance.generate(Nondegenerate(dim, 2, heads), seed)
    hard = Instance.generate(Parity(dim, heads), seed).layer()
    ends = (("theta", hard.theta), ("w", hard.w))
    secret = {name: (1 - rho) * array + rho * nice.secret[name] for name, array in ends}
    return replace(nice, secret=secret, teacher=nice.family.realize(secret))
