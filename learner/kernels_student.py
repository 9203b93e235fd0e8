"""The attention student's step on two tokens, compiled: forward, backward and update of a batch, in float32.

With z = (x_1 - x_2)/2 and s = (x_1 + x_2)/2 a head sends to row a of the output s W_i + tanh(x_a Θ_i z) z W_i: both
rows share Θ_i z and z W_i. So a step is two products with all heads beside each other and z, forward, and two that
give the gradients, backward: 4 M d² multiply-adds an example; all else is of the order M d. Examples lie in the lanes
of vectors forward, features backward. An element of a product is one chain of fused multiply-adds, and every other
operation is rounded as IEEE says, so the bits do not depend on the width of the processor's vectors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hardness.kernels import compiled, compiled_for
from hardness.vectors import everywhere, fused
from learner.student_dense import BETA1, BETA2, EPSILON

EXAMPLES, LANES = 64, 16  # that go through a step side by side, and numbers of a vector
VECTORS = EXAMPLES // LANES
WIDEST = 192  # columns of a block: what a step reads of it stays in the first cache
VECTOR = ir.VectorType(ir.FloatType(), LANES)
F = np.float32
ONE, HALF = F(1), F(0.5)
# tanh from 2^f on [-1/2, 1/2]: an error of 2e-8. Beyond 9.02 the nearest float32 to tanh is 1.
TOP, TURNS, ROUND = F(9.02), F(2 / np.log(2)), F(1.5 * 2**23)
C0, C1, C2, C3, C4, C5, C6 = np.polynomial.Chebyshev.interpolate(np.exp2, 6, [-0.5, 0.5]).convert(
    kind=np.polynomial.Polynomial
).coef.astype(F)  # fmt: skip
FLAT = "float32[::1]"
SIDE = 4 if get_host_cpu_features().get("avx512f") else 2  # rows and vectors of a tile: its sums stay in registers


def _loop(builder: Any, depth: Any, sums: list[Any], terms: Callable[[Any], Any]) -> None:
    """Add `terms(l)`, triples (place among the sums, vector, vector), to the sums for l = 0, …, depth - 1."""
    fma = fused(builder, VECTOR)
    kept = [cgutils.alloca_once_value(builder, each) for each in sums]
    with cgutils.for_range(builder, depth) as loop:
        # What may not be copied is not unrolled either: that would take long, and sums cover their latency.
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True).attributes.add("convergent")
        for i, x, y in terms(loop.index):
            builder.store(fma([x, y, builder.load(kept[i])]), kept[i])
    sums[:] = [builder.load(each) for each in kept]


class _Memory:
    """A flat array of float32 in compiled code, read and written a vector at a time."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        self.builder, self.data = builder, context.make_array(kind)(context, builder, array).data

    def place(self, at: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.data, [at]), VECTOR.as_pointer())

    def load(self, at: Any) -> Any:
        return self.builder.load(self.place(at), align=4)

    def every(self, at: Any) -> Any:
        """The number there, in every lane."""
        return everywhere(self.builder, self.builder.load(self.builder.gep(self.data, [at])), VECTOR)

    def store(self, vector: Any, at: Any) -> None:
        self.builder.store(vector, self.place(at), align=4)


def _along(builder: Any, start: Any, step: Any, count: int) -> list[Any]:
    return [builder.add(start, builder.mul(step, step.type(i))) for i in range(count)]


def _tile(rows: int, vectors: int) -> Any:
    """A tile's part of a product: `tile(depth, a, b, out)` is out += a b for `rows` rows and `vectors` vectors.

    A matrix is (memory, start, pitch, step): rows start at start, start + pitch, …; numbers in a row of a, and
    vectors in a row of b or out, follow one another at `step`.
    """

    @intrinsic
    def tile(context: Any, depth: Any, a: Any, b: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def placed(i: int) -> list[Any]:
                memory, *rest = cgutils.unpack_tuple(builder, arguments[i])
                return [_Memory(context, builder, signature.args[i][0], memory), *rest]

            left, at_a, pitch_a, step_a = placed(1)
            right, at_b, pitch_b, step_b = placed(2)
            target, at, pitch, step = placed(3)
            places = [v for row in _along(builder, at, pitch, rows) for v in _along(builder, row, step, vectors)]
            starts_a, starts_b = _along(builder, at_a, pitch_a, rows), _along(builder, at_b, step_b, vectors)

            def terms(index: Any) -> Any:
                across, down = builder.mul(index, step_a), builder.mul(index, pitch_b)
                ys = [right.load(builder.add(start, down)) for start in starts_b]
                for i, start in enumerate(starts_a):
                    x = left.every(builder.add(start, across))
                    yield from ((i * vectors + j, x, y) for j, y in enumerate(ys))

            sums = [target.load(place) for place in places]
            _loop(builder, arguments[0], sums, terms)
            for place, total in zip(places, sums, strict=True):
                target.store(total, place)
            return context.get_dummy_value()

        return types.void(types.intp, a, b, out), generate

    return tile


_SQUARE, _COLUMN, _ROW, _CELL = (_tile(rows, vectors) for rows in (SIDE, 1) for vectors in (SIDE, 1))


@intrinsic
def _pair(context: Any, depth: Any, y: Any, x: Any, out: Any) -> Any:
    """out_a += Σ_l x_a[l] y[l] for a = 1, 2 on one vector of examples; y, x, out are (memory, start, step, apart):
    l = 0, … lies at start + l step, a = 2 lies `apart` further."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [cgutils.unpack_tuple(builder, argument) for argument in arguments[1:]]
        ys, xs, to = (
            _Memory(context, builder, kind[0], part[0]) for kind, part in zip(signature.args[1:], parts, strict=True)
        )
        (_, at_y, step_y, _), (_, at_x, step_x, apart), (_, at, _, other) = parts
        lanes = [depth.type(LANES * v) for depth in [at] for v in range(VECTORS)]
        places = [builder.add(row, lane) for row in _along(builder, at, other, 2) for lane in lanes]

        def terms(index: Any) -> Any:
            start_y = builder.add(at_y, builder.mul(index, step_y))
            start_x = builder.add(at_x, builder.mul(index, step_x))
            for v, lane in enumerate(lanes):
                shared = ys.load(builder.add(start_y, lane))
                for a, row in enumerate(_along(builder, start_x, apart, 2)):
                    yield a * VECTORS + v, xs.load(builder.add(row, lane)), shared

        sums = [to.load(place) for place in places]
        _loop(builder, arguments[0], sums, terms)
        for place, total in zip(places, sums, strict=True):
            to.store(total, place)
        return context.get_dummy_value()

    return types.void(types.intp, y, x, out), generate


@intrinsic
def _mix(context: Any, out: Any, at: Any, a: Any, i: Any, j: Any, x: Any, k: Any, step: Any) -> Any:
    """One vector out[at:] = a[i] x[k:] + a[j] x[k + step:]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, left, right = (_Memory(context, builder, signature.args[n], arguments[n]) for n in (0, 2, 5))
        _, at, _, i, j, _, k, step = arguments
        first = builder.fmul(left.every(i), right.load(k))
        to.store(fused(builder, VECTOR)([left.every(j), right.load(builder.add(k, step)), first]), at)
        return context.get_dummy_value()

    return types.void(out, types.intp, a, types.intp, types.intp, x, types.intp, types.intp), generate


@intrinsic
def _as_float(context: Any, bits: Any) -> Any:
    """The float32 of these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@compiled
def product(shape: Any, a: Any, b: Any, out: Any) -> Any:
    """out += a b for `shape` (rows, depth, columns), matrices as for a tile; columns are a multiple of 16."""
    rows, depth, columns = shape
    (x, at_a, pitch_a, step_a), (y, at_b, pitch_b, step_b), (o, at, pitch, step) = a, b, out
    high, vectors = rows - rows % SIDE, columns // LANES
    wide = vectors - vectors % SIDE
    for v in range(0, wide, SIDE):
        right, to = (y, at_b + v * step_b, pitch_b, step_b), at + v * step
        for r in range(0, high, SIDE):
            _SQUARE(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))
        for r in range(high, rows):
            _ROW(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))
    for v in range(wide, vectors):
        right, to = (y, at_b + v * step_b, pitch_b, step_b), at + v * step
        for r in range(0, high, SIDE):
            _COLUMN(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))
        for r in range(high, rows):
            _CELL(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))


@compiled_for(f"void({FLAT})")
def hyperbolic_tangent(h: Any) -> Any:
    """tanh of float32 in place, within 1.5e-7; no h overflows, infinity included."""
    for e in range(h.size):
        x = TOP if h[e] > TOP else h[e]
        x = (-TOP if x < -TOP else x) * TURNS
        n = (x + ROUND) - ROUND
        f = x - n
        power = C0 + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
        power *= _as_float((np.int32(n) + np.int32(127)) << np.int32(23))
        h[e] = (power - ONE) / (power + ONE)


@compiled
def _tokens(x: Any, d: int, wide: int, parts: Any, rows: Any) -> Any:
    """Tokens (n, 2, d), n <= 64, as features by examples x_1, x_2, z, s in `parts` (4, d, 64), and padded with zeros
    in `rows` (64, 2, wide); where there is no example, zeros."""
    count, size = x.size // (2 * d), d * EXAMPLES
    x1, x2, z, s = parts[:size], parts[size : 2 * size], parts[2 * size : 3 * size], parts[3 * size :]
    if count < EXAMPLES:
        parts[: 2 * size] = F(0)
        rows[:] = F(0)
    for e in range(count):
        for c in range(d):
            first, second = F(x[2 * e * d + c]), F(x[(2 * e + 1) * d + c])
            x1[c * EXAMPLES + e], x2[c * EXAMPLES + e] = first, second
            rows[2 * e * wide + c], rows[(2 * e + 1) * wide + c] = first, second
    for i in range(size):
        z[i], s[i] = HALF * (x1[i] - x2[i]), HALF * (x1[i] + x2[i])


@compiled
def _errors(y: Any, scale: Any, d: int, wide: int, out: Any, rows: Any) -> Any:
    """`out` (2, d, 64) less targets y (n, 2, d) times `scale`, in `out` and example by example in `rows` (64, 2, wide).

    Returns the sum of squares over examples and outputs.
    """
    count, total = y.size // (2 * d), 0.0
    for a in range(2):
        for j in range(d):
            part = out[(a * d + j) * EXAMPLES : (a * d + j + 1) * EXAMPLES]
            for e in range(count):
                part[e] -= F(y[(2 * e + a) * d + j]) * scale
            for e in range(EXAMPLES):
                rows[(2 * e + a) * wide + j] = part[e]
            for e in range(count):
                total += np.float64(part[e]) * np.float64(part[e])
    return total


@compiled
def _spread(weights: Any, rows: Any, heads: int, d: int, wide: int, first: int, width: int, out: Any) -> Any:
    """out (64, width): at columns h d and after Σ_a weights[a, first + h] rows[a] of every example; weights are
    (2, heads, 64) and rows (64, 2, wide)."""
    group = width // d if width // d < heads else heads
    apart = heads * EXAMPLES
    for e in range(EXAMPLES):
        for h in range(group):
            i = (first + h) * EXAMPLES + e
            for v in range(0, wide, LANES):  # what a head writes beyond its columns is 0, and overwritten by the next
                _mix(out, e * width + h * d + v, weights, i, i + apart, rows, 2 * e * wide + v, wide)


@compiled
def _forward(shape: Any, weights: Any, room: Any) -> Any:
    """F of the tokens in `room`: see `room_for`. What the backward pass needs stays there."""
    d, wide, heads, group, width = shape
    parts, rows, errors, images, tanh, by_score, out, columns, shared, by_shared = room
    size, block, blocks = d * EXAMPLES, d * width, heads // group
    z, s = 2 * size, 3 * size
    images[:], tanh[:], shared[:] = F(0), F(0), F(0)
    for b in range(blocks):
        to = (images, b * group * size, EXAMPLES, LANES)
        product((group * d, d, EXAMPLES), (weights, b * block, 1, width), (parts, z, EXAMPLES, LANES), to)
    for i in range(heads):
        given = (parts, 0, EXAMPLES, size)
        _pair(d, (images, i * size, EXAMPLES, 0), given, (tanh, i * EXAMPLES, 0, heads * EXAMPLES))
    hyperbolic_tangent(tanh)
    images[:] = F(0)
    for b in range(blocks):
        at, to = (blocks + b) * block, (images, b * group * size, EXAMPLES, LANES)
        product((group * d, d, EXAMPLES), (weights, at, 1, width), (parts, z, EXAMPLES, LANES), to)
        for c in range(d):
            for h in range(group):
                for j in range(d):
                    shared[c * wide + j] += weights[at + c * width + h * d + j]
    out[:size] = F(0)
    product((d, d, EXAMPLES), (shared, 0, 1, wide), (parts, s, EXAMPLES, LANES), (out, 0, EXAMPLES, LANES))
    out[size:] = out[:size]
    for j in range(d):
        given = (tanh, 0, EXAMPLES, heads * EXAMPLES)
        _pair(heads, (images, j * EXAMPLES, size, 0), given, (out, j * EXAMPLES, 0, size))


@compiled
def _backward(shape: Any, room: Any, gradient: Any) -> Any:
    """Add the gradients by the weights, given what `_forward` and `_errors` left in `room`."""
    d, wide, heads, group, width = shape
    parts, rows, errors, images, tanh, by_score, out, columns, shared, by_shared = room
    size, block, blocks = d * EXAMPLES, d * width, heads // group
    z, s = 2 * size, 3 * size
    by_score[:] = F(0)
    for i in range(heads):
        given = (out, 0, EXAMPLES, size)
        _pair(d, (images, i * size, EXAMPLES, 0), given, (by_score, i * EXAMPLES, 0, heads * EXAMPLES))
    for i in range(tanh.size):
        by_score[i] *= ONE - tanh[i] * tanh[i]
    for b in range(blocks):
        for kind, given, x in ((0, by_score, rows), (blocks, tanh, errors)):
            _spread(given, x, heads, d, wide, b * group, width, columns)
            to = (gradient, (kind + b) * block, width, LANES)
            product((d, EXAMPLES, width), (parts, z, EXAMPLES, 1), (columns, 0, width, LANES), to)
    by_shared[:] = F(0)
    for a in range(2):
        to = (by_shared, 0, wide, LANES)
        product((d, EXAMPLES, wide), (parts, s, EXAMPLES, 1), (errors, a * wide, 2 * wide, LANES), to)
    for b in range(blocks):
        for c in range(d):
            at = ((blocks + b) * d + c) * width
            for h in range(group):
                for j in range(d):
                    gradient[at + h * d + j] += by_shared[c * wide + j]


@compiled
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
    f"void(UniTuple(intp, 5), intp, int64, float64, float64, int8[::1], float64[::1], {FLAT}, UniTuple({FLAT}, 2), "
    f"UniTuple({FLAT}, 10), {FLAT}, float64[::1])"
)
def train(
    shape: Any, batch: int, step: int, rate: float, scale: float, x: Any, y: Any, weights: Any, moments: Any, room: Any,
    gradient: Any, squares: Any,
) -> Any:  # fmt: skip
    """Updates of `weights` by whole batches of tokens x and targets y times `scale`, both (n, 2, d) and flat.

    `step` updates were made before; `moments` are Adam's, empty for plain gradient descent. `squares` (n / batch,)
    gets the squared error of every batch before its update: the mean over examples of the sum over outputs.
    """
    d, wide = shape[0], shape[1]
    for b in range(squares.size):
        total = 0.0
        gradient[:] = F(0)
        for start in range(b * batch, (b + 1) * batch, EXAMPLES):
            stop = min(start + EXAMPLES, (b + 1) * batch)
            _tokens(x[2 * d * start : 2 * d * stop], d, wide, room[0], room[1])
            _forward(shape, weights, room)
            total += _errors(y[2 * d * start : 2 * d * stop], F(scale), d, wide, room[6], room[2])
            _backward(shape, room, gradient)
        squares[b] = total / batch
        if moments[0].size:
            _adam(step + b + 1, rate, 1 / batch, weights, gradient, moments[0], moments[1])
        else:
            for i in range(weights.size):
                weights[i] -= F(rate / batch) * gradient[i]


@compiled_for(f"void(UniTuple(intp, 5), int8[::1], {FLAT}, UniTuple({FLAT}, 10), {FLAT})")
def predict(shape: Any, x: Any, weights: Any, room: Any, out: Any) -> Any:
    """F(X) in `out` (n, 2, d) of tokens x (n, 2, d), both flat."""
    d, wide = shape[0], shape[1]
    for start in range(0, x.size // (2 * d), EXAMPLES):
        part = out[2 * d * start : 2 * d * (start + EXAMPLES)]
        _tokens(x[2 * d * start : 2 * d * (start + EXAMPLES)], d, wide, room[0], room[1])
        _forward(shape, weights, room)
        for e in range(part.size // (2 * d)):
            for i in range(2 * d):
                part[2 * d * e + i] = room[6][i * EXAMPLES + e]


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
        sizes = (4 * d * n, 2 * wide * n, 2 * wide * n, M * d * n, 2 * M * n, 2 * M * n, 2 * d * n,
                 self.width * n + LANES + wide, d * wide, d * wide)  # fmt: skip
        # tokens (by feature, by example), errors by example, images of z, tanh, by_score, out, columns, ΣW, by_ΣW
        self.room = tuple(np.zeros(size, F) for size in sizes)

    def _laid(self, theta: Any, w: Any) -> Any:
        M, d, group = self.heads, self.dim, self.group
        out = np.zeros((2 * M // group, d, self.width), F)
        for at, matrices in ((0, theta.swapaxes(1, 2)), (M // group, w)):
            grouped = matrices.reshape(M // group, group, d, d).swapaxes(1, 2)
            out[at : at + M // group, :, : group * d] = grouped.reshape(M // group, d, group * d)
        return out.reshape(-1)

    def layer(self) -> tuple[Any, Any]:
        """Θ and W, both (M, d, d) float32."""
        M, d, group = self.heads, self.dim, self.group
        kinds = self.weights.reshape(2, M // group, d, self.width)[..., : group * d]
        theta, w = kinds.reshape(2, M // group, d, group, d).swapaxes(2, 3).reshape(2, M, d, d)
        return theta.swapaxes(1, 2).copy(), w.copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0) -> Any:
        """An update a whole batch of tokens x int8 and targets y float64, both (n, 2, d); squared errors before it."""
        squares = np.zeros(len(x) // batch)
        train(self.shape, batch, self.steps, rate, scale, np.ascontiguousarray(x, np.int8).reshape(-1),
              np.ascontiguousarray(y, np.float64).reshape(-1), self.weights, self.moments, self.room, self.gradient,
              squares)  # fmt: skip
        self.steps += len(squares)
        return squares

    def predict(self, x: Any) -> Any:
        """F(X), float32 (n, 2, d), of tokens x (n, 2, d)."""
        out = np.empty(x.shape, F)
        predict(self.shape, np.ascontiguousarray(x, np.int8).reshape(-1), self.weights, self.room, out.reshape(-1))
        return out
