"""What a learner pays that knows nothing of a label but its degree: the null model of every plot of hardness."""

from math import comb


def monomials(bits: int, degree: int) -> int:
    """Monomials of degree at most `degree` in `bits` signs, the constant among them.

    Regression on them with fewer examples is underdetermined; with about as many it succeeds, whatever the label.

    >>> [monomials(2 * 8, 2 * s + 1) for s in (1, 2, 3)]
    [697, 6885, 26333]
    """
    return sum(comb(bits, j) for j in range(min(degree, bits) + 1))
