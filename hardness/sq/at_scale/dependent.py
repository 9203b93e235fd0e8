"""The strategy dependent at scale: what theorems A and C promise of any live set, whatever a valid oracle answers."""

from hardness.families.concepts import ParityConcepts
from hardness.sq.at_scale.games import GameCount
from hardness.sq.exact import IDENTIFIABLE, certain_losses, decimal


def dependent_adversary(concepts: ParityConcepts, tolerance: float, budget: int) -> GameCount:
    """The queries that surely suffice (`certain_losses`): the plain game, whose queries lose more, takes no more.

    >>> dependent_adversary(ParityConcepts(63, 8), 2**-10, 10**9)
    GameCount(queries=53026, remaining=1, right=None, confirmations=0)
    """
    live, queries = concepts.size, 0
    if decimal(tolerance) >= IDENTIFIABLE:
        return GameCount(budget if live > 1 else 0, live)
    for steps, lost in certain_losses(live, tolerance):
        steps = min(steps, budget - queries)
        live, queries = live - steps * lost, queries + steps
    return GameCount(queries, max(live, 1))
