"""What makes parities easy again (theory 2.9): bounds on both sides for biased inputs and for chains."""

from collections.abc import Sequence
from math import comb, sqrt

from hardness.sq.bounds.parity import top_eigenvalue, window_bound


def biased_bound(n: int, s: int, tolerance: float, mu: float) -> float:
    """Return a lower bound 8 τ² (N - 1)/λ(μ) on queries for s of n bits if the bits have mean μ (theory 2.9, by 2.8).

    N is the number of sets and λ the largest eigenvalue of the class. The bound is 0 for s = n, one set alone, and
    exactly `window_bound` at μ = 0.
    """
    spread = top_eigenvalue(n, s, mu) if s < n else 1.0
    return window_bound(comb(n, s), tolerance) / spread


def bias_gap(s: int, mu: float, k: int = 1) -> float:
    """Return μ^(s-k) (1 - μ²), twice the least distance of E y χ_T for k-bit T ⊂ S to that for other T (theory 2.9)."""
    return float(mu ** (s - k) * (1 - mu * mu))


def bias_interval(s: int, tolerance: float, k: int = 1) -> tuple[float, float] | None:
    """Return the ends of the biases μ at which products of k bits reveal S, `bias_gap` > 4 τ (2.9); None if none.

    Both ends are found by bisection, to the last bit: the gap rises up to √((s-k)/(s-k+2)) and falls beyond. k = 1 is
    the attack of n queries, and the lower end is μ*.
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
    """Return how many queries suffice: C(n, k), less 1 if k = s, for the least k with `bias_gap` > 4 τ; else None."""
    enough = (comb(n, k) - (k == s) for k in range(1, s + 1) if bias_gap(s, mu, k) > 4 * tolerance)
    return next(enough, None)


def chain_bound(n: int, blocks: Sequence[int], tolerance: float, mu: float = 0.0) -> float:
    """Return a lower bound on queries if the labels of all blocks are shown: max_i `biased_bound` (theory 2.9).

    `blocks` are their sizes. If the learner knows all other blocks, the parity of one is left, of |B_i| out of n -
    Σ_{j≠i} |B_j| bits. For a single block this is theory 2.5.
    """
    rest = n - sum(blocks)
    return max(biased_bound(rest + g, g, tolerance, mu) for g in blocks)


def chain_enough(n: int, blocks: Sequence[int], tolerance: float, mu: float = 0.0) -> int | None:
    """Return how many queries suffice if the labels of all blocks are shown: Σ_i `biased_enough` (theory 2.9), or None.

    Each block is sought among the bits still left. Without bias these are Σ_i (N_i - 1) queries of one parity each, at
    τ < 1/4. The result is None if no product has a gap for some block.
    """
    starts = [sum(blocks[:i]) for i in range(len(blocks))]
    parts = [biased_enough(n - start, g, tolerance, mu) for start, g in zip(starts, blocks, strict=True)]
    return None if None in parts else sum(part or 0 for part in parts)
