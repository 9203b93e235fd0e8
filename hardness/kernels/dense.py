"""The dense layer in tiles that stay in registers: compiled products, scores and sums of the softmax attention.

BLAS orders a sum by the number of rows it is given. Here an element of a product is one chain of fused
multiply-adds in the order of the features, so an example has the same bits whatever is beside it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from hardness.kernels.bits import compiled_for
from hardness.kernels.llvm import everywhere, fused

Array = NDArray[np.float64]
LANES = 8  # columns of a panel: a vector of 64 bytes
ROWS, CACHE = 128, 1 << 16  # of the differences that are made at a time: rows at least, floats at most
FLAT = "float64[::1]"
PLACED = f"Tuple(({FLAT}, intp, intp, intp))"


def panels(matrix: Array) -> Array:
    """A matrix (d, c), c a multiple of 8, in panels (c/8, d, 8): what a tile reads is in one place.

    >>> panels(np.arange(32.0).reshape(2, 16))[1]
    array([[ 8.,  9., 10., 11., 12., 13., 14., 15.],
           [24., 25., 26., 27., 28., 29., 30., 31.]])
    """
    return np.ascontiguousarray(matrix.reshape(len(matrix), matrix.shape[1] // LANES, LANES).transpose(1, 0, 2))


def _side() -> int:
    """Rows of a tile, and vectors a row: the registers hold the sums and what they are made of."""
    return 4 if get_host_cpu_features().get("avx512f") else 2


def _tile(rows: int, vectors: int) -> Any:
    """A tile's part of a product, as compiled code of its own: in plain loops the sums would go through memory.

    `tile(depth, a, b, out)` is out += a b for `rows` rows of a and `vectors` vectors of 8 columns of b. A matrix is
    (memory, start, pitch, step): rows start at start, start + pitch, …; in a row of a numbers follow one another at
    `step`, in a row of b or out vectors.
    """
    vector = ir.VectorType(ir.DoubleType(), LANES)

    @intrinsic
    def tile(context: Any, depth: Any, a: Any, b: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            fma = fused(builder, vector)

            def placed(argument: int) -> list[Any]:
                memory, *rest = cgutils.unpack_tuple(builder, arguments[argument])
                return [context.make_array(signature.args[argument][0])(context, builder, memory).data, *rest]

            def along(start: Any, step: Any, count: int) -> list[Any]:
                return [builder.add(start, builder.mul(step, step.type(i))) for i in range(count)]

            def pointer(memory: Any, place: Any) -> Any:
                return builder.bitcast(builder.gep(memory, [place]), vector.as_pointer())

            left, at_a, pitch_a, step_a = placed(1)
            right, at_b, pitch_b, step_b = placed(2)
            target, at, pitch, step = placed(3)
            places = [pointer(target, v) for row in along(at, pitch, rows) for v in along(row, step, vectors)]
            sums = [cgutils.alloca_once_value(builder, builder.load(place, align=8)) for place in places]
            starts_a, starts_b = along(at_a, pitch_a, rows), along(at_b, step_b, vectors)
            with cgutils.for_range(builder, arguments[0]) as loop:
                # What may not be copied is not unrolled either: that would take long, and sums cover their latency.
                builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True).attributes.add("convergent")
                across, down = (builder.mul(loop.index, step) for step in (step_a, pitch_b))
                ys = [builder.load(pointer(right, builder.add(start, down)), align=8) for start in starts_b]
                for i, start in enumerate(starts_a):
                    x = everywhere(builder, builder.load(builder.gep(left, [builder.add(start, across)])), vector)
                    for y, total in zip(ys, sums[i * vectors : (i + 1) * vectors], strict=True):
                        builder.store(fma([x, y, builder.load(total)]), total)
            for place, total in zip(places, sums, strict=True):
                builder.store(builder.load(total), place, align=8)
            return context.get_dummy_value()

        return types.void(types.intp, a, b, out), generate

    return tile


SIDE = _side()
_SQUARE, _COLUMN, _ROW, _CELL = (_tile(rows, vectors) for rows in (SIDE, 1) for vectors in (SIDE, 1))


@compiled_for(f"void(UniTuple(intp, 3), {PLACED}, {PLACED}, {PLACED})")
def product(shape: Any, a: Any, b: Any, out: Any) -> Any:
    """out += a b for `shape` (rows, depth, columns), matrices as for a tile; columns are a multiple of 8."""
    rows, depth, columns = shape
    (x, at_a, pitch_a, step_a), (y, at_b, pitch_b, step_b), (z, at, pitch, step) = a, b, out
    high, vectors = rows - rows % SIDE, columns // LANES
    wide = vectors - vectors % SIDE
    for v in range(0, wide, SIDE):
        right, o = (y, at_b + v * step_b, pitch_b, step_b), at + v * step
        for r in range(0, high, SIDE):
            _SQUARE(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (z, o + r * pitch, pitch, step))
        for r in range(high, rows):
            _ROW(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (z, o + r * pitch, pitch, step))
    for v in range(wide, vectors):
        right, o = (y, at_b + v * step_b, pitch_b, step_b), at + v * step
        for r in range(0, high, SIDE):
            _COLUMN(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (z, o + r * pitch, pitch, step))
        for r in range(high, rows):
            _CELL(depth, (x, at_a + r * pitch_a, pitch_a, step_a), right, (z, o + r * pitch, pitch, step))


@compiled_for(f"void(UniTuple(intp, 6), {FLAT}, {FLAT}, {FLAT}, {FLAT}, {FLAT}, {FLAT})")
def attention_scores(shape: Any, x: Any, theta: Any, differences: Any, right: Any, room: Any, out: Any) -> Any:
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
    panel = (theta, 0, LANES, LANES * d)
    product((n * (k - 1), d, m * D), (differences, 0, d, 1), panel, (right, 0, m * D, LANES))
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
            own, half = (right, e * (k - 1) * m * D + first, D, 1), (halves, h * (k - 1) * m * K, K, LANES)
            product(((k - 1) * m, depth, K), own, (columns, first * K, K, LANES), half)
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
def attend(shape: Any, x: Any, differences: Any, weights: Any, w: Any, total: Any, moved: Any, out: Any) -> Any:
    """F(X) in `out` (n, k, D), 0 at first, from `weights` (n, k, m, k), the exponentials of the scores.

    The rows of a softmax sum to 1, so token k - 1 adds x_{k-1} Σ W_i, and the others their difference to it. Arrays
    and `shape` are as for the scores: `w` are the panels of (d, m D) with W_i at columns i D and after, `total` those
    of Σ W_i; `moved` (n (k - 1), m D), 0 at first, is room.
    """
    n, k, d, m, D, _ = shape
    panel, last = (w, 0, LANES, LANES * d), (x, (k - 1) * d, k * d, 1)
    product((n * (k - 1), d, m * D), (differences, 0, d, 1), panel, (moved, 0, m * D, LANES))
    product((n, d, D), last, (total, 0, LANES, LANES * d), (out, 0, k * D, LANES))
    for e in range(n):
        base = out[e * k * D :]
        for a in range(1, k):
            row = base[a * D :]
            for j in range(D):
                row[j] = base[j]
        sums = weights[(e * k + k - 1) * m * k :]
        for b in range(k - 1):
            terms = weights[(e * k + b) * m * k :]
            for j in range(m * k):
                sums[j] += terms[j]
        for b in range(k - 1):
            terms = weights[(e * k + b) * m * k :]
            for j in range(m * k):
                terms[j] /= sums[j]
        own, images = (weights, e * k * m * k, 1, k), (moved, e * (k - 1) * m * D, D, LANES)
        product((k, (k - 1) * m, D), own, images, (out, e * k * D, D, LANES))


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
        found = np.empty((n, self.heads, k, k))
        for start, shape, _, _, weights, _ in self._chunks(x):
            weights = weights.reshape(shape[0], k, self.heads, k)
            weights /= weights.sum(axis=1, keepdims=True)
            found[start : start + shape[0]] = weights.transpose(0, 2, 3, 1)
        return found

    def _chunks(self, x: NDArray[Any]) -> Iterator[tuple[int, tuple[int, ...], Array, Array, Array, Array]]:
        """Examples at a time: the first, (n, k, d, m, D, K), tokens, differences, exp(scores), and room; flat."""
        (n, k, d), m, D = x.shape, self.heads, self.width
        K = -(-k // LANES) * LANES
        size = min(n, max(ROWS, CACHE // (m * D)) // k) or 1  # what is made of so many examples stays in cache
        small, room = np.empty((d + 2 * (k - 1) * m) * K), np.zeros(size * (k - 1) * m * D)
        differences, scores = np.empty(size * (k - 1) * d), np.empty(size * k * m * k)
        for start in range(0, n, size):
            tokens = np.ascontiguousarray(x[start : start + size], np.float64).reshape(-1)
            shape = (min(size, n - start), k, d, m, D, K)
            if start:
                room.fill(0.0)
                if shape[0] < size:
                    differences, scores, room = (a[: a.size // size * shape[0]] for a in (differences, scores, room))
            attention_scores(shape, tokens, self.theta, differences, room, small, scores)
            np.exp(scores, out=scores)
            yield start, shape, tokens, differences, scores, room
