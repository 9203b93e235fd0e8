"""Prices of attacks on hidden parities: equations over GF(2), exact or with flipped labels.

With the parity of all coordinates a label of S is one of its complement, so s is the smaller of |S| and n - |S| here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf, log, log2

import numpy as np

from hardness.attacks import Public
from hardness.attacks.cost import UNREACHED, Line, Log2Cost, log2_rows_to_test, rows_a_candidate
from hardness.attacks.gaussian import FULL_RANK
from hardness.families.linear import HiddenSet
from hardness.sq.bounds.parity import top_eigenvalue

LF2_STEPS = 8
MOST_BLOCK = 4096  # bits that one step of collisions cancels
MOST_AT_ONCE = 64  # coordinates of which means are taken
# Numbers of coordinates to which the secret is guessed down
FEWER = sorted({int(2 ** (i / 4)) for i in range(125)})
NOT_COUNTED = "the bound is below one query"
NO_GUESS = "which guesses no coordinates to hold S"


def lines(public: Public, tolerance: float) -> list[Line]:
    """Return (name, source, cost function) of each attack on parities and of the bound on queries of `tolerance`."""
    n, size = int(public["dim"]) - 1, HiddenSet.of(public).sparsity or 0
    eta, mu = float(public.get("flip") or 0.0), float(public.get("bias") or 0.0)
    it = _Noisy(n, min(size, n - size), eta, mu)
    bound = f"queries of tolerance {tolerance}: 8 τ²(N-1)/(1-2η)², over λ_max if biased; proved in this lab"
    pooled = f"tries geometric with p = .5776 (1-η)^n; gaussian.py, {NO_GUESS}"
    collisions = "collisions, then a Walsh-Hadamard transform; no program here"
    return [
        ("sq bound", bound, lambda: _query_bound(it, size, tolerance)),
        ("exhaustive", "all supports of the public weight", lambda: _exhaustive(it)),
        ("meet in the middle", "halves of the support meet on labels; search.py", lambda: _middle(it)),
        ("means", "correlations with biased products, theory 2.9; means.py", lambda: _means(it)),
        ("gaussian", "one elimination over GF(2); gaussian.py", lambda: _elimination(it)),
        ("lpn pooled gauss", pooled, lambda: _guessed(it, _pooled)),
        ("lf2", collisions, lambda: _guessed(it, _lf2)),
    ]


@dataclass(frozen=True)
class _Noisy:
    """A parity of s out of n signs, each of mean `mu`, whose labels are flipped with probability `eta`."""

    n: int
    s: int
    eta: float
    mu: float

    @property
    def bias(self) -> float:
        return 1 - 2 * self.eta

    @property
    def log2_sets(self) -> float:
        return log2(comb(self.n, self.s))

    @property
    def log2_test(self) -> float:
        """Return log2 of the number of informative rows whose labels tell the right set from all others."""
        return log2_rows_to_test(self.log2_sets, self.bias)


def collisions(n: int, s: int, eta: float) -> Log2Cost:
    """Return the cost of LF2, collisions of samples, for a parity of s of n bits; labels flip with chance `eta`."""
    return _guessed(_Noisy(n, min(s, n - s), eta, 0.0), _lf2)


def _query_bound(it: _Noisy, size: int, tolerance: float) -> Log2Cost | str:
    """Return how many queries of `tolerance` every strategy needs to find a set of `size`, or a reason if below one."""
    N = comb(it.n, size)
    if N == 1:
        return NOT_COUNTED
    log2_queries = 3 + 2 * log2(tolerance / it.bias) + log2(N - 1) - log2(top_eigenvalue(it.n, size, it.mu))
    return Log2Cost(log2_queries, 0.0, 0.0) if log2_queries > 0 else NOT_COUNTED


def _exhaustive(it: _Noisy) -> Log2Cost:
    time = it.log2_sets + log2(rows_a_candidate(it.bias))
    return Log2Cost(time, log2(it.n), it.log2_test + 1)


def _middle(it: _Noisy) -> Log2Cost:
    s = max(it.s, 1)
    half = log2(comb(it.n, (s + 1) // 2))
    bits = half + 4 if it.eta else 0.0  # all these labels must be right at once
    # Of half² pairs a sixteenth of half meets by chance, and each of those is tested.
    steps = log2(2 * s + s * rows_a_candidate(it.bias) / 16) if it.eta else log2(2 * s)
    return Log2Cost(half + steps - bits * log2(1 - it.eta), half, it.log2_test + 1)


def _means(it: _Noisy) -> Log2Cost | str:
    """Return the cost of all C(n, k) means of the label times k centred coordinates, for the best k (theory 2.9).

    In standard deviations, a mean is (1-2η) μ^(s-k) (1-μ²)^(k/2) if all k are in the set of s, else 0. Labels flip with
    probability η, and μ is the mean of a coordinate.
    """
    if it.mu == 0:
        return "products are fair: every mean but that of S itself is 0"
    best = UNREACHED
    for k in range(1, min(it.s, MOST_AT_ONCE) + 1):
        log2_signal = log2(it.bias) + (it.s - k) * log2(it.mu) + k / 2 * log2(1 - it.mu**2)
        log2_means = log2(comb(it.n, k))
        rows = log2_rows_to_test(2 * log2_means, 1.0) + 1 - 2 * log2_signal
        best = min(best, Log2Cost(log2_means + rows, log2_means, rows + 1))
    return best if best.time < inf else "every set is as likely"


def _elimination(it: _Noisy) -> Log2Cost | str:
    if it.eta:
        return "labels are noisy: see LPN"
    return elimination(it.n)


def elimination(n: int, exact: float = 1.0) -> Log2Cost:
    """Return the cost of one Gaussian elimination in n unknowns; a share `exact` of labels are linear equations."""
    return Log2Cost(2 * log2(n) + log2(n + 10), 2 * log2(n + 1), log2(2 * (n + 10) / exact))


def _guessed(it: _Noisy, cost: Callable[[_Noisy, int], Log2Cost]) -> Log2Cost:
    """Return the least cost of trying random `kept` coordinates until they hold the set, at `cost(it, kept)` a try."""
    best = cost(it, it.n)
    for kept in (kept for kept in FEWER if max(it.s, 1) <= kept < it.n):
        price, log2_guesses = cost(it, kept), it.log2_sets - log2(comb(kept, it.s))
        best = min(best, Log2Cost(price.time + log2_guesses, price.memory, price.samples))
    return best


def _pooled(it: _Noisy, n: int) -> Log2Cost:
    log2_tries = -log2(FULL_RANK) - n * log2(1 - it.eta)
    time = log2_tries + log2(n) + log2(n * (n + 1) + rows_a_candidate(it.bias))
    return Log2Cost(time, 2 * log2(n + 1), log2(n + 1 + 2**it.log2_test) + 1)


def _lf2(it: _Noisy, n: int) -> Log2Cost:
    """Return the cost of LF2 on n coordinates: the best number of steps of collisions, then a Walsh-Hadamard transform.

    A step adds pairs of samples that agree on some coordinates: 2^{b+1} samples keep their number if it cancels b bits.
    If signs have mean μ, sums of 2^i samples agree in one with probability (1 + μ^(2^(i+1)))/2, so that a step cancels
    more than b coordinates.
    """
    best, b, cancelled = UNREACHED, np.arange(min(n, MOST_BLOCK) + 1.0), 0.0
    for steps in range(LF2_STEPS):
        need = log2(8 * (n * log(2) + 5)) - 2 * 2**steps * log2(it.bias)
        final = np.maximum(n - b * cancelled, 1)
        samples = np.maximum(b + 1, need)
        transform = final + np.log2(final + 1)
        time = np.maximum(samples + log2(n + 1) + log2(steps + 1), transform) + 1
        i = int(time.argmin())
        best = min(best, Log2Cost(float(time[i]), float(max(samples[i], final[i])), float(samples[i] + 1)))
        cancelled += 1 / (1 - log2(1 + it.mu ** (2 ** (steps + 1))))
    return best
