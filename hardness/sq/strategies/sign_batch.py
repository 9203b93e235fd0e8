"""Signed majorities of many sets at once, the near-tight query of theory 2.5e."""

import numpy as np
from numpy.random import Generator as Random

from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.batches import LARGEST_BATCH, batch_modes, batch_size, best_batch
from hardness.sq.queries import SignBatch
from hardness.sq.strategies.base import Masks, Steps, until_idle


def sign_batch(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Signed majority of `batch_size` live sets, half of the signs -; in the end game as many as lose the most."""
    modes = batch_modes(tolerance, min(batch_size(tolerance), LARGEST_BATCH))

    def largest(live: Masks, idle: int) -> list[SignBatch]:
        size, _ = best_batch(modes, modes.size - 1 - 2 * idle, len(live))
        return [batch(live, max(1, size), rng)]

    return until_idle(live, largest)


def batch(live: Masks, size: int, rng: Random) -> SignBatch:
    """A sign batch of `size` live sets (an odd number, at most all of them), drawn at random, half of the signs -."""
    size = max(1, min(size, len(live)))
    size -= 1 - size % 2
    return SignBatch(rng.choice(live, size, replace=False), np.where(np.arange(size) < size // 2, -1, 1))
