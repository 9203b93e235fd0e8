"""Games with a switch on (theory 2.9): biased products, and chains of parities that are shown block by block."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from hardness.errors import InputError, unknown
from hardness.families.concepts import ParityConcepts
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.bounds.switches import (
    bias_degree,
    biased_bound,
    biased_enough,
    chain_bound,
    chain_enough,
)
from hardness.sq.game import play, rounds, seated
from hardness.sq.oracle import Window
from hardness.sq.queries import Correlational, SignBatch, character
from hardness.sq.strategies.base import Masks, Steps
from hardness.sq.strategies.parity import STRATEGIES
from hardness.sq.tolerance import check_tolerance

TABLE_BITS = 20  # bits whose tables of 2^n values are made
PRODUCTS = "products"  # the strategy that bias makes possible


@dataclass(frozen=True)
class Biased:
    """A `query` y h(v) 1{z_0 != 0} on n bits of bias μ: its mean under S is E_μ[h χ_S]/2.

    A single character has μ^|S⊕T|/2, for any n; all others by a transform over the cube, n <= 20.

    >>> query = Biased(SignBatch(np.array([3], np.uint64), np.array([1])), n=3, mu=0.5)
    >>> query.means(np.array([3, 5, 1], np.uint64)).tolist()
    [0.5, 0.125, 0.25]
    """

    query: Correlational
    n: int
    mu: float

    @property
    def peak(self) -> float:
        return self.query.peak

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        if isinstance(self.query, SignBatch) and len(self.query.sets) == 1:
            distance = np.bitwise_count(elements ^ self.query.sets[0]).astype(np.float64)
            return np.asarray(float(self.query.signs[0]) / 2 * self.mu**distance)
        if self.n > TABLE_BITS:
            raise InputError(f"biased queries are tables of 2^n values; n={self.n} > {TABLE_BITS}: lower --dim")
        # E_mu[h chi_S] is the sum over v of P_mu(v) h(v) chi_S(v): the transform, unscaled, of h times the density.
        words = np.arange(1 << self.n, dtype=np.uint64)
        minus = np.bitwise_count(words).astype(np.float64)
        spectrum = self.query.values_at(words) * ((1 + self.mu) / 2) ** (self.n - minus) * ((1 - self.mu) / 2) ** minus
        walsh_hadamard(spectrum)
        return np.asarray(spectrum[elements.astype(np.int64)] / 2)


@dataclass(frozen=True)
class Switched:
    """One ended game: `status` solved or budget, its `queries`, `remaining` concepts, and what is proved of any such
    game: `needed` by every strategy, and enough for the best one (`suffice`, None where nothing is proved)."""

    status: str
    queries: int
    remaining: int
    needed: float
    suffice: int | None


def products(concepts: ParityConcepts, live: Masks, k: int) -> Steps:
    """All products of k bits: where the gap is wide enough, the answers tell which lie inside S (theory 2.9)."""
    for chosen in combinations(range(concepts.n), k):
        yield character(sum(1 << j for j in chosen))


def play_biased(
    concepts: ParityConcepts,
    strategy: str,
    tolerance: float,
    mu: float,
    *,
    seed: int | SeedSequence = 0,
    max_queries: int | None = None,
) -> Switched:
    """A strategy against the window oracle where products have bias μ: one of `STRATEGIES`, or "products".

    At μ = 0 it is `play`, query by query; "products" are then all characters. Raises `InputError` for a class beyond
    2^22 sets and an unknown strategy.

    >>> play_biased(ParityConcepts(12, 3), "products", 0.02, 0.6)
    Switched(status='solved', queries=11, remaining=1, needed=0.10540197135376558, suffice=12)
    """
    check_tolerance(tolerance)
    if strategy not in (known := (*STRATEGIES, PRODUCTS)):
        raise unknown("strategy", strategy, known)
    n, s = concepts.n, concepts.s
    proved = biased_bound(n, s, tolerance, mu), biased_enough(n, s, tolerance, mu)
    if not mu and strategy != PRODUCTS:
        plain = play(concepts, strategy, "window", tolerance, seed=seed, max_queries=max_queries)
        return Switched(plain.status, plain.queries, plain.remaining, *proved)

    def biased(query: Any) -> Biased:
        assert isinstance(query, Correlational)  # all built-in strategies ask y h(v)
        return Biased(query, n, mu)

    k = bias_degree(s, tolerance, mu) or s
    asks = (lambda concepts, live, *_: products(concepts, live, k)) if strategy == PRODUCTS else STRATEGIES[strategy]
    oracle, steps = seated(concepts, asks, Window, tolerance, seed, max_queries)
    deque(rounds(concepts, oracle, steps, tolerance, biased), maxlen=0)
    status = "solved" if len(oracle.live) == 1 else "budget"
    return Switched(status, oracle.ledger.queries, len(oracle.live), *proved)


def play_nested(n: int, blocks: Sequence[int], strategy: str, tolerance: float, *, seed: int = 0) -> Switched:
    """Chains against the window oracle, block by block: with S_(i-1) known, y_i y_(i-1) is the parity of B_i.

    The window counts chains, and every B_i that is still possible has as many continuations; so the game on a block is
    the plain game on its sets, and the whole is their sum (theory 2.9). One block is `play`.

    >>> play_nested(63, (2, 2, 2), "characters", 0.05).queries
    5491
    """
    queries, children = 0, SeedSequence(seed).spawn(len(blocks))
    for i, g in enumerate(blocks):
        concepts = ParityConcepts(n - sum(blocks[:i]), g)
        found = play(concepts, strategy, "window", tolerance, seed=children[i] if i else seed)
        queries += found.queries
        if not found.solved:
            break
    proved = chain_bound(n, blocks, tolerance), chain_enough(n, blocks, tolerance)
    return Switched(found.status, queries, found.remaining, *proved)
