"""What needs no game: floors, what surely suffices, and the least sample needs that follow from them."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import ceil, comb

from hardness.families.concepts import RoundingConcepts
from hardness.sq.bounds.adversaries import adversary_bounds
from hardness.sq.bounds.parity import entropy_floor
from hardness.sq.bounds.rounding import alike
from hardness.sq.exact import certain_queries, exact_floor
from hardness.sq.strategies.sign_batch import batch_queries, majority_mean
from hardness.studies.needs.tasks import FINEST, tolerance

STEPS = 16  # of a factor of two in the tolerance, where a least need is sought
FINE = tuple(2.0 + (i + 0.5) / STEPS for i in range(round((FINEST - 2) * STEPS)))


def samples(tau: float) -> float:
    """1/tau^2: about what a simulation by examples draws for one query."""
    return tau**-2


def inverse(tau: float) -> float:
    """1/tau."""
    return 1 / tau


@cache
def parity_floor(dim: int, heads: int, exponent: float) -> int:
    """Queries that every deterministic learner needs which must be certain: theorem B, or what answers can tell."""
    size, tau = comb(dim - 1, heads), tolerance(exponent)
    return max(exact_floor(size, tau), ceil(entropy_floor(size, tau)))


def parity_suffices(dim: int, heads: int, exponent: float) -> int:
    """Queries that surely identify, whatever a valid oracle answers (theory 2.7): characters, or independent sets."""
    size = comb(dim - 1, heads)
    return min(size - 1, certain_queries(size, tolerance(exponent)))


def independent_batches(dim: int, heads: int, exponent: float) -> int | None:
    """What sign batches pay that are no larger than the rank of the class: sets that are affinely independent.

    None where the means outside a batch pass the tolerance, so that its formula does not hold.
    """
    n, tau = dim - 1, tolerance(exponent)
    rank = n if heads % 2 else n - 1
    outside = majority_mean(rank - 1 + rank % 2) / (rank - 3)
    return batch_queries(comb(n, heads), tau, rank) if tau > outside else None


@cache
def rounding_floor(concepts: RoundingConcepts, exponent: float) -> int:
    """Queries needed for the labels of m heads: theory 2.6 by `adversary_bounds`, or what answers can tell."""
    tau, classes = tolerance(exponent), concepts.size // alike(concepts)
    return max(ceil(adversary_bounds(concepts, tau).get("window", 0.0)), ceil(entropy_floor(classes, tau)), 1)


def least_needed(dim: int, heads: int, price: Callable[[float], float]) -> float:
    """A lower bound on max(q, price) over every tolerance: between two of a fine row, the floor of the smaller one and
    the price of the larger one.

    >>> least_needed(16, 2, samples) <= 2 * (8 * 105) ** 0.5
    True
    """
    found = [
        max(parity_floor(dim, heads, finer), price(tolerance(coarser))) for coarser, finer in pairwise((2.0, *FINE))
    ]
    return min(*found, price(tolerance(FINE[-1])))
