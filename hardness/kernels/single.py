"""Loops on float32 in vectors of 16 that stay in registers: pairs of sums, turned squares, tanh.

Sums are chains of fused multiply-adds in the order of the depth, and every other operation is rounded as IEEE says, so
the bits do not depend on how wide the processor's own vectors are.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils

from hardness.kernels.bits import compiled, compiled_for
from hardness.kernels.tile import Memory, accumulated, along, fused, piece

LANES = 16  # numbers of a vector
VECTOR = ir.VectorType(ir.FloatType(), LANES)
F = np.float32
ONE, HALF = F(1), F(0.5)
# tanh from 2^f on [-1/2, 1/2]: an error of 2e-8. Beyond 9.02 the nearest float32 to tanh is 1.
TOP, TURNS, ROUND = F(9.02), F(2 / np.log(2)), F(1.5 * 2**23)
C0, C1, C2, C3, C4, C5, C6 = (
    np.polynomial.Chebyshev.interpolate(np.exp2, 6, [-0.5, 0.5])
    .convert(kind=np.polynomial.Polynomial)
    .coef.astype(F)
)
FLAT = "float32[::1]"


def _pair(vectors: int) -> Any:
    """A part of `pair`: `part(e, depth, start, y, x, out)` takes so many vectors of examples, from the e-th on."""

    @piece
    def part(context: Any, e: Any, depth: Any, start: Any, y: Any, x: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            parts = [cgutils.unpack_tuple(builder, argument) for argument in arguments[3:]]
            ys, xs, to = (
                Memory(context, builder, kind[0], part[0])
                for kind, part in zip(signature.args[3:], parts, strict=True)
            )
            (_, at_y, step_y, _), (_, at_x, step_x, apart), (_, at, _, other) = parts
            lanes = along(builder, arguments[0], at.type(LANES), vectors)
            if start == types.none:
                first = [ir.Constant(VECTOR, None)] * 2 * vectors
            else:
                array, begin = cgutils.unpack_tuple(builder, arguments[2])
                # Both sums of a pair start from the same numbers, for a = 1 and a = 2: they are read once.
                shared = Memory(context, builder, start[0], array)
                first = [shared.load(builder.add(begin, lane)) for lane in lanes] * 2

            def terms(index: Any) -> Any:
                start_y = builder.add(at_y, builder.mul(index, step_y))
                start_x = builder.add(at_x, builder.mul(index, step_x))
                for v, lane in enumerate(lanes):
                    y = ys.load(builder.add(start_y, lane))
                    for a, row in enumerate(along(builder, start_x, apart, 2)):
                        yield a * vectors + v, xs.load(builder.add(row, lane)), y

            sums = accumulated(
                builder, arguments[1], [cgutils.alloca_once_value(builder, each) for each in first], terms
            )
            places = [builder.add(row, lane) for row in along(builder, at, other, 2) for lane in lanes]
            for place, total in zip(places, sums, strict=True):
                to.store(total, place)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, start, y, x, out), generate

    return part


_FOUR, _ONE = _pair(4), _pair(1)


@piece
def mix(context: Any, count: Any, out: Any, a: Any, x: Any) -> Any:
    """One vector at a time, out[h] = a_1[h] x_1 + a_2[h] x_2 for h = 0, …, count - 1; (memory, start, step, apart)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [cgutils.unpack_tuple(builder, argument) for argument in arguments[1:]]
        to, left, right = (
            Memory(context, builder, kind[0], part[0])
            for kind, part in zip(signature.args[1:], parts, strict=True)
        )
        (_, at, step, _), (_, at_a, step_a, apart_a), (_, at_x, _, apart_x) = parts
        x1, x2 = (right.load(start) for start in along(builder, at_x, apart_x, 2))
        with cgutils.for_range(builder, arguments[0]) as loop:
            a1, a2 = (
                left.every(builder.add(start, builder.mul(loop.index, step_a)))
                for start in along(builder, at_a, apart_a, 2)
            )
            mixed = fused(builder, VECTOR)([a2, x2, builder.fmul(a1, x1)])
            to.store(mixed, builder.add(at, builder.mul(loop.index, step)))
        return context.get_dummy_value()

    return types.void(types.intp, out, a, x), generate


@piece
def add(context: Any, count: Any, out: Any, at: Any, a: Any, start: Any, step: Any) -> Any:
    """One vector out[at:] += a[start + h step:] for h = 0, …, count - 1, one after the other."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, given = (Memory(context, builder, signature.args[n], arguments[n]) for n in (1, 3))
        total = cgutils.alloca_once_value(builder, to.load(arguments[2]))
        with cgutils.for_range(builder, arguments[0]) as loop:
            term = given.load(builder.add(arguments[4], builder.mul(loop.index, arguments[5])))
            builder.store(builder.fadd(builder.load(total), term), total)
        to.store(builder.load(total), arguments[2])
        return context.get_dummy_value()

    return types.void(types.intp, out, types.intp, a, types.intp, types.intp), generate


@piece
def transpose(context: Any, out: Any, a: Any) -> Any:
    """A square of 16 x 16 numbers, transposed; out and a are (memory, start, pitch)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (to, at, pitch), (given, start, apart) = (
            cgutils.unpack_tuple(builder, argument) for argument in arguments
        )
        source, target = (
            Memory(context, builder, kind[0], each)
            for kind, each in zip(signature.args[::-1], (given, to), strict=True)
        )
        rows = [source.load(place) for place in along(builder, start, apart, LANES)]
        # Recursive transposition: at every step the off-diagonal squares change places, log2 16 = 4 steps of shuffles.
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
        for row, place in zip(rows, along(builder, at, pitch, LANES), strict=True):
            target.store(row, place)
        return context.get_dummy_value()

    return types.void(out, a), generate


@piece
def _as_float(context: Any, bits: Any) -> Any:
    """The float32 of these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@compiled
def pair(across: int, depth: int, start: Any, y: Any, x: Any, out: Any) -> Any:
    """out_a = start + Σ_l x_a[l] y[l] for a = 1, 2 and `across` examples side by side, a multiple of 16.

    y, x, out are (memory, at, step, apart): l = 0, … lies at at + l step, a = 2 lies `apart` further. `start` is
    (memory, at), or None for 0.
    """
    whole = across - across % (4 * LANES)
    for e in range(0, whole, 4 * LANES):
        _FOUR(e, depth, start, y, x, out)
    for e in range(whole, across, LANES):
        _ONE(e, depth, start, y, x, out)


@compiled_for(f"void({FLAT})")
def hyperbolic_tangent(h: Any) -> Any:
    """tanh of float32 in place, within 1.5e-7; no h overflows, infinity included."""
    for e in range(h.size):
        x = TOP if h[e] > TOP else h[e]
        x = (-TOP if x < -TOP else x) * TURNS
        # Adding and taking off 1.5 * 2^23 rounds to the nearest integer: above it float32 has no fractions. Then
        # e^2h = 2^x = 2^n 2^f with |f| <= 1/2, and 2^n is made by writing n into the exponent's bits.
        n = (x + ROUND) - ROUND
        f = x - n
        power = C0 + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
        power *= _as_float((np.int32(n) + np.int32(127)) << np.int32(23))
        h[e] = (power - ONE) / (power + ONE)


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def squares_of(values: Any) -> float:
    """Sum of squares, in any order: only what is reported of a step depends on it."""
    total = 0.0  # LLVM keeps sums in vectors only where neither their order nor the sign of a zero counts
    for i in range(values.size):
        total += np.float64(values[i]) * np.float64(values[i])
    return total
