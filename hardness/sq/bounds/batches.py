"""What a sign batch of independent sets moves and what the window adversary loses by it: arithmetic of theory 2.5e.

Theorems, strategies and games at scale all count with these numbers, so that they stand among the bounds.
"""

from fractions import Fraction
from math import ceil, comb, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.kernels.bits import compiled

LARGEST_BATCH = 4095


def batch_size(tolerance: float) -> int:
    """Return the largest odd K whose sign batch moves each member, C(K-1, (K-1)/2) 2^-K > tau (2.5e); at least 1.

    >>> [batch_size(t) for t in (0.25, 0.2, 0.1, 0.05, 0.03)]
    [1, 3, 15, 63, 177]
    """
    if tolerance < 0.01:
        # C(2k, k)/4^k = (1 - 1/(8k) + ...)/sqrt(pi k): exact but for ties closer than 1/k.
        return 2 * ceil(1 / (4 * pi * tolerance**2) - 0.25) - 1
    size, a = 1, 0.5
    while a * size / (size + 1) > tolerance:
        a *= size / (size + 1)
        size += 2
    return size


def majority_mean(size: int) -> float:
    """Return C(K-1, (K-1)/2) 2^-K, the mean of a member of a sign batch of K independent sets."""
    return float(comb(size - 1, (size - 1) // 2) / 2**size)


def batch_modes(tolerance: float, rank: int) -> NDArray[np.int64]:
    """Return what the window does to a sign batch of K <= rank independent sets: array (rank+1,) over K.

    For sets independent over GF(2) their characters are K independent fair bits, so sign(sum eps_i chi_i) is a
    majority. Its mean on member i is eps_i a with a = C(K-1,(K-1)/2) 2^-K; on the xor of j members it is 0 (j even),
    at most a/(K-2) in size (odd j in 3..K-2, a ratio of binomials), +-a (j = K); on every other set it is 0. Hence:

    1. a > tau and a + a/(K-2) <= 2 tau: no window holds both signs of a, and [a - 2 tau, a] holds everything but -a;
       so the best window loses exactly the smaller sign class, (K-1)/2 members.
    2. a - a/(K-2) > 2 tau and a/(K-2) <= tau: [-tau, tau] holds everything but the members, and a window with a
       member holds none of the rest; the largest of the three classes survives.
    0. Otherwise the small means would have to be known; such K are not used.
    (No small means exist for K <= 3. The caller keeps the xor of all K out of the class.)
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
    """Return the odd K <= cap that surely loses most, and the loss: (K, loss); `mode` as of `batch_modes`."""
    size, loss = 0, 0
    for k in range(1, min(cap, live) + 1, 2):
        if mode[k] == 0:
            continue
        lost = k // 2 if mode[k] == 1 else live - max(live - k, (k + 1) // 2)
        if lost > loss:
            size, loss = k, lost
    return size, loss


def batch_queries(concepts: int, tolerance: float, rank: int = LARGEST_BATCH) -> int | None:
    """Return the queries against the window if every sign batch loses what `batch_modes` says, end game included.

    The floor of theory 2.5e, (N - 1)/floor(K/2), leaves the end game out: fewer than K live concepts are halved, later
    split in three, log2 K queries that the floor counts as two. No batch of other than K sets does better on the way.
    None where batches lose nothing. `rank` is the most sets that a batch may take.

    >>> batch_queries(8008, 0.05), round(8007 / (batch_size(0.05) // 2), 1)
    (262, 258.3)
    """
    modes = batch_modes(tolerance, min(batch_size(tolerance), LARGEST_BATCH, rank))
    live, asked = concepts, 0
    while live > 1:
        _, lost = best_batch(modes, modes.size - 1, live)
        if lost == 0:
            return None
        steps = max(1, (live - 4 * modes.size) // int(lost))
        live, asked = live - steps * int(lost), asked + steps
    return asked
