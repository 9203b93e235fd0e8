"""How much statistical-query hardness m heads buy (theory 1.4, 2.2, 2.6): proven exponents side by side.

Proved here: every `log2_queries` is a lower bound on queries at STAT(tau) against the window adversary, by
`parity.window_bound` and `rounding.window_bound` with tau less the error mass. Not proved: that these are the best
families for m heads, or that the bounds are tight.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, exp, log, log2, sqrt

from hardness.families.concepts import RoundingConcepts
from hardness.sq.bounds.rounding import log2_window_bound


@dataclass(frozen=True)
class Purchase:
    """What m heads buy at one tolerance: `size` (s, or n for rounding) and log2 of the proven query bound.

    `leak` is the largest mean of a query of lower degree (0: none): below it a search over pairs wins instead.
    """

    size: int
    log2_queries: float
    leak: float = 0.0


def exact_parity(m: int, dim: int, tolerance: float) -> Purchase:
    """Return what s = m (diag) buys: log2 of 8 tau^2 (C(d-1, m) - 1), floored at 0.

    >>> round(exact_parity(12, 64, 0.05).log2_queries, 1)
    35.6
    """
    return Purchase(m, _log2_bound(tolerance, comb(dim - 1, m)))


def truncated_parity(m: int, dim: int, tolerance: float) -> Purchase:
    """Return the s of m..(d-1)/2 with the largest 8 (tau - eps)^2 (C(d-1, s) - 1): labels right but for mass eps.

    eps = E (h - chi)^2/4 (theory 2.2), the same for every S; the leak is max_k |h^(k)|/2 over 0 < k < s.

    >>> best = truncated_parity(12, 64, 0.05)
    >>> best.size > 12, best.log2_queries > exact_parity(12, 64, 0.05).log2_queries, 0 < best.leak < 0.05
    (True, True, True)
    """
    best = exact_parity(m, dim, tolerance)
    for s in range(m + 1, (dim - 1) // 2 + 1):
        eps = error_mass(s, m)
        if eps >= tolerance:
            break
        bits = _log2_bound(tolerance - eps, comb(dim - 1, s))
        if bits > best.log2_queries:
            best = Purchase(s, bits)
    if best.size > m:
        _, coefficients = head_limited_parity(best.size, m)
        leak = max(abs(float(c)) for c in coefficients[1 : best.size]) / 2
        best = Purchase(best.size, best.log2_queries, leak)
    return best


def error_mass(s: int, m: int) -> float:
    """Return P(h != chi): the wrong parities outside the m+1 middle levels of s fair bits."""
    wrong = sum(comb(s, N) for N, sign in enumerate(_levels(s, m)) if sign != (-1) ** N)
    return float(wrong / 2**s)


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


@cache
def rounding(m: int, tolerance: float, modulus: int = 97, levels: int = 2, miss: float = 1e-3) -> Purchase:
    """Return an n of dense secrets that the labels of m heads hold, diag, and log2 of `adversary_bounds` there.

    For all but a share `miss` of secrets W = sum w^2 <= n (E w^2 + (q/2)^2 sqrt(ln(1/miss)/(2n))) by Hoeffding, and
    then a label is wrong with probability at most eps = 2 exp(-2 T^2/W), T = (m - p - 1) q/(2p). n is where
    8 (tau - eps)^2 2^n is largest; it grows as m^2.

    >>> [rounding(m, 0.05).size for m in (8, 16, 32, 64)]
    [0, 33, 250, 1308]
    """
    q, p = modulus, levels
    reach = max(0.0, (m - p - 1) * q / (2 * p))
    square = sum((v - q * (2 * v > q)) ** 2 for v in range(q)) / q
    size, best, n = 0, 0.0, 1
    while True:
        spread = n * (square + (q / 2) ** 2 * sqrt(log(1 / miss) / (2 * n)))
        eps = 2 * exp(-2 * reach**2 / spread)
        if eps >= tolerance:
            break
        bits = log2(8 * (tolerance - eps) ** 2) + n
        size, best = (n, bits) if bits > best else (size, best)
        n += 1
    bits = log2_window_bound(RoundingConcepts(size, q, p, heads=m), tolerance) if size else 0.0
    return Purchase(size, bits)


def _log2_bound(tolerance: float, concepts: int) -> float:
    # Through log2 of the integer: C(d-1, s) leaves the range of floats.
    return max(0.0, log2(8 * tolerance**2) + log2(concepts - 1)) if concepts > 1 else 0.0
