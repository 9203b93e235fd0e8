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

from hardness.compiled.bits import compiled, compiled_for
from hardness.compiled.llvm import everywhere, fused
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
FLAT, GIVEN = "float32[::1]", "Array({}, 1, 'C', True)"  # what is given may be read-only
SIDE = 4 if get_host_cpu_features().get("avx512f") else 2  # rows and vectors of a tile: its sums stay in registers


def _loop(builder: Any, depth: Any, sums: list[Any], terms: Callable[[Any], Any]) -> list[Any]:
    """Add `terms(l)`, triples (place among the sums, vector, vector), to the sums for l = 0, …, depth - 1."""
    fma = fused(builder, VECTOR)
    with cgutils.for_range(builder, depth) as loop:
        # What may not be copied is not unrolled either: that would take long, and sums cover their latency.
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True).attributes.add("convergent")
        for i, x, y in terms(loop.index):
            builder.store(fma([x, y, builder.load(sums[i])]), sums[i])
    return [builder.load(each) for each in sums]


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
    """A tile's part of a product: `tile(depth, keep, a, b, out)` is a b for `rows` rows and `vectors` vectors, added to
    out if `keep`.

    A matrix is (memory, start, pitch, step): rows start at start, start + pitch, …; numbers in a row of a, and
    vectors in a row of b or out, follow one another at `step`.
    """

    @intrinsic
    def tile(context: Any, depth: Any, keep: Any, a: Any, b: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def placed(i: int) -> list[Any]:
                memory, *rest = cgutils.unpack_tuple(builder, arguments[i])
                return [_Memory(context, builder, signature.args[i][0], memory), *rest]

            left, at_a, pitch_a, step_a = placed(2)
            right, at_b, pitch_b, step_b = placed(3)
            target, at, pitch, step = placed(4)
            places = [v for row in _along(builder, at, pitch, rows) for v in _along(builder, row, step, vectors)]
            starts_a, starts_b = _along(builder, at_a, pitch_a, rows), _along(builder, at_b, step_b, vectors)

            def terms(index: Any) -> Any:
                across, down = builder.mul(index, step_a), builder.mul(index, pitch_b)
                ys = [right.load(builder.add(start, down)) for start in starts_b]
                for i, start in enumerate(starts_a):
                    x = left.every(builder.add(start, across))
                    yield from ((i * vectors + j, x, y) for j, y in enumerate(ys))

            sums = [cgutils.alloca_once_value(builder, ir.Constant(VECTOR, None)) for _ in places]
            with builder.if_then(arguments[1]):
                for place, total in zip(places, sums, strict=True):
                    builder.store(target.load(place), total)
            for place, total in zip(places, _loop(builder, arguments[0], sums, terms), strict=True):
                target.store(total, place)
            return context.get_dummy_value()

        return types.void(types.intp, types.boolean, a, b, out), generate

    return tile


_SQUARE, _COLUMN, _ROW, _CELL = (_tile(rows, vectors) for rows in (SIDE, 1) for vectors in (SIDE, 1))


@intrinsic
def _pair(context: Any, depth: Any, start: Any, y: Any, x: Any, out: Any) -> Any:
    """out_a = out_a at `start` + Σ_l x_a[l] y[l] for a = 1, 2 and the 64 examples: `start` is an array or None.
    y, x, out are (memory, start, step, apart): l = 0, … lies at start + l step, a = 2 lies `apart` further."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [cgutils.unpack_tuple(builder, argument) for argument in arguments[2:]]
        ys, xs, to = (
            _Memory(context, builder, kind[0], part[0]) for kind, part in zip(signature.args[2:], parts, strict=True)
        )
        (_, at_y, step_y, _), (_, at_x, step_x, apart), (_, at, _, other) = parts
        lanes = [at.type(LANES * v) for v in range(VECTORS)]
        if start == types.none:
            first = [ir.Constant(VECTOR, None)] * 2 * VECTORS
        else:
            shared = _Memory(context, builder, start[0], cgutils.unpack_tuple(builder, arguments[1])[0])
            begin = cgutils.unpack_tuple(builder, arguments[1])[1]
            first = [shared.load(builder.add(begin, lane)) for lane in lanes] * 2

        def terms(index: Any) -> Any:
            start_y = builder.add(at_y, builder.mul(index, step_y))
            start_x = builder.add(at_x, builder.mul(index, step_x))
            for v, lane in enumerate(lanes):
                y = ys.load(builder.add(start_y, lane))
                for a, row in enumerate(_along(builder, start_x, apart, 2)):
                    yield a * VECTORS + v, xs.load(builder.add(row, lane)), y

        sums = _loop(builder, arguments[0], [cgutils.alloca_once_value(builder, each) for each in first], terms)
        places = [builder.add(row, lane) for row in _along(builder, at, other, 2) for lane in lanes]
        for place, total in zip(places, sums, strict=True):
            to.store(total, place)
        return context.get_dummy_value()

    return types.void(types.intp, start, y, x, out), generate


@intrinsic
def _mix(context: Any, count: Any, out: Any, a: Any, x: Any) -> Any:
    """One vector at a time, out[h] = a_1[h] x_1 + a_2[h] x_2 for h = 0, …, count - 1; (memory, start, step, apart)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [cgutils.unpack_tuple(builder, argument) for argument in arguments[1:]]
        to, left, right = (
            _Memory(context, builder, kind[0], part[0]) for kind, part in zip(signature.args[1:], parts, strict=True)
        )
        (_, at, step, _), (_, at_a, step_a, apart_a), (_, at_x, _, apart_x) = parts
        x1, x2 = (right.load(start) for start in _along(builder, at_x, apart_x, 2))
        with cgutils.for_range(builder, arguments[0]) as loop:
            a1, a2 = (
                left.every(builder.add(start, builder.mul(loop.index, step_a)))
                for start in _along(builder, at_a, apart_a, 2)
            )
            mixed = fused(builder, VECTOR)([a2, x2, builder.fmul(a1, x1)])
            to.store(mixed, builder.add(at, builder.mul(loop.index, step)))
        return context.get_dummy_value()

    return types.void(types.intp, out, a, x), generate


@intrinsic
def _add(context: Any, out: Any, at: Any, a: Any, i: Any) -> Any:
    """One vector out[at:] += a[i:]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, given = (_Memory(context, builder, signature.args[n], arguments[n]) for n in (0, 2))
        to.store(builder.fadd(to.load(arguments[1]), given.load(arguments[3])), arguments[1])
        return context.get_dummy_value()

    return types.void(out, types.intp, a, types.intp), generate


@intrinsic
def _transpose(context: Any, out: Any, a: Any) -> Any:
    """A square of 16 x 16 numbers, transposed; out and a are (memory, start, pitch)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (to, at, pitch), (given, start, apart) = (cgutils.unpack_tuple(builder, argument) for argument in arguments)
        source, target = (
            _Memory(context, builder, kind[0], each) for kind, each in zip(signature.args[::-1], (given, to), strict=True)
        )
        rows = [source.load(place) for place in _along(builder, start, apart, LANES)]
        step = LANES // 2
        while step:  # squares of twice the step become four of the step, the two off the diagonal exchanged
            for i in (i for i in range(LANES) if not i & step):
                upper = [lane if not lane & step else LANES + lane - step for lane in range(LANES)]
                lower = [lane + step if not lane & step else LANES + lane for lane in range(LANES)]
                pair = rows[i], rows[i + step]
                rows[i], rows[i + step] = (
                    builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(ir.IntType(32), LANES), mask))
                    for mask in (upper, lower)
                )
            step //= 2
        for row, place in zip(rows, _along(builder, at, pitch, LANES), strict=True):
            target.store(row, place)
        return context.get_dummy_value()

    return types.void(out, a), generate


@intrinsic
def _as_float(context: Any, bits: Any) -> Any:
    """The float32 of these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@compiled
def product(shape: Any, keep: bool, a: Any, b: Any, out: Any) -> Any:
    """out = a b, or out += a b if `keep`, for `shape` (rows, depth, columns), matrices as for a tile; columns are a
    multiple of 16."""
    rows, depth, columns = shape
    (x, at_a, pitch_a, step_a), (y, at_b, pitch_b, step_b), (o, at, pitch, step) = a, b, out
    high, vectors = rows - rows % SIDE, columns // LANES
    wide = vectors - vectors % SIDE
    for v in range(0, wide, SIDE):
        right, to = (y, at_b + v * step_b, pitch_b, step_b), at + v * step
        for r in range(0, high, SIDE):
            _SQUARE(depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))
        for r in range(high, rows):
            _ROW(depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))
    for v in range(wide, vectors):
        right, to = (y, at_b + v * step_b, pitch_b, step_b), at + v * step
        for r in range(0, high, SIDE):
            _COLUMN(depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))
        for r in range(high, rows):
            _CELL(depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step))


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
                _transpose(to, (rows, (2 * e + a) * wide + c, 2 * wide))
    x1, x2, z, s = parts[:size], parts[size : 2 * size], parts[2 * size : 3 * size], parts[3 * size :]
    for i in range(size):
        z[i], s[i] = HALF * (x1[i] - x2[i]), HALF * (x1[i] + x2[i])


@compiled
def _errors(y: Any, scale: Any, d: int, wide: int, out: Any, rows: Any) -> Any:
    """`out` (2, wide, 64) less targets y (n, 2, d) times `scale`, in `out` and example by example in `rows`
    (64, 2, wide), which are 0 beyond d. Returns sums over examples and outputs: of squared errors, of squared targets."""
    count, size, total, power = y.size // (2 * d), wide * EXAMPLES, 0.0, 0.0
    for a in range(2):
        for c in range(0, wide, LANES):
            for e in range(0, EXAMPLES, LANES):
                to = (rows, (2 * e + a) * wide + c, 2 * wide)
                _transpose(to, (out, a * size + c * EXAMPLES + e, EXAMPLES))
    if wide == d:
        for i in range(y.size):
            rows[i] -= F(y[i]) * scale
    else:
        for t in range(2 * count):
            for c in range(d):
                rows[t * wide + c] -= F(y[t * d + c]) * scale
    for t in range(2 * count):
        for c in range(d):
            total += np.float64(rows[t * wide + c]) * np.float64(rows[t * wide + c])
            power += y[t * d + c] * y[t * d + c]
    for a in range(2):
        for c in range(0, wide, LANES):
            for e in range(0, EXAMPLES, LANES):
                to = (out, a * size + c * EXAMPLES + e, EXAMPLES)
                _transpose(to, (rows, (2 * e + a) * wide + c, 2 * wide))
    return total, power * scale * scale


@compiled
def _forward(shape: Any, weights: Any, room: Any) -> Any:
    """F of the tokens in `room`: see `PairStudent`. What the backward pass needs stays there."""
    d, wide, heads, group, width = shape
    parts, rows, errors, images, tanh, by_score, out, columns, shared, by_shared = room
    size, whole, block, blocks = d * EXAMPLES, wide * EXAMPLES, d * width, heads // group
    examples, z, s = (parts, 0, EXAMPLES, whole), (parts, 2 * whole, EXAMPLES, LANES), (parts, 3 * whole, EXAMPLES, LANES)
    for b in range(blocks):
        product((group * d, d, EXAMPLES), False, (weights, b * block, 1, width), z, (images, 0, EXAMPLES, LANES))
        for h in range(group):
            to = (tanh, (b * group + h) * EXAMPLES, 0, heads * EXAMPLES)
            _pair(d, None, (images, h * size, EXAMPLES, 0), examples, to)
    hyperbolic_tangent(tanh)
    shared[:] = F(0)
    for b in range(blocks):
        at, to = (blocks + b) * block, (images, b * group * size, EXAMPLES, LANES)
        product((group * d, d, EXAMPLES), False, (weights, at, 1, width), z, to)
        for c in range(d):
            for h in range(group):
                for v in range(0, wide, LANES):
                    _add(shared, c * wide + v, weights, at + c * width + h * d + v)
    product((d, d, EXAMPLES), False, (shared, 0, 1, wide), s, (by_score, 0, EXAMPLES, LANES))
    for j in range(d):
        given, to = (tanh, 0, EXAMPLES, heads * EXAMPLES), (out, j * EXAMPLES, 0, whole)
        _pair(heads, (by_score, j * EXAMPLES), (images, j * EXAMPLES, size, 0), given, to)


@compiled
def _backward(shape: Any, keep: bool, room: Any, gradient: Any) -> Any:
    """The gradients by the weights, added to `gradient` if `keep`, given what `_forward` and `_errors` left."""
    d, wide, heads, group, width = shape
    parts, rows, errors, images, tanh, by_score, out, columns, shared, by_shared = room
    size, whole, block, blocks = d * EXAMPLES, wide * EXAMPLES, d * width, heads // group
    z, s = (parts, 2 * whole, EXAMPLES, 1), (parts, 3 * whole, EXAMPLES, 1)
    for i in range(heads):
        to = (by_score, i * EXAMPLES, 0, heads * EXAMPLES)
        _pair(d, None, (images, i * size, EXAMPLES, 0), (out, 0, EXAMPLES, whole), to)
    for i in range(tanh.size):
        by_score[i] *= ONE - tanh[i] * tanh[i]
    for b in range(blocks):
        for kind, given, x in ((0, by_score, rows), (blocks, tanh, errors)):
            for e in range(EXAMPLES):
                for v in range(wide - LANES, -1, -LANES):  # zeros beyond a head's columns are overwritten later
                    own = (given, b * group * EXAMPLES + e, EXAMPLES, heads * EXAMPLES)
                    _mix(group, (columns, e * width + v, d, 0), own, (x, 2 * e * wide + v, 0, wide))
            to = (gradient, (kind + b) * block, width, LANES)
            product((d, EXAMPLES, width), keep, z, (columns, 0, width, LANES), to)
    for a in range(2):
        to = (by_shared, 0, wide, LANES)
        product((d, EXAMPLES, wide), a == 1, s, (errors, a * wide, 2 * wide, LANES), to)
    for b in range(blocks):
        for c in range(d):
            for h in range(group):
                for v in range(0, wide, LANES):  # zeros beyond d
                    _add(gradient, ((blocks + b) * d + c) * width + h * d + v, by_shared, c * wide + v)


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
    f"void(UniTuple(intp, 5), intp, int64, float64, float64, {GIVEN.format('int8')}, {GIVEN.format('float64')}, {FLAT}, "
    f"UniTuple({FLAT}, 2), UniTuple({FLAT}, 10), {FLAT}, float64[:, ::1])"
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
            error, power = _errors(y[2 * d * start : 2 * d * stop], F(scale), d, wide, room[6], room[2])
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
