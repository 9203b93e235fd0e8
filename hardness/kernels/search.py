"""Loops of the searches: subsets, tests of candidates, the nearest vector of a lattice."""

from itertools import chain, combinations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hardness.kernels.bits import popcount

Words = NDArray[np.uint64]
Sets = NDArray[np.int16]
Integers = NDArray[np.int64]


def subsets(n: int, h: int, count: int) -> Sets:
    """Return all `count` = C(n, h) ascending h-subsets of range(n), (count, h), in lexicographic order."""
    flat = chain.from_iterable(combinations(range(n), h))
    return np.fromiter(flat, np.int16, count * h).reshape(count, h)


def sums(columns: Words, sets: Sets) -> Words:
    """Return the XOR of the column words (n,) over each set (count, h)."""
    out = np.zeros(len(sets), dtype=np.uint64)
    for place in sets.T:
        out ^= columns[place]
    return out


@njit(cache=True)
def first_match(
    first: Sets, second: Sets, low: Integers, high: Integers, columns: Words, target: Words, limit: int
) -> tuple[int, int, int]:
    """Return the first pair (i, j), low[j] <= i < high[j], whose parity contradicts at most `limit` check rows.

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
def nearest(
    L: NDArray[np.float64], h: NDArray[np.float64], bound: NDArray[np.float64], nodes: int
) -> tuple[NDArray[np.float64], float, int]:
    """Return m (M,) with L g = h - m for the shortest g of those whose first i entries have norm² <= bound[i-1].

    `L` (M, M) is lower triangular with positive diagonal. Depth first, candidates of a level nearest first;
    every solution lowers the bounds. Returns m, its norm² (infinite if none was found) and the nodes visited,
    which end the search at `nodes`.
    """
    M = len(h)
    bound = bound.copy()
    best, best_norm = np.zeros(M), np.inf
    centre, m, g = np.zeros(M), np.zeros(M), np.zeros(M)
    step, norm = np.zeros(M), np.zeros(M + 1)
    # Level i chooses m[i]; norm[i + 1] is the squared length of the first i + 1 entries of g, which the bound prunes.
    # Invariant: g[:i] and norm[:i + 1] belong to the choices above, m[i] is the candidate to be tried next.
    i, visited = 0, 0
    centre[0] = h[0]
    m[0] = np.rint(h[0])
    step[0] = 1.0 if h[0] > m[0] else -1.0
    while i >= 0:
        visited += 1
        g[i] = (centre[i] - m[i]) / L[i, i]
        norm[i + 1] = norm[i] + g[i] * g[i]
        if norm[i + 1] <= bound[i] and visited < nodes:
            if i == M - 1:
                best[:] = m
                best_norm = norm[M]
                for j in range(M):
                    # From here on only strictly shorter answers count, at every level: entries only lengthen a vector.
                    bound[j] = min(bound[j], best_norm * (1 - 1e-9))
            else:
                i += 1
                total = h[i]
                for j in range(i):
                    total -= L[i, j] * g[j]
                centre[i] = total
                m[i] = np.rint(total)
                step[i] = 1.0 if total > m[i] else -1.0
                continue
        else:
            if visited >= nodes:
                break
            i -= 1
            if i < 0:
                break
        # The next nearest integer at this level: zigzag around the centre.
        m[i] += step[i]
        step[i] = -step[i] - (1.0 if step[i] > 0 else -1.0)
    return best, best_norm, visited
