"""Compiled games of sign batches: independent sets, sets inside a window of coordinates, and counts from samples."""

from typing import Any

import numpy as np

from hardness.kernels.bits import ONE, ZERO, U, compiled, popcount, random_word
from hardness.kernels.games import best_window
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.bounds.batches import best_batch

LANES = 16  # words of samples taken together


@compiled
def independent_batches(pool: Any, s: Any, mode: Any, budget: Any) -> Any:
    """Sign-batch game with batches linearly independent over GF(2): (live, queries).

    `pool` uint64 holds the live sets (shuffled, all of size s); `mode[K]` says what a batch of odd K costs:
    1 the minority signs, 2 whichever of the plus sets, minus sets and the rest are not the largest part,
    0 not decided here. Why that is exact is argued in `batch_modes`; it needs the xor of all K
    sets to be no live set, ensured by giving that xor another size than s. The queue keeps its live sets at
    head..tail.
    """
    capacity = pool.size
    head, waiting = 0, capacity
    # `batch` holds the sets of the next query; `reduced` and `pivot` their xor basis, kept in step with it. At most 64
    # sets of 64 bits are independent, so that nothing here grows.
    batch, reduced, pivot = np.empty(64, np.uint64), np.empty(64, np.uint64), np.empty(64, np.uint64)
    held, queries, cap = 0, 0, mode.size - 1
    while waiting + held > 1 and queries < budget:
        live = waiting + held
        size, loss = best_batch(mode, cap, live)
        if loss == 0:
            break
        # Survivors of the last batch stay independent; only the basis is rebuilt around them.
        total, rank, tries = ZERO, 0, waiting
        kept = min(held, size)
        for i in range(held):
            _insert(batch[i], reduced, pivot, i)
        rank = held
        for i in range(kept):
            total ^= batch[i]
        while rank < size and tries > 0:
            candidate = pool[head]
            head = head + 1 if head + 1 < capacity else 0
            tries -= 1
            last = rank == size - 1 and size >= 3 and popcount(total ^ candidate) == U(s)
            if not last and _insert(candidate, reduced, pivot, rank):
                batch[rank] = candidate
                total ^= candidate
                rank += 1
                waiting -= 1
            else:
                # A set that does not fit this batch goes to the end of the queue: `tries` counts one turn of it, after
                # which no set that waits extends the basis.
                tail = head + waiting - 1
                pool[tail if tail < capacity else tail - capacity] = candidate
        held = rank
        if held < size:
            cap = held if held % 2 else held - 1
            continue
        if size >= 3 and popcount(total) == U(s):
            cap = size - 2
            continue
        queries += 1
        # What the window keeps, by the argument of `batch_modes`: mode 1 loses the minority of the signs, mode 2 all
        # but the largest of members with +, members with - and the rest. The minority comes first in `batch`.
        if mode[size] == 1:
            gone = size // 2
        elif live - size >= (size + 1) // 2:
            gone = size
        else:
            gone, held, waiting = size // 2, size, 0
        held -= gone
        for i in range(held):
            batch[i] = batch[i + gone]
    return waiting + held, queries


@compiled
def _insert(x: Any, reduced: Any, pivot: Any, rank: Any) -> Any:
    """Extend an xor basis by x unless x depends on it."""
    for i in range(rank):
        if x & pivot[i]:
            x ^= reduced[i]
    if x == ZERO:
        return False
    reduced[rank], pivot[rank] = x, x & (~x + ONE)
    return True


@compiled
def batch_means(parts: Any, count: Any, table: Any, values: Any) -> Any:
    """values <- 2^(bits+1) times the means of `parts` under a sign batch of the first `count`, half of the signs -."""
    # Two transforms: one gives the sum of the signed characters at every point of the window, its sign is the query,
    # and the second its coefficients. Sums of an odd number of signs are never 0.
    table[:] = 0
    for i in range(count):
        table[parts[i]] = -1 if i < count // 2 else 1
    walsh_hadamard(table)
    for v in range(table.size):
        table[v] = 1 if table[v] > 0 else -1
    walsh_hadamard(table)
    for i in range(parts.size):
        values[i] = table[parts[i]]


@compiled
def window_batches(
    parts: Any,
    starts: Any,
    live: Any,
    mode: Any,
    cap: Any,
    smallest: Any,
    bits: Any,
    length: Any,
    budget: Any,
    alive: Any,
) -> Any:
    """Sign-batch game inside groups of sets that agree outside a window of `bits` coordinates.

    `parts` int64: the sets inside the window, group g at starts[g]:starts[g+1], shuffled; `live` counts the
    live sets of the whole class. A batch from one group has the spectrum of a function on the window, zero
    for every other set (the common part is a character that cancels from all products), so one transform of
    2^bits integers gives every live mean exactly: a_S = c / 2^(bits+1). The window's `length` is in
    units of c. With dependent sets the means scatter: of the batches as large as `mode` says (at most `cap`), two
    more and two fewer, the one that loses most is asked. A group is left once it is smaller than `smallest` and a
    batch. Marks the dead in `alive` uint8; returns (live, queries, the next cap).
    """
    table = np.empty(1 << bits, np.int32)
    queries = 0
    for g in range(starts.size - 1):
        index = np.arange(starts[g], starts[g + 1])
        while index.size > 1 and queries < budget:
            # Sets outside the group have mean exactly 0 under its queries: a number of zeros stands for all of them.
            others = live - index.size
            size, _ = best_batch(mode, cap, live)
            if index.size < min(smallest, size):
                break
            size, _ = best_batch(mode, min(cap, index.size), live)
            if size == 0:
                break
            group = parts[index]
            values, best = np.empty(group.size, np.int64), np.empty(group.size, np.int64)
            fewest, best_low = live, 0 * length
            for k in range(max(1, size - 2), min(size + 2, index.size, mode.size - 1) + 1, 2):
                batch_means(group, k, table, values)
                low, inside = best_window(np.sort(values), length, others)
                if inside < fewest:
                    fewest, best_low, best_size = inside, low, k
                    best[:] = values
            if fewest == live:
                break
            queries += 1
            if size == cap:
                cap = best_size
            # A window that does not hold 0 rules out every set outside the group at once.
            if others and not best_low <= 0 <= best_low + length:
                alive[: starts[g]] = 0
                alive[starts[g + 1] :] = 0
            kept = (best >= best_low) & (best <= best_low + length)
            for i in range(index.size):
                if not kept[i]:
                    alive[index[i]] = 0
            index = index[kept]
            live = fewest
            if live == index.size and others:
                return live, queries, cap
    return live, queries, cap


@compiled
def agreements(
    members: Any, others: Any, n: Any, state: Any, words: Any, fewer: Any, hits: Any, other_hits: Any
) -> Any:
    """How often eps_i chi_i (members, first half -) and chi_T (others) agree with the batch's sign: counts added.

    64 samples a word; `words` and, for the others, `fewer` are numbers of words, multiples of LANES. K <= 255.
    """
    half = members.size // 2
    columns, sign = np.empty((n, LANES), np.uint64), np.empty(LANES, np.uint64)
    values, planes = np.empty((members.size, LANES), np.uint64), np.empty((8, LANES), np.uint64)
    # A counter of eight planes, 64 samples at a time: it starts so high that the majority's last vote carries out.
    start = 256 - (members.size + 1) // 2  # a count in eight bit planes that overflows at the majority
    for done in range(0, words, LANES):
        for j in range(n):
            for w in range(LANES):
                columns[j, w] = random_word(state)
        sign[:] = ZERO
        for b in range(8):
            planes[b, :] = ~ZERO if start >> b & 1 else ZERO
        for i in range(members.size):
            value = values[i]
            _character(columns, members[i], value)
            if i < half:
                for w in range(LANES):
                    value[w] = ~value[w]
            for w in range(LANES):
                carry = value[w]
                for b in range(8):
                    plane = planes[b, w]
                    planes[b, w] = plane ^ carry
                    carry &= plane
                sign[w] |= carry
        for i in range(members.size):
            for w in range(LANES):
                hits[i] += np.int64(popcount(~(values[i, w] ^ sign[w])))
        if done < fewer:
            for i in range(others.size):
                _character(columns, others[i], values[0])
                for w in range(LANES):
                    other_hits[i] += np.int64(popcount(~(values[0, w] ^ sign[w])))


@compiled
def _character(columns: Any, mask: Any, out: Any) -> Any:
    """out (LANES,) <- words of chi_mask, bit 1 where it is -1."""
    out[:] = ZERO
    j = 0
    while mask:
        if mask & ONE:
            for w in range(LANES):
                out[w] ^= columns[j, w]
        mask >>= ONE
        j += 1
