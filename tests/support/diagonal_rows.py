"""Gradients of the diagonal student row by row, in float64: what its compiled step is held to."""

from typing import Any

import numpy as np


def gradients(weights: Any, u: Any, y: Any) -> tuple[Any, Any]:
    """Return errors e = f - y (n,) and gradients (n, d + 1, M) of e²/2 of single rows: bits u (n, d), labels y (n,)."""
    t = np.tanh(u @ weights[:-1])
    errors = t @ weights[-1] - y
    by_theta = u[:, :, None] * (errors[:, None] * weights[-1] * (1 - t * t))[:, None]
    return errors, np.concatenate([by_theta, (errors[:, None] * t)[:, None]], axis=1)


def clipped(gradient: Any, bound: float) -> Any:
    """Return gradients (n, d + 1, M) of single rows, those of a norm above `bound` shortened to it."""
    norms = np.sqrt((gradient**2).sum(axis=(1, 2), keepdims=True))
    return gradient * np.minimum(1, bound / np.maximum(norms, 1e-30))
