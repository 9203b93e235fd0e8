"""Compiled elimination over GF(2) (bit-packed, method of four Russians) and over Z/ℓᵏ, and pooled Gauss."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hardness.kernels.bits import ONE, U, popcount, random_word

# A column index in a loop over words is cast to U: numba lets a signed one count from the end of a row, and a loop that
# may do so is not made of vector instructions.
Words = NDArray[np.uint64]
TABLES = 6
MOST_BITS = 7  # bits that index a table at most: six tables of 128 rows of 4,096 bits take 400 KB


@njit(cache=True)
def rref2(words: Words, columns: int) -> NDArray[np.int64]:
    """Bring packed rows (N, W) into reduced row echelon form over GF(2), in place; return the pivot columns (rank,).

    Pivots are sought in the first `columns` bits, by the method of four Russians (Arlazarov, Dinic, Kronrod, Faradzhev
    1970) with six tables of sums of pivot rows, as in M4RI (Albrecht, Bard, Hart 2010).
    """
    N, W = words.shape
    pivots = np.empty(min(N, columns), dtype=np.int64)
    # A table of 2^bits sums costs 2^bits additions of rows and saves (bits - 1) of them for every row. These bits were
    # among the fastest at 64, 128, …, 4,096 rows.
    bits = 1
    while bits < MOST_BITS and 32 << bits <= N:
        bits += 1
    size = 1 << bits
    # Whole vectors of 32 bytes are read from the tables: their rows begin at multiples of 64 bytes.
    table = np.zeros((TABLES * size, (W + 7) // 8 * 8), dtype=np.uint64)
    rank, column = 0, 0
    while column < columns and rank < N:
        end = min(column + TABLES * bits, columns)
        # Left of the panel all columns are done: rows are only changed from this word on, a multiple of four.
        start = column >> 8 << 2
        count = _panel(words, pivots, rank, column, end, start)
        for k in range(count):
            # The sums with the k-th pivot row are those without it, shifted by half a table: each is one addition.
            base, half = k // bits * size, 1 << k % bits
            for entry in range(base, base + half):
                for u in range(start, W):
                    v = U(u)
                    table[entry + half, v] = table[entry, v] ^ words[rank + k, v]
        if count:
            _clear(words, pivots[rank : rank + count], rank, start, table, bits)
        rank += count
        column = end
    return pivots[:rank]


@njit(cache=True)
def _clear(words: Words, pivots: NDArray[np.int64], rank: int, start: int, table: Words, bits: int) -> None:
    """Zero the bit columns `pivots` (count,) in all rows of `words` but the `count` pivot rows, which start at `rank`.

    `table` holds six tables of the 2^bits sums of up to `bits` pivot rows each. Words before `start` stay as they are.
    """
    N, W = words.shape
    count, size, mask, shift = len(pivots), 1 << bits, U((1 << bits) - 1), U(bits)
    # Pivots that are neighbours, as nearly all are in a matrix of full rank, are read with two shifts.
    word, offset = pivots[0] >> 6, U(pivots[0] & 63)
    adjacent, split = pivots[-1] - pivots[0] == count - 1, pivots[-1] >> 6 > word
    kept = (ONE << U(count)) - ONE
    for i in range(N):
        if rank <= i < rank + count:
            continue
        index: Any = U(0)
        if adjacent:
            index = words[i, word] >> offset
            if split:
                index |= words[i, word + 1] << U(64) - offset
            index &= kept
        else:
            for k in range(count):
                index |= (words[i, pivots[k] >> 6] >> U(pivots[k] & 63) & ONE) << U(k)
        if index:
            a = np.int64(index & mask)
            b = size + np.int64(index >> shift & mask)
            c = 2 * size + np.int64(index >> U(2) * shift & mask)
            d = 3 * size + np.int64(index >> U(3) * shift & mask)
            e = 4 * size + np.int64(index >> U(4) * shift & mask)
            f = 5 * size + np.int64(index >> U(5) * shift & mask)
            for u in range(start, W):
                v = U(u)
                words[i, v] ^= (
                    table[a, v] ^ table[b, v] ^ table[c, v] ^ table[d, v] ^ table[e, v] ^ table[f, v]
                )


@njit(cache=True)
def _panel(words: Words, pivots: NDArray[np.int64], rank: int, column: int, end: int, start: int) -> int:
    """Find pivot rows for columns column..end - 1 among the rows from `rank` on, and move them to the front of these.

    Return how many there are, cleared of one another; their columns go to `pivots`. Only words from `start` on change.
    """
    N, W = words.shape
    count = 0
    for c in range(column, end):
        word, bit = c >> 6, U(c & 63)
        for i in range(rank + count, N):
            # Rows below are cleared lazily: only a row that is looked at pays for the pivots of this panel.
            for k in range(count):
                pc = pivots[rank + k]
                if words[i, pc >> 6] >> U(pc & 63) & ONE:
                    for u in range(start, W):
                        v = U(u)
                        words[i, v] ^= words[rank + k, v]
            if words[i, word] >> bit & ONE:
                if i != rank + count:
                    for u in range(start, W):
                        v = U(u)
                        words[i, v], words[rank + count, v] = words[rank + count, v], words[i, v]
                for k in range(count):
                    if words[rank + k, word] >> bit & ONE:
                        for u in range(start, W):
                            v = U(u)
                            words[rank + k, v] ^= words[rank + count, v]
                pivots[rank + count] = c
                count += 1
                break
        if rank + count == N:
            break
    return count


@njit(cache=True)
def rref_local(A: NDArray[np.int64], prime: int, modulus: int, columns: int) -> NDArray[np.int64]:
    """Bring A (N, width) into reduced echelon form mod `modulus`, a power of `prime`, in place; return pivot columns.

    Pivots are units, sought in the first `columns` columns. A system with one solution is solved as over a field.
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
    """Solve n + 1 random rows of `pool` over GF(2), again and again until at most `limit` rows of `check` contradict.

    A row (W,) is an equation ⟨w, a⟩ = b: a in bits 0..n-1, b in bit n. Returns the number of tries, at most `tries`,
    whether the last one passed, and its solution w (W,) with bit n set. Rows of rank below n fail (theory 4.1).
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
