"""A search with pruning: bounds on projected norms, their chance, their nodes, and the bounds that cost least."""

from dataclasses import dataclass
from functools import cache
from math import inf, log, log2, pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]

QUANTILES = (0.98, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
MOST_NODES = 28.5  # log2 of the nodes of one search: some fifteen seconds
LEAST_CHANCE = 1e-4  # no search is priced as if it succeeded less often


@dataclass(frozen=True)
class Pruning:
    """Bounds (M,) on squared norms, their chance of success, log2 of the nodes, and of the nodes a success."""

    bounds: Floats
    chance: float
    log2_nodes: float
    log2_price: float


@cache
def _quantiles(M: int) -> tuple[Floats, Floats]:
    """χ² quantiles (A, M) of the squared norms for each quantile α, and the chances (A,) that all M of them hold."""
    from scipy.stats import chi2

    i = np.arange(1, M + 1)
    levels = np.array([chi2.ppf(np.maximum(alpha, np.where(i == M, 0.999, 0)), i) for alpha in QUANTILES])
    # A fixed stream: these chances are a numerical integral, not a sample of anything.
    norms = np.cumsum(np.random.default_rng(0).standard_normal((4000, M)) ** 2, axis=1)
    return levels, np.array([(norms <= level).all(axis=1).mean() for level in levels])


def log2_reduction_nodes(beta: int, M: int) -> float:
    """log2 of what a reduction in rank M is worth in search nodes when the attack decides to reduce on or to search.

    Fixed, so that no clock steers an attack and its answer is the same everywhere: a rate of exchange, to be told from
    the seconds that `lattice_plan` predicts. It was measured once, on the ladder up to each block size.
    """
    in_rank_100 = 2.5e7 * {2: 0.3, 20: 0.6, 30: 1.0, 35: 1.3, 40: 5.0}[beta]
    return log2(in_rank_100) + 3 * log2(M / 100)


def pruning(log_lengths: Floats, sd: float, log2_spent: float, limit: float = MOST_NODES) -> Pruning:
    """The bounds for a search for an error of standard deviation `sd` in a basis with ln b*_i = `log_lengths` (M,).

    They minimise the price: nodes a success when a reduction worth 2^`log2_spent` nodes precedes every search, among
    bounds with at most 2^`limit` nodes, or are those with the fewest nodes where none has so few. The node count is
    the Gaussian heuristic: the volume of each level's ball over the volume of the projected lattice.
    """
    levels, chances = _quantiles(len(log_lengths))
    i = np.arange(1, len(log_lengths) + 1)
    density = np.cumsum(log_lengths) - gammaln(i / 2 + 1)
    nodes = np.logaddexp.reduce(i / 2 * np.log(pi * sd**2 * levels) + density, axis=1) / log(2)
    price = np.logaddexp2(log2_spent, nodes) - np.log2(np.maximum(chances, LEAST_CHANCE))
    few = nodes <= limit
    k = int(np.argmin(np.where(few, price, inf) if few.any() else nodes))
    return Pruning(sd**2 * levels[k], float(chances[k]), float(nodes[k]), float(price[k]))
