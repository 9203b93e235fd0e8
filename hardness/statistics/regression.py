"""Least squares for neighbours that err alike: correlated residuals, lower bounds among the values, honest limits."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Fit:
    """Coefficients `beta` with their covariance, standard deviation `sigma` of the residuals, degrees of freedom
    `left`, and the greatest log-likelihood."""

    beta: Floats
    covariance: Floats
    sigma: float
    left: int
    log_likelihood: float

    def limits(self, place: int, level: float = 0.95) -> tuple[float, float]:
        """The interval of Student's t for a coefficient; infinite where no degree of freedom is left."""
        from scipy.stats import t

        if self.left < 1:
            return -np.inf, np.inf
        half = float(t.ppf((1 + level) / 2, self.left) * np.sqrt(self.covariance[place, place]))
        return float(self.beta[place]) - half, float(self.beta[place]) + half


def neighbours(series: Sequence[Hashable], positions: Sequence[float], correlation: float) -> Floats:
    """Correlations (n, n) of values that belong to series: `correlation` to the power of how many places apart two
    values of one series are, in the order of their positions; values of different series are independent.

    >>> neighbours("aab", [8, 16, 8], 0.5).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    found = np.eye(len(series))
    for name in set(series):
        own = sorted((i for i, each in enumerate(series) if each == name), key=lambda i: positions[i])
        rank = np.arange(len(own))
        found[np.ix_(own, own)] = correlation ** np.abs(rank[:, None] - rank)
    return found


def regress(X: Floats, y: Floats, correlations: Floats, above: Bools | None = None) -> Fit:
    """Generalised least squares of y (n,) on X (n, p) with residuals of known correlations (n, n).

    Where `above`, the truth is only known to lie above y: then the likelihood is maximised in which such a value has
    the probability of the tail beyond it, given the values that are known (several such values: each by itself).
    Raises `InputError` if the known values do not determine the coefficients.

    >>> X = np.stack([np.ones(4), np.arange(4.0)], axis=1)
    >>> regress(X, np.array([1.0, 3.0, 5.0, 7.0]), np.eye(4)).beta.round(9).tolist()
    [1.0, 2.0]
    """
    lost = np.zeros(len(y), dtype=bool) if above is None else above
    known = ~lost
    if np.linalg.matrix_rank(X[known]) < X.shape[1]:
        raise InputError("the cells that are not censored do not determine the law; measure more of them")
    start = _least_squares(X[known], y[known], correlations[np.ix_(known, known)])
    return _censored(X, y, correlations, lost, start) if lost.any() else start


def _least_squares(X: Floats, y: Floats, correlations: Floats) -> Fit:
    n, p = X.shape
    half = np.linalg.cholesky(correlations)
    A, b = np.linalg.solve(half, X), np.linalg.solve(half, y)
    gram = np.linalg.inv(A.T @ A)
    beta = gram @ A.T @ b
    square = float(np.sum((b - A @ beta) ** 2))
    variance = max(square / n, 1e-300)
    likelihood = -0.5 * n * (log(2 * pi * variance) + 1) - float(np.log(np.diag(half)).sum())
    left = n - p
    sigma = (square / left) ** 0.5 if left else 0.0
    return Fit(beta, gram * sigma**2, sigma, left, likelihood)


def _censored(X: Floats, y: Floats, correlations: Floats, lost: Bools, start: Fit) -> Fit:
    """The likelihood with tails, by its gradient from the fit without the censored values."""
    from scipy.optimize import minimize
    from scipy.stats import norm

    known = ~lost
    inside = correlations[np.ix_(known, known)]
    weight = np.linalg.solve(inside, correlations[np.ix_(known, lost)])
    spread = np.sqrt(1 - np.sum(weight * correlations[np.ix_(known, lost)], axis=0))
    inverse, size = np.linalg.inv(inside), int(known.sum())
    constant = -0.5 * (size * log(2 * pi) + float(np.linalg.slogdet(inside)[1]))

    def negative(v: Floats) -> float:
        beta, scale = v[:-1], float(np.exp(v[-1]))
        rest = (y - X @ beta) / scale
        tails = norm.logsf((rest[lost] - rest[known] @ weight) / spread)
        inner = constant - 0.5 * float(rest[known] @ inverse @ rest[known]) - size * v[-1]
        return -float(inner + tails.sum())

    first = np.append(start.beta, log(max(start.sigma, 1e-6)))
    found: Any = minimize(negative, first, method="BFGS")
    scale, p = float(np.exp(found.x[-1])), X.shape[1]
    left = size - p
    inflate = (size / left) ** 0.5 if left > 0 else 0.0  # the divisor of the unbiased variance
    covariance = np.linalg.inv(_hessian(negative, found.x))[:p, :p]  # that of the search is a few per cent off
    return Fit(found.x[:-1], covariance * inflate**2, scale * inflate, left, -float(found.fun))


def _hessian(f: Callable[[Floats], float], x: Floats, step: float = 1e-3) -> Floats:
    """Second derivatives by central differences."""
    moves = step * np.eye(len(x))
    return np.array([[(f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * step**2) for b in moves]
                     for a in moves])  # fmt: skip
