"""Lower bounds on statistical queries. Each docstring names the statement and its source."""

from hardness.concepts import ParityConcepts
from hardness.sq.oracle import check_tolerance


def window_bound(concepts: int, tolerance: float, success: float = 1.0) -> float:
    """Queries any strategy needs against the best-window adversary: 8 tau^2 (p N - 1). Source: ours, theory
    2.5.

    For the parity family with P(z_0 != 0) = 1/2, any query phi(X, F(X)) in [-1, 1] and STAT(tau); p is the
    success probability over a uniform hidden set (1: identification, the learner may be randomised).

    Proof sketch. Given X the label takes two values, so E phi = const + a_S with a_S = <b', chi_S>, |b'| <=
    1/2: by Parseval sum a_S^2 <= 1/4. Draw a window [-D, 2 tau - D], D with distribution F(x) = x^2/(2 tau^2)
    on [0, tau], F(2 tau - x) = 1 - F(x): it misses a value a with probability <= a^2/(2 tau^2), so some
    window loses at most sum a_S^2/(2 tau^2) <= 1/(8 tau^2) concepts, and the best one no more.

    >>> round(window_bound(1001, 0.1), 1)
    80.0
    """
    return 8 * tolerance**2 * (success * concepts - 1)


def null_bound(concepts: int, tolerance: float, success: float = 1.0) -> float:
    """Queries any strategy needs against the null adversary: 4 tau^2 (p N - 1). Source: theory 2.5(b).

    Answering E a, which does not depend on S, loses the concepts with |a_S| > tau: at most 1/(4 tau^2) by
    Parseval. The classical bound for parities (Kearns; Blum et al. 1994), with the factor P(z_0 != 0) = 1/2.

    >>> round(null_bound(1001, 0.1), 1)
    40.0
    """
    return 4 * tolerance**2 * (success * concepts - 1)


def parity_bounds(concepts: ParityConcepts, tolerance: float) -> dict[str, float]:
    """Every bound that applies to the parity family at STAT(tolerance), by name; the others are absent.

    >>> sorted(parity_bounds(ParityConcepts(14, 4), 0.1))
    ['null', 'window']
    """
    check_tolerance(tolerance)
    return {
        "window": window_bound(concepts.size, tolerance),
        "null": null_bound(concepts.size, tolerance),
    }
