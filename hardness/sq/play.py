"""The one loop of every explicit game: a strategy asks, an oracle answers, until one concept is left.

Bias, flips and the short tables of certificates are what is made of a query before it is asked; chains are one such
game a block. The games that are too large for a list of concepts are `hardness.sq.at_scale`.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import Concepts, ParityConcepts
from hardness.sq.oracle import Oracle, OutOfQueries
from hardness.sq.queries import Query
from hardness.sq.strategies.base import Steps
from hardness.sq.tolerance import within

EXPLICIT = 2**22  # concepts of a list


class Round(NamedTuple):
    """One query as it was asked, its answer, and the concepts that all answers so far allow."""

    query: Query
    reply: float
    live: NDArray[Any]


def seated(
    concepts: Concepts,
    strategy: Callable[..., Steps],
    oracle: type[Oracle],
    reach: float,
    seed: int | SeedSequence,
    budget: int | None = None,
    **told: Any,
) -> tuple[Oracle, Steps]:
    """An oracle over all concepts, and a strategy that is told of an answer's `reach` around 0: one seed for each.

    `told` is what the oracle is told besides. Raises `InputError` for more than 2^22 concepts.
    """
    if concepts.size > EXPLICIT:
        raise InputError(f"played concept by concept, up to 2^22 of them, not {concepts.size}; lower --dim")
    root = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
    for_oracle, for_learner = (np.random.default_rng(child) for child in root.spawn(2))
    live: Any = concepts.masks() if isinstance(concepts, ParityConcepts) else concepts.elements()
    return oracle(live, for_oracle, budget=budget, **told), strategy(concepts, live, reach, for_learner)


def rounds(
    concepts: Concepts,
    oracle: Oracle,
    steps: Steps,
    tolerance: float,
    asked: Callable[[Any], Query] = lambda query: query,
) -> Iterator[Round]:
    """Round after round until a concept is identified, none is left, the strategy gives up, or the queries run out.

    >>> from hardness.sq.oracle import Window
    >>> from hardness.sq.strategies.parity import STRATEGIES
    >>> concepts = ParityConcepts(5, 2)
    >>> oracle, steps = seated(concepts, STRATEGIES["characters"], Window, 0.2, seed=0)
    >>> [len(each.live) for each in rounds(concepts, oracle, steps, 0.2)]
    [9, 8, 7, 6, 5, 4, 3, 2, 1]
    """
    live: Any = oracle.live
    try:
        query = asked(next(steps))
        while not concepts.is_identified(live):
            reply = oracle.answer(query, tolerance)
            # What the answers of an adversary allow it keeps itself; an honest oracle knows its secret alone.
            live = oracle.live if oracle.adversary else live[within(query.means(live), reply, tolerance)]
            yield Round(query, reply, live)
            if len(live) == 0 or concepts.is_identified(live):
                return
            query = asked(steps.send(live))
    except (StopIteration, OutOfQueries):
        return
