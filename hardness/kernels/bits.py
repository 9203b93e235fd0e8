"""Compiled loops on packed words: random words, levels, colex enumeration.

Words, sets and counts are integers, so they are exact. Random bits come from splitmix64 states and Philox keys
handed in by the caller (from a `SeedSequence`), never from a global generator. The loops run without the
interpreter's lock, so that plain threads share the work.
"""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    Function = TypeVar("Function")

    def compiled(function: Function) -> Function: ...
else:
    from numba import njit

    compiled = njit(cache=True, nogil=True)

U = np.uint64
ONE, ZERO = U(1), U(0)
GOLDEN, MIX1, MIX2 = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
M1, M2, M4, H01 = U(0x5555555555555555), U(0x3333333333333333), U(0x0F0F0F0F0F0F0F0F), U(0x0101010101010101)
U2, U4, U7, U8, U27, U30, U31, U32, U56 = U(2), U(4), U(7), U(8), U(27), U(30), U(31), U(32), U(56)
DIAGONAL, SEVENS = U(0x8040201008040201), U(0x7F7F7F7F7F7F7F7F)
HALF, WEYL = U(0xFFFFFFFF), U(0xBB67AE8584CAA73B)
PHILOX0, PHILOX1, PHILOX2, PHILOX3 = U(0xE14C6C93), U(0xD2E7470E), U(0x95121157), U(0xCA5A8263)
# Counters and examples that a vector loop takes together: they stay in the first cache
LANES, BATCH = 64, 256


@compiled
def popcount(x: Any) -> Any:
    """Return the number of set bits of a uint64, as uint64."""
    # The compiler recognises this idiom and emits the processor's own instruction.
    x = x - ((x >> ONE) & M1)
    x = (x & M2) + ((x >> U2) & M2)
    return (((x + (x >> U4)) & M4) * H01) >> U56


@compiled
def random_word(state: Any) -> Any:
    """Return the next random uint64 of the generator splitmix64, and advance its `state`, uint64 (1,)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> U30)) * MIX1
    z = (z ^ (z >> U27)) * MIX2
    return z ^ (z >> U31)


@compiled
def _high(x: Any, low: Any, high: Any) -> Any:
    """Return the upper 64 bits of the 128-bit product x · (low + 2^32 high); `low` and `high` are below 2^32."""
    # x = x1 2^32 + x0: of x0 low only the carry into the upper half counts, of the two products across their upper
    # halves and the carry of their lower ones. No sum below passes 2^64: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64.
    cross = (x >> U32) * low + ((x & HALF) * low >> U32)
    return (x >> U32) * high + (cross >> U32) + (((x & HALF) * high + (cross & HALF)) >> U32)


@compiled
def philox(key: Any, first: Any, out: Any, last: Any, period: Any, mask: Any) -> Any:
    """Fill `out` with random uint64 words of Philox 4x64-10 (Salmon et al., SC 2011) under `key`, uint64 (2,).

    Each of the counters first, first + 1, … makes four words; `out.size` is a multiple of 4. The words with indices
    last, last + period, … keep only the bits of `mask`.
    """
    # Where every word is cut (period 1) the mask is part of the store; else a second, strided pass cuts the few.
    size, every = out.size // 4, mask if period == 1 else ~ZERO
    c0, c1, c2, c3 = (
        np.empty(LANES, np.uint64),
        np.empty(LANES, np.uint64),
        np.empty(LANES, np.uint64),
        np.empty(LANES, np.uint64),
    )
    for start in range(0, size, LANES):
        k0, k1 = key[0], key[1]
        for i in range(LANES):
            x = first + U(start + i)  # the other words of a counter are 0: half of the first round is the key
            c0[i], c1[i] = k0, ZERO
            c2[i], c3[i] = _high(x, PHILOX0, PHILOX1) ^ k1, x * (PHILOX1 << U32 | PHILOX0)
        for _ in range(9):
            k0 += GOLDEN
            k1 += WEYL
            # A round of all lanes at a time is one vector loop; a lane at a time would wait for its products.
            for i in range(LANES):
                x, y = c0[i], c2[i]
                c0[i], c1[i] = _high(y, PHILOX2, PHILOX3) ^ c1[i] ^ k0, y * (PHILOX3 << U32 | PHILOX2)
                c2[i], c3[i] = _high(x, PHILOX0, PHILOX1) ^ c3[i] ^ k1, x * (PHILOX1 << U32 | PHILOX0)
        # The last lanes may lie beyond the end: they were computed, as a whole vector costs no more, and are dropped.
        lanes = min(LANES, size - start)
        for i in range(lanes):
            j = 4 * (start + i)
            out[j], out[j + 1], out[j + 2], out[j + 3] = (
                c0[i] & every,
                c1[i] & every,
                c2[i] & every,
                c3[i] & every,
            )
        if mask != every:
            for j in range(last, 4 * (start + lanes), period):
                out[j] &= mask
                last = j + period


@compiled
def weigh(words: Any, planes: Any, values: Any, dot: Any, out: Any) -> Any:
    """Fill out (n,) with the level Σ_j w_j u_j of each packed token pair, or z_0 Σ_j w_j z_j if `dot` (theory 1.1).

    Bit j of a token in `words` (n, 2, W) is feature j. u_j is 1 where the two tokens differ, z_j half their difference.
    The weight w_j is the sum of those `values` (P,) whose bit mask, a row of `planes` (P, W), has bit j set.
    """
    plus, minus = np.empty(BATCH, np.uint64), np.empty(BATCH, np.uint64)
    for start in range(0, out.size, BATCH):
        part, total = words[start : start + BATCH], out[start : start + BATCH]
        total[:] = 0
        flat = part.reshape(part.size)
        # Coordinates where the two tokens differ (u_j = 1) contribute +w_j, and for dot those with z_0 z_j = -1
        # contribute -w_j: both are counts of bits under the planes of the weights.
        for w in range(words.shape[2]):
            if words.shape[2] == 1:  # a step that the compiler knows: four times as fast
                for i in range(total.size):
                    plus[i] = flat[2 * i] ^ flat[2 * i + 1]
            else:
                for i in range(total.size):
                    plus[i] = part[i, 0, w] ^ part[i, 1, w]
            if dot:
                for i in range(total.size):
                    # Where u_j = 1, z_j = x1_j, so z_0 z_j = -1 exactly where the sign bits of x1_0 and x1_j differ.
                    minus[i] = plus[i] & (part[i, 0, w] ^ (ZERO - (part[i, 0, 0] & ONE)))
                    plus[i] ^= minus[i]
            for p in range(values.size):
                plane, value = planes[p, w], values[p]
                if plane:
                    for i in range(total.size):
                        total[i] += value * np.int64(popcount(plus[i] & plane))
                    if dot:
                        for i in range(total.size):
                            total[i] -= value * np.int64(popcount(minus[i] & plane))


@compiled
def gate(words: Any, value: Any, closed: Any, out: Any) -> Any:
    """Fill out (n, 2) with feature 0 (±1) of each pair's tokens, times value (n,), or times `closed` if they agree."""
    for i in range(value.size):
        first, second, here = words[i, 0, 0] & ONE, words[i, 1, 0] & ONE, value[i]
        # Products with signs, not branches: half of these would be guessed wrong.
        kept = here if first != second else closed
        out[i, 0] = kept * (1.0 - 2.0 * np.float64(first))
        out[i, 1] = kept * (1.0 - 2.0 * np.float64(second))


@compiled
def signs(octets: Any, out: Any) -> Any:
    """Unpack each byte of octets (n,) into the eight int8 of a word of out (n,) uint64: -1 for a set bit, else 1."""
    for i in range(out.size):
        # Byte j of `kept` is 2^j or 0; adding 127 carries it into the top bit of its byte, and no further.
        kept = U(octets[i]) * H01 & DIAGONAL
        ones = kept + SEVENS >> U7 & H01
        out[i] = (ones << U8) - ones | H01


@compiled
def open_pairs(words: Any, pairs: Any, bits: Any, positions: Any) -> Any:
    """Copy the packed token pairs of `words` (n, 2, W) that differ in bit 0 (an open gate); return how many these are.

    Their tokens go to the front of `pairs` (n, 2, W), the XOR of the two to `bits` (n, W), and their indices in `words`
    to `positions` (n,). What stands behind them is arbitrary.
    """
    count = 0
    for i in range(len(words)):
        for w in range(words.shape[2]):
            pairs[count, 0, w] = words[i, 0, w]
            pairs[count, 1, w] = words[i, 1, w]
            bits[count, w] = words[i, 0, w] ^ words[i, 1, w]
        positions[count] = i
        count += int((words[i, 0, 0] ^ words[i, 1, 0]) & ONE)
    return count


@compiled
def enumerate_masks(first: Any, out: Any) -> Any:
    """Fill out (count,) uint64 with bit masks of sets of one size, in colex order from `first` on; 0 after the last."""
    mask = first
    for i in range(out.size):
        out[i] = mask
        # Gosper's step: the lowest run of ones moves its top one up, the others go to the bottom.
        ripple = mask + (mask & (~mask + ONE))
        shift = popcount((mask & (~mask + ONE)) - ONE) + U2
        mask = ripple | ((mask ^ ripple) >> shift) if ripple else ZERO


@compiled
def shuffle(values: Any, state: Any) -> Any:
    """Shuffle the array `values` in place by words of splitmix64 from `state`, uint64 (1,); the bias is below 2^-30."""
    for i in range(values.size - 1, 0, -1):
        j = random_word(state) % U(i + 1)
        values[i], values[j] = values[j], values[i]
