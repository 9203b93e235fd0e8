"""Gradient descent on whole populations: a network on bits whose gradients are answers of an oracle (theory 2.4)."""

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from learner.diagonal_network import Rule, by_centred, centred, entries, updated

Array = NDArray[np.float64]
AT_ONCE = 1 << 22  # entries of the tables asked at once


def descend(correlations: Callable[[Array], Array], weights: Array, rule: Rule) -> Iterator[Array]:
    """Yield the values of f on all sign vectors, (2^n,), before the first step, after it, after the next, and so on.

    f = Σ_i c_i tanh(θ_i0 + Σ_j θ_ij u_j), u_j = 1 iff v_j = -1, has the `weights` (d + 1, M) of
    `learner.diagonal_network`, d = n + 1, and goes down the gradient of E (f - y)²/2 over uniform v, in the coordinates
    in which the student steps. What the entries by θ and c owe to labels is E[y h(v)] of functions h that the learner
    knows, tanh', tanh' u_j and tanh of every head: `correlations` is handed their tables (q, 2^n), bit j of an entry's
    number being u_j, and says what it takes these means for, (q,). They are M (d + 1) a step.

    >>> signs = np.array([1.0, -1.0, -1.0, 1.0])
    >>> weights = np.random.default_rng(0).normal(size=(4, 16))
    >>> values = descend(lambda tables: tables @ signs / 4, weights, Rule(rate=0.1))
    >>> errors = [float(np.mean((next(values) - signs) ** 2)) for _ in range(100)]
    >>> errors[0] > 1, errors[-1] < 0.1
    (True, True)
    """
    d, heads = weights.shape[0] - 1, weights.shape[1]
    size = 2 ** (d - 1)
    u = np.concatenate([np.ones((1, size)), np.arange(size) >> np.arange(d - 1)[:, None] & 1])
    moved, moments = centred(weights), (np.zeros_like(weights), np.zeros_like(weights))
    parts = np.array_split(np.arange(heads), -(-u.size * heads // AT_ONCE))
    for step in count(1):
        theta, c = np.split(entries(moved), [d])
        t = np.tanh(theta.T @ u)
        slope = 1 - t * t
        f = c[0] @ t
        yield f
        by_label = np.empty_like(weights)
        for part in parts:
            tables = (slope[part, None] * u).reshape(-1, size)
            by_label[:-1, part] = correlations(tables).reshape(-1, d).T
        by_label[-1] = correlations(t)
        gradient = np.concatenate([u @ (slope * f).T, (t @ f)[None]]) / size - by_label
        gradient[:-1] *= c
        moved = updated(moved, by_centred(gradient), moments, step, rule)
