"""The best of sign batches and bent blocks by exact loss."""

from numpy.random import Generator as Random

from hardness.families.concepts import ParityConcepts
from hardness.sq.queries import Query
from hardness.sq.strategies.base import Masks, Steps, kept, until_idle
from hardness.sq.strategies.bent import bent_rank, block
from hardness.sq.strategies.sign_batch import batch, batch_size


def adaptive(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """The best of sign batches and bent blocks with |a_S| > tau, by its exact loss to the window on the live sets.

    A fresh block of 4^r sets loses its smaller side, 6 of 16 or 28 of 64: for tau just below 2^-r/2 more than a batch.
    """
    rank = bent_rank(tolerance)

    def best(live: Masks, idle: int) -> list[Query]:
        # A batch and a block cost one query each; which loses more depends on the sets left, so both are tried on them.
        candidates: list[Query] = [batch(live, batch_size(tolerance) - 2 * i, rng) for i in (0, 0, 1)]
        for mask in rng.choice(live, 6).tolist():
            candidates += [block(mask, rank, concepts.n, int(shift)) for shift in rng.integers(4**rank, size=3)]
        return [min(candidates, key=lambda query: kept(query, live, tolerance))]

    return until_idle(live, best)
