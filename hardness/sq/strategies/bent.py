"""Bent functions on blocks of 4^r sets, all of whose means are equally large (theory 2.5e), and beside batches."""

import numpy as np
from numpy.random import Generator as Random

from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.batches import batch_size
from hardness.sq.queries import Query, SpanFunction, character
from hardness.sq.strategies.base import Masks, Steps, kept, until_idle
from hardness.sq.strategies.sign_batch import batch


def bent(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Bent functions on blocks of 4^r sets: one out of each of 2r pairs {2i, 2i+1}, all with |a_S| = 2^-r/2 > 2 tau.

    Means above 2 tau in size leave no window that holds a member and the rest: the whole block falls (theory 2.5e).
    """
    rank = bent_rank(2 * tolerance)
    split = np.bitwise_count(_split(live, concepts.n)).astype(int)
    asked: set[int] = set()
    # Largest blocks first: of the last one only the smaller side falls.
    for mask in live[np.lexsort((live, -split))].tolist():
        chosen = block(mask, rank, concepts.n)
        if chosen.base not in asked:
            asked.add(chosen.base)
            live = yield chosen
    for mask in live:
        yield character(int(mask))


def adaptive(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """The best of sign batches and bent blocks with |a_S| > tau, by its exact loss to the window on the live sets.

    A fresh block of 4^r sets loses its smaller side, 6 of 16 or 28 of 64: for tau just below 2^-r/2 more than a batch.
    """
    rank = bent_rank(tolerance)

    def best(live: Masks, idle: int) -> list[Query]:
        # A batch and a block cost one query each; which loses more depends on the sets left, so both are tried on them.
        candidates: list[Query] = [batch(live, batch_size(tolerance) - 2 * i, rng) for i in (0, 0, 1)]
        for mask in rng.choice(live, 6).tolist():
            candidates += [
                block(mask, rank, concepts.n, int(shift)) for shift in rng.integers(4**rank, size=3)
            ]
        return [min(candidates, key=lambda query: kept(query, live, tolerance))]

    return until_idle(live, best)


def bent_rank(threshold: float) -> int:
    """Largest r whose bent blocks have means 2^-r/2 above `threshold` in size."""
    rank = 0
    while 2.0 ** -(rank + 2) > threshold:
        rank += 1
    return rank


def _split(sets: Masks, n: int) -> Masks:
    """The pairs {2i, 2i+1} of which a set holds exactly one, each as its lower coordinate's bit."""
    low = np.uint64(sum(1 << j for j in range(0, n - 1, 2)))
    return np.asarray((sets & low) ^ (sets >> np.uint64(1) & low))


def block(mask: int, rank: int, n: int, shift: int = 0) -> SpanFunction:
    """The bent query on the block of a set: its first 2r split pairs; `shift` moves the signs by a character."""
    split = int(_split(np.array([mask], np.uint64), n)[0])
    pairs = [j for j in range(n) if split >> j & 1][: 2 * min(rank, split.bit_count() // 2)]
    for j in pairs:
        mask = mask & ~(3 << j) | 1 << j
    # The inner-product function by Kronecker products: its coefficients are all 2^-r in size, as bent functions' are.
    values = np.ones(1)
    for _ in range(len(pairs) // 2):
        values = np.kron(np.array([1.0, 1.0, 1.0, -1.0]), values)
    values *= 1 - 2.0 * (np.bitwise_count(np.arange(len(values)) & shift) & 1)
    return SpanFunction(mask, np.array([3 << j for j in pairs], np.uint64), values)
