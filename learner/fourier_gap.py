"""What a gradient of the diagonal student sees of a hidden set, exactly: Fourier coefficients of a head's slope.

On informative rows a head computes tanh(h), h = θ_0 + Σ_j θ_j u_j, and its slope is g = tanh'(h). The population
gradient by θ_j of the squared loss against the parity χ_S differs between j in S and j outside of it by what
ĝ(S without j) = E[g χ_(S without j)] is, a coefficient of degree s - 1, while a single example's gradient varies by
about E g². So a signal of the size of its noise takes about 2 E g²/ĝ² informative examples (theory 1.1; Barak et al.
2022 call such differences Fourier gaps).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from learner.diagonal_network import starting

MOST_BITS = 20  # secret coordinates: of more the table of all inputs grows too long

Floats = NDArray[np.float64]


def spectrum(theta: Floats) -> Floats:
    """All coefficients ĝ(T) of the slope g of a head with weights θ (d,), θ_0 its threshold: (2^(d-1),), T as bits.

    Bit j - 1 of T stands for coordinate j. Raises `InputError` beyond 20 coordinates.

    >>> spectrum(np.array([0.0, 100.0])).round(3).tolist()  # g is 1 at u = 0, where v = 1, and 0 at u = 1
    [0.5, 0.5]
    """
    from hardness.kernels.walsh import walsh_hadamard

    levels, n = np.array([theta[0]], dtype=np.float64), len(theta) - 1
    if n > MOST_BITS:
        raise InputError(f"a spectrum takes at most {MOST_BITS} coordinates beside the gate, got {n}")
    for weight in theta[1:]:
        levels = np.concatenate([levels, levels + weight])
    slope = 1 - np.tanh(levels) ** 2
    walsh_hadamard(slope)
    return np.asarray(slope / len(slope))


def level_weights(coefficients: Floats) -> Floats:
    """W_t = Σ ĝ(T)² over sets T of t coordinates, for t = 0, …, n.

    >>> level_weights(np.array([0.5, 0.5]))
    array([0.25, 0.25])
    """
    sizes = np.bitwise_count(np.arange(len(coefficients), dtype=np.uint64))
    return np.bincount(sizes, weights=coefficients**2).astype(np.float64)


def head_gaps(weights: Floats, support: Any) -> Floats:
    """2 E g²/(mean over j in S of ĝ(S without j)²) of each head, (M,): informative examples.

    `weights` (d + 1, M) are those of `learner.diagonal_network`; `support` S lists coordinates in 1..d-1. Infinite for
    a head that sees nothing of S.
    """
    members = [1 << (int(j) - 1) for j in support]
    every = sum(members)
    gaps = np.empty(weights.shape[1])
    for i, theta in enumerate(np.asarray(weights[:-1], dtype=np.float64).T):
        coefficients = spectrum(theta)
        power = float(np.sum(coefficients**2))  # Parseval: E g²
        signal = float(np.mean([coefficients[every ^ member] ** 2 for member in members]))
        gaps[i] = 2 * power / signal if signal else np.inf
    return gaps


def examples_of_unit_signal(weights: Floats, support: Any) -> float:
    """n_1, the least of `head_gaps` over the heads: informative examples until the best head's gradient shows S.

    >>> weights = starting(np.random.default_rng(0), heads=4, dim=9, scale=4.0)
    >>> 10 < examples_of_unit_signal(weights, [2, 5, 6]) < 10_000
    True
    """
    return float(head_gaps(weights, support).min())


def at_the_start(
    dim: int, size: int, heads: int, scale: float, starts: int, rng: np.random.Generator
) -> float:
    """The median of n_1 over random starts, for a hidden set of `size` coordinates.

    The starts are those of the learner at r = `scale`: θ_j ~ N(0, r²/d), and thresholds -Σ_j θ_j/2 + N(0, r²/d).

    >>> steep, usual = (at_the_start(9, 3, 16, r, 11, np.random.default_rng(0)) for r in (4.0, 1.0))
    >>> steep < usual
    True
    """
    drawn = (starting(rng, heads, dim, scale) for _ in range(starts))
    return float(np.median([examples_of_unit_signal(weights, range(1, size + 1)) for weights in drawn]))


def mean_over_heads(dim: int, size: int, scale: float, heads: int, rng: np.random.Generator) -> float:
    """2 E[g²] C(n, s-1)/E[W_(s-1)], n = d - 1, over heads of random starts: n_1 of a head that is as good as the mean.

    For exchangeable θ_j every set of s - 1 coordinates has E ĝ² = E W_(s-1)/C(n, s-1).
    """
    from math import comb

    weights = starting(rng, heads, dim, scale)
    levels = np.mean([level_weights(spectrum(theta)) for theta in weights[:-1].T], axis=0)
    return float(2 * levels.sum() * comb(dim - 1, size - 1) / levels[size - 1])
