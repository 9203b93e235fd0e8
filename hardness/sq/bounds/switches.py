"""What makes parities easy again (theory 2.9): bounds on both sides for supervision, biased inputs and membership."""

from collections.abc import Sequence
from math import comb, log, sqrt

from hardness.errors import InputError
from hardness.io.fields import number
from hardness.sq.bounds.parity import window_bound


def top_eigenvalue(n: int, s: int, mu: float) -> float:
    """λ(μ) of theory 2.9: the top eigenvalue, off the constants, of Γ_SS' = μ^|S⊕S'| on the s-sets of n bits.

    Γ belongs to the Johnson scheme; this is its eigenvalue of j = 1, a sum of non-negative terms. λ(0) = 1 exactly.
    Raises `InputError` unless 1 <= s <= n - 1 and 0 <= μ <= 1.

    >>> top_eigenvalue(63, 6, 0.0), round(top_eigenvalue(63, 6, 0.3))
    (1.0, 451)
    """
    if not 1 <= s < n:
        raise InputError(f"the spectrum of sets of {s} out of {n} bits needs 1 <= s <= n - 1")
    number("bias", mu, "[0, 1]")
    if mu == 0:
        return 1.0  # whatever the size: the sum's other terms are 0
    x, total = mu * mu, 0.0
    for i in range(1, s + 1):
        total += x ** (s - i) * (1 - x) ** i * comb(s - 1, i - 1) * comb(n - i - 1, s - i)
    return total


def biased_bound(n: int, s: int, tolerance: float, mu: float) -> float:
    """Queries any strategy needs where products have bias μ: 8 τ² (N - 1)/λ(μ) (theory 2.9, by 2.8).

    The whole class of one set has no two to tell apart (0). At μ = 0 it is `window_bound`, to the last bit.

    >>> round(biased_bound(63, 6, 0.005, 0.0)), round(biased_bound(63, 6, 0.005, 0.3))
    (13589, 30)
    """
    spread = top_eigenvalue(n, s, mu) if s < n else 1.0
    return window_bound(comb(n, s), tolerance) / spread


def bias_gap(s: int, mu: float, k: int = 1) -> float:
    """How far the mean of y χ_T, |T| = k, on T ⊂ S is from every other, over 1/2: μ^(s-k) (1 - μ²) (theory 2.9).

    >>> bias_gap(6, 0.0, 6), round(bias_gap(6, 0.5), 4)
    (1.0, 0.0234)
    """
    return float(mu ** (s - k) * (1 - mu * mu))


def bias_interval(s: int, tolerance: float, k: int = 1) -> tuple[float, float] | None:
    """The μ between which products of k bits show S: where μ^(s-k) (1 - μ²) > 4 τ (theory 2.9); None if nowhere.

    Both ends by bisection, to the last bit: the gap rises up to √((s-k)/(s-k+2)) and falls beyond. k = 1 is the
    attack of n queries, and the lower end is μ*.

    >>> [round(end, 3) for end in bias_interval(6, 0.005)]
    [0.482, 0.989]
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


def bias_degree(s: int, tolerance: float, mu: float) -> int | None:
    """The least k for which the C(n, k) products of k bits identify S at bias μ; None if none does.

    >>> [bias_degree(6, 0.005, mu) for mu in (0.0, 0.1, 0.3, 0.5)]
    [6, 5, 3, 1]
    """
    return next((k for k in range(1, s + 1) if bias_gap(s, mu, k) > 4 * tolerance), None)


def biased_enough(n: int, s: int, tolerance: float, mu: float) -> int | None:
    """Queries that suffice at bias μ: C(n, k) for the least k that works, N - 1 at k = s (theory 2.9); None if none.

    >>> [biased_enough(63, 6, 0.005, mu) for mu in (0.0, 0.3, 0.5)]
    [67945520, 39711, 63]
    """
    k = bias_degree(s, tolerance, mu)
    return None if k is None else comb(n, k) - (k == s)


def chain_bound(n: int, blocks: Sequence[int], tolerance: float, mu: float = 0.0) -> float:
    """Queries to identify a chain whose every label is shown, on products of bias μ: max_i `biased_bound` (theory 2.9).

    Hand the learner all other blocks, and the parity of one is left, of |B_i| out of n - Σ_{j≠i} |B_j| bits. A single
    block is 2.5.

    >>> [round(chain_bound(63, blocks, 0.05)) for blocks in ((6,), (2, 2, 2))]
    [1358910, 34]
    """
    rest = n - sum(blocks)
    return max(biased_bound(rest + g, g, tolerance, mu) for g in blocks)


def chain_enough(n: int, blocks: Sequence[int], tolerance: float, mu: float = 0.0) -> int | None:
    """Queries that suffice for such a chain: Σ_i `biased_enough`, block by block, in what the others left (theory 2.9).

    Without bias these are Σ_i (N_i - 1) single characters, at τ < 1/4. None where no product has a gap.

    >>> [chain_enough(63, blocks, 0.02) for blocks in ((6,), (2, 2, 2), (1,) * 6)], chain_enough(63, (3, 3), 0.02, 0.5)
    ([67945520, 5491, 357], 123)
    """
    starts = [sum(blocks[:i]) for i in range(len(blocks))]
    parts = [biased_enough(n - start, g, tolerance, mu) for start, g in zip(starts, blocks, strict=True)]
    return None if None in parts else sum(part or 0 for part in parts)


def membership_floor(n: int, q: int, p: int) -> float:
    """Chosen inputs that any learner needs to tell all q^n secrets apart by levels 0..p-1: n ln q/ln p (theory 2.9).

    >>> round(membership_floor(64, 97, 2), 1), round(membership_floor(128, 257, 16), 1)
    (422.4, 256.2)
    """
    return n * log(q) / log(p)
