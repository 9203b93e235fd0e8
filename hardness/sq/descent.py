"""Gradient descent through an oracle: the entries of a learner's population gradient as statistical queries."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import check_tolerance
from hardness.sq.game import oracle_of, seed_sequence
from hardness.sq.oracle import Null, Oracle, OutOfQueries
from hardness.sq.queries import Table, bit_products

Correlations = Callable[[NDArray[np.float64]], NDArray[np.float64]]
STEPS, LARGEST_DIM = 1500, 18
LEARNED = 0.1  # mean squared error on informative rows, where the label has variance 1


@dataclass(frozen=True)
class Descent:
    """Records how a gradient descent ended: `solved` after `steps` steps, or `budget` when steps or queries ran out.
    `error` is the last mean squared error where tokens differ in coordinate 0; None while several sets are possible."""

    status: str
    queries: int
    steps: int
    smallest_tolerance: float
    error: float | None


def descend(
    learner: Callable[[Correlations, int], Iterable[NDArray[np.float64]]],
    concepts: ParityConcepts,
    oracle: str | type[Oracle] = "null",
    tolerance: float = 0.1,
    *,
    seed: int | SeedSequence = 0,
    steps: int = STEPS,
    max_queries: int | None = None,
) -> Descent:
    """Let a learner descend by an oracle's answers until its function is right, or steps or queries run out.

    `learner` is called with a function and d = n + 1. The function maps tables h (q, 2^n), functions of the sign vector
    v, to the oracle's answers for E[y h(v)], y being the label, over inputs whose tokens differ in coordinate 0. Each
    table is one query, a constant one none. Before every step the learner yields the values (2^n,) of its own function.
    It has learned a set S when their mean squared distance from χ_S is at most .1. The oracle `window` hides no set, so
    one must be left before values are judged; every other oracle hides one, drawn by the seed. Raises `InputError` for
    d above 18.

    >>> from itertools import repeat
    >>> right = repeat(bit_products(np.arange(16, dtype=np.uint64), np.uint64(15)).astype(float))
    >>> descend(lambda correlations, dim: right, ParityConcepts(4, 4), steps=7)
    Descent(status='solved', queries=0, steps=0, smallest_tolerance=0.1, error=0.0)
    """
    if concepts.n >= LARGEST_DIM:
        raise InputError(
            f"a gradient is a mean over all sign vectors here, up to d = {LARGEST_DIM}; lower --dim"
        )
    check_tolerance(tolerance)
    drawing, answering = map(np.random.default_rng, seed_sequence(seed).spawn(2))
    kind = oracle_of(oracle)
    hides = not kind.adversary or issubclass(kind, Null)
    live = concepts.masks(int(drawing.integers(concepts.size)), 1) if hides else concepts.masks()
    judge = kind(live, answering, budget=max_queries)

    def correlations(tables: NDArray[np.float64]) -> NDArray[np.float64]:
        means = np.zeros(len(tables))
        for i, row in enumerate(tables):
            middle, reach = (row.max() + row.min()) / 2, np.ptp(row) / 2
            if reach > 0:  # a shift changes no mean, and half of all inputs are informative
                means[i] = 2 * reach * judge.answer(Table((row - middle) / reach), tolerance)
        return means

    taken, error = 0, None
    try:
        for taken, values in enumerate(islice(learner(correlations, concepts.n + 1), steps + 1)):
            if len(judge.possible) == 1:
                labels = bit_products(np.arange(len(values), dtype=np.uint64), judge.possible[0])
                error = float(np.mean((values - labels) ** 2))
                if error <= LEARNED:
                    return Descent("solved", judge.ledger.queries, taken, tolerance, error)
    except OutOfQueries:
        pass
    return Descent("budget", judge.ledger.queries, taken, tolerance, error)
