"""The dense layer on products in tiles (`hardness.kernels.tile`): scores and sums of the softmax attention.

An example has the same bits whatever stands beside it: the layer is a function of a row, and files say so.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.kernels.bits import compiled_for
from hardness.kernels.tile import product

Array = NDArray[np.float64]
LANES = 8  # columns of a panel: a vector of 64 bytes
ROWS, CACHE = 128, 1 << 16  # of the differences that are made at a time: rows at least, floats at most
FLAT = "float64[::1]"


def panels(matrix: Array) -> Array:
    """A matrix (d, c), c a multiple of 8, in panels (c/8, d, 8): what a tile reads is in one place.

    >>> panels(np.arange(32.0).reshape(2, 16))[1]
    array([[ 8.,  9., 10., 11., 12., 13., 14., 15.],
           [24., 25., 26., 27., 28., 29., 30., 31.]])
    """
    return np.ascontiguousarray(
        matrix.reshape(len(matrix), matrix.shape[1] // LANES, LANES).transpose(1, 0, 2)
    )


@compiled_for(f"void(UniTuple(intp, 6), {FLAT}, {FLAT}, {FLAT}, {FLAT}, {FLAT}, {FLAT})")
def attention_scores(
    shape: Any, x: Any, theta: Any, differences: Any, right: Any, room: Any, out: Any
) -> Any:
    """Scores x_a Θ_i x_b of tokens x (n, k, d) at out[:, b, i, a], out (n, k, m, k), less the largest over b.

    A softmax does not see what all scores of its row share, so what is computed is x_a Θ_i (x_b - x_{k-1}), and 0 for
    b = k - 1. All arrays are flat; `shape` is (n, k, d, m, D, K), D and K are d and k rounded up to multiples of 8.
    `theta` are the panels of the matrix (d, m D) with Θ_iᵀ at columns i D and after. What stays in `differences`
    (n (k - 1), d) is x_b - x_{k-1}; `right` (n (k - 1), m D), 0 at first, and `room` (d + 2 (k - 1) m, K) are room.
    """
    n, k, d, m, D, K = shape
    for e in range(n):
        last = x[(e * k + k - 1) * d :]
        for b in range(k - 1):
            token, difference = x[(e * k + b) * d :], differences[(e * (k - 1) + b) * d :]
            for j in range(d):
                difference[j] = token[j] - last[j]
    # All differences against all heads in one product: row e (k - 1) + b of `right` holds Θ_i (x_b - x_{k-1}) of every
    # head i, in D columns each.
    panel = (theta, 0, LANES, LANES * d)
    product((n * (k - 1), d, m * D), True, (differences, 0, d, 1), panel, (right, 0, m * D, LANES))
    # `columns` is the example's tokens transposed (d, K); `halves` the scores by the two halves of the features
    # (2, (k - 1) m, K). Both are small and stay in the first cache.
    columns, halves = room[: d * K], room[d * K :]
    columns[:] = 0.0
    for e in range(n):
        for a in range(k):
            token, column = x[(e * k + a) * d :], columns[a:]
            for j in range(d):
                column[j * K] = token[j]
        halves[:] = 0.0
        for h in range(2):  # half as long, a sum errs less
            first, depth = h * (d // 2), d // 2 + h * (d % 2)
            keys, half = (right, e * (k - 1) * m * D + first, D, 1), (halves, h * (k - 1) * m * K, K, LANES)
            product(((k - 1) * m, depth, K), True, keys, (columns, first * K, K, LANES), half)
        # The row of b = k - 1 is 0 by itself; here it keeps the largest score over b, which is taken off all at last.
        top = out[(e * k + k - 1) * m * k :]
        for j in range(m * k):
            top[j] = 0.0
        for b in range(k - 1):
            scores = out[(e * k + b) * m * k :]
            for i in range(m):
                to, x1, x2 = scores[i * k :], halves[(b * m + i) * K :], halves[((k - 1 + b) * m + i) * K :]
                for a in range(k):
                    to[a] = x1[a] + x2[a]
            for j in range(m * k):
                top[j] = max(top[j], scores[j])
        for b in range(k - 1):
            scores = out[(e * k + b) * m * k :]
            for j in range(m * k):
                scores[j] -= top[j]
        for j in range(m * k):
            top[j] = -top[j]


@compiled_for(f"void(UniTuple(intp, 6), {FLAT}, {FLAT}, {FLAT}, {FLAT}, {FLAT}, {FLAT}, {FLAT})")
def attend(
    shape: Any, x: Any, differences: Any, weights: Any, w: Any, total: Any, moved: Any, out: Any
) -> Any:
    """F(X) in `out` (n, k, D), 0 at first, from `weights` (n, k, m, k), the exponentials of the scores.

    The rows of a softmax sum to 1, so token k - 1 adds x_{k-1} Σ W_i, and the others their difference to it. Arrays
    and `shape` are as for the scores: `w` are the panels of (d, m D) with W_i at columns i D and after, `total` those
    of Σ W_i; `moved` (n (k - 1), m D), 0 at first, is room.
    """
    n, k, d, m, D, _ = shape
    panel, last = (w, 0, LANES, LANES * d), (x, (k - 1) * d, k * d, 1)
    product((n * (k - 1), d, m * D), True, (differences, 0, d, 1), panel, (moved, 0, m * D, LANES))
    product((n, d, D), True, last, (total, 0, LANES, LANES * d), (out, 0, k * D, LANES))
    for e in range(n):
        # x_{k-1} Σ W_i is the same for every row a of an example: it was computed once, into row 0.
        base = out[e * k * D :]
        for a in range(1, k):
            row = base[a * D :]
            for j in range(D):
                row[j] = base[j]
        # The weight of b = k - 1 is not needed itself: its place holds the denominators Σ_b.
        sums = weights[(e * k + k - 1) * m * k :]
        for b in range(k - 1):
            terms = weights[(e * k + b) * m * k :]
            for j in range(m * k):
                sums[j] += terms[j]
        for b in range(k - 1):
            terms = weights[(e * k + b) * m * k :]
            for j in range(m * k):
                terms[j] /= sums[j]
        patterns, images = (weights, e * k * m * k, 1, k), (moved, e * (k - 1) * m * D, D, LANES)
        product((k, (k - 1) * m, D), True, patterns, images, (out, e * k * D, D, LANES))


class TiledAttention:
    """A layer (Θ, W), both (m, d, d), laid out for its tiles."""

    def __init__(self, theta: Array, w: Array) -> None:
        self.heads, self.dim, _ = theta.shape
        self.width = -(-self.dim // LANES) * LANES  # D
        self.theta, self.w = self._beside(theta.transpose(0, 2, 1)), self._beside(w)
        self.total = self._beside(w.sum(axis=0)[None])

    def _beside(self, matrices: Array) -> Array:
        """Matrices (·, d, d) side by side, each with columns of zeros up to a multiple of 8, in panels."""
        wide = np.pad(matrices, ((0, 0), (0, 0), (0, self.width - self.dim)))
        return panels(wide.transpose(1, 0, 2).reshape(self.dim, -1)).reshape(-1)

    def forward(self, x: NDArray[Any]) -> Array:
        """F(X), shape (n, k, d), of tokens (n, k, d)."""
        n, k, d = x.shape
        out = np.zeros(n * k * self.width)
        for start, shape, tokens, differences, weights, room in self._chunks(x):
            room.fill(0.0)
            here = out[start * k * self.width : (start + shape[0]) * k * self.width]
            attend(shape, tokens, differences, weights, self.w, self.total, room, here)
        return np.ascontiguousarray(out.reshape(n, k, self.width)[:, :, :d])

    def patterns(self, x: NDArray[Any]) -> Array:
        """Attention patterns (n, m, k, k) of tokens (n, k, d)."""
        n, k, _ = x.shape
        patterns = np.empty((n, self.heads, k, k))
        for start, shape, _, _, weights, _ in self._chunks(x):
            weights = weights.reshape(shape[0], k, self.heads, k)
            weights /= weights.sum(axis=1, keepdims=True)
            patterns[start : start + shape[0]] = weights.transpose(0, 2, 3, 1)
        return patterns

    def _chunks(self, x: NDArray[Any]) -> Iterator[tuple[int, tuple[int, ...], Array, Array, Array, Array]]:
        """Examples at a time: the first, (n, k, d, m, D, K), tokens, differences, exp(scores), and room; flat."""
        (n, k, d), m, D = x.shape, self.heads, self.width
        K = -(-k // LANES) * LANES
        # What is made of so many examples stays in cache
        size = min(n, max(ROWS, CACHE // (m * D)) // k) or 1
        small, room = np.empty((d + 2 * (k - 1) * m) * K), np.zeros(size * (k - 1) * m * D)
        differences, scores = np.empty(size * (k - 1) * d), np.empty(size * k * m * k)
        for start in range(0, n, size):
            tokens = np.ascontiguousarray(x[start : start + size], np.float64).reshape(-1)
            shape = (min(size, n - start), k, d, m, D, K)
            if start:
                room.fill(0.0)
                if shape[0] < size:
                    differences, scores, room = (
                        a[: a.size // size * shape[0]] for a in (differences, scores, room)
                    )
            attention_scores(shape, tokens, self.theta, differences, room, small, scores)
            np.exp(scores, out=scores)
            yield start, shape, tokens, differences, scores, room
