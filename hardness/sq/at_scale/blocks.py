"""The game of `strategies.blocks` against the best window: what a query loses is known from its block alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.families.concepts import ParityConcepts
from hardness.kernels.bits import compiled, shuffle
from hardness.sq.at_scale import batches
from hardness.sq.bounds.batches import LARGEST_BATCH, batch_modes, batch_size
from hardness.sq.strategies.blocks import FEW, Board, find_block, remove


def blocks_then_batches(
    concepts: ParityConcepts, tolerance: float, budget: int, state: NDArray[np.uint64]
) -> tuple[int, int, int, int]:
    """Blocks until no more are found, then independent sign batches: (queries, live) at either end.

    Raises `InputError` as `strategies.blocks` does.

    >>> blocks_then_batches(ParityConcepts(16, 4), 0.14, 10**9, np.array([1], np.uint64))
    (403, 208, 474, 1)
    """
    board = Board(concepts, tolerance, state)
    asked, stalled = block_game(board.places.means, tolerance, budget, *board.arguments)
    pool = board.sets[board.pool[:stalled]]
    shuffle(pool, state)
    rank = concepts.n if concepts.s % 2 else concepts.n - 1
    modes = batch_modes(tolerance, min(batch_size(tolerance), LARGEST_BATCH, rank))
    live, batched = batches.independent_batches(pool, concepts.s, modes, budget - asked)
    return asked, stalled, asked + batched, live


@compiled
def block_game(
    means: Any,
    tolerance: Any,
    budget: Any,
    sets: Any,
    pool: Any,
    place: Any,
    count: Any,
    n: Any,
    binomials: Any,
    driven: Any,
    tries: Any,
    state: Any,
) -> Any:
    """(queries, live) when no block is found, few sets live, or the budget is spent; `pool[:live]` lives.

    While `FEW` sets live, more of them have the mean 0, as all have outside a block, than are in a block; so the best
    window holds 0.
    """
    pairs, ranks, asked = np.zeros(4, np.uint64), np.zeros(16, np.int64), 0
    while count >= FEW and asked < budget:
        which = find_block(pairs, ranks, sets, pool, place, count, n, binomials, driven, tries, state)
        if which < 0:
            break
        asked += 1
        answer = _best_answer(means[which], place, ranks, count, tolerance)
        gone = [
            rank
            for code, rank in enumerate(ranks)
            if place[rank] >= 0 and abs(means[which, code] - answer) > tolerance * (1 + 1e-12) + 1e-15
        ]
        count = remove(pool, place, count, np.sort(np.array(gone)))
    return asked, count


@compiled
def _best_answer(means: Any, place: Any, ranks: Any, count: Any, tolerance: Any) -> Any:
    """`oracle.best_answer` of a block's live members and of all the others, whose mean is 0."""
    values, weights, used = np.zeros(ranks.size + 1), np.ones(ranks.size + 1, np.int64), 1
    for code in range(ranks.size):
        if place[ranks[code]] >= 0:
            values[used] = means[code]
            used += 1
    weights[0] = count - used + 1
    best, low = -1, 0.0
    for i in range(used):
        start, inside = values[i] - tolerance, 0
        for j in range(used):
            if values[j] - tolerance <= start and values[j] + tolerance >= start:
                inside += weights[j]
        if inside > best or (inside == best and start < low):
            best, low = inside, start
    high = np.inf
    for j in range(used):
        if low <= values[j] + tolerance < high:
            high = values[j] + tolerance
    return (low + high) / 2
