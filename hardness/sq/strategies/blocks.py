"""Theorem D, played greedily: queries on 16 sets at a time, an element out of each of four pairs (theory 2.7).

Up to affine maps the stored query that loses e* sets stands on 2e* points of AG(4, 2). The 16 sets of a block are such
a space. Where the sets at some affine image of the 2e* points live, the query is placed there, and loses e* at least.
Everything is played on ranks of sets; `at_scale.games.blocks_adversary` plays the same game without its oracle.
"""

from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from math import comb
from operator import xor
from typing import Any

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.io.memory import require_memory
from hardness.kernels.bits import ONE, U, compiled, popcount, random_word
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.affine_types import coordinates
from hardness.sq.exact import decimal, max_separation, most_lost
from hardness.sq.queries import SpanFunction
from hardness.sq.strategies.base import Masks, Steps
from hardness.sq.strategies.layers import Template, patterns, templates
from hardness.sq.strategies.sign_batch import sign_batch

PAIRS = 4
MEMBERS = 1 << PAIRS
FEW = 64  # sets that live outside a block are the best window's, if they are more than its own
TRIES = 20_000  # blocks looked at for a query; where none of them holds one, the greedy choice has come to its end
MOST_SETS = 2**22
Ranks = NDArray[np.int64]


def blocks(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Queries of theorem D on live sets of random blocks, while such are found; sign batches of the rest.

    Offered for tolerances from 13/96 to below 1/6, at which a query loses 3 or 4 sets of a block, and for sets of 4 or
    more elements out of 8 or more. Raises `InputError` elsewhere.

    >>> from hardness.sq.game import play
    >>> play(ParityConcepts(12, 4), "blocks", "window", 0.14).queries
    131
    """
    board = Board(concepts, tolerance, rng.integers(0, 2**64, 1, np.uint64, endpoint=False))
    board.keep(live)
    while len(live) >= FEW and (query := board.query()):
        live = yield query
        board.keep(live)
    yield from sign_batch(concepts, live, tolerance, rng)


@dataclass(frozen=True)
class Placements:
    """The affine images of a stored query in a block: which members it drives (count,), one bit each, and the means of
    all members (count, 16)."""

    driven: NDArray[np.int64]
    means: NDArray[np.float64]


@cache
def placements(lost: int) -> Placements:
    """All placements of the stored query of affine rank 4 that loses so many sets at every tolerance below T(e).

    >>> placements(4).means.shape, sorted(set(placements(4).means[0].round(6).tolist()))
    ((10080, 16), [-0.1875, -0.125, -0.0625, 0.0, 0.0625, 0.125, 0.1875])
    """
    points, means = _on_its_span(
        next(t for t in templates() if t.lost == lost and t.reach == max_separation(lost))
    )
    # Row A of `images` are the images A 0, ..., A 15 under one invertible linear map.
    columns = np.array(list(product(range(1, MEMBERS), repeat=PAIRS)))
    bits = np.arange(MEMBERS)[:, None] >> np.arange(PAIRS) & 1
    images = np.bitwise_xor.reduce(columns[:, None, :] * bits, axis=2)
    images = images[(np.sort(images, axis=1) == np.arange(MEMBERS)).all(axis=1)]
    images = (images[:, None, :] ^ np.arange(MEMBERS)[:, None]).reshape(-1, MEMBERS)  # and every translation
    driven, first = np.unique((1 << images[:, points]).sum(axis=1), return_index=True)
    return Placements(driven, means[np.argsort(images[first], axis=1)])


def _on_its_span(template: Template) -> tuple[list[int], NDArray[np.float64]]:
    """The driven sets of a template as points of AG(4, 2), and the query's mean at each of the 16 points."""
    sets = patterns(template.size, template.held)
    first = int(sets[template.support[0]])
    generators, points = coordinates(sets[template.support].tolist())
    spectrum = template.values.copy()
    walsh_hadamard(spectrum)
    span = np.array(
        [reduce(xor, (g for i, g in enumerate(generators) if c >> i & 1), first) for c in range(MEMBERS)]
    )
    # A layer's states are those of a set's bits below the last, less the first set's.
    states = (span ^ int(sets[0])) & (len(spectrum) - 1)
    return points, spectrum[states] / (2 * len(spectrum))


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

    def keep(self, live: Masks) -> None:
        """Only these sets live."""
        lost = np.setdiff1d(self.pool[: self.count], np.searchsorted(self.sets, live))
        self.count = remove(self.pool, self.place, self.count, lost)

    def query(self) -> SpanFunction | None:
        """A query that loses e* of the live sets, or None where no block is found that holds one."""
        which = find_block(self.pairs, self.ranks, *self.arguments)
        if which < 0:
            return None
        values = 2 * self.places.means[which]
        walsh_hadamard(values)
        return SpanFunction(int(self.sets[self.ranks[0]]), self.pairs.copy(), values)

    @property
    def arguments(self) -> Any:
        """What the compiled search reads."""
        sets = self.sets, self.pool, self.place, self.count
        return *sets, self.n, self.binomials, self.places.driven, TRIES, self.state


def _checked(concepts: ParityConcepts, tolerance: float) -> Placements:
    """The placements at a tolerance; `InputError` where there are none, or the class is not for blocks."""
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
    """Take ranks out of the first `count` of the pool, the last one moving up each time: how many are left."""
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
    n: Any,
    binomials: Any,
    driven: Any,
    tries: Any,
    state: Any,
) -> Any:
    """Which placement has all its sets alive in a random block through a live set; -1 if none of so many
    tries has.

    The block's pairs (4,) and its members' ranks (16,) are left in the first two arrays; bit j of a member's number
    says whether it has taken the second of pair j.
    """
    needed = popcount(U(driven[0]))
    for _ in range(tries):
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
    """One of the bits of a mask of n bits, as a mask."""
    while True:
        bit = ONE << random_word(state) % U(n)
        if mask & bit:
            return bit
