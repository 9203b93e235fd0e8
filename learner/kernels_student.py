"""The attention student's step on two tokens, compiled: forward, backward and update of a batch, in float32.

With z = (x_1 - x_2)/2 and s = (x_1 + x_2)/2 a head sends to row a of the output s W_i + tanh(x_a Θ_i z) z W_i: both
rows share Θ_i z and z W_i. So a step is a product of all Θ_i and W_i with z, forward, and one that gives the gradients,
backward: 4 M d² multiply-adds an example, made by BLAS. All else is of the order M d, in loops over examples, which lie
side by side in the last axis.
"""

from typing import Any

import numpy as np

from learner.adam import Pace, update
from learner.compiled import F, compiled, hyperbolic_tangent, one_thread

ACROSS = 64  # examples side by side, at most


@compiled
def _laid(given: Any, scale: float, out: Any) -> Any:
    """Write rows (·, 2, d) times `scale` to out (2, d, n), and zeros where there is no row."""
    if len(given) < out.shape[2]:
        out[:] = F(0)
    for a in range(2):
        for j in range(out.shape[1]):
            for e in range(len(given)):
                out[a, j, e] = F(given[e, a, j] * scale)


@compiled
def _add_weighted(rows: Any, apart: int, step: int, x: Any, out: Any) -> Any:
    """Add Σ_i x[a, i, e] rows[r apart + i step, e] to out[a, r, e], for a = 0, 1.

    Four terms are added at a time: so `out` is read and written a fourth as often.
    """
    count, n = x.shape[1], x.shape[2]
    for a in range(2):
        for r in range(out.shape[1]):
            to, place = out[a, r], r * apart
            for i in range(0, count - 3, 4):
                x0, x1, x2, x3 = x[a, i], x[a, i + 1], x[a, i + 2], x[a, i + 3]
                at = place + i * step
                y0, y1, y2, y3 = rows[at], rows[at + step], rows[at + 2 * step], rows[at + 3 * step]
                for e in range(n):
                    to[e] = to[e] + x0[e] * y0[e] + x1[e] * y1[e] + x2[e] * y2[e] + x3[e] * y3[e]
            for i in range(count - count % 4, count):
                x0, y0 = x[a, i], rows[place + i * step]
                for e in range(n):
                    to[e] += x0[e] * y0[e]


@compiled
def _spread(factors: Any, x: Any, out: Any) -> Any:
    """Write Σ_a factors[a, i, e] x[a, j, e] to out[i, j, e]."""
    M, d, n = out.shape
    for i in range(M):
        f1, f2 = factors[0, i], factors[1, i]
        for j in range(d):
            x1, x2, to = x[0, j], x[1, j], out[i, j]
            for e in range(n):
                to[e] = f1[e] * x1[e] + f2[e] * x2[e]


@compiled
def _shrink(cut: float, flat: Any) -> Any:
    """Move every number towards 0 by `cut`, and no further: the soft threshold."""
    bound = F(cut)
    for i in range(flat.size):
        flat[i] -= max(-bound, min(bound, flat[i]))


@compiled
def _gradients(weights: Any, tokens: Any, targets: Any, images: Any, gradient: Any) -> Any:
    """Write the gradients of the losses of n examples, tokens and targets (2, d, n), to `gradient`.

    `weights` and `gradient` (2, M, d, d) are those of Θ and of each W_i transposed; `images` (2, M, d, n) is room.
    """
    _, M, d, n = images.shape
    z, s = F(0.5) * (tokens[0] - tokens[1]), F(0.5) * (tokens[0] + tokens[1])  # (d, n)
    rows, by, z_rows = images.reshape(2, M * d, n), gradient.reshape(2, M * d, d), z.T.copy()
    t, pulls, errors = np.zeros((2, M, n), F), np.zeros((2, M, n), F), np.empty((2, d, n), F)
    for kind in range(2):
        np.dot(weights[kind].reshape(M * d, d), z, rows[kind])  # Θ_i z, and z W_i
    _add_weighted(rows[0], d, 1, tokens, t)  # x_a Θ_i z
    hyperbolic_tangent(t)
    total = weights[1, 0].copy()
    for i in range(1, M):
        total += weights[1, i]
    np.dot(total, s, errors[0])  # s (W_1 + … + W_M)
    errors[1] = errors[0]
    _add_weighted(rows[1], 1, d, t, errors)
    errors -= targets
    _add_weighted(rows[1], d, 1, errors, pulls)
    pulls *= F(1) - t * t  # the gradients by x_a Θ_i z
    _spread(pulls, tokens, images[0])
    _spread(t, errors, images[1])
    for kind in range(2):
        np.dot(rows[kind], z_rows, by[kind])
    shared = np.dot(errors[0] + errors[1], s.T)  # by every W_i
    for i in range(M):
        gradient[1, i] += shared


@compiled
def train(
    x: Any, y: Any, batch: int, pace: Any, cut: float, scale: float,
    weights: Any, means: Any, mean_squares: Any, unseen: Any,
) -> Any:  # fmt: skip
    """Make updates of `weights` by whole batches of tokens x and targets y times `scale`, both (examples, 2, d).

    `weights` (2, M, d, d) are Θ and each W_i transposed, beside the state of Adam (`learner.adam.update`). After each
    update Θ is shrunk by `cut`, if that is not 0.
    """
    (_, M, d, _), size = weights.shape, weights.size
    parts = -(-batch // ACROSS)
    n = -(-batch // parts)
    tokens, targets, images = np.empty((2, d, n), F), np.empty((2, d, n), F), np.empty((2, M, d, n), F)
    gradient, by_part = np.empty_like(weights), np.empty_like(weights)
    flat = weights.reshape(size), gradient.reshape(size), means.reshape(size), mean_squares.reshape(size)
    for b in range(len(x) // batch):
        for start in range(b * batch, (b + 1) * batch, n):
            part = slice(start, min(start + n, (b + 1) * batch))
            _laid(x[part], 1.0, tokens)
            _laid(y[part], scale, targets)
            if part.start == b * batch:
                _gradients(weights, tokens, targets, images, gradient)
            else:
                _gradients(weights, tokens, targets, images, by_part)
                gradient += by_part
        unseen[0] *= pace.beta1
        unseen[1] *= pace.beta2
        update(pace, 1 / batch, unseen, *flat)
        if cut > 0:
            _shrink(cut, flat[0][: size // 2])


class PairStudent:
    """Weights of a student on two tokens and their running means; `theta` and `w`, both (M, d, d), are copied."""

    def __init__(self, theta: Any, w: Any) -> None:
        self.weights = np.stack((theta, w.swapaxes(1, 2))).astype(F)
        self.means, self.squares = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.unseen = np.ones(2)

    def layer(self) -> tuple[Any, Any]:
        """Return Θ and W, both (M, d, d) float32."""
        return self.weights[0].copy(), self.weights[1].swapaxes(1, 2).copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0) -> None:
        """Make an update a whole batch, as `learner.student.DenseStudent` does."""
        x, y = np.ascontiguousarray(x, np.int8), np.ascontiguousarray(y, np.float64)
        options = Pace(float(rate)), float(rate * l1), float(scale)
        with one_thread():
            train(x, y, batch, *options, self.weights, self.means, self.squares, self.unseen)
