"""Parities of s bits that m < s heads compute (theory 2.2, diag)."""

from fractions import Fraction
from math import comb

from hardness.sq.bounds.parity import krawtchouk


def _levels(s: int, m: int) -> list[int]:
    """Return the label of m heads at each number of minus signs among s bits: the parity on m+1 middle levels."""
    low = (s - m) // 2
    return [(-1) ** min(max(N, low), low + m) for N in range(s + 1)]


def head_limited_parity(s: int, m: int) -> tuple[Fraction, list[Fraction]]:
    """Return the parity of s bits that m <= s heads compute: right on m+1 middle levels, constant outside (2.2, diag).

    Returns (E (h - chi)^2, [h^(k) for k = 0..s]), exact: h is symmetric, so its coefficient depends on k alone.
    """
    h, coefficients = _levels(s, m), []
    error = Fraction(sum(comb(s, N) * (h[N] - (-1) ** N) ** 2 for N in range(s + 1)), 2**s)
    for k in range(s + 1):
        total = sum(comb(s, N) * h[N] * K for N, K in enumerate(krawtchouk(s, k)))
        coefficients.append(Fraction(total, 2**s * comb(s, k)))
    return error, coefficients
