"""Labels that an attack predicts without a secret: the likeliest first, then those that differ where it is in doubt."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

DOUBTFUL, AT_ONCE = (
    40,
    3,
)  # groups of inputs that may be wrong, and how many of them at a time: 10,701 guesses


def likeliest(
    first: Integers, second: Integers, doubt: NDArray[np.float64], group: Integers
) -> Iterator[Integers]:
    """Yield levels (N,): `first`, then with some of the most doubtful groups of inputs as `second` says.

    `doubt` (N,) is the same for all inputs of a `group` (N,).

    >>> four = np.arange(4)
    >>> [guess.tolist() for guess in likeliest(0 * four, 0 * four + 1, np.array([0.1, 0.9, 0, 0]), four)][:3]
    [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    """
    groups, where = np.unique(group, return_index=True)
    doubtful = groups[np.argsort(-doubt[where], kind="stable")[:DOUBTFUL]]
    for count in range(AT_ONCE + 1):
        for some in combinations(doubtful.tolist(), count):
            yield np.where(np.isin(group, some), second, first)
