"""The Walsh-Hadamard transform in place: networks in registers, chunks in cache, two passes over memory."""

from concurrent.futures import Executor
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from hardness.kernels import U, compiled, popcount
from hardness.vectors import everywhere, fused

VECTOR, CHUNK, STRIP = 64, 1 << 17, 4096  # bytes, elements, bytes


def _network(levels: int, across: bool) -> Any:
    """Walsh-Hadamard levels on 2^levels vectors of 64 bytes, which stay in registers: compiled code of its own.

    `network(f, start, stride, g, at, step)` takes the vectors at start, start + stride, … of f through all levels
    between them, after those inside each vector if `across`, to at, at + step, … of g. In plain loops this would
    become scalar code.
    """

    @intrinsic
    def network(context: Any, f: Any, start: Any, stride: Any, g: Any, at: Any, step: Any) -> Any:
        if f.layout != "C" or g.layout != "C":
            raise TypingError("a Walsh-Hadamard transform is made in place on a contiguous array")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = signature.args[0]
            size, width = kind.dtype.bitwidth // 8, VECTOR * 8 // kind.dtype.bitwidth
            vector = ir.VectorType(context.get_data_type(kind.dtype), width)

            add, sub, signed = builder.add, builder.sub, None
            if isinstance(kind.dtype, types.Float):
                # Half of the sums as fused multiply-adds by ±1, which are exact: processors add and multiply side by
                # side. A word out of assembly the compiler does not know to be -1; it would subtract again.
                signed, word = fused(builder, vector), ir.IntType(8 * size)
                bits = word(int(np.array(-1, f"f{size}").view(f"u{size}")))
                hidden = builder.asm(ir.FunctionType(word, [word]), "", "=r,0", [bits], False)
                minus = everywhere(builder, builder.bitcast(hidden, vector.element), vector)
                add, sub = builder.fadd, lambda a, b: signed([b, minus, a])

            def order(places: list[int]) -> Any:
                return ir.Constant(ir.VectorType(ir.IntType(32), width), places)

            def pointers(array: Any, first: Any, stride: Any) -> list[Any]:
                data = context.make_array(kind)(context, builder, array).data
                places = [builder.add(first, builder.mul(stride, stride.type(i))) for i in range(1 << levels)]
                return [builder.bitcast(builder.gep(data, [place]), vector.as_pointer()) for place in places]

            x = [builder.load(place, align=size) for place in pointers(*arguments[:3])]
            for bit in (1 << i for i in range(width.bit_length() - 1) if across):
                partner = order([i ^ bit for i in range(width)])
                upper = order([i + width * bool(i & bit) for i in range(width)])
                for i, own in enumerate(x):
                    other = builder.shuffle_vector(own, own, partner)
                    if signed:
                        signs = ir.Constant(vector, [-1.0 if i & bit else 1.0 for i in range(width)])
                        x[i] = signed([own, signs, other])
                    else:
                        x[i] = builder.shuffle_vector(add(own, other), sub(other, own), upper)
            for bit in (1 << i for i in range(levels)):
                for i in (i for i in range(1 << levels) if not i & bit):
                    x[i], x[i | bit] = add(x[i], x[i | bit]), sub(x[i], x[i | bit])
            for value, place in zip(x, pointers(*arguments[3:]), strict=True):
                builder.store(value, place, align=size)
            return context.get_dummy_value()

        return types.void(f, types.intp, types.intp, g, types.intp, types.intp), generate

    return network


_WITHIN, _WITHIN_AND_4 = _network(0, True), _network(4, True)
_NEXT_1, _NEXT_2, _NEXT_3, _NEXT_4 = (_network(levels, False) for levels in range(1, 5))


@compiled
def _sweep(f: Any, start: Any, stride: Any, g: Any, at: Any, step: Any, levels: Any, count: Any) -> Any:
    """One network on the `count` elements beside f[start], f[start + stride], …, to g[at], g[at + step], …"""
    width = VECTOR // f.itemsize
    if levels == 1:
        for j in range(0, count, width):
            _NEXT_1(f, start + j, stride, g, at + j, step)
    elif levels == 2:
        for j in range(0, count, width):
            _NEXT_2(f, start + j, stride, g, at + j, step)
    elif levels == 3:
        for j in range(0, count, width):
            _NEXT_3(f, start + j, stride, g, at + j, step)
    else:
        for j in range(0, count, width):
            _NEXT_4(f, start + j, stride, g, at + j, step)


@compiled
def _rows(f: Any, first: Any, last: Any) -> Any:
    """All levels inside each chunk of f[first:last]: a chunk stays in the second-level cache."""
    width = VECTOR // f.itemsize
    for chunk in range(first, last, CHUNK):
        end = min(chunk + CHUNK, last)
        size = end - chunk
        h = 16 * width if size >= 16 * width else min(width, size)
        for start in range(chunk, end, h):
            if h == 16 * width:
                _WITHIN_AND_4(f, start, width, f, start, width)
            elif h == width:
                _WITHIN(f, start, width, f, start, width)
            else:
                part, half = f[start : start + h], 1
                while half < h:
                    for i in range(h):
                        if not i & half:
                            x, y = part[i], part[i | half]
                            part[i], part[i | half] = x + y, x - y
                    half *= 2
        while h < size:
            # Vectors a way of the first cache (4 KiB) apart all fall into one set of it, which holds 8 or more of them.
            left, most = int(popcount(U(size // h - 1))), 4 if h * f.itemsize < 4096 else 3
            levels = -(-left // -(-left // most))  # equal shares of the fewest sweeps
            for block in range(chunk, end, h << levels):
                _sweep(f, block, h, f, block, h, levels, h)
            h <<= levels


@compiled
def _columns(f: Any, first: Any, last: Any) -> Any:
    """The levels between the chunks, for columns first..last - 1: a strip at a time, so that memory is read once."""
    rows, strip = f.size // CHUNK, STRIP // f.itemsize
    pitch = strip + VECTOR // f.itemsize  # not a power of two: rows of the strip do not displace one another
    held = np.empty(rows * pitch, f.dtype)
    for start in range(first, last, strip):
        h = 1
        while h < rows:
            left = int(popcount(U(rows // h - 1)))
            levels = -(-left // -(-left // 4))
            source, a, p = (f, start, CHUNK) if h == 1 else (held, 0, pitch)
            target, b, q = (f, start, CHUNK) if h << levels == rows else (held, 0, pitch)
            for block in range(0, rows, h << levels):
                for i in range(block, block + h):
                    _sweep(source, a + i * p, h * p, target, b + i * q, h * q, levels, strip)
            h <<= levels


@compiled
def walsh_hadamard(f: Any) -> Any:
    """In-place transform f[S] <- sum_v f[v] (-1)^|S & v|, any signed or float type, length 2^k, contiguous."""
    _rows(f, np.intp(0), f.size)
    if f.size > CHUNK:
        _columns(f, np.intp(0), np.intp(CHUNK))


def walsh_hadamard_shared(f: NDArray[Any], pool: Executor, parts: int) -> None:
    """`walsh_hadamard` in `parts` parts side by side on a pool of threads, rows first, then columns: the same bits.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> f = np.arange(2.0**21)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     walsh_hadamard_shared(f, pool, parts=2)
    >>> f[:3].tolist()
    [2199022206976.0, -1048576.0, -2097152.0]
    """
    if f.size < 16 * CHUNK or parts < 2:  # waking a thread takes longer than a chunk
        walsh_hadamard(f)
        return
    for work, total, unit in ((_rows, f.size, CHUNK), (_columns, CHUNK, STRIP // f.itemsize)):
        cuts = [total // unit * i // parts * unit for i in range(parts + 1)]
        list(pool.map(work, [f] * parts, cuts[:-1], cuts[1:]))
