"""Strategies on classes of one's own: queries are tables over all inputs (theory 2.8)."""

from collections.abc import Callable, Generator

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.families.listed import ListedConcepts
from hardness.sq.bounds.batches import batch_size
from hardness.sq.oracle import best_answer
from hardness.sq.queries import LabelTable
from hardness.sq.strategies.base import until_idle
from hardness.sq.tolerance import within

Rows = NDArray[np.int64]
Steps = Generator[LabelTable, Rows, None]
Strategy = Callable[[ListedConcepts, Rows, float, Random], Steps]
DRAWS = 4  # batches of each size


def characters(concepts: ListedConcepts, live: Rows, tolerance: float, rng: Random) -> Steps:
    """The labels of one concept after the other."""
    for row in live:
        yield LabelTable(concepts, concepts.table[row].astype(float))


def random_order(concepts: ListedConcepts, live: Rows, tolerance: float, rng: Random) -> Steps:
    """The labels of one concept after the other, in random order."""
    return characters(concepts, rng.permutation(live), tolerance, rng)


def sign_batch(concepts: ListedConcepts, live: Rows, tolerance: float, rng: Random) -> Steps:
    """The best, by exact loss, of votes of live concepts, half of the signs -, of several sizes."""
    largest = batch_size(tolerance)
    sizes = sorted({1, 2, 3, 5, largest // 4, largest // 2, largest} - {0})

    def voted(live: Rows, size: int) -> LabelTable:
        chosen = rng.choice(live, min(size, len(live)), replace=False)
        signs = np.where(np.arange(len(chosen)) < len(chosen) // 2, -1, 1)
        return LabelTable(concepts, np.sign(signs @ concepts.table[chosen].astype(np.int32)).astype(float))

    def kept(query: LabelTable, live: Rows) -> int:
        means = query.means(live)
        return int(within(means, best_answer(means, tolerance), tolerance).sum())

    def best(live: Rows, idle: int) -> list[LabelTable]:
        candidates = [voted(live, size) for size in sizes for _ in range(DRAWS)]
        return [min(candidates, key=lambda query: kept(query, live))]

    return until_idle(live, best)


STRATEGIES: dict[str, Strategy] = {"characters": characters, "random": random_order, "sign-batch": sign_batch}
