"""Medians of costs of which some are only known to be larger, and intervals for them."""

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
        four_digits = float(f"{self.value:.4g}")
        shown = f"{four_digits:,.0f}" if four_digits >= 1000 else f"{four_digits:g}"
        return f"≥ {shown}" if self.bound else shown


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


def median_interval(
    costs: Sequence[float], censored: Sequence[bool], coverage: float = 0.95
) -> tuple[float, float, bool]:
    """Return order statistics that hold the median of what the costs are drawn from, and whether the upper is open.

    The interval has a probability of at least `coverage` whatever the distribution is. It goes from the smallest to the
    largest cost where they are too few for that, six for .95; that holds the median with probability 1 - 2^(1 - n). It
    is open above where its end is a cost that is only known to be larger.

    >>> median_interval([*range(1, 21)], [False] * 20)
    (6.0, 15.0, False)
    >>> median_interval([3.0, 5.0], [False, True])
    (3.0, 5.0, True)
    """
    from scipy.stats import binom

    order = np.lexsort((censored, costs))
    n = len(order)
    rank = max(1, int(binom.ppf((1 - coverage) / 2, n, 0.5)))  # P(fewer than `rank` lie below) <= .025
    low, high = order[rank - 1], order[n - rank]
    return (
        float(costs[low]),
        float(costs[high]),
        bool(np.asarray(censored, dtype=bool)[order[: n - rank + 1]].any()),
    )
