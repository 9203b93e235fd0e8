"""The strategy flat at scale: one flat played set by set stands for all flats like it."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.families.concepts import ParityConcepts
from hardness.io.memory import require_memory
from hardness.kernels.bits import ONE, ZERO, U, compiled, popcount, shuffle
from hardness.sq.affine_types import characters
from hardness.sq.at_scale.games import GameCount, sign_batches
from hardness.sq.exact import IDENTIFIABLE, independent_lost, most_lost
from hardness.sq.oracle import best_answer
from hardness.sq.strategies.shaped import shape_query
from hardness.sq.tolerance import within

SMALLEST, LARGEST = 4, 9  # ranks of flats played
TRIES = 2


def flat_adversary(concepts: ParityConcepts, tolerance: float, budget: int, state: NDArray[np.uint64]) -> GameCount:
    """Moulded queries (theory 2.7) against the window adversary, flat after flat, then sign batches on what is left.

    Pair the coordinates {2i, 2i + 1}. The sets that hold just one of each of r pairs, and are equal elsewhere, are a
    flat of 2^r sets. A query on one flat has mean 0 on all other sets, which are more than the flat's, so the adversary
    answers on every flat of rank r as on the first: `flat_game` is played once for each r, and counted for all.
    """
    require_memory(48 * concepts.size, concepts.label)
    pairs, odd = concepts.n // 2, concepts.n % 2
    shapes = [
        (r, comb(pairs, r) * comb(pairs - r, (concepts.s - own - r) // 2))
        for own in range(odd + 1)
        for r in range((concepts.s - own) % 2, concepts.s - own + 1, 2)
    ]
    games = {r: flat_game(r, tolerance) for r, flats in shapes if flats}
    queries, live = 0, concepts.size
    for r, flats in shapes:
        losses = games[r][0] if flats else ()
        if queries + flats * len(losses) > budget:
            whole, rest = divmod(budget - queries, len(losses))
            return GameCount(budget, live - whole * sum(losses) - sum(losses[:rest]))
        queries, live = queries + flats * len(losses), live - flats * sum(losses)
    kept = np.ones((LARGEST + 1, 1 << LARGEST), np.bool_)
    for r, (losses, left) in games.items():
        if losses:
            kept[r] = np.isin(np.arange(1 << LARGEST), left)
    pool = concepts.masks()
    pool = pool[survivors(pool, np.uint64(sum(1 << 2 * i for i in range(pairs))), kept)]
    shuffle(pool, state)
    after = sign_batches(concepts, pool, tolerance, False, budget - queries, state)
    return GameCount(queries + after.queries, after.remaining)


def flat_game(rank: int, tolerance: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What queries on one flat of a large class lose, one after the other, and the points they leave (`flat_queries`).

    >>> losses, left = flat_game(5, 0.16)
    >>> losses, len(left)
    ((3, 3, 3, 3, 3, 3, 3, 3, 3), 5)
    """
    steps = flat_queries(rank, tolerance)
    counts = [1 << rank, *(len(left) for _, left in steps)]
    left = steps[-1][1] if steps else tuple(range(1 << rank))
    return tuple(a - b for a, b in pairwise(counts)), left


@cache
def flat_queries(rank: int, tolerance: float) -> tuple[tuple[NDArray[np.float64], tuple[int, ...]], ...]:
    """The queries on a flat that lose more than a sign batch: values f (2^r,), and the points that live afterwards."""
    return tuple(_queries(rank, tolerance)) if SMALLEST <= rank <= LARGEST and tolerance < IDENTIFIABLE else ()


def _queries(rank: int, tolerance: float) -> Iterator[tuple[NDArray[np.float64], tuple[int, ...]]]:
    least, rng = independent_lost(tolerance), np.random.default_rng(rank)
    signs, live = characters(range(1 << rank), rank).astype(np.int8), np.arange(1 << rank)
    goal = min(most_lost(tolerance), len(live) // 2)
    while True:
        tries = (lost for lost in range(min(goal, len(live) // 2), least, -1) for _ in range(TRIES))
        found = next((m for lost in tries if (m := shape_query(signs[live], lost, tolerance, rng))), None)
        if found is None:
            return
        goal = len(found.upper)
        means = signs[live] @ found.values / (2 << rank)
        every = np.concatenate([means, np.zeros(len(live) + 1)])  # the sets outside, or as many as decide
        reply = best_answer(every, np.full(len(every), tolerance))
        live = live[within(means, reply, tolerance)]
        yield found.values, tuple(live.tolist())


@compiled
def survivors(sets: Any, low: Any, kept: Any) -> Any:
    """Which sets live after the flats' games: kept (ranks, points) by the rank and the place in its flat of a set.

    `low` holds the lower coordinate of every pair.
    """
    out = np.empty(sets.size, np.bool_)
    for i in range(sets.size):
        first, second = sets[i] & low, (sets[i] >> ONE) & low
        split = first ^ second
        rank, point = popcount(split), 0
        if rank >= U(kept.shape[0]):
            out[i] = True
            continue
        j = 0
        while split != ZERO:
            bit = split & (~split + ONE)
            if second & bit:
                point |= 1 << j
            split ^= bit
            j += 1
        out[i] = kept[rank, point]
    return out
