"""Single characters: in order, in random order, and the monomials of lower degree."""

from itertools import combinations

import numpy as np
from numpy.random import Generator as Random

from hardness.families.concepts import ParityConcepts
from hardness.sq.queries import character
from hardness.sq.strategies.base import Masks, Steps


def characters(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Every single character in colex order, from a random start."""
    for mask in np.roll(live, -int(rng.integers(len(live)))):
        yield character(int(mask))


def random_order(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Every single character in random order."""
    for mask in rng.permutation(live):
        yield character(int(mask))


def low_degree(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Every monomial of degree 1 to max(1, s-1): exactly zero information below degree s."""
    for degree in range(1, max(1, concepts.s - 1) + 1):
        for chosen in combinations(range(concepts.n), degree):
            yield character(sum(1 << j for j in chosen))
