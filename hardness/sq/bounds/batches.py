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
    """Return the largest odd K such that the majority of K parities has a mean above the tolerance under each of them.

    This mean is C(K-1, (K-1)/2) 2^-K (theory 2.5e). The result is at least 1.

    >>> [batch_size(t) for t in (0.25, 0.2, 0.1, 0.05, 0.03)]
    [1, 3, 15, 63, 177]
    """
    return 2 * independent_lost(tolerance) + 1 if decimal(tolerance) < IDENTIFIABLE else 1


def batch_modes(tolerance: float, rank: int) -> NDArray[np.int64]:
    """Return a code for every size K <= `rank` of a sign batch: how many parities `window` lets it rule out, (rank+1,).

    A sign batch is the majority of K independent parities, (K-1)/2 of them negated (theory 2.5e). The oracle `window`
    gives the answer that most parities allow. The batch's mean is ±a, a = C(K-1, (K-1)/2) 2^-K, under its own parities.
    It is at most b = a/(K-2) in size under the xor of 3, 5, ..., K-2 of them, and 0 under all others; the xor of all K
    must not be in the class. With tau, the tolerance, the codes are

        1. a > tau and a + b <= 2 tau: the (K-1)/2 parities of the rarer sign are ruled out.
        2. a - b > 2 tau and b <= tau: of three groups, parities with +, with - and all others, the largest stays.
        0. Neither: such a K is not used.
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
    """Return (K, loss): the odd K <= `cap` whose sign batch surely rules out most of `live` parities, and how many.
    A sign batch is the majority of K parities, half of them negated; `mode[K]` is its code by `batch_modes`."""
    size, loss = 0, 0
    for k in range(1, min(cap, live) + 1, 2):
        if mode[k] == 0:
            continue
        lost = k // 2 if mode[k] == 1 else live - max(live - k, (k + 1) // 2)
        if lost > loss:
            size, loss = k, lost
    return size, loss
