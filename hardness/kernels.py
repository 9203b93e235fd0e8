"""Compiled loops on sets as uint64 masks: random words, colex enumeration, the Walsh-Hadamard transform.

Everything is integer arithmetic, so every count is exact. Random bits come from splitmix64 states handed in
by the caller (from a `SeedSequence`), never from a global generator.
"""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    Function = TypeVar("Function")

    def compiled(function: Function) -> Function: ...
else:
    from numba import njit

    compiled = njit(cache=True)

U = np.uint64
ONE, ZERO = U(1), U(0)
GOLDEN, MIX1, MIX2 = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
M1, M2, M4, H01 = U(0x5555555555555555), U(0x3333333333333333), U(0x0F0F0F0F0F0F0F0F), U(0x0101010101010101)
U2, U4, U27, U30, U31, U56 = U(2), U(4), U(27), U(30), U(31), U(56)


@compiled
def popcount(x: Any) -> Any:
    """Number of set bits of a uint64, as uint64."""
    # The compiler recognises this idiom and emits the processor's own instruction.
    x = x - ((x >> ONE) & M1)
    x = (x & M2) + ((x >> U2) & M2)
    return (((x + (x >> U4)) & M4) * H01) >> U56


@compiled
def random_word(state: Any) -> Any:
    """Next splitmix64 word; `state` is uint64 (1,)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> U30)) * MIX1
    z = (z ^ (z >> U27)) * MIX2
    return z ^ (z >> U31)


@compiled
def next_mask(mask: Any) -> Any:
    """The colex successor. After the last set of n = 64 bits the sum wraps: callers count, never compare."""
    low = mask & (~mask + ONE)
    ripple = mask + low
    shift = popcount(low - ONE) + U2
    return ripple | ((mask ^ ripple) >> shift) if ripple else ZERO


@compiled
def enumerate_masks(first: Any, out: Any) -> Any:
    """Fill `out` uint64 (count,) with consecutive colex sets from `first`."""
    mask = first
    for i in range(out.size):
        out[i] = mask
        mask = next_mask(mask)


@compiled
def shuffle(values: Any, state: Any) -> Any:
    """Fisher-Yates in place (the modulo bias of 64 bits over an array is below 2^-30)."""
    for i in range(values.size - 1, 0, -1):
        j = random_word(state) % U(i + 1)
        values[i], values[j] = values[j], values[i]


@compiled
def walsh_hadamard(f: Any) -> Any:
    """In-place transform f[S] <- sum_v f[v] (-1)^|S & v|, any signed or float type, length 2^k."""
    size, h = f.size, 1
    if size >= 8:
        for i in range(0, size, 8):
            a0, a1, a2, a3 = f[i] + f[i + 1], f[i] - f[i + 1], f[i + 2] + f[i + 3], f[i + 2] - f[i + 3]
            a4, a5, a6, a7 = (
                f[i + 4] + f[i + 5],
                f[i + 4] - f[i + 5],
                f[i + 6] + f[i + 7],
                f[i + 6] - f[i + 7],
            )
            b0, b1, b2, b3 = a0 + a2, a1 + a3, a0 - a2, a1 - a3
            b4, b5, b6, b7 = a4 + a6, a5 + a7, a4 - a6, a5 - a7
            f[i], f[i + 1], f[i + 2], f[i + 3] = b0 + b4, b1 + b5, b2 + b6, b3 + b7
            f[i + 4], f[i + 5], f[i + 6], f[i + 7] = b0 - b4, b1 - b5, b2 - b6, b3 - b7
        h = 8
    while h < size:
        for block in range(0, size, 2 * h):
            left, right = f[block : block + h], f[block + h : block + 2 * h]
            for j in range(h):
                x, y = left[j], right[j]
                left[j] = x + y
                right[j] = x - y
        h *= 2
