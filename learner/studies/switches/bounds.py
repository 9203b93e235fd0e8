"""What makes parities easy again (theory 2.9): bounds on both sides for biased inputs and for chains."""

from collections.abc import Sequence
from math import comb, sqrt

from hardness.sq.bounds.parity import top_eigenvalue, window_bound


def biased_bound(n: int, s: int, tolerance: float, mu: float) -> float:
    """Return a lower bound on queries at a tolerance τ that find s hidden of n bits of mean μ (theory 2.8, 2.9).

    It is 8 τ² (N - 1)/λ(μ), N = C(n, s), with the top eigenvalue λ(μ) of the correlations of the N parities. It is
    exactly `window_bound` at μ = 0, and 0 for s = n, one set alone.
    """
    spread = top_eigenvalue(n, s, mu) if s < n else 1.0
    return window_bound(comb(n, s), tolerance) / spread


def bias_gap(s: int, mu: float, k: int = 1) -> float:
    """Return μ^(s-k) (1 - μ²), by how much E y v_1 ⋯ v_k is at least larger for k hidden bits than for any others.

    y is the parity of s hidden bits v_j = ±1 of mean μ, shown by half of all examples. So if this exceeds 4 τ, queries
    for such means tell hidden bits from others (theory 2.9).
    """
    return float(mu ** (s - k) * (1 - mu * mu))


def bias_interval(s: int, tolerance: float, k: int = 1) -> tuple[float, float] | None:
    """Return the ends of the biases μ at which queries for k-bit products reveal s hidden bits; None if there are none.

    These are the μ with `bias_gap` > 4 τ (theory 2.9). Both ends are found by bisection, to the last bit.
    """
    peak = sqrt((s - k) / (s - k + 2))
    if bias_gap(s, peak, k) <= 4 * tolerance:
        return None
    ends = []
    for inside, outside in ((peak, 0.0), (peak, 1.0)):
        while (middle := (inside + outside) / 2) not in (inside, outside):
            inside, outside = (
                (middle, outside) if bias_gap(s, middle, k) > 4 * tolerance else (inside, middle)
            )
        ends.append(inside)
    return ends[0], ends[1]


def biased_enough(n: int, s: int, tolerance: float, mu: float) -> int | None:
    """Return how many queries for k-bit products find s of n bits of mean μ, for the least k that works, or None."""
    enough = (comb(n, k) - (k == s) for k in range(1, s + 1) if bias_gap(s, mu, k) > 4 * tolerance)
    return next(enough, None)


def chain_bound(n: int, blocks: Sequence[int], tolerance: float, mu: float = 0.0) -> float:
    """Return a lower bound on queries that find a chain of hidden sets whose parities are all shown (theory 2.9).

    `blocks` are the numbers of bits by which the sets grow. If the learner knows all other blocks, one block of g bits
    is left to find: the bound is the largest `biased_bound` of these.
    """
    rest = n - sum(blocks)
    return max(biased_bound(rest + g, g, tolerance, mu) for g in blocks)


def chain_enough(n: int, blocks: Sequence[int], tolerance: float, mu: float = 0.0) -> int | None:
    """Return how many queries suffice to find a chain of hidden sets whose parities are all shown (theory 2.9).

    `blocks` are the numbers of bits by which the sets grow. Each block is sought among the bits still left, by queries
    as in `biased_enough`; the result is None if that is None for some block.
    """
    starts = [sum(blocks[:i]) for i in range(len(blocks))]
    parts = [biased_enough(n - start, g, tolerance, mu) for start, g in zip(starts, blocks, strict=True)]
    return None if None in parts else sum(part or 0 for part in parts)
