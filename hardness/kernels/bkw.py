"""Compiled loops of integer BKW: keys, differences, folding on a grid, sums by value (theory 4.3).

Rows v (N, n) int8 hold sums of 2^level half signs, at least -2^(level-1), or bits at level 0. A phase is a uint32, 2^32
to the turn, so that differences of phases and multiples of angles wrap by themselves.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Vectors = NDArray[np.int8]
Phases = NDArray[np.uint32]

TURN = 4096  # entries of the table of cosines: the top 12 bits of a phase
COSINE = np.cos(2 * np.pi * (np.arange(TURN) + 0.5) / TURN)
SINE = np.sin(2 * np.pi * (np.arange(TURN) + 0.5) / TURN)


@njit(cache=True, nogil=True)
def block_keys(
    v: Vectors, block: int, level: int, keys: NDArray[np.uint64], minus: NDArray[np.bool_]
) -> None:
    """Fill keys (N,) so that rows of v have one key iff their last `block` entries agree, above level 0 up to sign.
    Entries are sums of 2^level half signs, bits at level 0. `minus` (N,) marks rows with the key of their negative."""
    low, width = np.int64(1 << level >> 1), np.uint64(level + 1)
    for i in range(len(v)):
        negative = False
        if level > 0:
            for c in range(v.shape[1] - block, v.shape[1]):
                if v[i, c] != 0:
                    negative = v[i, c] < 0
                    break
        # Fields of one key fit a word: block * width <= 64, which the plan keeps (`bkw_cost._steps`).
        key = np.uint64(0)
        for c in range(v.shape[1] - block, v.shape[1]):
            value = np.int64(v[i, c])
            key = key << width | np.uint64(low - value if negative else low + value)
        # Sorted by its top bits, a mixed key visits the values in an order that favours none.
        key *= np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
        keys[i] = key * np.uint64(0xD6E8FEB86659FD93)
        minus[i] = negative


@njit(cache=True, nogil=True)
def combine(
    v: Vectors,
    phases: Phases,
    keys: NDArray[np.uint64],
    minus: NDArray[np.bool_],
    order: NDArray[np.int64],
    cap: int,
    out: Vectors,
    out_phases: Phases,
) -> int:
    """Fill out (count, left) with differences of rows of v that share a key, cut to `left` entries; return how many.

    `order` (N,) sorts the rows by key; each is paired with at most `cap` rows before it. Two rows whose `minus` differ
    are added, and a result of zeros is dropped. `out_phases` (count,) gets the differences, or sums, of the phases.
    """
    made, start = 0, 0
    for i in range(order.size):
        row = order[i]
        if keys[row] != keys[order[start]]:
            start = i
        # The cap shares partners evenly: without it one long run would fill `out` with sums that have rows in common.
        for j in range(max(start, i - cap), i):
            if made == len(out):
                return made
            other = order[j]
            same, zero = minus[row] == minus[other], True
            for c in range(out.shape[1]):
                out[made, c] = v[row, c] - v[other, c] if same else v[row, c] + v[other, c]
                zero &= out[made, c] == 0
            if zero:  # what cancels altogether agrees with every secret
                continue
            out_phases[made] = phases[row] - phases[other] if same else phases[row] + phases[other]
            made += 1
    return made


@njit(cache=True, nogil=True)
def _turned(v: Vectors, phase: Any, theta: Phases) -> int:
    """Return the top 12 bits of the angle phase - v·theta (2^32 is a full turn), an index to tables of cos and sin."""
    turned = np.int64(phase)
    for c in range(v.size):
        turned -= v[c] * np.int64(theta[c])
    return int(turned >> 20) & (TURN - 1)


@njit(cache=True, nogil=True)
def fold(
    v: Vectors,
    phases: Phases,
    theta: Phases,
    columns: NDArray[np.int64],
    g: int,
    table: NDArray[np.complex64],
) -> None:
    """Add each row's e^{i(phase - v·theta)} to the cell of table (g^k,) that its k entries in `columns` give mod g."""
    for i in range(len(v)):
        index = _turned(v[i], phases[i], theta)
        # The grid's cell: residues mod g of the columns in mixed radix, the first column the most significant.
        cell = 0
        for c in columns:
            cell = cell * g + v[i, c] % g
        table[cell] += np.complex64(complex(COSINE[index], SINE[index]))


@njit(cache=True, nogil=True)
def sums_by_value(v: Vectors, phases: Phases, theta: Phases, low: int, out: NDArray[np.float64]) -> None:
    """Add cos and sin of phase - v·theta, for each row of v and coordinate j, to out[j, v_j + low]; v_j >= -low."""
    for i in range(len(v)):
        index = _turned(v[i], phases[i], theta)
        # The phase is that of all coordinates; sorted by the value of one, its sums say how a turn of that one would
        # help, which is the gradient of the score.
        x, y = COSINE[index], SINE[index]
        for c in range(v.shape[1]):
            out[c, v[i, c] + low, 0] += x
            out[c, v[i, c] + low, 1] += y
