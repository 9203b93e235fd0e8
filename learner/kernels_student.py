"""The attention student's step on two tokens, compiled: forward, backward and update of a batch, in float32.

With z = (x_1 - x_2)/2 and s = (x_1 + x_2)/2 a head sends to row a of the output s W_i + tanh(x_a Θ_i z) z W_i: both
rows share Θ_i z and z W_i. So a step is two products with all heads beside each other and z, forward, and two that
give the gradients, backward: 4 M d² multiply-adds an example; all else is of the order M d. Examples lie in the lanes
of vectors forward, features backward.

All arrays are flat. Weights and gradient hold Θ transposed, then W, each as (blocks, d, width): a block is as many
heads beside each other as leave what a product reads of it in the first cache. Its rows end with unused columns, up to
a whole number of vectors, and the array ends with unused numbers, so that a vector may begin at the last head.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from hardness.kernels.bits import compiled, compiled_for
from hardness.kernels.single import (
    HALF,
    LANES,
    ONE,
    F,
    add,
    hyperbolic_tangent,
    mix,
    pair,
    squares_of,
    transpose,
)
from hardness.kernels.tile import product
from learner.adam import EPSILON, NEW, NEW_SQUARE
from learner.student_dense import ZONES

ACROSS = 64  # examples side by side, at most: four vectors, as many as a tile of a product has
BLOCK_COLUMNS = 192  # columns of a block


class Shape(NamedTuple):
    """Sizes of a step: d, and d in whole vectors; heads M; heads and columns of a block; examples side by side, n."""

    dim: int
    wide: int
    heads: int
    group: int
    width: int
    across: int


class Buffers(NamedTuple):
    """What a step writes on its way, of n examples side by side.

    Vectors run over features d to `wide` too. There `tokens`, `rows`, `errors` and `out` are 0 from the start and stay
    0, so that errors are summed without them and the unused columns of the weights stay 0.
    """

    tokens: Any  # (4, wide, n): x_1, x_2, z, s, features by examples
    rows: Any  # (n, 2, wide): x_1 and x_2, example by example
    errors: Any  # (n, 2, wide): F(X) - Y, example by example
    images: Any  # (M, d, n): Θ_i z, later z W_i
    tanh: Any  # (2, M, n): tanh(x_a Θ_i z)
    scores: Any  # (2, M, n): gradient by x_a Θ_i z; before that (d, n): s Σ_i W_i
    out: Any  # (2, wide, n): F(X), later F(X) - Y, features by examples
    columns: Any  # (n, width): gradient by Θ_i z, later by z W_i, of the heads of a block beside each other
    shared: Any  # (d, wide): Σ_i W_i
    by_shared: Any  # (d, wide): gradient by Σ_i W_i


SHAPE, BUFFERS = (
    types.NamedUniTuple(types.int64, 6, Shape),
    types.NamedUniTuple(types.float32[::1], 10, Buffers),
)
SIGNS, REALS = (types.Array(kind, 1, "C", readonly=True) for kind in (types.int8, types.float64))
ARRAY, PAIR = types.float32[::1], types.UniTuple(types.float32[::1], 2)


@compiled
def _subtract(given: Any, scale: Any, d: int, wide: int, out: Any) -> Any:
    """Take rows (rows, d) times `scale` off the first columns of out (rows, wide)."""
    rows, reduced = given.reshape(-1, d), out.reshape(-1, wide)
    for i in range(len(rows)):
        for c in range(d):
            reduced[i, c] -= F(rows[i, c] * scale)


@compiled
def _by_feature(shape: Any, rows: Any, out: Any) -> Any:
    """out (2, wide, n) = rows (n, 2, wide), a square of 16 x 16 at a time."""
    wide, n = shape.wide, shape.across
    for a in range(2):
        for c in range(0, wide, LANES):
            for e in range(0, n, LANES):
                transpose((out, (a * wide + c) * n + e, n), (rows, (2 * e + a) * wide + c, 2 * wide))


@compiled
def _place(shape: Any, x: Any, buffers: Any) -> Any:
    """Tokens x (count, 2, d), count <= n, into `rows` and `tokens`: zeros where there is no example."""
    rows, tokens, size = buffers.rows, buffers.tokens, shape.wide * shape.across
    rows[:] = F(0)
    _subtract(x, F(-1), shape.dim, shape.wide, rows)
    _by_feature(shape, rows, tokens)
    x1, x2, z, s = tokens[:size], tokens[size : 2 * size], tokens[2 * size : 3 * size], tokens[3 * size :]
    for i in range(size):
        z[i], s[i] = HALF * (x1[i] - x2[i]), HALF * (x1[i] + x2[i])


@compiled
def _compare(shape: Any, y: Any, scale: Any, buffers: Any) -> Any:
    """Targets y (count, 2, d) times `scale` off `out`, there and in `errors`: sums of squared errors and targets."""
    wide, n, out, errors = shape.wide, shape.across, buffers.out, buffers.errors
    for a in range(2):
        for c in range(0, wide, LANES):
            for e in range(0, n, LANES):
                transpose((errors, (2 * e + a) * wide + c, 2 * wide), (out, (a * wide + c) * n + e, n))
    _subtract(y, scale, shape.dim, wide, errors)
    _by_feature(shape, errors, out)
    return squares_of(errors), squares_of(y) * scale * scale


@compiled
def _bend(zone: float, errors: Any) -> Any:
    """What the gradient has in the place of errors: their signs, or 0 within the zone."""
    edge = F(zone)
    for i in range(errors.size):
        errors[i] = F(errors[i] > edge) - F(errors[i] < -edge)


@compiled
def _forward(shape: Any, weights: Any, buffers: Any) -> Any:
    """F of the examples in `tokens` into `out`; `tanh` and `images` (z W_i) stay for the backward pass."""
    d, wide, heads, group, width, n = shape
    images, tanh, shared, sums, out = (
        buffers.images,
        buffers.tanh,
        buffers.shared,
        buffers.scores,
        buffers.out,
    )
    block, blocks = d * width, heads // group
    tokens = (buffers.tokens, 0, n, wide * n)  # x_1, x_2
    z, s = (buffers.tokens, 2 * wide * n, n, LANES), (buffers.tokens, 3 * wide * n, n, LANES)
    for b in range(blocks):
        product(
            (group * d, d, n), False, (weights, b * block, 1, width), z, (images, b * group * d * n, n, LANES)
        )
        for i in range(b * group, (b + 1) * group):  # while the block's images are in the first cache
            pair(n, d, None, (images, i * d * n, n, 0), tokens, (tanh, i * n, 0, heads * n))
    hyperbolic_tangent(tanh)
    shared[:] = F(0)
    for b in range(blocks):
        w = (blocks + b) * block
        product((group * d, d, n), False, (weights, w, 1, width), z, (images, b * group * d * n, n, LANES))
        for c in range(d):
            for v in range(0, wide, LANES):
                add(group, shared, c * wide + v, weights, w + c * width + v, d)
    product((d, d, n), False, (shared, 0, 1, wide), s, (sums, 0, n, LANES))
    for j in range(d):
        pair(
            n,
            heads,
            (sums, j * n),
            (images, j * n, d * n, 0),
            (tanh, 0, n, heads * n),
            (out, j * n, 0, wide * n),
        )


@compiled
def _backward(shape: Any, keep: bool, buffers: Any, gradient: Any) -> Any:
    """The gradients by the weights, added to `gradient` if `keep`, given what `_forward` and `_compare` left."""
    d, wide, heads, group, width, n = shape
    tanh, scores, columns, by_shared = buffers.tanh, buffers.scores, buffers.columns, buffers.by_shared
    block, blocks = d * width, heads // group
    z, s = (buffers.tokens, 2 * wide * n, n, 1), (buffers.tokens, 3 * wide * n, n, 1)
    errors = (buffers.out, 0, n, wide * n)  # of rows 1 and 2
    for i in range(heads):
        pair(n, d, None, (buffers.images, i * d * n, n, 0), errors, (scores, i * n, 0, heads * n))
    for i in range(tanh.size):
        scores[i] *= ONE - tanh[i] * tanh[i]
    for b in range(blocks):
        for kind, factors, x in ((0, scores, buffers.rows), (blocks, tanh, buffers.errors)):
            for e in range(n):
                for v in range(wide - LANES, -1, -LANES):
                    # A vector that reaches beyond a head's d columns puts zeros into the next head's first ones: these
                    # are written later, since the vectors go backwards and the heads of each forwards.
                    factor = (factors, b * group * n + e, n, heads * n)
                    mix(group, (columns, e * width + v, d, 0), factor, (x, 2 * e * wide + v, 0, wide))
            to = (gradient, (kind + b) * block, width, LANES)
            product((d, n, width), keep, z, (columns, 0, width, LANES), to)
    for a in range(2):
        x = (buffers.errors, a * wide, 2 * wide, LANES)
        product((d, n, wide), a == 1, s, x, (by_shared, 0, wide, LANES))
    by_w = gradient[blocks * block : 2 * blocks * block].reshape(-1, width)
    every = by_shared.reshape(-1, wide)
    for row in range(blocks * d):
        for h in range(group):
            for j in range(d):
                by_w[row, h * d + j] += every[row % d, j]


@compiled_for(types.void(types.int64, types.float64, types.float64, ARRAY, ARRAY, PAIR))
def _adam(step: int, rate: float, scale: float, weights: Any, gradient: Any, moments: Any) -> Any:
    """One update by the gradient times `scale`; the corrections of both moments are made once a step."""
    first, second = moments
    root = (1 - (1 - NEW_SQUARE) ** step) ** 0.5
    factor, epsilon, share = F(rate * root / (1 - (1 - NEW) ** step)), F(EPSILON * root), F(scale)
    slow, slower = F(NEW), F(NEW_SQUARE)
    for i in range(weights.size):
        g = gradient[i] * share
        first[i] += slow * (g - first[i])
        second[i] += slower * (g * g - second[i])
        weights[i] -= factor * first[i] / (np.sqrt(second[i]) + epsilon)


@compiled_for(types.void(types.float64, ARRAY))
def _shrink(cut: float, theta: Any) -> Any:
    """The soft threshold: every number goes towards 0 by `cut`, and no further."""
    bound = F(cut)
    for i in range(theta.size):
        theta[i] -= max(-bound, min(bound, theta[i]))


@compiled_for(
    types.void(
        SHAPE, types.int64, types.int64, types.float64, types.float64, types.float64, types.float64, SIGNS, REALS,
        ARRAY, PAIR, BUFFERS, ARRAY, types.float64[:, ::1],
    )
)  # fmt: skip
def train(
    shape: Any, batch: int, step: int, rate: float, cut: float, scale: float, zone: float, x: Any, y: Any,
    weights: Any, moments: Any, buffers: Any, gradient: Any, squares: Any,
) -> Any:  # fmt: skip
    """Updates of `weights` by whole batches of tokens x and targets y times `scale`, both (examples, 2, d).

    `step` updates were made before; `moments` are Adam's. After each update Θ is shrunk by `cut`, if that is not 0.
    From a `zone` of 0 on, the gradient is that of the sum of |F(X) - Y| beyond the zone, and not of half the squared
    error. `squares` (batches, 2) gets, of every batch before its update, means over examples of the squared error and
    of the squared targets.
    """
    d, n, thetas = shape.dim, shape.across, shape.heads // shape.group * shape.dim * shape.width
    for b in range(len(squares)):
        squares[b] = 0.0
        for start in range(b * batch, (b + 1) * batch, n):
            stop = min(start + n, (b + 1) * batch)
            _place(shape, x[2 * d * start : 2 * d * stop], buffers)
            _forward(shape, weights, buffers)
            error, power = _compare(shape, y[2 * d * start : 2 * d * stop], scale, buffers)
            squares[b, 0] += error / batch
            squares[b, 1] += power / batch
            if zone >= 0:
                _bend(zone, buffers.errors)
                _bend(zone, buffers.out)
            _backward(shape, start > b * batch, buffers, gradient)
        _adam(step + b + 1, rate, 1 / batch, weights, gradient, moments)
        if cut > 0:
            _shrink(cut, weights[:thetas])


def blocks_of(heads: int, dim: int) -> tuple[int, int]:
    """Heads of a block, and its columns, a multiple of 16: as many heads as fit the cache, with the least padding.

    >>> blocks_of(16, 16), blocks_of(5, 12), blocks_of(16, 24)
    ((8, 128), (5, 64), (8, 192))
    """
    fitting = [h for h in range(1, heads + 1) if heads % h == 0 and (h == 1 or h * dim <= BLOCK_COLUMNS)]
    group = min(fitting, key=lambda h: (-(-h * dim // LANES) / h, -h))
    return group, _vectors(group * dim)


def _vectors(count: int) -> int:
    """So many numbers in whole vectors."""
    return -(-count // LANES) * LANES


def _zeros(size: int) -> Any:
    """So many zeros from the start of a cache line on: what lies in two lines is read and written in twice the time."""
    room = np.zeros(size + LANES, F)
    start = -room.ctypes.data // room.itemsize % LANES
    return room[start : start + size]


class PairStudent:
    """Weights of a student on two tokens, laid out for its step, and what the step writes on.

    `theta` and `w`, both (M, d, d), are copied; `layer()` gives them back. `loss` is one of `ZONES`.
    """

    def __init__(self, theta: Any, w: Any, loss: str = "squared") -> None:
        self.zone = ZONES[loss]
        self.heads, self.dim, _ = theta.shape
        self.group, self.width = blocks_of(self.heads, self.dim)
        self.weights = self._laid(theta, w)
        self.moments = tuple(_zeros(self.weights.size) for _ in range(2))
        self.gradient = _zeros(self.weights.size)
        self.steps = 0
        self._allot(ACROSS)

    def _allot(self, n: int) -> None:
        """Buffers for n examples side by side."""
        M, d, wide = self.heads, self.dim, _vectors(self.dim)
        self.shape = Shape(d, wide, M, self.group, self.width, n)
        sizes = Buffers(
            tokens=4 * wide * n,
            rows=2 * wide * n,
            errors=2 * wide * n,
            images=M * d * n,
            tanh=2 * M * n,
            scores=max(2 * M, d) * n,
            out=2 * wide * n,
            columns=n * self.width + wide,  # the last head's last vector reaches beyond the last row
            shared=d * wide,
            by_shared=d * wide,
        )
        self.buffers = Buffers(*map(_zeros, sizes))

    def _laid(self, theta: Any, w: Any) -> Any:
        M, d, group = self.heads, self.dim, self.group
        used = 2 * M // group * d * self.width
        weights = _zeros(used + _vectors(d))
        out = weights[:used].reshape(-1, d, self.width)
        for at, matrices in ((0, theta.swapaxes(1, 2)), (M // group, w)):
            grouped = matrices.reshape(M // group, group, d, d).swapaxes(1, 2)
            out[at : at + M // group, :, : group * d] = grouped.reshape(M // group, d, group * d)
        return weights

    def layer(self) -> tuple[Any, Any]:
        """Θ and W, both (M, d, d) float32."""
        M, d, group = self.heads, self.dim, self.group
        kinds = self.weights[: 2 * M // group * d * self.width].reshape(2, M // group, d, self.width)[
            ..., : group * d
        ]
        theta, w = kinds.reshape(2, M // group, d, group, d).swapaxes(2, 3).reshape(2, M, d, d)
        return theta.swapaxes(1, 2).copy(), w.copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0) -> Any:
        """An update a whole batch of tokens x and targets y times `scale`, both (n, 2, d), each shrunk by rate · l1.

        Returns (batches, 2): of each batch before its update, means over examples of the squared error and of the
        squared targets, summed over outputs.
        """
        across = min(ACROSS, _vectors(batch))
        if across != self.shape.across:
            self._allot(across)
        squares = np.zeros((len(x) // batch, 2))
        train(self.shape, batch, self.steps, rate, rate * l1, scale, self.zone,
              np.ascontiguousarray(x, np.int8).reshape(-1), np.ascontiguousarray(y, np.float64).reshape(-1),
              self.weights, self.moments, self.buffers, self.gradient, squares)  # fmt: skip
        self.steps += len(squares)
        return squares
