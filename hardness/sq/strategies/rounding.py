"""Strategies on the rounding family: queries are tables over public vectors and levels (theory 2.6)."""

from collections.abc import Callable, Generator
from itertools import combinations

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.families.concepts import RoundingConcepts
from hardness.sq.bounds.batches import batch_size
from hardness.sq.oracle import best_answer
from hardness.sq.queries import LevelTable
from hardness.sq.strategies.base import until_idle
from hardness.sq.tolerance import within

Secrets = NDArray[np.int16]
Steps = Generator[LevelTable, Secrets, None]
Strategy = Callable[[RoundingConcepts, Secrets, float, Random], Steps]
Table = NDArray[np.float64]
SAMPLE, ASCENT = 2048, 3


def votes(concepts: RoundingConcepts, secrets: Secrets, signs: NDArray[np.int_]) -> Table:
    """b(u, y) = sign of sum_i eps_i (+1 if secret i has level y at u, else -1); an odd number of secrets."""
    labels = concepts.label_table[secrets @ concepts.powers]
    agree = labels[:, :, None] == np.arange(concepts.p)
    counts: Table = np.where(agree, signs[:, None, None], -signs[:, None, None]).sum(axis=0).astype(float)
    return np.sign(counts)


def characters(concepts: RoundingConcepts, live: Secrets, tolerance: float, rng: Random) -> Steps:
    """The labels of one secret after the other, in order from a random start."""
    return _one_by_one(concepts, np.roll(live, -int(rng.integers(len(live))), axis=0))


def random_order(concepts: RoundingConcepts, live: Secrets, tolerance: float, rng: Random) -> Steps:
    """The labels of one secret after the other, in random order."""
    return _one_by_one(concepts, rng.permutation(live))


def _one_by_one(concepts: RoundingConcepts, secrets: Secrets) -> Steps:
    for secret in secrets:
        yield LevelTable(concepts, votes(concepts, secret[None], np.array([1])))


def sign_batch(concepts: RoundingConcepts, live: Secrets, tolerance: float, rng: Random) -> Steps:
    """Votes of `batch_size` live secrets, half of the signs -; fewer in the end game."""
    size = batch_size(tolerance)
    return until_idle(live, lambda live, idle: [LevelTable(concepts, _batch(concepts, live, size, rng))])


def _batch(concepts: RoundingConcepts, live: Secrets, size: int, rng: Random) -> Table:
    size = min(size, max(1, len(live) // 2))
    size -= 1 - size % 2
    secrets = rng.choice(live, size, replace=False)
    return votes(concepts, secrets, np.where(np.arange(size) < size // 2, -1, 1))


def low_degree(concepts: RoundingConcepts, live: Secrets, tolerance: float, rng: Random) -> Steps:
    """Every product of up to two public coordinates (as signs) times the level, scaled to [-1, 1]."""
    signs = 1.0 - 2 * (concepts.public()[0] != 0)
    level = 2 * np.arange(concepts.p) / (concepts.p - 1) - 1
    for degree in range(1, 3):
        for chosen in combinations(range(concepts.n), degree):
            yield LevelTable(concepts, np.outer(signs[:, list(chosen)].prod(axis=1), level))


def gradient(concepts: RoundingConcepts, live: Secrets, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates u_j sigma'(<w, u> - b) of random attention heads, times the level."""
    vectors = concepts.public()[0].astype(float)
    level = 2 * np.arange(concepts.p) / (concepts.p - 1) - 1

    def head(live: Secrets, idle: int) -> list[LevelTable]:
        w = 4 * rng.standard_normal(concepts.n)
        slope = 1 / np.cosh((vectors @ w - (vectors @ w).mean() + rng.standard_normal()) / 2) ** 2
        return [LevelTable(concepts, np.outer(vectors[:, j] * slope, level)) for j in range(concepts.n)]

    return until_idle(live, head, patience=100)


def adaptive(concepts: RoundingConcepts, live: Secrets, tolerance: float, rng: Random) -> Steps:
    """The best of many votes by exact loss on a sample: of secrets, of neighbourhoods, and what ascent makes of them.

    The variance of a_w over secrets is capped (theory 2.6), so what counts is to gather it in few large means: climb
    sum_w a_w^4. It is convex in the table, so the signs of its gradient, a vote of all secrets with weights a_w^3,
    never lower it; the votes of near secrets, whose labels agree, join. Or all that move by tau/2 vote alike.
    """
    unit = np.eye(concepts.n, dtype=np.int16)
    steps = np.concatenate([0 * unit[:1], unit, -unit])

    def climbed(live: Secrets, idle: int) -> list[LevelTable]:
        sample = live if len(live) <= SAMPLE else rng.choice(live, SAMPLE, replace=False)
        labels = concepts.label_table[sample @ concepts.powers]
        cells = (
            np.stack([labels == y for y in range(concepts.p)], axis=2)
            .reshape(len(sample), -1)
            .astype(np.float32)
        )
        near = ((rng.choice(live) + steps) % concepts.q).astype(np.int16)
        candidates = [_batch(concepts, live, size, rng) for size in (1, 5, 15, 31)]
        candidates.append(votes(concepts, near, np.ones(len(near), int)))
        best, table = -1, candidates[0]
        for candidate in candidates:
            for climb in range(ASCENT + 2):
                means = LevelTable(concepts, candidate).means(sample)
                lost = int(np.sum(~within(means, best_answer(means, tolerance), tolerance)))
                if lost > best:
                    best, table = lost, candidate
                centred = means - np.median(means)
                weights = np.sign(centred) * (np.abs(centred) > tolerance / 2) if climb == 0 else centred**3
                counts = (weights.astype(np.float32) @ cells).reshape(candidate.shape)
                candidate = np.where(counts > np.median(counts, axis=1, keepdims=True), 1.0, -1.0)
        return [LevelTable(concepts, table)]

    return until_idle(live, climbed)


STRATEGIES: dict[str, Strategy] = {
    "characters": characters,
    "random": random_order,
    "low-degree": low_degree,
    "sign-batch": sign_batch,
    "gradient": gradient,
    "adaptive": adaptive,
}
