"""Compiled elimination over GF(2) (bit-packed, method of four Russians) and over Z/ℓᵏ, and pooled Gauss."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hardness.kernels.bits import ONE, popcount, random_word

Words = NDArray[np.uint64]
TABLE_BITS = (
    8  # bits that index a table: four tables of 256 rows of up to 4096 bits stay in the second-level cache
)


@njit(cache=True)
def rref2(words: Words, columns: int) -> NDArray[np.int64]:
    """Reduced row echelon form over GF(2), in place, of bit-packed rows; returns the pivot columns (rank,).

    Method of four Russians (Arlazarov, Dinic, Kronrod, Faradzhev 1970), with several tables as in M4RI (Albrecht,
    Bard, Hart 2010): the pivots of a panel of columns are found first, and every other row is then cleared of them
    by one lookup in each table, which holds the sums of some of them.
    """
    N, W = words.shape
    pivots = np.empty(min(N, columns), dtype=np.int64)
    # A table of 2^bits sums costs 2^bits additions of rows and saves (bits - 1) of them for every row: it pays while it
    # is far smaller than the matrix.
    bits = 1
    while bits < TABLE_BITS and 4 << bits <= N:
        bits += 1
    tables = 4 if bits == TABLE_BITS else 1
    size = 1 << bits
    table = np.zeros((tables * size, W), dtype=np.uint64)
    mask, shift = np.uint64(size - 1), np.uint64(bits)
    rank, column = 0, 0
    while column < columns and rank < N:
        end = min(column + tables * bits, columns)
        # Left of the panel all columns are done: rows are only changed from this word on.
        start = column >> 6
        count = _panel(words, pivots, rank, column, end)
        for k in range(count):
            # The sums with the k-th pivot row are those without it, shifted by half a table: each is one addition.
            base, half = k // bits * size, 1 << k % bits
            for entry in range(base, base + half):
                for v in range(start, W):
                    table[entry + half, v] = table[entry, v] ^ words[rank + k, v]
        if count:
            first = pivots[rank]
            # Pivots that are neighbours in one word are read with one shift; of full rank nearly all panels are so.
            adjacent = (
                pivots[rank + count - 1] - first == count - 1 and first >> 6 == (first + count - 1) >> 6
            )
            for i in range(N):
                if rank <= i < rank + count:
                    continue
                index: Any = np.uint64(0)
                if adjacent:
                    index = words[i, first >> 6] >> np.uint64(first & 63) & (ONE << np.uint64(count)) - ONE
                else:
                    for k in range(count):
                        pc = pivots[rank + k]
                        index |= (words[i, pc >> 6] >> np.uint64(pc & 63) & ONE) << np.uint64(k)
                if index and tables == 1:
                    a = np.int64(index)
                    for v in range(start, W):
                        words[i, v] ^= table[a, v]
                elif index:
                    a, b = np.int64(index & mask), size + np.int64(index >> shift & mask)
                    index >>= shift + shift
                    c, d = 2 * size + np.int64(index & mask), 3 * size + np.int64(index >> shift)
                    for v in range(start, W):
                        words[i, v] ^= table[a, v] ^ table[b, v] ^ table[c, v] ^ table[d, v]
            rank += count
        column = end
    return pivots[:rank]


@njit(cache=True)
def _panel(words: Words, pivots: NDArray[np.int64], rank: int, column: int, end: int) -> int:
    """Pivots of columns column..end - 1 among rows rank.., brought to the top and cleared of one another: how many."""
    N, W = words.shape
    start, count = column >> 6, 0
    for c in range(column, end):
        word, bit = c >> 6, np.uint64(c & 63)
        for i in range(rank + count, N):
            # Rows below are cleared lazily: only a row that is looked at pays for the pivots of this panel.
            for k in range(count):
                pc = pivots[rank + k]
                if words[i, pc >> 6] >> np.uint64(pc & 63) & ONE:
                    for v in range(start, W):
                        words[i, v] ^= words[rank + k, v]
            if words[i, word] >> bit & ONE:
                if i != rank + count:
                    for v in range(start, W):
                        words[i, v], words[rank + count, v] = words[rank + count, v], words[i, v]
                for k in range(count):
                    if words[rank + k, word] >> bit & ONE:
                        for v in range(start, W):
                            words[rank + k, v] ^= words[rank + count, v]
                pivots[rank + count] = c
                count += 1
                break
        if rank + count == N:
            break
    return count


@njit(cache=True)
def rref_local(A: NDArray[np.int64], prime: int, modulus: int, columns: int) -> NDArray[np.int64]:
    """Reduced row echelon form over Z/modulus, a power of `prime`, in place; returns the pivots.

    Pivots are units. In the local ring Z/ℓᵏ a unit pivot exists in a column whenever the rows left have full
    rank there mod ℓ, so a system with one solution is solved as over a field.
    """
    N, width = A.shape
    pivots = np.empty(min(N, columns), dtype=np.int64)
    rank = 0
    for c in range(columns):
        pivot = -1
        for i in range(rank, N):
            if A[i, c] % prime:
                pivot = i
                break
        if pivot < 0:
            continue
        # The pivot row is scaled on the way to its place, so that one pass over it does for both.
        inverse = _inverse(A[pivot, c], modulus)
        for v in range(c, width):
            value = A[pivot, v]
            A[pivot, v] = A[rank, v]
            A[rank, v] = value * inverse % modulus
        for i in range(N):
            factor = A[i, c]
            if i != rank and factor:
                for v in range(c, width):
                    A[i, v] = (A[i, v] - factor * A[rank, v]) % modulus
        pivots[rank] = c
        rank += 1
        if rank == N:
            break
    return pivots[:rank]


@njit(cache=True)
def _inverse(a: int, modulus: int) -> int:
    r, s, x, y = modulus, a % modulus, 0, 1
    while s:
        quotient = r // s
        r, s = s, r - quotient * s
        x, y = y, x - quotient * y
    return x % modulus


@njit(cache=True)
def pooled_gauss(
    pool: Words, check: Words, n: int, limit: int, tries: int, state: Words
) -> tuple[int, bool, Words]:
    """Draw n + 1 rows, eliminate, test the solution on `check`, until at most `limit` rows contradict it.

    Rows are packed [a | b] with b in bit n. Returns the number of tries, whether the last one passed, and its
    solution (W,) with bit n set. A try whose rows have rank below n counts and fails (theory 4.1).
    """
    M, W = pool.shape
    order = np.arange(M)
    work = np.empty((n + 1, W), dtype=np.uint64)
    solution = np.zeros(W, dtype=np.uint64)
    for attempt in range(tries):
        for i in range(n + 1):
            j = i + np.int64(random_word(state) % np.uint64(M - i))
            order[i], order[j] = order[j], order[i]
            for v in range(W):
                work[i, v] = pool[order[i], v]
        # Of full rank, the reduced rows are the unit vectors in order: row c says bit c of the solution.
        if len(rref2(work, n)) < n:
            continue
        solution[:] = 0
        for c in range(n):
            b = (work[c, n >> 6] >> np.uint64(n & 63)) & ONE
            solution[c >> 6] |= b << np.uint64(c & 63)
        solution[n >> 6] |= ONE << np.uint64(n & 63)
        # The solution's bit n is set, so a row is contradicted iff the parity of the overlap is odd.
        wrong = 0
        for i in range(check.shape[0]):
            overlap = np.uint64(0)
            for v in range(W):
                overlap ^= check[i, v] & solution[v]
            wrong += int(popcount(overlap) & ONE)
            if wrong > limit:
                break
        if wrong <= limit:
            return attempt + 1, True, solution
    return tries, False, solution
