"""Exhaustive search that keeps one bit of an example: what meets theorem M up to a factor (theory 2.10)."""

from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from hardness.errors import InputError


@dataclass(frozen=True)
class Search:
    """How a search ended: the informative examples that it took, and whether it named the hidden set."""

    examples: int
    solved: bool


def agreements_needed(concepts: int) -> int:
    """ceil(log2(20 N)): so many agreements, and none of N wrong sets passes with probability above 1/20.

    >>> agreements_needed(45)
    10
    """
    return ceil(log2(20 * concepts))


def exhaustive_search(concepts: int, rng: np.random.Generator) -> Search:
    """Test N sets in turn, each on fresh examples until one contradicts it or enough agree; the hidden one is uniform.

    The bit kept of an example says whether y = chi_T(v). For T other than the hidden set it is a fair coin whatever
    the sets are (2.10), so coins are drawn and no inputs: the law of the search is exact. Raises `InputError` for
    no sets.

    >>> exhaustive_search(1, np.random.default_rng(0))
    Search(examples=5, solved=True)
    """
    if concepts < 1:
        raise InputError(f"a class holds at least 1 set, got {concepts}")
    needed = agreements_needed(concepts)
    contradicted = rng.geometric(0.5, size=int(rng.integers(concepts)))  # at which example a wrong set falls
    passed = np.flatnonzero(contradicted > needed)
    if len(passed):
        return Search(int(np.minimum(contradicted[: passed[0] + 1], needed).sum()), False)
    return Search(int(contradicted.sum()) + needed, True)
