"""Exact arithmetic mod q in 64-bit integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.io.fields import whole

Integers = NDArray[np.int64]

MAX_MODULUS = 2**20
# In int64 every sum below stays under 2^63: at most 2^20 terms of at most (q - 1)^2 < 2^40.


def check(q: int, p: int, heads: int | None) -> None:
    """Raise `InputError` unless the modulus q is in 2..2^20, p (levels) in 2..q, and `heads` None or at least 2."""
    whole("modulus", q, 2, MAX_MODULUS)
    whole("levels", p, 2, q, f"the modulus is {q}")
    if heads is not None:
        whole("heads", heads, 2)


def is_prime(q: int) -> bool:
    """Say whether q is prime, so that the integers mod q are a field."""
    from sympy import isprime

    return bool(isprime(q))


def draw(q: int, n: int, rng: np.random.Generator, low: int = 0) -> Integers:
    """Return n independent uniform residues in low..q-1, int64 (n,)."""
    # How many bits a residue takes of the stream: the seeds of all instances count on it.
    kind = np.min_scalar_type(q - 1) if is_prime(q) else np.dtype(np.int64)
    return rng.integers(low, q, n, kind).astype(np.int64)


def centred(residues: Integers, q: int) -> Integers:
    """Return the representatives in (-q/2, q/2] of residues 0..q-1.

    >>> centred(np.array([0, 1, 2, 3]), 4).tolist(), centred(np.array([0, 1]), 2).tolist()
    ([0, 1, 2, -1], [0, 1])
    """
    return residues - q * (2 * residues > q)


def cell(t: Any, q: int, p: int) -> Any:
    """Return floor(p t/q) of integers t, the index of the cell of equal labels that holds t; exact below 2^43."""
    return t * p // q


def level(t: Any, q: int, p: int) -> Any:
    """Return floor(p (t mod q)/q), the residue of integers t rounded to a level 0..p-1.

    >>> level(np.arange(-2, 6), 4, 2).tolist()
    [1, 1, 0, 0, 1, 1, 0, 0]
    """
    return cell(t, q, p) % p


def change(index: Any, q: int, p: int) -> Any:
    """Return ceil(i q/p), i = `index`: the first t with floor(p t/q) = i, where the level goes up, or back to 0."""
    return -(-index * q // p)


def nearest_changes(mean: float, heads: int, q: int, p: int) -> int:
    """Return the index i of the first of `heads` consecutive level changes t = ceil(i q/p) that are nearest to `mean`.
    A level change is an integer t where floor(p t/q) goes up. i is 1 mod p, a change from level 0 to 1 (mod p), so that
    only p and `heads` decide which levels the changes pass through (theory 1.4)."""
    middle = mean * p / q - (heads - 1) / 2
    guess = 1 + p * round((middle - 1) / p)
    nearby = [guess + step * p for step in (-1, 0, 1)]
    return min(nearby, key=lambda i: abs(change(i, q, p) + change(i + heads - 1, q, p) - 1 - 2 * mean))


def shares(q: int, p: int) -> NDArray[np.float64]:
    """Return the probability (p,) of each rounded level 0..p-1 of a uniform residue mod q."""
    return np.bincount(level(np.arange(q), q, p), minlength=p) / q


def preimages(q: int, p: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the mean (p,) and the number (p,) of the residues r that each level ⌊pr/q⌋ comes from.

    >>> preimages(7, 3)  # levels 0 0 0 1 1 2 2
    (array([1. , 3.5, 5.5]), array([3, 2, 2]))
    """
    first = change(np.arange(p + 1, dtype=np.int64), q, p)
    return (first[:-1] + first[1:] - 1) / 2, np.diff(first)
