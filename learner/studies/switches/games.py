"""Games with a switch on (theory 2.9): biased products, and chains of parities that are shown block by block."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import check_tolerance
from hardness.sq.game import play, rounds, seated
from hardness.sq.oracle import Window
from hardness.sq.queries import SignBatch, character
from hardness.sq.strategies import Steps
from learner.studies.switches.bounds import (
    bias_degree,
    biased_bound,
    biased_enough,
    chain_bound,
    chain_enough,
)


@dataclass(frozen=True)
class Biased:
    """A `character` y χ_T 1{z_0 != 0} on bits of bias μ: its mean under S is μ^|S⊕T|/2.

    >>> Biased(character(3), mu=0.5).means(np.array([3, 5, 1], np.uint64)).tolist()
    [0.5, 0.125, 0.25]
    """

    character: SignBatch
    mu: float

    @property
    def peak(self) -> float:
        return self.character.peak

    def means(self, elements: NDArray[np.uint64]) -> NDArray[np.float64]:
        distance = np.bitwise_count(elements ^ self.character.sets[0]).astype(np.float64)
        return np.asarray(0.5 * self.mu**distance)


@dataclass(frozen=True)
class Switched:
    """One ended game: `status` solved or budget, its `queries`, `remaining` concepts, and what is proved of any such
    game: `needed` by every strategy, and enough for the best one (`suffice`, None where nothing is proved)."""

    status: str
    queries: int
    remaining: int
    needed: float
    suffice: int | None


def play_biased(concepts: ParityConcepts, tolerance: float, mu: float) -> Switched:
    """All products of k bits against the window oracle, where they have bias μ (theory 2.9).

    k is the least at which the gap is wide enough for the answers to tell which products lie inside S; without bias it
    is s, and the game that of single characters. Raises `InputError` for a class beyond 2^22 sets.

    >>> play_biased(ParityConcepts(12, 3), 0.02, 0.6)
    Switched(status='solved', queries=11, remaining=1, needed=0.10540197135376558, suffice=12)
    """
    check_tolerance(tolerance)
    n, s = concepts.n, concepts.s
    k = bias_degree(s, tolerance, mu) or s

    def products(*_: Any) -> Steps:
        for chosen in combinations(range(n), k):
            yield character(sum(1 << j for j in chosen))

    oracle, steps = seated(concepts, products, Window, tolerance, seed=0)
    deque(rounds(concepts, oracle, steps, tolerance, lambda query: Biased(query, mu)), maxlen=0)
    status = "solved" if len(oracle.live) == 1 else "budget"
    proved = biased_bound(n, s, tolerance, mu), biased_enough(n, s, tolerance, mu)
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
        game = play(concepts, strategy, "window", tolerance, seed=children[i] if i else seed)
        queries += game.queries
        if not game.solved:
            break
    proved = chain_bound(n, blocks, tolerance), chain_enough(n, blocks, tolerance)
    return Switched(game.status, queries, game.remaining, *proved)
