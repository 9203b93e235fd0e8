"""What is made of several runs: means and medians with intervals, exponents, least squares with censored values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError

MIN_POINTS = 3  # runs below which nothing is said
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Mean:
    """A mean of `runs` runs and its 95 % interval by Student's t, which is infinite for fewer than 3 runs."""

    value: float
    low: float
    high: float
    runs: int

    def side(self, x: float) -> int:
        """Return 1 if the interval lies above x, −1 if below, 0 if x is inside."""
        return int(self.low > x) - int(self.high < x)

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def mean(values: Sequence[float], logarithmic: bool = False) -> Mean:
    """Return the mean of `values` and its 95 % interval; the geometric mean if `logarithmic`, and its interval.

    >>> print(mean([1.0, 2.0, 3.0]), "or", mean([2.0, 4.0, 8.0], logarithmic=True))
    2 [-0.484, 4.48] or 4 [0.715, 22.4]
    """
    from scipy.special import stdtrit

    x = np.log(values) if logarithmic else np.array(values, dtype=np.float64)
    n, centre, half = len(x), x.mean(), np.inf
    if n >= MIN_POINTS:
        half = x.std(ddof=1) / n**0.5 * stdtrit(n - 1, 0.975)
    ends = np.array([centre, centre - half, centre + half])
    value, low, high = np.exp(ends) if logarithmic else ends
    return Mean(float(value), float(low), float(high), n)


@dataclass(frozen=True)
class Median:
    """The median cost `value` of some runs, the smallest cost `low` and the largest cost `high`.

    `solved` of the runs ended within their budget. If `bound`, the median is only known to be at least `value`, because
    the other runs, which a budget ended, may lie above it.
    """

    value: float
    low: float
    high: float
    runs: int
    solved: int
    bound: bool

    @property
    def known(self) -> bool:
        """Say whether the median tells anything, which it does not if it is only known to be at least 0."""
        return not self.bound or self.value > 0

    def __str__(self) -> str:
        digits = Context(4, ROUND_FLOOR if self.bound else ROUND_HALF_EVEN)
        four_digits = float(digits.create_decimal(self.value))
        shown = f"{four_digits:,.0f}" if four_digits >= 1000 else f"{four_digits:g}"
        if not self.known:
            return "—"
        return f"≥ {shown}" if self.bound else shown


def median(costs: Sequence[float], censored: Sequence[bool]) -> Median:
    """Return the median of one or more costs; of a cost marked in `censored` it is only known that it is larger.

    Two middle costs are averaged by their logarithms (plainly if one is 0). The median is exact if neither middle cost
    is censored and every censored cost lies at or above the upper one; else it is a lower bound.

    >>> print(median([3.0, 9.0, 100.0], [False, False, True]), median([3.0, 9.0, 100.0], [False, True, True]))
    9 ≥ 9
    """
    order = np.lexsort((censored, costs))
    spent, open_ = np.asarray(costs, dtype=np.float64)[order], np.asarray(censored, dtype=bool)[order]
    n = len(spent)
    low, high = float(spent[(n - 1) // 2]), float(spent[n // 2])
    bound = bool(open_[: n // 2 + 1].any())
    value = float(np.sqrt(low * high)) if low > 0 or bound else (low + high) / 2
    return Median(value, float(spent[0]), float(spent[-1]), n, n - int(open_.sum()), bound)


def median_interval(
    costs: Sequence[float], censored: Sequence[bool], coverage: float = 0.95
) -> tuple[float, float, bool]:
    """Return (low, high, open): a confidence interval, between two of the costs, of the median of their distribution.

    It holds the median with probability at least `coverage` for any distribution. If there are too few costs for that
    (fewer than six at .95), it runs from the smallest to the largest, which holds with probability 1 - 2^(1 - n).
    `open` says that `high` is only a lower bound, because a cost up to it is `censored`.
    """
    from scipy.special import bdtr

    order = np.lexsort((censored, costs))
    n = len(order)
    below = bdtr(np.arange(n), n, 0.5)  # the chances that at most 0, 1, … lie below the median
    rank = max(1, int(np.searchsorted(below, (1 - coverage) / 2)))
    low, high = float(costs[order[rank - 1]]), float(costs[order[n - rank]])
    return low, high, any(censored[i] for i in order[: n - rank + 1])


@dataclass(frozen=True)
class Fit:
    """A regression: coefficients `beta`, their covariance, residual deviation `sigma`, degrees of freedom `left`."""

    beta: Floats
    covariance: Floats
    sigma: float
    left: int

    def limits(self, place: int) -> tuple[float, float]:
        """Return the 95 % interval of the coefficient of index `place`; infinite if no degree of freedom is left."""
        from scipy.special import stdtrit

        if self.left < 1:
            return -np.inf, np.inf
        half = float(stdtrit(self.left, 0.975) * np.sqrt(self.covariance[place, place]))
        return float(self.beta[place]) - half, float(self.beta[place]) + half


def regress(X: Floats, y: Floats, above: Bools) -> Fit:
    """Return least squares of y (n,) on X (n, p); where `above` (n,) is true, the true value is only known to exceed y.

    Such a value enters the likelihood by the normal tail above y. Raises `InputError` if the other values do not
    determine all coefficients.

    >>> X = np.stack([np.ones(4), np.arange(4.0)], axis=1)
    >>> regress(X, np.array([1.0, 3.0, 5.0, 7.0]), np.zeros(4, bool)).beta.round(9).tolist()
    [1.0, 2.0]
    """
    from scipy.optimize import minimize
    from scipy.special import log_ndtr

    p, known, size = X.shape[1], ~above, int((~above).sum())
    if np.linalg.matrix_rank(X[known]) < p:
        raise InputError("the cells that are not censored do not determine the law; measure more of them")
    gram = np.asarray(np.linalg.inv(X[known].T @ X[known]), dtype=np.float64)
    beta: Floats = gram @ X[known].T @ y[known]
    left = size - p
    sigma = float(np.sqrt(np.sum((y[known] - X[known] @ beta) ** 2) / left)) if left else 0.0
    if not above.any():
        return Fit(beta, gram * sigma**2, sigma, left)

    def negative(v: Floats) -> float:
        rest = (y - X @ v[:-1]) / np.exp(v[-1])
        return float(0.5 * np.sum(rest[known] ** 2) + size * v[-1] - log_ndtr(-rest[above]).sum())

    optimum: Any = minimize(negative, np.append(beta, log(max(sigma, 1e-6))), method="BFGS")
    inflate = (size / left) ** 0.5 if left > 0 else 0.0  # the divisor of the unbiased variance
    # That of the search is a few per cent off
    covariance = np.linalg.inv(_hessian(negative, optimum.x))[:p, :p]
    return Fit(optimum.x[:-1], covariance * inflate**2, float(np.exp(optimum.x[-1])) * inflate, left)


def _hessian(f: Callable[[Floats], float], x: Floats, step: float = 1e-3) -> Floats:
    """Return the matrix (p, p) of second derivatives of f at x (p,), by central differences of `step`."""
    moves = step * np.eye(len(x))
    return np.array(
        [
            [(f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * step**2) for b in moves]
            for a in moves
        ]
    )
