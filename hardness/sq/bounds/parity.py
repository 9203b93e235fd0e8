"""Lower bounds on statistical queries. Each docstring names the statement and its source."""

from fractions import Fraction
from math import comb, floor, log2
from typing import Any

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.io.fields import number
from hardness.sq.bounds.floors import (
    asymptotic_ratio,
    check_tolerance,
    decimal,
    exact_floor,
    identifiable,
    strict_floor,
)
from hardness.sq.bounds.gram import gram_bounds
from hardness.sq.bounds.rounding import rounding_bounds, truncated_bounds

# What stands beside a number when it is printed: the statement and where it is from (docs/references.md).
SOURCES = {
    "concepts": "functions, one of which is hidden",
    "eigenvalue": "at most, rounded up: the largest of the centred Gram matrix, theory 2.8",
    "window": "best-window adversary: theory 2.5 (parity), 2.6 (rounding), 2.8 (listed), proved here",
    "strict": "best-window adversary and hardest oracle, in integers: lemma L, theory 2.7, 2.8, proved here",
    "exact_floor": "best-window adversary and hardest oracle: theorem B's recursion, theory 2.7, proved here",
    "asymptotic_ratio": "limit of (least queries)/concepts as the dimension grows: theorem D, theory 2.7, proved here",
    "null": "null adversary: Parseval, well known since Kearns and Blum et al. 1994; constant from theory 2.5(b), 2.6",
    "szorenyi": "(N t^2 - 1)/2 at t = 2 tau: Szorenyi, ALT 2009, Theorem 2, correlational queries, hypothesis counted",
    "bfjkmr": "N^(1/3)/2: Blum et al., STOC 1994, Theorem 12, correlations at most 1/N^3",
    "share": "pi_1, a share of the secrets whose labels are right but for the error mass: theory 2.6, proved here",
    "error_mass": "eps, rounded up: tau - eps stands for tau in these bounds: theory 2.2, 2.6, proved here",
    "sda": "SDA at g = tau^2/3, queries to VSTAT(1/(3g)): Feldman et al., JACM 64(2), 2017",
    "message_examples": "informative examples, few bits kept of each: theorem M, theory 2.10, proved here",
    "noisy_gradient_examples": "batch x steps, clipped gradients with noise: theory 2.10, proved here",
}


def window_bound(concepts: int, tolerance: float, flip: float = 0.0) -> float:
    """Return the lower bound 8 tau^2 (N - 1) on queries against the oracle `window`, for N parities (theory 2.5).

    This oracle gives the answer that most concepts still possible allow. Half the bound holds against the oracle
    `null`, which answers 0 as long as it can (2.5(b)). `flip`, the probability of a flipped label, multiplies the
    tolerance tau by 1/(1 - 2 flip).

    >>> round(window_bound(1001, 0.1), 1)
    80.0
    """
    return 8 * (tolerance / (1 - 2 * flip)) ** 2 * (concepts - 1)


def szorenyi_bound(concepts: int, tolerance: float) -> float | None:
    """Return (N t^2 - 1)/2, a lower bound on correlational queries that learn one of N parities, t = 2 tolerance.
    Szorenyi, ALT 2009, Theorem 2: it counts the final hypothesis, and is None unless N t^2 > 1 and t <= 1. The
    tolerance doubles because labels tell something on half of the inputs only."""
    t = 2 * tolerance
    return (concepts * t**2 - 1) / 2 if t <= 1 and concepts * t**2 > 1 else None


def bfjkmr_bound(concepts: int, tolerance: float) -> float | None:
    """Return N^(1/3)/2, a lower bound on queries that learn one of N parities to error below 1/2 - 1/N^3.
    Blum, Furst, Jackson, Kearns, Mansour, Rudich, STOC 1994, Theorem 12. None unless N >= 16 and tolerance >= N^(-1/3).
    """
    root = round(concepts ** (1 / 3), 12)
    return root / 2 if concepts >= 16 and tolerance * root >= 1 else None


def parity_sda(concepts: int, average: float) -> int:
    """Return the parities' statistical dimension SDA(g), g = `average`: ceil((N-1)/floor(1/(2g))) - 1 for g < 1/2.
    0: no bound (theory 2.4). Definition: Feldman, Grigorescu, Reyzin, Vempala, Xiao, JACM 64(2), 2017."""
    if average >= 0.5:
        return 0
    return max(0, -(-(concepts - 1) // floor(Fraction(1, 2) / Fraction(str(average)))) - 1)


def adversary_bounds(concepts: Any, tolerance: float, flip: float = 0.0) -> dict[str, float]:
    """Return lower bounds on queries at STAT(tolerance), by name of the oracle they hold against, "window" or "null".
    Bounds that are not positive are left out. They are proved for parities flipped with probability `flip` (theory
    2.5), for rounding (2.6), and for listed classes against "window" alone (2.8)."""
    match concepts.kind:
        case "rounding":
            return truncated_bounds(concepts, tolerance)
        case "listed":
            return _positive(window=gram_bounds(concepts, tolerance).get("window"))
        case _:
            window = window_bound(concepts.size, tolerance, flip)
            return _positive(window=window, null=window / 2)


def proved_bounds(concepts: Any, tolerance: float, flip: float = 0.0) -> dict[str, Any]:
    """Return every lower bound on queries at STAT(tolerance), by name; labels flip with probability `flip`."""
    match concepts.kind:
        case "rounding":
            return rounding_bounds(concepts, tolerance)
        case "listed":
            return gram_bounds(concepts, tolerance)
        case _:
            return parity_bounds(concepts, tolerance, flip)


def parity_bounds(concepts: ParityConcepts, tolerance: float, flip: float = 0.0) -> dict[str, Any]:
    """Return every lower bound on queries that is proved for a class of parities at STAT(tolerance), by name.

    A bound that does not apply is absent or None. `flip`, the probability of a flipped label, raises all bounds but
    those of other authors. The statistical dimension `sda` is taken at tau^2/3, for tau <= 1/2. `identifiable` says
    whether queries can find the parity at all; otherwise the bounds in whole numbers, `strict` and `exact_floor`, are
    None.

    >>> bounds = parity_bounds(ParityConcepts(14, 4), 0.11)
    >>> [name for name, value in bounds.items() if value is not None]
    ['window', 'null', 'szorenyi', 'bfjkmr', 'sda', 'strict', 'exact_floor', 'identifiable', 'asymptotic_ratio']
    """
    size = concepts.size
    proved: dict[str, Any] = adversary_bounds(concepts, check_tolerance(tolerance), flip) | _positive(
        szorenyi=szorenyi_bound(size, tolerance),
        bfjkmr=bfjkmr_bound(size, tolerance),
        sda=parity_sda(size, tolerance**2 / 3) if tolerance <= 0.5 else None,
    )
    radius = decimal(tolerance) / (1 - 2 * decimal(flip))  # flips shrink all means (theory 1.2b)
    if size == 1 or not identifiable(size, radius):
        nothing = 0 if size == 1 else None
        return {**proved, "strict": nothing, "exact_floor": nothing, "identifiable": size == 1}
    limit = asymptotic_ratio(concepts.s, radius)
    return {
        **proved,
        "strict": strict_floor(size, radius),
        "exact_floor": exact_floor(size, radius),
        "identifiable": True,
        "asymptotic_ratio": None if limit is None else float(limit),
    }


def _positive(**bounds: float | None) -> dict[str, float]:
    return {name: value for name, value in bounds.items() if value is not None and value > 0}


def entropy_floor(concepts: int, tolerance: float) -> float:
    """Return log2 N over the bits of an answer, a floor of queries even if answers are multiples of 2 tolerance."""
    return log2(concepts) / log2(2 * int(1 / (4 * tolerance) + 0.5) + 1)


def krawtchouk(s: int, k: int) -> list[int]:
    """Return K_k(N) for N = 0..s: the sum of (-1)^|T & U| over the k-subsets T of s bits, for a U of N bits."""
    return [sum((-1) ** i * comb(N, i) * comb(s - N, k - i) for i in range(k + 1)) for N in range(s + 1)]


def top_eigenvalue(n: int, s: int, mu: float) -> float:
    """Return λ(μ) of theory 2.9: the top eigenvalue, off the constants, of Γ_SS' = μ^|S⊕S'| on the s-sets of n bits.
    λ(0) = 1 exactly. Raises `InputError` unless 1 <= s <= n - 1 and 0 <= μ <= 1."""
    if not 1 <= s < n:
        raise InputError(f"the spectrum of sets of {s} out of {n} bits needs 1 <= s <= n - 1")
    number("bias", mu, "[0, 1]")
    if mu == 0:
        return 1.0  # whatever the size: the sum's other terms are 0
    x, total = mu * mu, 0.0
    for i in range(1, s + 1):
        total += x ** (s - i) * (1 - x) ** i * comb(s - 1, i - 1) * comb(n - i - 1, s - i)
    return total
