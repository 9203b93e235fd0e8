"""What a sign batch of independent sets moves and what the window loses by it: arithmetic of theory 2.5e."""

from fractions import Fraction
from math import ceil, comb, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.kernels.bits import compiled
from hardness.sq.bounds.floors import IDENTIFIABLE, decimal, identifying, last

LARGEST_BATCH = 4095


def independent_apart(e: int) -> Fraction:
    """Return C(2e, e)/2^(2e+1): below this tolerance a query surely rules out e of 2e independent parities (theorem A).

    >>> [str(independent_apart(e)) for e in (1, 2, 3, 4)]
    ['1/4', '3/16', '5/32', '35/256']
    """
    return Fraction(comb(2 * e, e), 2 ** (2 * e + 1))


def independent_lost(tolerance: float | Fraction) -> int:
    """Return E, the largest e that a query surely rules out of 2e or more independent parities (theorem A)."""
    tau = identifying(tolerance)
    if tau < Fraction(1, 100):
        # C(2e, e)/4^e = (1 - 1/(8e) + ...)/sqrt(pi e): exact but for ties closer than 1/e^2.
        near = 1 / (4 * pi * float(tau) ** 2) - 0.25
        return ceil(near - 1 / (32 * near)) - 1
    return last(lambda e: independent_apart(e) > tau)


def batch_size(tolerance: float) -> int:
    """Return the largest odd K whose majority of K parities has means C(K-1, (K-1)/2) 2^-K > tau (2.5e); at least 1.

    >>> [batch_size(t) for t in (0.25, 0.2, 0.1, 0.05, 0.03)]
    [1, 3, 15, 63, 177]
    """
    return 2 * independent_lost(tolerance) + 1 if decimal(tolerance) < IDENTIFIABLE else 1


def batch_modes(tolerance: float, rank: int) -> NDArray[np.int64]:
    """Return by K <= rank what the oracle `window` keeps after a sign batch of K independent sets: codes (rank+1,).

    The characters of independent sets are fair bits, so the batch is a majority (theory 2.5e): its mean on member i is
    eps_i a, a = C(K-1,(K-1)/2) 2^-K, on the xor of j members 0 (j even) or at most a/(K-2) in size (odd j in 3..K-2),
    and 0 on every other set. The xor of all K is kept out of the class. So the codes are

        1. a > tau and a + a/(K-2) <= 2 tau: the best answer loses exactly the members of the rarer sign, (K-1)/2.
        2. a - a/(K-2) > 2 tau and a/(K-2) <= tau: the largest of the + members, the - members and the rest survives.
        0. Otherwise the small means would have to be known; such K are not used.
    """
    modes = np.zeros(rank + 1, np.int64)
    tau, a = Fraction(tolerance), Fraction(1, 2)
    for size in range(1, rank + 1, 2):
        small = a / (size - 2) if size >= 5 else Fraction(0)
        if tau < a and a + small <= 2 * tau:
            modes[size] = 1
        elif a - small > 2 * tau and small <= tau:
            modes[size] = 2
        a *= Fraction(size, size + 1)
    return modes


@compiled
def best_batch(mode: Any, cap: Any, live: Any) -> Any:
    """Return (K, loss): the odd K <= cap whose sign batch surely rules out most of `live` sets, and how many.
    The codes `mode`, by K, are those of `batch_modes`."""
    size, loss = 0, 0
    for k in range(1, min(cap, live) + 1, 2):
        if mode[k] == 0:
            continue
        lost = k // 2 if mode[k] == 1 else live - max(live - k, (k + 1) // 2)
        if lost > loss:
            size, loss = k, lost
    return size, loss
