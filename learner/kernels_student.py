"""The attention student's step on two tokens, compiled: forward, backward and update of a batch, in float32.

With z = (x_1 - x_2)/2 and s = (x_1 + x_2)/2 a head sends to row a of the output s W_i + tanh(x_a Θ_i z) z W_i: both
rows share Θ_i z and z W_i. So a step is two products with all heads beside each other and z, forward, and two that
give the gradients, backward: 4 M d² multiply-adds an example; all else is of the order M d. Examples lie in the lanes
of vectors forward, features backward.
"""

from typing import Any

import numpy as np

from hardness.kernels.bits import compiled, compiled_for
from hardness.kernels.single import (
    ACROSS,
    FLAT,
    HALF,
    LANES,
    ONE,
    F,
    add,
    hyperbolic_tangent,
    mix,
    pair,
    product,
    squares_of,
    transpose,
)
from learner.student_dense import BETA1, BETA2, EPSILON

EXAMPLES = ACROSS  # that go through a step side by side
WIDEST = 192  # columns of a block: what a step reads of it stays in the first cache
GIVEN = "Array({}, 1, 'C', True)"  # what is given may be read-only
WEIGHTS = f"{FLAT}, UniTuple({FLAT}, 2), UniTuple({FLAT}, 10), {FLAT}, float64[:, ::1]"


@compiled
def _tokens(x: Any, d: int, wide: int, parts: Any, rows: Any) -> Any:
    """Tokens (n, 2, d), n <= 64, as features by examples x_1, x_2, z, s in `parts` (4, wide, 64), and example by
    example in `rows` (64, 2, wide), which are 0 beyond d; where there is no example, zeros."""
    count, size = x.size // (2 * d), wide * EXAMPLES
    if count < EXAMPLES:
        rows[:] = F(0)
    if wide == d:
        for i in range(x.size):
            rows[i] = F(x[i])
    else:
        for t in range(2 * count):
            for c in range(d):
                rows[t * wide + c] = F(x[t * d + c])
    for a in range(2):
        for c in range(0, wide, LANES):
            for e in range(0, EXAMPLES, LANES):
                to = (parts, a * size + c * EXAMPLES + e, EXAMPLES)
                transpose(to, (rows, (2 * e + a) * wide + c, 2 * wide))
    x1, x2, z, s = parts[:size], parts[size : 2 * size], parts[2 * size : 3 * size], parts[3 * size :]
    for i in range(size):
        z[i], s[i] = HALF * (x1[i] - x2[i]), HALF * (x1[i] + x2[i])


@compiled
def _errors(y: Any, scale: Any, d: int, wide: int, out: Any, rows: Any) -> Any:
    """`out` (2, wide, 64) less targets y (n, 2, d) times `scale`, in `out` and example by example in `rows`
    (64, 2, wide), which are 0 beyond d. Returns the sums of squared errors and of squared targets."""
    count, size = y.size // (2 * d), wide * EXAMPLES
    for a in range(2):
        for c in range(0, wide, LANES):
            for e in range(0, EXAMPLES, LANES):
                to = (rows, (2 * e + a) * wide + c, 2 * wide)
                transpose(to, (out, a * size + c * EXAMPLES + e, EXAMPLES))
    if wide == d:
        for i in range(y.size):
            rows[i] -= F(y[i] * scale)
    else:
        for t in range(2 * count):
            for c in range(d):
                rows[t * wide + c] -= F(y[t * d + c] * scale)
    for a in range(2):
        for c in range(0, wide, LANES):
            for e in range(0, EXAMPLES, LANES):
                to = (out, a * size + c * EXAMPLES + e, EXAMPLES)
                transpose(to, (rows, (2 * e + a) * wide + c, 2 * wide))
    return squares_of(rows), squares_of(y) * scale * scale


@compiled
def _forward(shape: Any, weights: Any, room: Any) -> Any:
    """F of the tokens in `room`: see `PairStudent`. What the backward pass needs stays there."""
    d, wide, heads, group, width = shape
    parts, _, _, images, tanh, by_score, out, _, shared, _ = room
    size, whole, block, blocks = d * EXAMPLES, wide * EXAMPLES, d * width, heads // group
    examples, z, s = (
        (parts, 0, EXAMPLES, whole),
        (parts, 2 * whole, EXAMPLES, LANES),
        (parts, 3 * whole, EXAMPLES, LANES),
    )
    for b in range(blocks):
        product((group * d, d, EXAMPLES), False, (weights, b * block, 1, width), z, (images, 0, EXAMPLES, LANES))
        for h in range(group):
            to = (tanh, (b * group + h) * EXAMPLES, 0, heads * EXAMPLES)
            pair(d, None, (images, h * size, EXAMPLES, 0), examples, to)
    hyperbolic_tangent(tanh)
    shared[:] = F(0)
    for b in range(blocks):
        at, to = (blocks + b) * block, (images, b * group * size, EXAMPLES, LANES)
        product((group * d, d, EXAMPLES), False, (weights, at, 1, width), z, to)
        for c in range(d):
            for h in range(group):
                for v in range(0, wide, LANES):
                    add(shared, c * wide + v, weights, at + c * width + h * d + v)
    product((d, d, EXAMPLES), False, (shared, 0, 1, wide), s, (by_score, 0, EXAMPLES, LANES))
    for j in range(d):
        given, to = (tanh, 0, EXAMPLES, heads * EXAMPLES), (out, j * EXAMPLES, 0, whole)
        pair(heads, (by_score, j * EXAMPLES), (images, j * EXAMPLES, size, 0), given, to)


@compiled
def _backward(shape: Any, keep: bool, room: Any, gradient: Any) -> Any:
    """The gradients by the weights, added to `gradient` if `keep`, given what `_forward` and `_errors` left."""
    d, wide, heads, group, width = shape
    parts, rows, errors, images, tanh, by_score, out, columns, _, by_shared = room
    size, whole, block, blocks = d * EXAMPLES, wide * EXAMPLES, d * width, heads // group
    z, s = (parts, 2 * whole, EXAMPLES, 1), (parts, 3 * whole, EXAMPLES, 1)
    for i in range(heads):
        to = (by_score, i * EXAMPLES, 0, heads * EXAMPLES)
        pair(d, None, (images, i * size, EXAMPLES, 0), (out, 0, EXAMPLES, whole), to)
    for i in range(tanh.size):
        by_score[i] *= ONE - tanh[i] * tanh[i]
    for b in range(blocks):
        for kind, given, x in ((0, by_score, rows), (blocks, tanh, errors)):
            for e in range(EXAMPLES):
                for v in range(wide - LANES, -1, -LANES):  # zeros beyond a head's columns are overwritten later
                    own = (given, b * group * EXAMPLES + e, EXAMPLES, heads * EXAMPLES)
                    mix(group, (columns, e * width + v, d, 0), own, (x, 2 * e * wide + v, 0, wide))
            to = (gradient, (kind + b) * block, width, LANES)
            product((d, EXAMPLES, width), keep, z, (columns, 0, width, LANES), to)
    for a in range(2):
        to = (by_shared, 0, wide, LANES)
        product((d, EXAMPLES, wide), a == 1, s, (errors, a * wide, 2 * wide, LANES), to)
    for b in range(blocks):
        for c in range(d):
            for h in range(group):
                for v in range(0, wide, LANES):  # zeros beyond d
                    add(gradient, ((blocks + b) * d + c) * width + h * d + v, by_shared, c * wide + v)


@compiled_for(f"void(int64, float64, float64, {FLAT}, {FLAT}, {FLAT}, {FLAT})")
def _adam(step: int, rate: float, scale: float, weights: Any, gradient: Any, first: Any, second: Any) -> Any:
    """One update by the gradient times `scale`; the corrections of both moments are made once a step."""
    root = (1 - BETA2**step) ** 0.5
    factor, epsilon, share = F(rate * root / (1 - BETA1**step)), F(EPSILON * root), F(scale)
    slow, slower = F(1 - BETA1), F(1 - BETA2)
    for i in range(weights.size):
        g = gradient[i] * share
        first[i] += slow * (g - first[i])
        second[i] += slower * (g * g - second[i])
        weights[i] -= factor * first[i] / (np.sqrt(second[i]) + epsilon)


@compiled_for(
    "void(UniTuple(intp, 5), intp, int64, float64, float64, "
    f"{GIVEN.format('int8')}, {GIVEN.format('float64')}, {WEIGHTS})"
)
def train(
    shape: Any, batch: int, step: int, rate: float, scale: float, x: Any, y: Any, weights: Any, moments: Any, room: Any,
    gradient: Any, squares: Any,
) -> Any:  # fmt: skip
    """Updates of `weights` by whole batches of tokens x and targets y times `scale`, both (n, 2, d) and flat.

    `step` updates were made before; `moments` are Adam's, empty for plain gradient descent. `squares` (n / batch, 2)
    gets, of every batch before its update, means over examples of the squared error and of the squared targets.
    """
    d, wide = shape[0], shape[1]
    for b in range(len(squares)):
        squares[b] = 0.0
        for start in range(b * batch, (b + 1) * batch, EXAMPLES):
            stop = min(start + EXAMPLES, (b + 1) * batch)
            _tokens(x[2 * d * start : 2 * d * stop], d, wide, room[0], room[1])
            _forward(shape, weights, room)
            error, power = _errors(y[2 * d * start : 2 * d * stop], scale, d, wide, room[6], room[2])
            squares[b, 0] += error / batch
            squares[b, 1] += power / batch
            _backward(shape, start > b * batch, room, gradient)
        if moments[0].size:
            _adam(step + b + 1, rate, 1 / batch, weights, gradient, moments[0], moments[1])
        else:
            for i in range(weights.size):
                weights[i] -= F(rate / batch) * gradient[i]


def blocks_of(heads: int, dim: int) -> tuple[int, int]:
    """Heads of a block, and its columns, a multiple of 16: as many heads as fit the cache, with the least padding.

    >>> blocks_of(16, 16), blocks_of(5, 12), blocks_of(16, 24)
    ((8, 128), (5, 64), (8, 192))
    """
    fitting = [h for h in range(1, heads + 1) if heads % h == 0 and (h == 1 or h * dim <= WIDEST)]
    group = min(fitting, key=lambda h: (-(-h * dim // LANES) / h, -h))
    return group, -(-group * dim // LANES) * LANES


class PairStudent:
    """Weights of a student on two tokens, laid out for its step: Θ and W as (2 blocks, d, columns), Θ transposed.

    `theta` and `w`, both (M, d, d), are copied; `layer()` gives them back.
    """

    def __init__(self, theta: Any, w: Any, adam: bool = True) -> None:
        self.heads, self.dim, _ = theta.shape
        self.group, self.width = blocks_of(self.heads, self.dim)
        wide = -(-self.dim // LANES) * LANES
        self.shape = (self.dim, wide, self.heads, self.group, self.width)
        self.weights = self._laid(theta, w)
        self.moments = tuple(np.zeros(self.weights.size if adam else 0, F) for _ in range(2))
        self.gradient = np.zeros_like(self.weights)
        self.steps = 0
        M, d, n = self.heads, self.dim, EXAMPLES
        sizes = (4 * wide * n, 2 * wide * n, 2 * wide * n, M * d * n, 2 * M * n, max(2 * M, d) * n, 2 * wide * n,
                 self.width * n + wide, d * wide, d * wide)  # fmt: skip
        # tokens (by feature, by example), errors by example, images of z, tanh, by_score, out, columns, ΣW, by_ΣW
        self.room = tuple(np.zeros(size, F) for size in sizes)

    def _laid(self, theta: Any, w: Any) -> Any:
        M, d, group = self.heads, self.dim, self.group
        out = np.zeros((2 * M // group, d, self.width), F)
        for at, matrices in ((0, theta.swapaxes(1, 2)), (M // group, w)):
            grouped = matrices.reshape(M // group, group, d, d).swapaxes(1, 2)
            out[at : at + M // group, :, : group * d] = grouped.reshape(M // group, d, group * d)
        return np.append(out, np.zeros(-(-d // LANES) * LANES, F))  # vectors may reach beyond the end

    def layer(self) -> tuple[Any, Any]:
        """Θ and W, both (M, d, d) float32."""
        M, d, group = self.heads, self.dim, self.group
        kinds = self.weights[: 2 * M // group * d * self.width].reshape(2, M // group, d, self.width)[..., : group * d]
        theta, w = kinds.reshape(2, M // group, d, group, d).swapaxes(2, 3).reshape(2, M, d, d)
        return theta.swapaxes(1, 2).copy(), w.copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0) -> Any:
        """An update a whole batch of tokens x and targets y times `scale`, both (n, 2, d).

        Returns (batches, 2): of each batch before its update, means over examples of the squared error and of the
        squared targets, summed over outputs.
        """
        squares = np.zeros((len(x) // batch, 2))
        train(self.shape, batch, self.steps, rate, scale, np.ascontiguousarray(x, np.int8).reshape(-1),
              np.ascontiguousarray(y, np.float64).reshape(-1), self.weights, self.moments, self.room, self.gradient,
              squares)  # fmt: skip
        self.steps += len(squares)
        return squares
