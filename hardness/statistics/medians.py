"""Medians of costs of which some are only known to be larger."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Median:
    """The median cost of some runs, and the smallest and the largest cost.

    `bound`: the median is only known to be at least `value`, because runs that a budget ended may lie above it.
    """

    value: float
    low: float
    high: float
    runs: int
    solved: int
    bound: bool

    def __str__(self) -> str:
        return f"{'≥ ' * self.bound}{self.value:,.4g}"


def median(costs: Sequence[float], censored: Sequence[bool]) -> Median:
    """Return the median of costs; `censored` says of which it is only known that they are larger. At least one cost.

    The two middle costs of an even number are averaged by their logarithms, where they are positive. A cost that is
    larger than stated can only raise the median, so the median of what is stated is a lower bound; it is exact where
    every such cost lies at or above the upper middle one and neither middle cost is one.

    >>> print(median([3.0, 9.0, 100.0], [False, False, True]), median([3.0, 9.0, 100.0], [False, True, True]))
    9 ≥ 9
    >>> median([2.0, 8.0], [False, False]).value, median([5.0, 7.0, 9.0], [True, False, False]).bound
    (4.0, True)
    """
    order = np.lexsort((censored, costs))
    spent, open_ = np.asarray(costs, dtype=np.float64)[order], np.asarray(censored, dtype=bool)[order]
    n = len(spent)
    low, high = float(spent[(n - 1) // 2]), float(spent[n // 2])
    value = float(np.sqrt(low * high)) if low > 0 else (low + high) / 2
    bound = bool(open_[: n // 2 + 1].any())
    return Median(value, float(spent[0]), float(spent[-1]), n, n - int(open_.sum()), bound)
