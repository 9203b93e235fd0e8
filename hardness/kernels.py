"""The compiled loops: colex enumeration, Walsh-Hadamard, sampling, and the games at scale.

Everything is integer arithmetic on uint64 masks, so every count is exact. Random bits come from splitmix64
states handed in by the caller (from a `SeedSequence`), never from a global generator.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    def njit(**options: bool) -> Callable[[Any], Any]: ...
else:
    from numba import njit

U = np.uint64
ONE, ZERO = U(1), U(0)
GOLDEN, MIX1, MIX2 = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
M1, M2, M4, H01 = U(0x5555555555555555), U(0x3333333333333333), U(0x0F0F0F0F0F0F0F0F), U(0x0101010101010101)
U2, U4, U27, U30, U31, U56 = U(2), U(4), U(27), U(30), U(31), U(56)


@njit(cache=True)
def popcount(x):
    # The compiler recognises this idiom and emits the processor's own instruction.
    x = x - ((x >> ONE) & M1)
    x = (x & M2) + ((x >> U2) & M2)
    return (((x + (x >> U4)) & M4) * H01) >> U56


@njit(cache=True)
def random_word(state):
    """Next splitmix64 word; `state` is uint64 (1,)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> U30)) * MIX1
    z = (z ^ (z >> U27)) * MIX2
    return z ^ (z >> U31)


@njit(cache=True)
def next_mask(mask):
    """The colex successor. After the last set of n = 64 bits the sum wraps: callers count, never compare."""
    low = mask & (~mask + ONE)
    ripple = mask + low
    shift = popcount(low - ONE) + U2
    return ripple | ((mask ^ ripple) >> shift) if ripple else ZERO


@njit(cache=True)
def enumerate_masks(first, out):
    """Fill `out` uint64 (count,) with consecutive colex sets from `first`."""
    mask = first
    for i in range(out.size):
        out[i] = mask
        mask = next_mask(mask)


@njit(cache=True)
def shuffle(values, state):
    """Fisher-Yates in place (the modulo bias of 64 bits over an array is below 2^-30)."""
    for i in range(values.size - 1, 0, -1):
        j = random_word(state) % U(i + 1)
        values[i], values[j] = values[j], values[i]


@njit(cache=True)
def walsh_hadamard(f):
    """In-place transform f[S] <- sum_v f[v] (-1)^|S & v|, any signed or float type, length 2^k."""
    size, h = f.size, 1
    if size >= 8:
        for i in range(0, size, 8):
            a0, a1, a2, a3 = f[i] + f[i + 1], f[i] - f[i + 1], f[i + 2] + f[i + 3], f[i + 2] - f[i + 3]
            a4, a5, a6, a7 = f[i + 4] + f[i + 5], f[i + 4] - f[i + 5], f[i + 6] + f[i + 7], f[i + 6] - f[i + 7]
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


@njit(cache=True)
def best_window(values, length, zeros):
    """Closed window of `length` that holds most of `values` (sorted) and of `zeros` further values 0.

    Returns (low end, number inside). An optimal window can be slid up until its low end is a value, so the
    maximum over the values (and 0) as low ends is the maximum over all windows. The first optimum is taken.
    """
    best, low, j = -1, values[0] if values.size else 0 * length, 0
    before = 0  # values[i:j] lie in [start, start + length]
    zero_tried = zeros == 0
    i = 0
    while i < values.size or not zero_tried:
        if not zero_tried and (i == values.size or values[i] > 0):
            start, zero_tried = 0 * length, True
            before = i
        else:
            start, before = values[i], i
            i += 1
        while j < values.size and values[j] <= start + length:
            j += 1
        inside = j - before
        if start <= 0 and start + length >= 0:
            inside += zeros
        if inside > best:
            best, low = inside, start
    return low, best


@njit(cache=True)
def eliminate_in_order(first, start, count, bitmap, live):
    """`count` single-character queries in colex order from rank `start`, played on a bitmap (bit = dead).

    The queried concept has mean 1/2 and all other live ones 0, so for tolerance < 1/4 both adversaries answer
    from the fuller side: the zeros, as long as two concepts live. Returns the number still live.
    """
    mask = first
    for rank in range(start, start + count):
        if live < 2:
            return live
        word, bit = rank >> 6, ONE << U(rank & 63)
        if mask and not bitmap[word] & bit:
            bitmap[word] |= bit
            live -= 1
        mask = next_mask(mask)
    return live


@njit(cache=True)
def sampled_sum(state, words, tail, match):
    """Sum over samples of chi_S(v) y 1{z_0 != 0}, for one fresh sample set (theory 3.4).

    chi_S chi_S* of fresh uniform v is a uniform bit unless S = S* (`match`), where it is 1: drawing that bit
    instead of v gives exactly the law of the sum. One word draws 64 gates z_0 != 0, one 64 products.
    """
    total = 0
    for w in range(words):
        gate = random_word(state)
        if w == words - 1:
            gate &= tail
        total += np.int64(popcount(gate))
        if not match:
            total -= 2 * np.int64(popcount(gate & random_word(state)))
    return total


@njit(cache=True)
def scan_samples(state, target, count, words, tail, threshold, confirm, confirm_threshold):
    """Query `count` characters, the `target`-th of them (if any) the secret, until one is accepted.

    A query whose sum reaches `threshold` is asked `confirm` times more and accepted if those sums together reach
    `confirm_threshold`. Returns (accepted position or -1, queries, confirmations).
    """
    confirmations = 0
    for i in range(count):
        if sampled_sum(state, words, tail, i == target) >= threshold:
            total = 0
            for _ in range(confirm):
                total += sampled_sum(state, words, tail, i == target)
            confirmations += confirm
            if confirm == 0 or total >= confirm_threshold:
                return i, i + 1, confirmations
    return -1, count, confirmations


@njit(cache=True)
def best_batch(mode, cap, live, null):
    """Odd K <= cap with the largest certain elimination: (K, loss); `mode` as in `independent_batches`."""
    size, loss = 0, 0
    for k in range(1, min(cap, live) + 1, 2):
        if mode[k] == 0:
            continue
        if null:
            lost = k if k < live else 0
        elif mode[k] == 1:
            lost = k // 2
        else:
            lost = live - max(live - k, (k + 1) // 2)
        if lost > loss:
            size, loss = k, lost
    return size, loss


@njit(cache=True)
def independent_batches(pool, s, mode, null, budget):
    """Sign-batch game with batches linearly independent over GF(2): (live, queries), exactly as the adversary.

    `pool` uint64 holds the live sets (shuffled, all of size s); `mode[K]` says what a batch of odd K costs:
    1 the minority signs, 2 whichever of the plus sets, minus sets and the rest are not the largest part,
    0 not decided here. Why that is exact is argued in `strategies.batch_modes`; it needs the xor of all K sets to
    be no live set, ensured by giving that xor another size than s. The queue keeps its live sets at head..tail.
    """
    capacity = pool.size
    head, waiting = 0, capacity
    batch, reduced, pivot = np.empty(64, np.uint64), np.empty(64, np.uint64), np.empty(64, np.uint64)
    held, queries, cap = 0, 0, mode.size - 1
    while waiting + held > 1 and queries < budget:
        live = waiting + held
        size, loss = best_batch(mode, cap, live, null)
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
        if not null and mode[size] == 1:
            gone = size // 2
        elif null or live - size >= (size + 1) // 2:
            gone = size
        else:
            gone, held, waiting = size // 2, size, 0
        held -= gone
        for i in range(held):
            batch[i] = batch[i + gone]
    return waiting + held, queries


@njit(cache=True)
def _insert(x, reduced, pivot, rank):
    """Extend an xor basis by x unless x depends on it."""
    for i in range(rank):
        if x & pivot[i]:
            x ^= reduced[i]
    if x == ZERO:
        return False
    reduced[rank], pivot[rank] = x, x & (~x + ONE)
    return True


@njit(cache=True)
def window_batches(parts, starts, live, size, bits, length, radius, null, budget, alive):
    """Sign-batch game inside groups of sets that agree outside a window of `bits` coordinates.

    `parts` int64: the sets inside the window, group g at starts[g]:starts[g+1], shuffled; `live` counts the live
    sets of the whole class. A batch from one group has the spectrum of a function on the window, zero for every
    other set (the common part is a character that cancels from all products), so one transform of 2^bits integers
    gives every live mean exactly: a_S = c / 2^(bits+1). Window `length` and null `radius` are in units of c.
    Marks the dead in `alive` uint8; returns (live, queries).
    """
    table = np.empty(1 << bits, np.int32)
    queries = 0
    for g in range(starts.size - 1):
        index = np.arange(starts[g], starts[g + 1])
        while index.size > 1 and queries < budget:
            others = live - index.size
            k = size
            if others == 0:
                k = min(k, max(1, index.size // 2))
                k -= 1 - k % 2
            if k > index.size or (k > 1 and others and index.size < size):
                break
            table[:] = 0
            for i in range(k):
                table[parts[index[i]]] = -1 if i < k // 2 else 1
            walsh_hadamard(table)
            for v in range(table.size):
                table[v] = 1 if table[v] > 0 else -1
            walsh_hadamard(table)
            values = np.empty(index.size, np.int64)
            for i in range(index.size):
                values[i] = table[parts[index[i]]]
            low, span, inside = -radius, 2 * radius, 0
            if null:
                inside = others
                for c in values:
                    inside += -radius <= c <= radius
            if inside == 0:
                span = length
                low, inside = best_window(np.sort(values), span, others)
            queries += 1
            if inside == live:
                break
            if others and not low <= 0 <= low + span:
                alive[: starts[g]] = 0
                alive[starts[g + 1] :] = 0
            kept = (values >= low) & (values <= low + span)
            for i in range(index.size):
                if not kept[i]:
                    alive[index[i]] = 0
            index = index[kept]
            live = inside
            if live == index.size and others:
                return live, queries
    return live, queries
