"""What the compiled loops' own vector code is built of: pieces of LLVM for a number in every lane and a·b + c."""

from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import cgutils


def everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """The vector of type `vector` with `number` in every lane."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


def fused(builder: Any, vector: Any) -> Any:
    """The operation [a, b, c] -> a b + c on vectors of floats, rounded once."""
    bits = 64 if vector.element == ir.DoubleType() else 32
    kind, name = ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{vector.count}f{bits}"
    return partial(builder.call, cgutils.get_or_insert_function(builder.module, kind, name))
