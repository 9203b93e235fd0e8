"""What the diagonal student computes on informative rows, in numpy: the reference of its compiled step, in float64.

On rows with z_0 != 0 heads with Θ_i = diag(θ_i) and W_i = c_i E_00 have the output x_a[0] f(u) in column 0, with

    f(u) = Σ_i c_i tanh(Σ_j θ_ij u_j),   u_j = |z_j|, u_0 = 1 (theory 1.1),

so that the entry θ_i0 at the gate is the threshold of head i. `weights` (d + 1, M) below hold θ_ij in row j and c in
the last one. Steps are taken in other coordinates of the same function, in which bits are signs v_j = 1 - 2u_j: f =
Σ_i c_i tanh(b_i + Σ_j t_ij v_j), t_ij = -θ_ij/2, b_i = θ_i0 + Σ_j θ_ij/2. A tuned student needs 2 to 7 times fewer
examples in them.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learner.adam import EPSILON

Array = NDArray[np.float64]
AT_ONCE = 1 << 22  # entries of the tables asked at once


class Rule(NamedTuple):
    """Holds the options of `learner.diagonal.Diagonal` that a step depends on; each is explained there."""

    rate: float
    threshold_rate: float = 1.0
    output_rate: float = 1.0
    l1: float = 0.0
    decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999
    clip: float = 0.0


def starting(rng: np.random.Generator, heads: int, dim: int, scale: float, output_scale: float = 1.0) -> Any:
    """Return random weights (d + 1, M): θ_ij ~ N(0, r²/d), thresholds θ_i0 ~ N(-Σ_j θ_ij/2, r²/d), c ~ N(0, q²/(d M)).

    Row j holds θ_ij of all M heads (`heads`), the last row output weights c; `scale` is r and `output_scale` is q.
    """
    weights = rng.standard_normal((dim + 1, heads)) * dim**-0.5
    weights[:dim] *= scale
    weights[0] -= weights[1:dim].sum(axis=0) / 2
    weights[dim] *= heads**-0.5 * output_scale
    return weights


def centred(weights: Any) -> Any:
    """Return the `weights` (d + 1, M; rows θ_j, then c) of a network on bits u, rewritten for inputs v = 1 - 2u."""
    moved = weights.copy()
    moved[1:-1] *= -0.5
    moved[0] -= moved[1:-1].sum(axis=0)
    return moved


def entries(moved: Any) -> Any:
    """Return weights (d + 1, M) of a network on signs v = 1 - 2u, rewritten for bits u: the inverse of `centred`."""
    weights = moved.copy()
    weights[0] += weights[1:-1].sum(axis=0)
    weights[1:-1] *= -2
    return weights


def by_centred(gradient: Any) -> Any:
    """Return a network's gradient (…, d + 1, M) by weights on signs v = 1 - 2u, given that by its weights on bits u."""
    moved = gradient.copy()
    moved[..., 1:-1, :] = gradient[..., :1, :] - 2 * gradient[..., 1:-1, :]
    return moved


def forward(weights: Any, u: Any) -> Any:
    """Return f(u) = Σ_i c_i tanh(Σ_j θ_ij u_j), (n,), of bits u (n, d) with u_0 = 1, given θ and c as (d + 1, M)."""
    return np.tanh(u @ weights[:-1]) @ weights[-1]


def updated(weights: Any, gradient: Any, moments: Any, step: int, rule: Rule) -> Any:
    """Return `weights` (d + 1, M) after step number `step` of Adam down `gradient`, with sparsity by `rule.l1`.

    Rows are thresholds, one for each input sign, and output weights. After Adam those of signs move towards 0 by rate ·
    l1 of `rule` and no further. `moments`, the running means of gradients and their squares, are changed in place.
    """
    first, second = moments
    first += (1 - rule.beta1) * (gradient - first)
    second += (1 - rule.beta2) * (gradient**2 - second)
    share, share_of_squares = 1 - rule.beta1**step, 1 - rule.beta2**step
    rates = np.full((len(weights), 1), rule.rate)
    rates[0] *= rule.threshold_rate
    rates[-1] *= rule.output_rate
    moved = (1 - rates * rule.decay) * weights
    moved -= rates * (first / share) / (np.sqrt(second / share_of_squares) + EPSILON)
    cut = rule.rate * rule.l1
    moved[1:-1] -= np.clip(moved[1:-1], -cut, cut)
    return moved


def descend(correlations: Callable[[Array], Array], weights: Array, rule: Rule) -> Iterator[Array]:
    """Yield the values (2^n,) of a two-layer network f on all sign vectors: before the first step, after it, and so on.

    f has `weights` (d + 1, M; see `forward`), d = n + 1, and goes down the gradient of E (f - y)²/2 over uniform signs
    (theory 2.4). Of the labels y it needs only the means E[y h] of M (d + 1) functions h: tanh of every head, and its
    derivative times 1 or a bit u_j. `correlations` maps tables of such h, (q, 2^n), to estimates of these means, (q,).
    Bit j of an entry's index, counted from 1, is u_j.
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
