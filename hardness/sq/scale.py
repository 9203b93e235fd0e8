"""Sign batches on parities against the window at scale: the game of `hardness.sq.game`, up to billions of concepts."""

from math import ceil, log2
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from hardness.io.fields import require_memory
from hardness.kernels.bits import ONE, ZERO, U, compiled, popcount, shuffle
from hardness.kernels.games import best_window
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.bounds.batches import LARGEST_BATCH, batch_modes, batch_size, best_batch

NO_LIMIT = 2**62  # queries
WINDOW_BITS = 22  # coordinates of the widest window: a transform of 2^22 integers


def sign_batch(
    concepts: Any, tolerance: float, max_queries: int | None, seed: SeedSequence
) -> tuple[int, int]:
    """Play sign batches (theory 2.5e) against the oracle `window`; return how many sets are left and the queries asked.
    A sign batch is a signed majority of parities. Its means are found by a transform while its sets agree outside a few
    coordinates (`window_batches`), and by a formula at the end, where they are independent (`independent_batches`)."""
    require_memory(48 * concepts.size, concepts.label)
    pool, state = concepts.masks(), seed.generate_state(1, np.uint64).astype(np.uint64)
    shuffle(pool, state)
    n, size = concepts.n, batch_size(tolerance)
    budget = NO_LIMIT if max_queries is None else min(max_queries, NO_LIMIT)
    rank = n if concepts.s % 2 else n - 1
    modes = batch_modes(tolerance, min(size, LARGEST_BATCH))
    # `cap` is the largest batch that still lost what `modes` says: it falls as the sets left get more dependent.
    queries, cap, bits = 0, modes.size - 1, _window_bits(n, tolerance, 2 * pool.size / size)
    coordinates = np.arange(n)
    # A class with rank enough, but for 4 %, is played at once with independent sets; a batch of them is odd.
    smallest = 0 if n > 14 and (rank - 1) // 2 >= 0.96 * (size // 2) else cap
    while pool.size > 1 and smallest:
        order, parts, starts = _groups(pool, coordinates[:bits])
        alive, left = np.ones(pool.size, np.uint8), budget - queries
        # Means are c/2^(bits + 1) for integers c: 2 tau in units of c, rounded down, allows the same integers.
        length = int(tolerance * 2.0 ** (bits + 2))
        asked, cap = window_batches(parts, starts, modes, cap, smallest, bits, length, left, alive)
        pool, queries = pool[order[alive == 1]], queries + asked
        if bits == n or queries >= budget:
            return pool.size, queries
        # No group fills a batch: a wider window has larger groups, and at last smaller groups have to do.
        if asked == 0 and bits < min(n, WINDOW_BITS):
            bits += 1
        elif asked == 0:
            smallest = 2 * smallest // 3 if 2 * smallest // 3 > rank else 0
        shuffle(pool, state)
        shuffle(coordinates, state)
        if bits > 16:
            coordinates = _dense_first(pool, coordinates)
    live, asked = independent_batches(pool, concepts.s, modes[: rank + 1], budget - queries)
    return live, queries + asked


def _window_bits(n: int, tolerance: float, queries: float) -> int:
    """Return over how many of n coordinates the first Walsh transforms run, more for a smaller tolerance.
    If the tolerance allows it, `queries` transforms of that size take about a second."""
    bits = 16
    while queries * 6 * 2 ** (bits + 1) * (bits + 1) * 4e-10 < 1:
        bits += 1
    return min(n, WINDOW_BITS, max(bits, ceil(2 * log2(6 / tolerance))))


def _dense_first(pool: NDArray[np.uint64], coordinates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the coordinates, those in many sets of `pool` first: the rarest is last, its sets drop out, and so on."""
    rest, order = coordinates.tolist(), []
    while len(rest) > 1:
        counts = [np.count_nonzero(pool >> np.uint64(j) & ONE) for j in rest]
        rarest = rest.pop(int(np.argmin(counts)))
        pool = pool[pool >> np.uint64(rarest) & ONE == 0]
        order.append(rarest)
    return np.array(rest + order[::-1])


def _groups(
    pool: NDArray[np.uint64], window: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return an order of the sets `pool` in which those that agree outside the coordinates `window` are neighbours.
    Returned too are the sets' bits at these coordinates, in that order, and where each group starts (then the end)."""
    parts, outside = np.zeros(pool.size, np.int64), pool.copy()
    for i, coordinate in enumerate(window):
        bit = np.uint64(coordinate)
        parts |= ((pool >> bit & ONE) << np.uint64(i)).astype(np.int64)
        outside &= ~(ONE << bit)
    order = np.argsort(outside, kind="stable")
    outside = outside[order]
    starts = np.flatnonzero(np.concatenate(([True], outside[1:] != outside[:-1], [True])))
    return order, parts[order], starts


@compiled
def independent_batches(pool: Any, s: Any, mode: Any, budget: Any) -> Any:
    """Play majorities of linearly independent sets' parities; return how many sets are left, and the queries asked.
    `pool` uint64 holds the sets still possible, shuffled, all of size `s`; it is overwritten. `mode[K]`, a code of
    `batch_modes`, says what a majority of odd K rules out if the xor of its sets is no set of size s; others are not
    asked."""
    capacity = pool.size
    head, waiting = 0, capacity
    # `batch` holds the sets of the next query; `reduced` and `pivot` their xor basis: of at most 64 sets of 64 bits.
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
                # A set that does not fit goes to the end of the queue; after one turn of it (`tries`) none fits.
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
    """Extend an xor basis by x in place and return True; return False if x depends on the basis.
    Its `rank` rows are in `reduced`, the lowest bit of each in `pivot`."""
    for i in range(rank):
        if x & pivot[i]:
            x ^= reduced[i]
    if x == ZERO:
        return False
    reduced[rank], pivot[rank] = x, x & (~x + ONE)
    return True


@compiled
def batch_means(parts: Any, count: Any, table: Any, values: Any) -> Any:
    """Fill `values` with 2^(bits+1) times the means of a majority of the first `count` sets under all sets `parts`.
    Sets are integers below 2^bits. Half of the majority's sets are negated; `table` (2^bits,) is overwritten."""
    # One transform gives the sum of characters, whose sign is the query (an odd sum is never 0), one its coefficients.
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
    mode: Any,
    cap: Any,
    smallest: Any,
    bits: Any,
    length: Any,
    budget: Any,
    alive: Any,
) -> Any:
    """Play sign batches in groups of sets that agree outside `bits` coordinates; return (queries, the next `cap`).

    A sign batch is the majority of some sets of a group, half negated. `parts` int64 holds the sets' bits at these
    coordinates, shuffled, group g at starts[g]:starts[g+1]. Means are integers over 2^(bits+1), 0 outside the group; an
    answer allows `length` + 1 successive integers. Sizes of batches are tried near the one that `mode` (codes of
    `batch_modes`) calls best, up to about `cap`, and the batch that rules out most is asked. Groups smaller than both
    `smallest` and the batch are left. Sets ruled out become 0 in `alive`; at most `budget` queries are asked.
    """
    live = parts.size
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
                return queries, cap
    return queries, cap
