"""What the compiled loops' own vector code is built of: pieces of LLVM on flat arrays of floats, 64 bytes at a time.

A vector is a whole cache line and, where the processor has them, one register: 8 numbers of float64, 16 of float32.
Every piece is an intrinsic of numba, whose code is written with llvmlite: in plain loops the sums of a tile would go
through memory between two steps, which no option of the compiler prevents.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils
from numba.extending import intrinsic

VECTOR_BYTES = 64
# Rows, and vectors a row, of a tile: side² sums and what they are made of have to fit the registers, 32 with AVX-512.
SIDE = 4 if get_host_cpu_features().get("avx512f") else 2


def piece(function: Any) -> Any:
    """An intrinsic, whose first argument, the context, is not the caller's."""
    return intrinsic(function)


def everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """The vector of type `vector` with `number` in every lane."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


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
