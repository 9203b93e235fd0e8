"""Compiled loops of integer BKW on packed rows: keys, differences, folding on a grid, sums by value (theory 4.3).

A row holds small integers v_c, c < left, in fields of `width` bits of 64-bit words, field c in word c // per at bit
(c % per)·width, per = 64 // width; a field stores v_c + `centre`. Its phase is a uint32, 2^32 to the turn, so that
differences of phases and multiples of angles wrap by themselves.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Phases = NDArray[np.uint32]
Shape = tuple[int, int, int]  # left, width, centre

TURN = 4096  # entries of the table of cosines: the top 12 bits of a phase
COSINE = np.cos(2 * np.pi * (np.arange(TURN) + 0.5) / TURN)
SINE = np.sin(2 * np.pi * (np.arange(TURN) + 0.5) / TURN)


@njit(cache=True, nogil=True)
def unpack(words: Words, i: int, left: int, width: int, out: NDArray[np.int64]) -> None:
    """Put fields 0..left-1 of row i into `out` int64."""
    mask, step, per = np.uint64((1 << width) - 1), np.uint64(width), 64 // width
    c = 0
    for k in range(words.shape[1]):
        x = words[i, k]
        for _ in range(min(per, left - c)):
            out[c] = np.int64(x & mask)
            x >>= step
            c += 1


@njit(cache=True, nogil=True)
def pack(fields: NDArray[np.int64], left: int, width: int, words: Words, i: int) -> None:
    """Put fields into row i: the inverse of `unpack`."""
    step, per = np.uint64(width), 64 // width
    c = 0
    for k in range(words.shape[1]):
        x, shift = np.uint64(0), np.uint64(0)
        for _ in range(min(per, left - c)):
            x |= np.uint64(fields[c]) << shift
            shift += step
            c += 1
        words[i, k] = x


@njit(cache=True, nogil=True)
def pack_rows(a: NDArray[np.int8], width: int, centre: int, words: Words) -> None:
    """Pack integer rows a (N, n) into words (N, W)."""
    fields = np.empty(a.shape[1], np.int64)
    for i in range(a.shape[0]):
        for c in range(a.shape[1]):
            fields[c] = a[i, c] + centre
        pack(fields, a.shape[1], width, words, i)


@njit(cache=True, nogil=True)
def block_keys(
    words: Words, shape: Shape, block: int, signed: bool, keys: Words, minus: NDArray[np.bool_]
) -> None:
    """Fill keys (N,): a bijective mix of the last `block` coordinates, up to sign if `signed`; `minus` is the sign."""
    left, width, centre = shape
    fields = np.empty(left, np.int64)
    for i in range(words.shape[0]):
        unpack(words, i, left, width, fields)
        negative = False
        if signed:
            for c in range(left - block, left):
                if fields[c] != centre:
                    negative = fields[c] < centre
                    break
        # Fields of one key fit a word: block * width <= 64, which the plan keeps (`bkw_cost._steps`).
        key = np.uint64(0)
        for c in range(left - block, left):
            value = 2 * centre - fields[c] if negative else fields[c]
            key = key << np.uint64(width) | np.uint64(value)
        # Sorted by its top bits, a mixed key visits the values in an order that favours none.
        key *= np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
        keys[i] = key * np.uint64(0xD6E8FEB86659FD93)
        minus[i] = negative


@njit(cache=True, nogil=True)
def combine(
    words: Words,
    phases: Phases,
    keys: Words,
    minus: NDArray[np.bool_],
    order: NDArray[np.int64],
    cap: int,
    shape: Shape,
    out: Words,
    out_phases: Phases,
) -> int:
    """Make differences v - s v' of rows that share a key, each row with at most `cap` before it; return how many.

    `shape` holds the coordinates that are left of them, and width and centre before.
    """
    left, width, centre = shape
    a, b = np.empty(left, np.int64), np.empty(left, np.int64)
    made, start, new_centre = 0, 0, max(2 * centre, 1)
    for i in range(order.size):
        row = order[i]
        if keys[row] != keys[order[start]]:
            start = i
        if i == start:
            continue
        unpack(words, row, left, width, a)
        # The cap shares partners evenly: without it one long run would fill `out` with sums that have rows in common.
        for j in range(max(start, i - cap), i):
            if made == out.shape[0]:
                return made
            other = order[j]
            unpack(words, other, left, width, b)
            same, zero = minus[row] == minus[other], True
            for c in range(left):
                b[c] = a[c] - b[c] if same else a[c] + b[c] - 2 * centre
                zero &= b[c] == 0
                b[c] += new_centre
            if zero:  # what cancels altogether agrees with every secret
                continue
            out_phases[made] = phases[row] - phases[other] if same else phases[row] + phases[other]
            pack(b, left, width + 1, out, made)
            made += 1
    return made


@njit(cache=True, nogil=True)
def _turned(v: NDArray[np.int64], phase: Any, centre: int, theta: Phases) -> int:
    """Return the entry of the tables of cosines that belongs to phase - v·θ: its top 12 bits of 32."""
    turned = np.int64(phase)
    for c in range(v.size):
        turned -= (v[c] - centre) * np.int64(theta[c])
    return int(turned >> 20) & (TURN - 1)


@njit(cache=True, nogil=True)
def fold(
    words: Words,
    phases: Phases,
    shape: Shape,
    theta: Phases,
    columns: NDArray[np.int64],
    g: int,
    table: NDArray[np.complex64],
) -> None:
    """Add to table (g^k,) e^{i(phase - v·θ)} at the cell v mod g of the k `columns`."""
    left, width, centre = shape
    v = np.empty(left, np.int64)
    for i in range(words.shape[0]):
        unpack(words, i, left, width, v)
        index = _turned(v, phases[i], centre, theta)
        # The grid's cell: residues mod g of the columns in mixed radix, the first column the most significant.
        cell = 0
        for c in columns:
            cell = cell * g + (v[c] - centre) % g
        table[cell] += np.complex64(complex(COSINE[index], SINE[index]))


@njit(cache=True, nogil=True)
def sums_by_value(
    words: Words, phases: Phases, shape: Shape, theta: Phases, out: NDArray[np.float64]
) -> None:
    """Add to out (left, values, 2) cos and sin of phase - v·θ, by the value of each coordinate."""
    left, width, centre = shape
    v = np.empty(left, np.int64)
    for i in range(words.shape[0]):
        unpack(words, i, left, width, v)
        index = _turned(v, phases[i], centre, theta)
        # The phase is that of all coordinates; sorted by the value of one, its sums say how a turn of that one would
        # help, which is the gradient of the score.
        x, y = COSINE[index], SINE[index]
        for c in range(left):
            out[c, v[c], 0] += x
            out[c, v[c], 1] += y
