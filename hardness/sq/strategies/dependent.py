"""Cut sums of many sets, dependent as they are: the strategy whose losses theorem C promises (theory 2.7)."""

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.dependent import Loss, dependent_losses
from hardness.sq.queries import Query, Table
from hardness.sq.strategies.base import IDLE_QUERIES, Masks, Steps, kept
from hardness.sq.strategies.sign_batch import batch, batch_size

TABLE_BITS = 24  # bits of the table that a query is
DRAWS, TURNS = 3, 16  # of signs for a query, and of arguments for each


def dependent(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """The best, by exact loss, of a sign batch and of cut sums of live sets with random signs.

    Any live sets will do, and so many are lost as `exact.certain_queries` counts, whatever a valid oracle answers.
    Raises `InputError` for more than 24 bits.

    >>> from hardness.sq.exact import certain_queries
    >>> from hardness.sq.game import play
    >>> play(ParityConcepts(12, 4), "dependent", "window", 0.01).queries <= certain_queries(495, 0.01)
    True
    """
    if concepts.n > TABLE_BITS:
        raise InputError(f"dependent asks tables of 2^n values, n at most {TABLE_BITS}, not {concepts.n}; lower --dim")
    idle = 0
    while idle < IDLE_QUERIES:
        before = len(live)
        candidates: list[Query] = [batch(live, batch_size(tolerance) - 2 * idle, rng)]
        plan = next((loss for loss in reversed(dependent_losses(tolerance)) if loss.live <= before), None)
        candidates += [Table(cut_sum(live, plan, concepts.n, tolerance, rng)) for _ in range(DRAWS) if plan]
        live = yield min(candidates, key=lambda query: kept(query, live, tolerance))
        idle = idle + 1 if len(live) == before else 0


def cut_sum(live: Masks, plan: Loss, n: int, tolerance: float, rng: Random) -> NDArray[np.float64]:
    """A sum of characters with random signs, cut (2^n,), at an argument that moves as many up as down."""
    chosen = rng.choice(live, plan.count, replace=False)
    signs = np.resize((1.0, -1.0), plan.count)  # as many of each
    if not plan.even:
        signs = rng.choice((-1.0, 1.0), plan.count)
    values = np.zeros(1 << n)
    values[chosen.astype(np.int64)] = signs
    walsh_hadamard(values)
    values = np.clip(values / plan.cut, -1.0, 1.0)
    spectrum = values.copy()
    walsh_hadamard(spectrum)
    driven = signs * (signs * spectrum[chosen.astype(np.int64)] > 2 * tolerance * len(values))
    turns = np.append(rng.integers(0, 1 << n, TURNS, np.uint64), np.uint64(0))
    ups = driven @ (1.0 - 2.0 * (np.bitwise_count(chosen[:, None] & turns) & 1))
    turn = int(turns[np.argmin(np.abs(ups))])
    return np.asarray(values[np.arange(1 << n) ^ turn])
