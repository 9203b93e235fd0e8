"""Exact arithmetic mod q: through `galois` where q is prime, through 64-bit integers otherwise."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

MAX_MODULUS = 2**20
# In int64 every sum below stays under 2^63: at most 2^20 terms of at most (q - 1)^2 < 2^40.


def is_prime(q: int) -> bool:
    """Whether Z_q is a field."""
    from sympy import isprime

    return bool(isprime(q))


def draw(q: int, n: int, rng: np.random.Generator, low: int = 0) -> Integers:
    """n independent uniform residues in low..q-1."""
    if is_prime(q):
        return np.asarray(_field(q).Random(n, low=low, seed=rng), dtype=np.int64)
    return rng.integers(low, q, size=n)


def centred(residues: Integers, q: int) -> Integers:
    """Representatives in (-q/2, q/2].

    >>> centred(np.array([0, 1, 2, 3]), 4).tolist(), centred(np.array([0, 1]), 2).tolist()
    ([0, 1, 2, -1], [0, 1])
    """
    return residues - q * (2 * residues > q)


def inner(U: Integers, w: Integers, q: int) -> Integers:
    """<u, w> mod q for the rows u of U (n, len(w)), in 0..q-1."""
    if is_prime(q):
        field = _field(q)
        return np.asarray(field(U % q) @ field(w % q), dtype=np.int64)
    return (U % q) @ (w % q) % q


def level(t: Any, q: int, p: int) -> Any:
    """floor(p (t mod q)/q), the rounded residue of integers t, in 0..p-1; exact since p q < 2^40.

    >>> level(np.arange(-2, 6), 4, 2).tolist()
    [1, 1, 0, 0, 1, 1, 0, 0]
    """
    return p * (t % q) // q


def _field(q: int) -> Any:
    import galois

    return galois.GF(q, compile="jit-calculate")  # tables of logarithms would take longer than all that is computed
