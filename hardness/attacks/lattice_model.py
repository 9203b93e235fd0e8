"""What the lattice attack will cost before it reduces anything: the profile with its floor, rank, nodes, seconds.

The orthogonal lattice of short public vectors has vectors of Zᴺ in it, so its reduced basis does not fall
geometrically to the end: b*_i = max(f, b_1 δ^(-2i)), f = 1.05 √((n + M)/M), with the volume fixed by
Σ ln b*_i = n ln(√(n + M)/2) for binary and n ln √((n + M)/2) for ternary rows. Measured; theory 4.3.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import inf, log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.bkw_plan import PER_EXAMPLE
from hardness.attacks.reduction import pruning, reduction_nodes

Floats = NDArray[np.float64]

HERMITE = {20: 1.0125, 30: 1.0122, 40: 1.0117}
SECONDS = {20: 0.30, 30: 0.45, 40: 1.6}  # of a reduction in rank 100; it grows with the cube of the rank
PER_NODE, AROUND = 4e-8, 1.5  # seconds of a search node, and of what is done once
RANKS = tuple(range(100, 160, 10))
SPARE = 1.5  # rows there must be for each that a trial draws


@dataclass(frozen=True)
class Forecast:
    """The cheapest way: coordinates `left`, rank M, block size, log2 of nodes a trial, chance, seconds in all."""

    left: int
    rank: int
    block_size: int
    log2_nodes: float
    chance: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.left} coordinates, rank {self.rank}, block size {self.block_size}: a trial searches "
            f"2^{self.log2_nodes:.1f} nodes and succeeds with {self.chance:.2g}, 2^{log2(self.seconds):.1f} s in all"
        )


@cache
def profile(n: int, M: int, beta: int, dot: bool, hermite: float | None = None) -> tuple[float, ...]:
    """Lengths b*_i (M,) of the Gram-Schmidt vectors of a β-reduced basis of the orthogonal lattice of n + M rows.

    `hermite` is δ where it is not the measured one of this block size.

    >>> b = profile(36, 120, 30, False)
    >>> bool(np.isclose(np.log(b).sum(), 36 * np.log(np.sqrt(156) / 2))), round(float(b[0] / b[1]), 4)
    (True, 1.0245)
    """
    slope = 2 * log(hermite or HERMITE[beta])
    volume = n * log(sqrt(n + M) / (sqrt(2) if dot else 2))
    floor = log(1.05 * sqrt((n + M) / M))
    if volume <= M * floor:  # so few coordinates that the basis is as good as orthogonal
        return (float(np.exp(volume / M)),) * M
    fall = slope * np.arange(M)
    for k in range(M, 0, -1):  # the first k above the floor
        first = (volume - (M - k) * floor + fall[:k].sum()) / k
        if first - fall[k - 1] >= floor:
            break
    return tuple(np.exp(np.maximum(floor, first - fall)))


def forecast(n: int, rows: float, error: float, dot: bool) -> Forecast:
    """The cheapest of all ranks and block sizes for n coordinates, `rows` rows, error sd `error` as a share of q.

    Rows to spare buy coordinates: those that vanish on b of them, a share 2^-b of all, form a problem in n - b.
    """
    found = [_one(n, rows, error, dot, M, beta) for M in RANKS for beta in HERMITE]
    return min(found, key=lambda one: one.seconds)


def streamed(n: int, error: float, dot: bool) -> Forecast:
    """The same where examples come from a stream: n - `left` coordinates are bought by `drawn` examples.

    >>> few, free = forecast(44, 40_000, 0.144, False), streamed(44, 0.144, False)
    >>> free.left < few.left - 4, free.seconds < few.seconds / 100
    (True, True)
    """
    found: list[Forecast] = []
    for b in range(n - 3):
        for M in RANKS:
            seconds = drawn(b, n - b, M) * PER_EXAMPLE
            if seconds > min([one.seconds for one in found], default=inf):
                continue
            found += [
                replace(one, seconds=one.seconds + seconds)
                for one in (_one(n - b, 1.0, error, dot, M, beta) for beta in HERMITE)
            ]
    return min(found, key=lambda one: one.seconds)


def drawn(b: int, left: int, M: int) -> float:
    """Examples, half of them informative, among which enough vanish on b coordinates for trials in rank M."""
    return 2.0 ** (b + 1) * SPARE * (left + M)


def left_of(n: int, rows: float, M: int) -> int:
    """n' = n - log2(rows/(1.5 (n' + M))): the coordinates left when spare rows have bought what they can."""
    left = n
    while left > 4 and rows * 2.0 ** (left - 1 - n) >= SPARE * (left - 1 + M):
        left -= 1
    return left


@cache
def _one(n: int, rows: float, error: float, dot: bool, M: int, beta: int) -> Forecast:
    left = left_of(n, rows, M)
    spent = reduction_nodes(beta, M)
    _, chance, nodes, _ = pruning(np.diag(profile(left, M, beta, dot)), error, spent)
    trial = SECONDS[beta] * (M / 100) ** 3 + PER_NODE * 2.0 ** min(nodes, 900)
    return Forecast(left, M, beta, nodes, chance, AROUND + trial / max(chance, 1e-4))
