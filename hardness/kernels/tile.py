"""Pieces of compiled code on vectors of 64 bytes, written with llvmlite, and products of matrices in tiles of them.

Every piece is an intrinsic of numba: in plain loops the sums of a tile would go through memory between two steps, which
no option of the compiler prevents. BLAS orders a sum by the number of rows it is given. Here an element of a product is
one chain of fused multiply-adds in the order of the depth, so an example has the same bits whatever stands beside it,
on every processor. A vector is 8 numbers of float64 or 16 of float32.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hardness.kernels.bits import compiled

VECTOR_BYTES = 64
# Rows, and vectors a row, of a tile: side² sums and what they are made of have to fit the registers, 32 with AVX-512.
SIDE = 4 if get_host_cpu_features().get("avx512f") else 2


def piece(function: Any) -> Any:
    """An intrinsic, whose first argument, the context, is not the caller's."""
    return intrinsic(function)


def everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """The vector of type `vector` with `number` in every lane."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(
        first, first, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    )


def fused(builder: Any, vector: Any) -> Any:
    """The operation [a, b, c] -> a b + c on vectors of floats, rounded once."""
    bits = 64 if vector.element == ir.DoubleType() else 32
    kind, name = ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{vector.count}f{bits}"
    return partial(builder.call, cgutils.get_or_insert_function(builder.module, kind, name))


class Memory:
    """A flat array of floats in compiled code, read and written a vector at a time; `vector` is its type."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        self.size = kind.dtype.bitwidth // 8
        self.vector = ir.VectorType(context.get_data_type(kind.dtype), VECTOR_BYTES // self.size)
        self.builder, self.data = builder, context.make_array(kind)(context, builder, array).data

    def place(self, at: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.data, [at]), self.vector.as_pointer())

    def load(self, at: Any) -> Any:
        # Rows may begin anywhere: the alignment that is promised is that of one number.
        return self.builder.load(self.place(at), align=self.size)

    def every(self, at: Any) -> Any:
        """The number there, in every lane."""
        return everywhere(self.builder, self.builder.load(self.builder.gep(self.data, [at])), self.vector)

    def store(self, vector: Any, at: Any) -> None:
        self.builder.store(vector, self.place(at), align=self.size)


def along(builder: Any, start: Any, step: Any, count: int) -> list[Any]:
    """The places start, start + step, …: `count` of them."""
    return [builder.add(start, builder.mul(step, step.type(i))) for i in range(count)]


def accumulated(builder: Any, depth: Any, sums: list[Any], terms: Callable[[Any], Any]) -> list[Any]:
    """`sums`, stack slots that stay in registers, after `terms(l)` were added for l = 0, …, depth - 1.

    A term is (place among the sums, vector, vector); what is added is their product, rounded with the sum once.
    """
    fma = fused(builder, builder.load(sums[0]).type)
    with cgutils.for_range(builder, depth) as loop:
        # What may not be copied is not unrolled either: that would take long, and sums cover their latency.
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True).attributes.add("convergent")
        for i, x, y in terms(loop.index):
            builder.store(fma([x, y, builder.load(sums[i])]), sums[i])
    return [builder.load(each) for each in sums]


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
            places = [
                v for row in along(builder, at, pitch, rows) for v in along(builder, row, step, vectors)
            ]
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
            _SQUARE(
                depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step)
            )
        for r in range(high, rows):
            _ROW(
                depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step)
            )
    for v in range(wide, vectors):
        right, to = (y, at_b + v * step_b, pitch_b, step_b), at + v * step
        for r in range(0, high, SIDE):
            _COLUMN(
                depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step)
            )
        for r in range(high, rows):
            _CELL(
                depth, keep, (x, at_a + r * pitch_a, pitch_a, step_a), right, (o, to + r * pitch, pitch, step)
            )
