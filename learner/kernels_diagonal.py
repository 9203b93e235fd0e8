"""The diagonal student's step, compiled: bits in, forward, backward and update of a batch, in float32.

Bits are unpacked to signs V (n, d) with v_0 = 1, so that a head's argument is a row of V @ moved[:d], and the gradient
by these coordinates is the transposed product. Both are BLAS products; the loops beside them are elementwise.
"""

from typing import Any

import numpy as np

from learner.adam import Pace, compiled, one_thread, update
from learner.diagonal_network import Rule, centred, entries

F = np.float32
# Weights below count as 0: subnormal numbers are slow
LEAST = F(1e-12)


@compiled
def hyperbolic_tangent(h: Any) -> Any:
    """Replace the float32 numbers of h, of any shape, by their tanh, within 3e-7 (Lambert's continued fraction)."""
    flat = h.reshape(h.size)
    for i in range(flat.size):
        y = max(F(-4.75), min(F(4.75), F(0.5) * flat[i]))
        z = y * y
        p = y * (F(135135) + z * (F(17325) + z * (F(378) + z)))
        q = F(135135) + z * (F(62370) + z * (F(3150) + z * F(28)))
        flat[i] = F(2) * p * q / (q * q + p * p)


@compiled
def unpack(words: Any, signs: Any) -> Any:
    """Fill `signs` (n, d) with 1 - 2u_j, u_j bit j packed in `words` (n, W); column 0 is 1, the thresholds' input."""
    dim = signs.shape[1]
    for e in range(len(words)):
        for start in range(0, dim, 32):  # halves of words, as there are more lanes for them
            half = np.uint32(words[e, start // 64] >> np.uint64(start % 64))
            row = signs[e, start : start + 32]
            for j in range(row.size):
                row[j] = F(1) - F(np.int32(half >> np.uint32(j) & np.uint32(1)) * np.int32(2))
        signs[e, 0] = F(1)


@compiled
def shortened(pulls: Any, active: Any, c: Any, dim: int, bound: Any) -> Any:
    """Scale down the errors `pulls` (n,), outputs less labels, of rows whose gradient would have a norm above `bound`.

    The gradient is by all weights. `active` (n, M) are the tanh of M heads, `c` (M,) output weights, `dim` signs a row.
    """
    for e in range(pulls.size):
        square = F(0)
        for i in range(c.size):
            by = c[i] * (F(1) - active[e, i] * active[e, i])
            square += active[e, i] * active[e, i] + F(dim) * by * by
        norm = abs(pulls[e]) * np.sqrt(square)
        if norm > bound:
            pulls[e] *= bound / norm


@compiled
def backward(signs: Any, y: Any, moved: Any, clip: float, active: Any, pulls: Any, gradient: Any) -> Any:
    """Write to `gradient` (d + 1, M) that of Σ (f - y)²/2 over rows, by the weights `moved` of a network f on signs.

    Rows are signs (n, d) with labels y (n,), and f = tanh(signs @ moved[:d]) @ moved[d]. `clip` bounds the norm of a
    row's gradient, unless it is 0. `active` (n, M) and `pulls` (n,) are room for intermediate values.
    """
    c = moved[-1]
    np.dot(signs, moved[:-1], active)
    hyperbolic_tangent(active)
    np.dot(active, c, pulls)
    for e in range(y.size):
        pulls[e] -= y[e]
    if clip > 0:
        shortened(pulls, active, c, signs.shape[1], F(clip))
    np.dot(pulls, active, gradient[-1])
    for e in range(y.size):
        pull, row = pulls[e], active[e]
        for i in range(c.size):
            row[i] = pull * c[i] * (F(1) - row[i] * row[i])
    np.dot(signs.T, active, gradient[:-1])


@compiled
def shrink(cut: float, w: Any) -> Any:
    """Move every number of the flat `w` towards 0 by `cut` and no further, and to 0 where it is then below 1e-12."""
    bound = F(cut)
    for i in range(w.size):
        x = w[i] - max(-bound, min(bound, w[i]))
        w[i] = x if abs(x) > LEAST else F(0)


@compiled
def train(
    rule: Any, batch: int, words: Any, labels: Any, ends: Any, noise: Any,
    moved: Any, first: Any, second: Any, unseen: Any,
) -> Any:  # fmt: skip
    """Make one update by Adam of the weights `moved` (d + 1, M) for each batch b of `batch` examples.

    Its examples with a gradient are rows ends[b] to ends[b + 1]: bits in `words` (r, W), `labels` (r,). The sum of
    their gradients is divided by `batch` and gains noise[b], unless `noise` is empty; `rule` holds the options. Adam's
    means `first` and `second`, and `unseen` (see `update`), are changed in place too.
    """
    dim, heads = moved.shape[0] - 1, moved.shape[1]
    most = 0  # rows of a batch; `np.diff` would take seconds to compile
    for b in range(len(ends) - 1):
        most = max(most, ends[b + 1] - ends[b])
    signs, active, pulls = np.empty((most, dim), F), np.empty((most, heads), F), np.empty(most, F)
    gradient = np.empty_like(moved)
    thresholds = moved[0], gradient[0], first[0], second[0]
    outputs = moved[dim], gradient[dim], first[dim], second[dim]
    w, g, mean, square = moved[1:dim], gradient[1:dim], first[1:dim], second[1:dim]
    inner = w.reshape(w.size), g.reshape(w.size), mean.reshape(w.size), square.reshape(w.size)
    for b in range(len(ends) - 1):
        rows, n = slice(ends[b], ends[b + 1]), ends[b + 1] - ends[b]
        gradient[:] = F(0)
        if n:
            unpack(words[rows], signs[:n])
            backward(signs[:n], labels[rows], moved, rule.clip, active[:n], pulls[:n], gradient)
        if noise.size:
            gradient += F(batch) * noise[b]
        unseen[0] *= rule.beta1
        unseen[1] *= rule.beta2
        for factor, part in ((rule.threshold_rate, thresholds), (1.0, inner), (rule.output_rate, outputs)):
            pace = Pace(factor * rule.rate, rule.beta1, rule.beta2, rule.decay)
            update(pace, 1 / batch, unseen, *part)
        for cut, part in ((0.0, thresholds), (rule.rate * rule.l1, inner), (0.0, outputs)):
            shrink(cut, part[0])


class Network:
    """Trains a diagonal student by Adam from `weights` (d + 1, M) on bits, kept as weights on signs (`centred`)."""

    def __init__(self, weights: Any) -> None:
        self.moved = np.ascontiguousarray(centred(weights), F)
        self.first, self.second = np.zeros_like(self.moved), np.zeros_like(self.moved)
        self.unseen = np.ones(2)

    def weights(self) -> Any:
        """Return the M heads' weights θ (the first d rows) and output weights c (the last), as (d + 1, M) float32."""
        return entries(self.moved)

    def train(self, words: Any, labels: Any, ends: Any, batch: int, rule: Rule, noise: Any = None) -> None:
        """Make one update by Adam of the network's weights for each batch b of `batch` examples, with options `rule`.

        Its examples with a gradient are rows ends[b] to ends[b + 1]: bits in `words` (r, W), `labels` (r,). The mean
        gradients gain `noise` (batches, d + 1, M) unless it is None.
        """
        rule = Rule(*map(float, rule))  # one compiled version
        if noise is None:
            noise = np.empty((0, *self.moved.shape), F)
        rows = np.ascontiguousarray(words), np.asarray(labels, F), np.asarray(ends, np.int64), noise
        with one_thread():
            train(rule, batch, *rows, self.moved, self.first, self.second, self.unseen)
