"""Games at scale: the same play as `game.referee`, in closed form per query, up to billions of concepts."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from hardness.concepts import ParityConcepts
from hardness.errors import InputError
from hardness.kernels import shuffle
from hardness.sq import kernels
from hardness.sq.strategies import batch_modes, batch_size

NO_LIMIT = 2**62
BLOCK = 1 << 24


@dataclass(frozen=True)
class Tally:
    """What a game came to: queries, live concepts, whether the learner was right (None: no answer judged)."""

    queries: int
    remaining: int
    right: bool | None = None
    confirmations: int = 0


def characters_adversary(concepts: ParityConcepts, tolerance: float, budget: int) -> Tally:
    """Single characters in colex order against the window or the null adversary, on a bitmap of N bits.

    Each query takes one concept iff tau < 1/4 for the window (2 tau < 1/2) and iff tau < 1/2 for the null
    one; the caller passes half the tolerance for the latter.
    """
    size = concepts.size
    afford(size / 8, concepts.label)
    if tolerance >= 0.25:
        return Tally(min(budget, size - 1), size)
    bitmap, live = np.zeros(size // 64 + 1, np.uint64), size
    for start in range(0, min(size, budget), BLOCK):
        count = min(BLOCK, size - start, budget - start)
        live = kernels.eliminate_in_order(np.uint64(concepts.unrank(start)), start, count, bitmap, live)
    return Tally(size - live, live)


def characters_sampled(
    position: int, concepts: int, budget: int, samples: int, confirm: int, state: NDArray[np.uint64]
) -> Tally:
    """Characters, one after the other, on the honest sampling oracle; the secret comes at `position`.

    A sum of products has mean samples/2 on the secret and 0 elsewhere: a quarter accepts, and `confirm` fresh
    queries must agree on the whole. Unasked concepts remain.
    """
    words = -(-samples // 64)
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
        return Tally(queries, max(1, concepts - queries), None, confirmations)
    return Tally(queries, 1, accepted == position, confirmations)


def sign_batch_adversary(
    concepts: ParityConcepts, tolerance: float, null: bool, budget: int, state: NDArray[np.uint64]
) -> Tally:
    """Sign batches (theory 2.5e) against the window (or null) adversary.

    Two exact ways to know the means (`kernels.window_batches`, `kernels.independent_batches`): batches of
    sets that agree outside a small window of coordinates, by a transform on the window, while groups of such
    sets are large; then, or at once if the class has rank enough for a full batch, linearly independent sets.
    """
    n, size = concepts.n, batch_size(tolerance)
    afford(48 * concepts.size, concepts.label)
    pool = concepts.masks()
    shuffle(pool, state)
    rank = n if concepts.s % 2 else n - 1
    modes = batch_modes(tolerance, min(rank, size))
    full = n > 14 and modes.size // 2 >= 0.95 * (size // 2)
    # Groups that cannot fill a batch are played with smaller ones while that still beats independent sets.
    worth = 1.1 * max(np.flatnonzero(modes), default=0)
    queries, least, barren = 0, size, 0
    coordinates = np.arange(n)
    while pool.size > 1 and not full and least > worth:
        bits = _window_bits(n, pool.size // max(1, size // 2))
        before = pool.size
        pool, asked = _window_round(pool, coordinates, bits, size, least, tolerance, null, budget - queries)
        queries += asked
        if bits == n or queries >= budget:
            return Tally(queries, pool.size)
        barren = barren + 1 if before - pool.size < before // 16 else 0
        if barren == 3:
            least, barren = 2 * least // 3, 0
        shuffle(pool, state)
        shuffle(coordinates, state)
    if pool.size > 1:
        live, asked = kernels.independent_batches(pool, concepts.s, modes, null, budget - queries)
        return Tally(queries + asked, live)
    return Tally(queries, pool.size)


def afford(needed: float, what: str) -> None:
    """Refuse a game whose predicted memory (bytes) is not there."""
    import os

    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > free:
        raise InputError(
            f"{what} needs about {needed / 2**30:.1f} GiB, {free / 2**30:.1f} GiB are free; lower --dim or --heads"
        )


def _window_bits(n: int, queries: int) -> int:
    """The largest window whose transforms (about 0.3 ns a butterfly, two a query) cost a second or two."""
    bits = 14
    while bits < min(n, 20) and queries * 2 ** (bits + 1) * (bits + 1) * 3e-10 < 2:
        bits += 1
    return min(n, bits)


def _window_round(
    pool: NDArray[np.uint64],
    coordinates: NDArray[np.int64],
    bits: int,
    size: int,
    least: int,
    tolerance: float,
    null: bool,
    budget: int,
) -> tuple[NDArray[np.uint64], int]:
    """Play every group of at least `least` sets in the window of the first `bits` coordinates: (live, queries)."""
    one = np.uint64(1)
    parts, outside = np.zeros(pool.size, np.int64), pool.copy()
    for i, coordinate in enumerate(coordinates[:bits]):
        bit = np.uint64(coordinate)
        parts |= ((pool >> bit & one) << np.uint64(i)).astype(np.int64)
        outside &= ~(one << bit)
    order = np.argsort(outside, kind="stable")
    outside = outside[order]
    starts = np.flatnonzero(np.concatenate(([True], outside[1:] != outside[:-1], [True])))
    alive = np.ones(pool.size, np.uint8)
    length, radius = int(tolerance * 2.0 ** (bits + 2)), int(tolerance * 2.0 ** (bits + 1))
    _, queries = kernels.window_batches(
        parts[order], starts, pool.size, size, least, bits, length, radius, null, min(budget, NO_LIMIT), alive
    )
    return pool[order[alive == 1]], queries
