"""Theorem D, played greedily: queries on 16 sets at a time, an element out of each of four pairs (theory 2.7).

Up to affine maps the stored query that loses e* sets stands on 2e* points of AG(4, 2). The 16 sets of a block are such
a space. Where the sets at some affine image of the 2e* points live, the query is placed there, and loses e* at least.
Everything is played on ranks of sets.
"""

from functools import cache
from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.io.fields import require_memory
from hardness.kernels.bits import ONE, U, compiled, popcount, random_word, shuffle
from hardness.sq.bounds.batches import LARGEST_BATCH, batch_modes, batch_size
from hardness.sq.bounds.floors import decimal, max_separation, most_lost, within
from hardness.sq.oracle import Window, best_answer
from hardness.sq.scale import GameCount, Setting, independent_batches
from hardness.sq.strategies import Counted, Masks, Steps

PAIRS = 4
MEMBERS = 1 << PAIRS
FEW = 64  # sets that live outside a block are the best window's, if they are more than its own
TRIES = 20_000  # blocks looked at for a query; where none of them holds one, the greedy choice has come to its end
MOST_SETS = 2**22
# e*: the points of AG(4, 2) that the stored query drives apart, and its means at all 16 points, over a denominator. It
# loses e* sets at every tolerance below T(e*): e* of the points lie above the others by twice that.
STORED = {
    3: ((0, 1, 2, 3, 4, 8), (10, 18, 18, -22, -14, -6, -6, 2, -14, -6, -6, 2, -14, -6, -6, 2), 96),
    4: ((0, 1, 2, 4, 6, 7, 8, 15), (2, 2, 3, -1, 3, -1, -2, -2, -3, 1, 0, 0, 0, 0, 1, -3), 16),
}


def ask_blocks(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask queries of theorem D on live sets of random blocks, while such are found; sign batches of the rest.

    Offered for tolerances from 13/96 to below 1/6, at which a query loses 3 or 4 sets of a block, and for sets of 4 or
    more elements out of 8 or more. Raises `InputError` elsewhere.
    """
    raise InputError("blocks is counted against the window alone; against other oracles play flat")


def count_blocks(game: Setting) -> GameCount | None:
    """Count a game of blocks and then independent sign batches against the window."""
    if game.oracle is not Window:
        return None
    *_, asked, live = blocks_then_batches(game.concepts, game.reach, game.budget, game.words)
    return GameCount(asked, live)


blocks = Counted(ask_blocks, count_blocks)


def blocks_then_batches(
    concepts: ParityConcepts, tolerance: float, budget: int, state: NDArray[np.uint64]
) -> tuple[int, int, int, int]:
    """Play blocks until no more are found, then independent sign batches: (queries, live) at either end."""
    board = Board(concepts, tolerance, state)
    asked = board.play(budget)
    pool, stalled = board.sets[board.pool[: board.count]], board.count
    shuffle(pool, state)
    rank = concepts.n if concepts.s % 2 else concepts.n - 1
    modes = batch_modes(tolerance, min(batch_size(tolerance), LARGEST_BATCH, rank))
    live, batched = independent_batches(pool, concepts.s, modes, budget - asked)
    return asked, stalled, asked + batched, live


class Placements(NamedTuple):
    """The affine images of a stored query in a block: which members it drives (count,), one bit each, and the means of
    all members (count, 16)."""

    driven: NDArray[np.int64]
    means: NDArray[np.float64]


@cache
def placements(lost: int) -> Placements:
    """Return all placements of the stored query that loses this many sets at every tolerance below T(e)."""
    points, numerators, denominator = STORED[lost]
    # Row A of `images` are the images A 0, ..., A 15 under one invertible linear map.
    columns = np.array(list(product(range(1, MEMBERS), repeat=PAIRS)))
    bits = np.arange(MEMBERS)[:, None] >> np.arange(PAIRS) & 1
    images = np.bitwise_xor.reduce(columns[:, None, :] * bits, axis=2)
    images = images[(np.sort(images, axis=1) == np.arange(MEMBERS)).all(axis=1)]
    images = (images[:, None, :] ^ np.arange(MEMBERS)[:, None]).reshape(-1, MEMBERS)  # and every translation
    driven, first = np.unique((1 << images[:, points]).sum(axis=1), return_index=True)
    means = np.array(numerators) / denominator
    return Placements(driven, means[np.argsort(images[first], axis=1)])


class Board:
    """The live sets of a class by rank, and where a query of theorem D fits: `pool[:count]` lives, in no order."""

    def __init__(self, concepts: ParityConcepts, tolerance: float, state: NDArray[np.uint64]) -> None:
        self.n, self.s, self.state, self.tolerance = concepts.n, concepts.s, state, tolerance
        self.places = _checked(concepts, tolerance)
        require_memory(24 * concepts.size, concepts.label)
        self.sets = concepts.masks()
        self.pool, self.place = np.arange(concepts.size), np.arange(concepts.size)
        self.count = concepts.size
        self.binomials = np.array([[comb(j, i) for i in range(self.s + 1)] for j in range(self.n + 1)])
        self.pairs, self.ranks = np.zeros(PAIRS, np.uint64), np.zeros(MEMBERS, np.int64)

    def find(self) -> int:
        """Return a placement whose sets all live in the block of `pairs` and `ranks`, -1 if none is found."""
        alive = self.sets, self.pool, self.place, self.count
        return int(find_block(self.pairs, self.ranks, *alive, self.binomials, self.places.driven, self.state))

    def play(self, budget: int) -> int:
        """Play against the window until no block is found, few sets live or the budget is spent; return the queries.

        While `FEW` sets live, more of them have the mean 0, as all have outside a block, than are in a block; so the
        best window holds 0, and what a query loses is known from its block alone.
        """
        asked, outside = 0, np.zeros(MEMBERS + 1)
        while self.count >= FEW and asked < budget and (which := self.find()) >= 0:
            asked += 1
            living = self.place[self.ranks] >= 0
            means = self.places.means[which][living]
            answer = best_answer(np.concatenate([means, outside]), self.tolerance)
            dead = np.sort(self.ranks[living][~within(means, answer, self.tolerance)])
            self.count = remove(self.pool, self.place, self.count, dead)
        return asked


def _checked(concepts: ParityConcepts, tolerance: float) -> Placements:
    """Return the placements at a tolerance; `InputError` where there are none, or the class is not for blocks."""
    low, high = max_separation(5), max_separation(3)
    if not low <= decimal(tolerance) < high:
        raise InputError(
            f"blocks is offered for tolerances from {low} to below {high}, not {tolerance:g}; play flat"
        )
    if concepts.s < PAIRS or concepts.n - concepts.s < PAIRS:
        raise InputError(
            f"blocks takes one of each of four pairs of bits; {concepts.label} leaves no room for them"
        )
    if concepts.size > MOST_SETS or concepts.n > 64:
        raise InputError(f"blocks is offered up to 2^22 sets, not {concepts.size}; lower --dim")
    return placements(most_lost(tolerance))


@compiled
def remove(pool: Any, place: Any, count: Any, ranks: Any) -> Any:
    """Take ranks out of the first `count` of the pool, the last one moving up each time; return how many are left."""
    for rank in ranks:
        count -= 1
        last, at = pool[count], place[rank]
        pool[at], place[last] = last, at
        place[rank] = -1
    return count


@compiled
def find_block(
    pairs: Any,
    ranks: Any,
    sets: Any,
    pool: Any,
    place: Any,
    count: Any,
    binomials: Any,
    driven: Any,
    state: Any,
) -> Any:
    """Return a placement whose sets all live in a random block through a live set; -1 if none of `TRIES` has one.

    The block's pairs (4,) and its members' ranks (16,) are left in the first two arrays; bit j of a member's number
    says whether it has taken the second of pair j.
    """
    needed, n = popcount(U(driven[0])), len(binomials) - 1
    for _ in range(TRIES):
        first = sets[pool[np.int64(random_word(state) % U(count))]]
        inside, outside = first, ~first & ((ONE << U(n - 1)) - ONE | ONE << U(n - 1))
        for j in range(pairs.size):
            a, b = _random_bit(inside, n, state), _random_bit(outside, n, state)
            inside, outside, pairs[j] = inside ^ a, outside ^ b, a | b
        alive, dead = U(0), U(0)
        for code in range(ranks.size):
            mask = first
            for j in range(pairs.size):
                mask ^= pairs[j] * U(code >> j & 1)
            rank, order = 0, 0
            while mask:
                order += 1
                rank += binomials[np.int64(popcount((mask & (~mask + ONE)) - ONE)), order]
                mask &= mask - ONE
            ranks[code] = rank
            if place[rank] >= 0:
                alive |= ONE << U(code)
            else:
                dead += ONE
                if dead + needed > U(ranks.size):
                    break
        if dead + needed <= U(ranks.size):
            start = np.int64(random_word(state) % U(driven.size))
            for i in range(driven.size):
                which = start + i if start + i < driven.size else start + i - driven.size
                if U(driven[which]) & ~alive == U(0):
                    return which
    return -1


@compiled
def _random_bit(mask: Any, n: Any, state: Any) -> Any:
    """Draw one of the bits of a mask of n bits, as a mask."""
    while True:
        bit = ONE << random_word(state) % U(n)
        if mask & bit:
            return bit
