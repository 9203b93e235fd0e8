"""Low degree: monomials that a label of known degree needs, and what low-degree polynomials see of a parity."""

from math import comb


def monomials(bits: int, degree: int) -> int:
    """Monomials of degree at most `degree` in `bits` signs, the constant among them.

    Regression on them with fewer examples is underdetermined; with about as many it succeeds, whatever the label.

    >>> [monomials(2 * 8, 2 * s + 1) for s in (1, 2, 3)]
    [697, 6885, 26333]
    """
    return sum(comb(bits, j) for j in range(min(degree, bits) + 1))


def low_degree_rows(n: int, s: int, flip: float = 0.0) -> float:
    """Informative examples at which polynomials of degree s + 1, the least that see anything, have Adv² - 1 = 1.

    With M examples and degree D it is the sum over t = 1..⌊D/(s+1)⌋ of C(M, t) (1-2η)^(2t)/C(n, s) (theory 2.9). That
    a bounded value means hardness is a heuristic, and fails here at η = 0, where elimination wins.

    >>> low_degree_rows(16, 3), low_degree_rows(16, 3, 0.25)
    (560.0, 2240.0)
    """
    return comb(n, s) / (1 - 2 * flip) ** 2
