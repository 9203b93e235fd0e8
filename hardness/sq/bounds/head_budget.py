"""Parities that few heads compute: right on the middle levels, constant outside (theory 2.2, diag)."""

from fractions import Fraction
from math import comb


def _levels(s: int, m: int) -> list[int]:
    """Return the label of m heads at each number of minus signs among s bits: the parity on m+1 middle levels."""
    low = (s - m) // 2
    return [(-1) ** min(max(N, low), low + m) for N in range(s + 1)]


def krawtchouk(s: int, k: int) -> list[int]:
    """Return K_k(N) for N = 0..s: the sum of (-1)^|T & U| over the k-subsets T of s bits, |U| = N.

    >>> krawtchouk(4, 2)
    [6, 0, -2, 0, 6]
    """
    return [sum((-1) ** i * comb(N, i) * comb(s - N, k - i) for i in range(k + 1)) for N in range(s + 1)]


def head_limited_parity(s: int, m: int) -> tuple[Fraction, list[Fraction]]:
    """Return the parity of s bits that m <= s heads compute: right on m+1 middle levels, constant outside (2.2, diag).

    Returns (E (h - chi)^2, [h^(k) for k = 0..s]), exact: h is symmetric, so its coefficient depends on k alone. A
    low-degree learner sees every h^(k) with 0 < k < s; Parseval says sum_k C(s, k) h^(k)^2 = 1.

    >>> error, coefficients = head_limited_parity(8, 6)
    >>> float(error), max((abs(float(c)), k) for k, c in enumerate(coefficients[:8])), float(coefficients[8])
    (0.03125, (0.015625, 6), 0.984375)
    """
    h, coefficients = _levels(s, m), []
    error = Fraction(sum(comb(s, N) * (h[N] - (-1) ** N) ** 2 for N in range(s + 1)), 2**s)
    for k in range(s + 1):
        total = sum(comb(s, N) * h[N] * K for N, K in enumerate(krawtchouk(s, k)))
        coefficients.append(Fraction(total, 2**s * comb(s, k)))
    return error, coefficients
