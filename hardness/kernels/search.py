"""Loops of the searches: subsets, tests of candidates, collisions of samples."""

from itertools import chain, combinations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hardness.kernels.bits import popcount

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]


def subsets(n: int, h: int, count: int) -> NDArray[np.int16]:
    """Return all `count` = C(n, h) ascending h-subsets of range(n), (count, h), in lexicographic order."""
    flat = chain.from_iterable(combinations(range(n), h))
    return np.fromiter(flat, np.int16, count * h).reshape(count, h)


def sums(columns: Words, sets: NDArray[np.int16]) -> Words:
    """Return the XOR of the column words (n,) over each set (count, h)."""
    out = np.zeros(len(sets), dtype=np.uint64)
    for place in sets.T:
        out ^= columns[place]
    return out


@njit(cache=True)
def first_match(
    first: NDArray[np.int16],
    second: NDArray[np.int16],
    low: Integers,
    high: Integers,
    columns: Words,
    target: Words,
    limit: int,
) -> tuple[int, int, int]:
    """The first pair (i, j), low[j] <= i < high[j], whose parity contradicts at most `limit` check rows.

    `columns` (C, n) and `target` (C,) hold the check rows, 64 a word. Returns (-1, -1, pairs tested) if none
    does.
    """
    tested = 0
    for j in range(len(second)):
        for i in range(low[j], high[j]):
            tested += 1
            wrong = 0
            for c in range(len(target)):
                word = target[c]
                for v in first[i]:
                    word ^= columns[c, v]
                for v in second[j]:
                    word ^= columns[c, v]
                wrong += int(popcount(word))
                if wrong > limit:
                    break
            if wrong <= limit:
                return i, j, tested
    return -1, -1, tested


@njit(cache=True)
def collisions(rows: Words, shift: int, limit: int) -> Words:
    """Sums of pairs of rows that agree from bit `shift` up, at most `limit`; `rows` must be sorted (LF2)."""
    out = np.empty(limit, dtype=np.uint64)
    count = 0
    start = 0
    # Sorted, rows that agree above `shift` are neighbours: a run at a time, all its pairs (LF2, Levieil & Fouque 2006).
    s = np.uint64(shift)
    for end in range(1, len(rows) + 1):
        if end < len(rows) and rows[end] >> s == rows[start] >> s:
            continue
        for i in range(start, end):
            for j in range(i + 1, end):
                if count == limit:
                    return out
                out[count] = rows[i] ^ rows[j]
                count += 1
        start = end
    return out[:count]
