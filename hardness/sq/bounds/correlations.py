"""Correlations of concepts that heads realize only in part (theory 2.2, 2.3): exact, by counting."""

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from hardness.families.concepts import RoundingConcepts


def krawtchouk(s: int, k: int) -> list[int]:
    """K_k(N) for N = 0..s: the sum of (-1)^|T & U| over the k-subsets T of s bits, |U| = N.

    >>> krawtchouk(4, 2)
    [6, 0, -2, 0, 6]
    """
    return [sum((-1) ** i * comb(N, i) * comb(s - N, k - i) for i in range(k + 1)) for N in range(s + 1)]


def head_limited_parity(s: int, m: int) -> tuple[Fraction, list[Fraction]]:
    """The parity of s bits that m <= s heads compute: right on m+1 middle levels, constant outside (theory 2.2, diag).

    Returns (E (h - chi)^2, [h^(k) for k = 0..s]), exact: h is symmetric, so its coefficient depends on k alone. A
    low-degree learner sees every h^(k) with 0 < k < s; Parseval says sum_k C(s, k) h^(k)^2 = 1.

    >>> error, coefficients = head_limited_parity(8, 6)
    >>> float(error), max((abs(float(c)), k) for k, c in enumerate(coefficients[:8])), float(coefficients[8])
    (0.03125, (0.015625, 6), 0.984375)
    """
    low = (s - m) // 2
    h = [(-1) ** min(max(N, low), low + m) for N in range(s + 1)]
    error = Fraction(sum(comb(s, N) * (h[N] - (-1) ** N) ** 2 for N in range(s + 1)), 2**s)
    coefficients = []
    for k in range(s + 1):
        total = sum(comb(s, N) * h[N] * K for N, K in enumerate(krawtchouk(s, k)))
        coefficients.append(Fraction(total, 2**s * comb(s, k)))
    return error, coefficients


def joint_labels(concepts: RoundingConcepts, w: NDArray[np.int_], other: NDArray[np.int_]) -> NDArray[np.float64]:
    """P(f_w = y, f_w' = y') on the informative half, float (p, p), for any n: a 2-D count of (<w,u>, <w',u>).

    Secrets are residues (n,). Coordinates with the same pair (w_j, w'_j) enter one after the other by shifts and
    additions of counts (theory 2.3); exact while 2^n (diag) or 4^n (dot) stays below 2^53, to rounding beyond.

    >>> joint_labels(RoundingConcepts(3, 5, 2), np.array([1, 2, 0]), np.array([1, 2, 0])).tolist()
    [[0.75, 0.0], [0.0, 0.25]]
    """
    q = concepts.q
    pair = np.stack([w, other]).astype(np.int64)
    pair -= q * (2 * pair > q)
    steps = [(0, 0.5), (1, 0.5)] if concepts.gadget == "diag" else [(-1, 0.25), (0, 0.5), (1, 0.25)]
    reach = np.abs(pair).sum(axis=1)
    mass = np.zeros((2 * reach[0] + 1, 2 * reach[1] + 1))
    mass[reach[0], reach[1]] = 1.0
    for x, y in pair.T:
        # Nothing reaches the rim before the last step, so rolling never wraps.
        mass = sum((odds * np.roll(mass, (u * x, u * y), axis=(0, 1)) for u, odds in steps), np.zeros_like(mass))
    levels = [_levels(concepts, row, bound) for row, bound in zip(pair, reach.tolist(), strict=True)]
    out = np.zeros((concepts.p, concepts.p))
    np.add.at(out, (levels[0][:, None], levels[1][None, :]), mass)
    return out


def _levels(concepts: RoundingConcepts, w: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """The label at every integer inner product t = -reach..reach."""
    return np.asarray(concepts.level(np.arange(-reach, reach + 1)[None, :], w[None, :])[0])


def chi_square(concepts: RoundingConcepts, joint: NDArray[np.float64]) -> float:
    """<D_w/D - 1, D_w'/D - 1> with uniform-residue labels as reference: (sum_y P(y, y)/pi(y) - 1)/2 up to drift.

    The 1/2 is P(z_0 != 0). Exactly, sum_y pi(y) E[h_y(f_w) h_y(f_w')]/2 with h_y = 1{level = y}/pi(y) - 1.

    >>> concepts = RoundingConcepts(3, 4, 2)
    >>> round(chi_square(concepts, np.array([[0.5, 0.0], [0.0, 0.5]])), 12)
    0.5
    """
    p = concepts.p
    share = np.bincount(p * np.arange(concepts.q) // concepts.q, minlength=p) / concepts.q
    h = np.eye(p) / share[:, None] - 1
    return float(sum(share[y] * h[y] @ joint @ h[y] for y in range(p)) / 2)
