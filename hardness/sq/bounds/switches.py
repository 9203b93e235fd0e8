"""What makes secrets easy again (theory 2.9): the spectrum of biased parities, and a floor of chosen inputs."""

from math import comb, log

from hardness.errors import InputError
from hardness.io.fields import number


def top_eigenvalue(n: int, s: int, mu: float) -> float:
    """Return λ(μ) of theory 2.9: the top eigenvalue, off the constants, of Γ_SS' = μ^|S⊕S'| on the s-sets of n bits.

    Γ belongs to the Johnson scheme; this is its eigenvalue of j = 1, a sum of non-negative terms. λ(0) = 1 exactly.
    Raises `InputError` unless 1 <= s <= n - 1 and 0 <= μ <= 1.

    >>> top_eigenvalue(63, 6, 0.0), round(top_eigenvalue(63, 6, 0.3))
    (1.0, 451)
    """
    if not 1 <= s < n:
        raise InputError(f"the spectrum of sets of {s} out of {n} bits needs 1 <= s <= n - 1")
    number("bias", mu, "[0, 1]")
    if mu == 0:
        return 1.0  # whatever the size: the sum's other terms are 0
    x, total = mu * mu, 0.0
    for i in range(1, s + 1):
        total += x ** (s - i) * (1 - x) ** i * comb(s - 1, i - 1) * comb(n - i - 1, s - i)
    return total


def membership_floor(n: int, q: int, p: int) -> float:
    """Return chosen inputs that tell all q^n secrets apart by levels 0..p-1 for any learner: n ln q/ln p (theory 2.9).

    >>> round(membership_floor(64, 97, 2), 1), round(membership_floor(128, 257, 16), 1)
    (422.4, 256.2)
    """
    return n * log(q) / log(p)
