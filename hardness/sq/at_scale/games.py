"""Games at scale: the same play as `game.play_explicit`, in closed form per query, up to billions of concepts."""

from dataclasses import dataclass
from math import ceil, log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.families.concepts import ParityConcepts
from hardness.io.memory import require_memory
from hardness.kernels import games as kernels
from hardness.kernels.bits import ONE, shuffle
from hardness.sq.at_scale import batches as kernels_batches
from hardness.sq.at_scale.batches import LANES
from hardness.sq.bounds.batches import LARGEST_BATCH, batch_modes, batch_size, best_batch, majority_mean
from hardness.sq.oracle import FAILURE

NO_LIMIT = 2**62
BLOCK = 1 << 24
WINDOW_BITS = 22
ROOM = 0.025


@dataclass(frozen=True)
class GameCount:
    """What a game came to: queries, live concepts, whether the learner was right (None: no answer judged)."""

    queries: int
    remaining: int
    right: bool | None = None
    confirmations: int = 0


def characters_adversary(concepts: ParityConcepts, tolerance: float, budget: int) -> GameCount:
    """Single characters in colex order against the window or the null adversary, on a bitmap of N bits.

    Each query takes one concept iff tau < 1/4 for the window (2 tau < 1/2) and iff tau < 1/2 for the null
    one; the caller passes half the tolerance for the latter.
    """
    size = concepts.size
    require_memory(size / 8, concepts.label)
    if tolerance >= 0.25:
        return GameCount(min(budget, size - 1), size)
    bitmap, live = np.zeros(size // 64 + 1, np.uint64), size
    for start in range(0, min(size, budget), BLOCK):
        count = min(BLOCK, size - start, budget - start)
        live = kernels.eliminate_in_order(np.uint64(concepts.unrank(start)), start, count, bitmap, live)
    return GameCount(size - live, live)


def characters_sampled(
    position: int, concepts: int, budget: int, samples: int, confirm: int, state: NDArray[np.uint64]
) -> GameCount:
    """Characters, one after the other, on the honest sampling oracle; the secret comes at `position`.

    A sum of products has mean samples/2 on the secret and 0 elsewhere: a quarter accepts, and `confirm` fresh
    queries must agree on the whole. Unasked concepts remain.
    """
    words = -(-samples // 64)
    # Samples come 64 to a word; of the last word only those that there are count.
    tail = np.uint64(2**64 - 1 >> (64 * words - samples))
    accepted, queries, confirmations = kernels.scan_samples(
        state,
        position,
        min(concepts, budget),
        words,
        tail,
        ceil(samples / 4),
        confirm,
        ceil(confirm * samples / 4),
    )
    if accepted < 0:
        return GameCount(queries, max(1, concepts - queries), None, confirmations)
    return GameCount(queries, 1, accepted == position, confirmations)


def sign_batch_adversary(
    concepts: ParityConcepts, tolerance: float, budget: int, state: NDArray[np.uint64]
) -> GameCount:
    """Sign batches (theory 2.5e) of live sets in random order against the window adversary.

    Three ways to know the means of a batch: linearly independent sets (`independent_batches`, exact), if
    the class has rank enough for a full batch; else sets that agree outside a small window of coordinates, by a
    transform on the window (`window_batches`, exact), while groups of such sets fill a batch; and for
    the rest, if K <= 255, samples enough that certified intervals decide every live set (`_certified_batch`).
    """
    require_memory(48 * concepts.size, concepts.label)
    pool = concepts.masks()
    shuffle(pool, state)
    n, size = concepts.n, batch_size(tolerance)
    rank = n if concepts.s % 2 else n - 1
    modes = batch_modes(tolerance, min(size, LARGEST_BATCH))
    # `cap` is the largest batch that still lost what `modes` says: it only falls, as sets that are left depend more
    # and more on one another.
    queries, cap, bits = 0, modes.size - 1, _window_bits(n, tolerance, 2 * pool.size / size)
    sizes = np.flatnonzero(modes[:256] == 1).tolist()
    certain = max((k for k in sizes if _room(k, n, tolerance) > ROOM * tolerance), default=0)
    coordinates = np.arange(n)
    # A class with rank enough, but for 4 %, is played at once with independent sets; a batch of them is odd.
    smallest, enough = 0 if n > 14 and (rank - 1) // 2 >= 0.96 * (size // 2) else cap, max(rank, certain)
    while pool.size > 1 and smallest:
        pool, asked, cap = _window_round(
            pool, coordinates, bits, modes, cap, smallest, tolerance, budget - queries
        )
        queries += asked
        if bits == n or queries >= budget:
            return GameCount(queries, pool.size)
        # No group fills a batch: a wider window has larger groups, and at last smaller groups have to do.
        if asked == 0 and bits < min(n, WINDOW_BITS):
            bits += 1
        elif asked == 0:
            smallest = 2 * smallest // 3 if 2 * smallest // 3 > enough else 0
        shuffle(pool, state)
        shuffle(coordinates, state)
        if bits > 16:
            coordinates = _dense_first(pool, coordinates)
    # Beyond the rank sets are dependent, and mode 2 rests on independence; mode 1 is certified by samples instead.
    modes[rank + 1 :][modes[rank + 1 :] == 2] = 0
    cap = certain
    while queries < budget:
        size, _ = best_batch(modes, cap, pool.size)
        if size <= rank:
            break
        if _certified_batch(pool, size, n, tolerance, state):
            pool = pool[size // 2 :]
            queries += 1
        else:
            cap = size - 2
        shuffle(pool, state)
    live, asked = kernels_batches.independent_batches(pool, concepts.s, modes[: rank + 1], budget - queries)
    return GameCount(queries + asked, live)


def _room(size: int, n: int, tolerance: float) -> float:
    """By how much the members' means pass the tolerance: 3 sd of chance means, 2^-(n/2)/2, taken off."""
    return float(majority_mean(size) - 1.5 * 2.0 ** (-n / 2) - tolerance)


def _certified_batch(
    pool: NDArray[np.uint64], size: int, n: int, tolerance: float, state: NDArray[np.uint64]
) -> bool:
    """Is it certain that a batch of the first `size` sets loses just its minority?

    So it is if members have |mean| > tau, so that no window holds both signs, and the rest fit into a window with the
    larger side. Every mean is known to Hoeffding's half-width at failure probability 1e-9.
    """
    # Half-width and 4 sd of the sampling must fit into what members have above tau and the rest within the window.
    slack = 2 * tolerance - majority_mean(size) - 1.5 * 2.0 ** (-n / 2)
    rooms = (min(_room(size, n, tolerance), slack / 2), slack / 2)
    words, fewer = (
        LANES * ceil((sqrt(log(2 / FAILURE) / 2) + 2) ** 2 / room**2 / 64 / LANES) for room in rooms
    )
    hits, other_hits = np.zeros(size, np.int64), np.zeros(pool.size - size, np.int64)
    kernels_batches.agreements(pool[:size], pool[size:], n, state, words, fewer, hits, other_hits)
    means, others = hits / (64 * words) - 0.5, other_hits / (64 * fewer) - 0.5
    half, other_half = (sqrt(log(2 / FAILURE) / (2 * 64 * w)) for w in (words, fewer))
    reach = 2 * tolerance - means.max() - half
    return bool(means.min() - half > tolerance and np.all(np.abs(others) + other_half <= reach))


def _window_bits(n: int, tolerance: float, queries: float) -> int:
    """Bits of the first windows: the most whose transforms (six a query, 0.4 ns a butterfly) take a second in all.

    At least so many that chance means, 2^-(bits/2)/2, stay far below the tolerance, and all of a small cube.
    """
    bits = 16
    while queries * 6 * 2 ** (bits + 1) * (bits + 1) * 4e-10 < 1:
        bits += 1
    return min(n, WINDOW_BITS, max(bits, ceil(2 * log2(6 / tolerance))))


def _dense_first(pool: NDArray[np.uint64], coordinates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Coordinates in an order whose prefixes hold many sets: the rarest goes last and its sets drop out, and so on."""
    rest, order = coordinates.tolist(), []
    while len(rest) > 1:
        counts = [np.count_nonzero(pool >> np.uint64(j) & np.uint64(1)) for j in rest]
        rarest = rest.pop(int(np.argmin(counts)))
        pool = pool[pool >> np.uint64(rarest) & np.uint64(1) == 0]
        order.append(rarest)
    return np.array(rest + order[::-1])


def _window_round(
    pool: NDArray[np.uint64],
    coordinates: NDArray[np.int64],
    bits: int,
    modes: NDArray[np.int64],
    cap: int,
    smallest: int,
    tolerance: float,
    budget: int,
) -> tuple[NDArray[np.uint64], int, int]:
    """Play groups of `smallest` sets or more in the window of the first `bits` coordinates: (live, queries, cap)."""
    parts, outside = np.zeros(pool.size, np.int64), pool.copy()
    for i, coordinate in enumerate(coordinates[:bits]):
        bit = np.uint64(coordinate)
        parts |= ((pool >> bit & ONE) << np.uint64(i)).astype(np.int64)
        outside &= ~(ONE << bit)
    order = np.argsort(outside, kind="stable")
    outside = outside[order]
    starts = np.flatnonzero(np.concatenate(([True], outside[1:] != outside[:-1], [True])))
    alive = np.ones(pool.size, np.uint8)
    # Means are c/2^(bits + 1) for integers c: a window of 2 tau in units of c, rounded down, which no integer can tell
    # from the real one.
    length = int(tolerance * 2.0 ** (bits + 2))
    _, queries, cap = kernels_batches.window_batches(
        parts[order], starts, pool.size, modes, cap, smallest, bits, length, min(budget, NO_LIMIT), alive
    )
    return pool[order[alive == 1]], queries, cap
