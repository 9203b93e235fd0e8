"""Products of matrices in tiles that stay in registers, of float64 or float32: the one generator of both.

BLAS orders a sum by the number of rows it is given. Here an element of a product is one chain of fused multiply-adds
in the order of the depth, so an example has the same bits whatever stands beside it, on every processor.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hardness.kernels.bits import compiled
from hardness.kernels.llvm import SIDE, VECTOR_BYTES, Memory, accumulated, along, piece


def _tile(rows: int, vectors: int) -> Any:
    """A tile's part of a product: `tile(depth, keep, a, b, out)` is a b for `rows` rows and `vectors` vectors, added to
    out if `keep`.

    A matrix is (memory, start, pitch, step): rows start at start, start + pitch, …; numbers in a row of a, and
    vectors in a row of b or out, follow one another at `step`. All memories hold numbers of one type.
    """

    @piece
    def tile(context: Any, depth: Any, keep: Any, a: Any, b: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def placed(i: int) -> list[Any]:
                memory, *rest = cgutils.unpack_tuple(builder, arguments[i])
                return [Memory(context, builder, signature.args[i][0], memory), *rest]

            left, at_a, pitch_a, step_a = placed(2)
            right, at_b, pitch_b, step_b = placed(3)
            target, at, pitch, step = placed(4)
            places = [v for row in along(builder, at, pitch, rows) for v in along(builder, row, step, vectors)]
            starts_a, starts_b = along(builder, at_a, pitch_a, rows), along(builder, at_b, step_b, vectors)

            def terms(index: Any) -> Any:
                """At depth l, `rows` numbers of a times `vectors` vectors of b: sum i * vectors + j is of row i."""
                across, down = builder.mul(index, step_a), builder.mul(index, pitch_b)
                ys = [right.load(builder.add(start, down)) for start in starts_b]
                for i, start in enumerate(starts_a):
                    x = left.every(builder.add(start, across))
                    yield from ((i * vectors + j, x, y) for j, y in enumerate(ys))

            sums = [cgutils.alloca_once_value(builder, ir.Constant(target.vector, None)) for _ in places]
            with builder.if_then(arguments[1]):
                for place, total in zip(places, sums, strict=True):
                    builder.store(target.load(place), total)
            for place, total in zip(places, accumulated(builder, arguments[0], sums, terms), strict=True):
                target.store(total, place)
            return context.get_dummy_value()

        return types.void(types.intp, types.boolean, a, b, out), generate

    return tile


# Tiles of the inside of a product, of its last columns, of its last rows, and of the corner.
_SQUARE, _COLUMN, _ROW, _CELL = (_tile(rows, vectors) for rows in (SIDE, 1) for vectors in (SIDE, 1))


@compiled
def product(shape: Any, keep: bool, a: Any, b: Any, out: Any) -> Any:
    """out = a b, or out += a b if `keep`, for `shape` (rows, depth, columns), matrices as for a tile; columns are a
    multiple of a vector's numbers (8 of float64, 16 of float32)."""
    rows, depth, columns = shape
    (x, at_a, pitch_a, step_a), (y, at_b, pitch_b, step_b), (o, at, pitch, step) = a, b, out
    # Tiles cover the rows below `high` and the vectors below `wide`; the strips beyond are covered one at a time.
    high, vectors = rows - rows % SIDE, columns // (VECTOR_BYTES // o.itemsize)
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
