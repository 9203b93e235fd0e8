"""What a strategy on parities is, and when it gives up."""

from collections.abc import Callable, Generator, Iterable
from typing import Any

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.families.concepts import ParityConcepts
from hardness.sq.oracle import best_answer
from hardness.sq.queries import Query
from hardness.sq.tolerance import within

# A strategy yields queries and is sent the sets still possible (uint64 masks) after each answer; it ends when
# it has nothing more to ask. It never sees the secret.
Masks = NDArray[np.uint64]
Steps = Generator[Query, Masks, None]
Strategy = Callable[[ParityConcepts, Masks, float, Random], Steps]
IDLE_QUERIES = 8


def until_idle(
    live: Any, ask: Callable[[Any, int], Iterable[Any]], patience: int = IDLE_QUERIES
) -> Generator[Any, Any]:
    """The queries of `ask(live, idle)`, again and again, until `patience` rounds in a row have ruled out nothing.

    `idle` is how many such rounds there were just before; `live` holds masks of sets, or secrets (count, n).
    """
    idle = 0
    while idle < patience:
        before = len(live)
        for query in ask(live, idle):
            live = yield query
        idle = idle + 1 if len(live) == before else 0


def kept(query: Query, live: Masks, tolerance: float) -> int:
    """How many of the live sets the window's answer to a query leaves possible: the fewer, the better the query."""
    means = query.means(live)
    return int(within(means, best_answer(means, tolerance), tolerance).sum())
