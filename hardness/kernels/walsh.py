"""The Walsh-Hadamard transform in place: networks in registers, chunks and blocks in cache, few passes over memory."""

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from hardness.kernels.bits import U, compiled, popcount

VECTOR, CHUNK, BLOCK = 64, 1 << 17, 1 << 20  # bytes, elements, elements
# Below, np.intp(…) stands where a constant would ask for a compiled version of its own.


def _everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """Return the vector of type `vector` with `number` in every lane."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(
        first, first, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    )


def _fused(builder: Any, vector: Any) -> Any:
    """Return the operation [a, b, c] -> a b + c on vectors of floats, rounded once."""
    bits = 64 if vector.element == ir.DoubleType() else 32
    kind, name = ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{vector.count}f{bits}"
    return partial(builder.call, cgutils.get_or_insert_function(builder.module, kind, name))


def _network(levels: int, across: bool) -> Any:
    """Make Walsh-Hadamard levels on 2^levels vectors of 64 bytes, which stay in registers: compiled code of its own.

    `network(f, start, stride)` takes the vectors at start, start + stride, … of f through all levels between them,
    after those inside each vector if `across`. In plain loops this would become scalar code.
    """

    @intrinsic
    def network(context: Any, f: Any, start: Any, stride: Any) -> Any:
        if f.layout != "C":
            raise TypingError("a Walsh-Hadamard transform is made in place on a contiguous array")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = signature.args[0]
            size, width = kind.dtype.bitwidth // 8, VECTOR * 8 // kind.dtype.bitwidth
            vector = ir.VectorType(context.get_data_type(kind.dtype), width)

            add, sub, signed = builder.add, builder.sub, None
            if isinstance(kind.dtype, types.Float):
                # Half of the sums as fused multiply-adds by ±1, which are exact: processors add and multiply side by
                # side. A word out of assembly the compiler does not know to be -1; it would subtract again.
                signed, word = _fused(builder, vector), ir.IntType(8 * size)
                bits = word(int(np.array(-1, f"f{size}").view(f"u{size}")))
                hidden = builder.asm(ir.FunctionType(word, [word]), "", "=r,0", [bits], False)
                minus = _everywhere(builder, builder.bitcast(hidden, vector.element), vector)
                add, sub = builder.fadd, lambda a, b: signed([b, minus, a])

            def order(places: list[int]) -> Any:
                return ir.Constant(ir.VectorType(ir.IntType(32), width), places)

            array, start, stride = arguments
            data = context.make_array(kind)(context, builder, array).data
            places = [builder.add(start, builder.mul(stride, stride.type(i))) for i in range(1 << levels)]
            pointers = [builder.bitcast(builder.gep(data, [place]), vector.as_pointer()) for place in places]
            # All vectors of the network are in registers from here to the stores: 2^levels of them, 16 at most of 32.
            x = [builder.load(pointer, align=size) for pointer in pointers]
            for bit in (1 << i for i in range(width.bit_length() - 1) if across):
                # Levels inside a vector: lane i meets lane i ^ bit. With signed multiply-adds both results are one
                # operation; integers take the sum and the difference and choose the lanes of each.
                partner = order([i ^ bit for i in range(width)])
                upper = order([i + width * bool(i & bit) for i in range(width)])
                for i, first in enumerate(x):
                    other = builder.shuffle_vector(first, first, partner)
                    if signed:
                        signs = ir.Constant(vector, [-1.0 if i & bit else 1.0 for i in range(width)])
                        x[i] = signed([first, signs, other])
                    else:
                        x[i] = builder.shuffle_vector(add(first, other), sub(other, first), upper)
            # Levels between vectors: the butterfly of whole registers.
            for bit in (1 << i for i in range(levels)):
                for i in (i for i in range(1 << levels) if not i & bit):
                    x[i], x[i | bit] = add(x[i], x[i | bit]), sub(x[i], x[i | bit])
            for value, pointer in zip(x, pointers, strict=True):
                builder.store(value, pointer, align=size)
            return context.get_dummy_value()

        return types.void(f, types.intp, types.intp), generate

    return network


_WITHIN, _WITHIN_AND_4 = _network(0, True), _network(4, True)
_NEXT_1, _NEXT_2, _NEXT_3, _NEXT_4 = (_network(levels, False) for levels in range(1, 5))


@compiled
def _sweep(f: Any, start: Any, stride: Any, levels: Any, count: Any) -> Any:
    """Apply one network to the `count` elements after each of f[start], f[start + stride], …"""
    width = VECTOR // f.itemsize
    if levels == 1:
        for j in range(start, start + count, width):
            _NEXT_1(f, j, stride)
    elif levels == 2:
        for j in range(start, start + count, width):
            _NEXT_2(f, j, stride)
    elif levels == 3:
        for j in range(start, start + count, width):
            _NEXT_3(f, j, stride)
    else:
        for j in range(start, start + count, width):
            _NEXT_4(f, j, stride)


@compiled
def _climb(f: Any, h: Any) -> Any:
    """Do the levels of f from h on, a few of them a pass.

    Vectors a way of the first cache (4 KiB) apart all fall into one set of it, which holds 8 or more of them; and so
    many streams of memory are read and written as fast as one.
    """
    # Invariant: all levels below h are done. A sweep does as many levels as registers hold, so that the array passes
    # through memory once for three or four of them.
    while h < f.size:
        left, radix = int(popcount(U(f.size // h - 1))), 4 if h * f.itemsize < 4096 else 3
        levels = -(-left // -(-left // radix))  # equal shares of the fewest sweeps
        for start in range(0, f.size, h << levels):
            _sweep(f, start, h, levels, h)
        h <<= levels


@compiled
def walsh_hadamard(f: Any) -> Any:
    """Transform f in place, f[S] <- sum_v f[v] (-1)^|S & v|, any signed or float type, length 2^k, contiguous."""
    # All levels inside a block at first: a chunk stays in the second-level cache, a block in the third.
    width = VECTOR // f.itemsize
    for block in range(0, f.size, BLOCK):
        whole = f[block : block + BLOCK]
        for at in range(0, whole.size, CHUNK):
            chunk = whole[at : at + CHUNK]
            h = 16 * width if chunk.size >= 16 * width else min(width, chunk.size)
            for start in range(0, chunk.size, h):
                if h == 16 * width:
                    _WITHIN_AND_4(chunk, start, width)
                elif h == width:
                    _WITHIN(chunk, start, width)
                else:
                    half = 1
                    while half < h:
                        for i in range(h):
                            if not i & half:
                                x, y = chunk[i], chunk[i | half]
                                chunk[i], chunk[i | half] = x + y, x - y
                        half *= 2
            _climb(chunk, h)
        _climb(whole, np.intp(CHUNK))
    _climb(f, np.intp(BLOCK))
