"""What a sign batch of independent sets moves and what the window loses by it: arithmetic of theory 2.5e."""

from fractions import Fraction
from math import ceil, pi
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


def batch_modes(tolerance: float, rank: int) -> NDArray[np.int64]:
    """Return what the window does to a sign batch of K <= rank independent sets: array (rank+1,) over K (theory 2.5e).

    The characters of independent sets are fair bits, so the batch is a majority: its mean on member i is eps_i a,
    a = C(K-1,(K-1)/2) 2^-K, on the xor of j members 0 (j even) or at most a/(K-2) in size (odd j in 3..K-2), and 0 on
    every other set. The xor of all K is kept out of the class. So

    1. a > tau and a + a/(K-2) <= 2 tau: the best window loses exactly the smaller sign class, (K-1)/2 members.
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

    None where batches lose nothing. `rank` is the most sets that a batch may take. The floor (N - 1)/floor(K/2) of
    theory 2.5e leaves the end game out: fewer than K live concepts take about log2 K queries more.
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
