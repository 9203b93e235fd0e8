"""The strategies on parities by name, and the simplest of them: single characters, and monomials of lower degree."""

from itertools import combinations

import numpy as np
from numpy.random import Generator as Random

from hardness.families.concepts import ParityConcepts
from hardness.sq.queries import character
from hardness.sq.strategies.base import Masks, Steps, Strategy
from hardness.sq.strategies.bent import adaptive, bent
from hardness.sq.strategies.blocks import blocks
from hardness.sq.strategies.flat import flat
from hardness.sq.strategies.sign_batch import sign_batch
from hardness.sq.strategies.tables import attention_gradient, dependent, gradient, mlp_gradient, spread


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


STRATEGIES: dict[str, Strategy] = {
    "characters": characters,
    "random": random_order,
    "low-degree": low_degree,
    "sign-batch": sign_batch,
    "bent": bent,
    "adaptive": adaptive,
    "blocks": blocks,
    "flat": flat,
    "spread": spread,
    "dependent": dependent,
    "gradient": gradient,
    "mlp-gradient": mlp_gradient,
    "attention-gradient": attention_gradient,
}
