"""Means spread as evenly as they go over all that one query can reach: the strategy of small tolerances."""

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.queries import Table
from hardness.sq.strategies.base import IDLE_QUERIES, Masks, Steps, kept
from hardness.sq.strategies.sign_batch import LARGEST_BATCH, batch_modes, batch_size, best_batch

TABLE_BITS = 24  # bits of the table that a query is
CROWDED = 0.21  # of many sets so many are spread at a time, over the squared tolerance: a third of them is lost
CLIPS = (0.0, 1.0)  # where the sum of characters is cut, in standard deviations; 0 is its sign
ROUNDS = 4


def spread(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """The best, by exact loss, of a sign batch and of all live sets at once, each aimed at a mean of its own.

    By Parseval the squares of k means sum to at most 1/4, so that they fill a range of about 1/sqrt(k), and an answer
    keeps a share of about tau sqrt(k). Of sets too many for that a part is spread. The last queries read off single
    sets: at a tolerance small enough the first one does. Raises `InputError` for more than 24 bits.

    >>> from hardness.sq.game import play
    >>> [play(ParityConcepts(10, 3), "spread", "window", tau).queries for tau in (0.1, 0.02, 0.0002)]
    [20, 4, 2]
    """
    if concepts.n > TABLE_BITS:
        raise InputError(f"spread asks tables of 2^n values, n at most {TABLE_BITS}, not {concepts.n}; lower --dim")
    full, few, idle = batch_size(tolerance), int(CROWDED / tolerance**2), 0
    modes = batch_modes(tolerance, min(full, LARGEST_BATCH))
    while idle < IDLE_QUERIES:
        before = len(live)
        size = full if LARGEST_BATCH < full <= before else max(1, best_batch(modes, modes.size - 1, before, False)[0])
        signs = np.where(np.arange(size) < size // 2, -1.0, 1.0)
        candidates = [_cut_sum(rng.choice(live, size, replace=False), signs, concepts.n, 0.0)]
        if before > 2 * few:
            candidates += [evened(rng.choice(live, few, replace=False), concepts.n, 0.0, rng)] if few > 2 else []
        else:
            candidates += [evened(live, concepts.n, clip, rng) for clip in CLIPS]
        live = yield min(map(Table, candidates), key=lambda query: kept(query, live, tolerance))
        idle = idle + 1 if len(live) == before else 0


def evened(sets: Masks, n: int, clip: float, rng: Random) -> NDArray[np.float64]:
    """A cut sum of the characters of these sets, its weights moved until the means stand in even steps: (2^n,)."""
    # Even steps are what a window of fixed length holds fewest of. Which set stands where does not matter: at random,
    # so that the adversary's keeping one end says nothing of the next query.
    aim = rng.permutation(np.linspace(-1.0, 1.0, len(sets)))
    weights, values = aim, np.zeros(1 << n)
    for _ in range(ROUNDS):
        values = _cut_sum(sets, weights, n, clip)
        spectrum = values.copy()
        walsh_hadamard(spectrum)
        means = spectrum[sets.astype(np.int64)]
        # A fixed point has means in proportion to the aim: what a mean lacks, in the scale of the least squares fit
        # means = c aim, is added to its weight.
        weights = weights + aim - means * (aim @ aim) / (means @ aim)
    return values


def _cut_sum(sets: Masks, weights: NDArray[np.float64], n: int, clip: float) -> NDArray[np.float64]:
    values = np.zeros(1 << n)
    values[sets.astype(np.int64)] = weights
    walsh_hadamard(values)
    return np.clip(values / (clip * np.linalg.norm(weights)), -1.0, 1.0) if clip else np.sign(values)
