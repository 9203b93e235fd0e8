"""Least squares of logarithms with lower bounds among the values: coefficients, and intervals that know of both."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Fit:
    """Coefficients `beta` with their covariance, standard deviation `sigma` of the residuals, degrees of freedom
    `left`."""

    beta: Floats
    covariance: Floats
    sigma: float
    left: int

    def limits(self, place: int, level: float = 0.95) -> tuple[float, float]:
        """The interval of Student's t for a coefficient; infinite where no degree of freedom is left."""
        from scipy.stats import t

        if self.left < 1:
            return -np.inf, np.inf
        half = float(t.ppf((1 + level) / 2, self.left) * np.sqrt(self.covariance[place, place]))
        return float(self.beta[place]) - half, float(self.beta[place]) + half


def regress(X: Floats, y: Floats, above: Bools | None = None) -> Fit:
    """Least squares of y (n,) on X (n, p); where `above` is true, y is only known to lie above the value given.

    Such a value enters by its likelihood, the normal tail above it. Raises `InputError` where the values that are known
    do not determine all coefficients.

    >>> X = np.stack([np.ones(4), np.arange(4.0)], axis=1)
    >>> regress(X, np.array([1.0, 3.0, 5.0, 7.0])).beta.round(9).tolist()
    [1.0, 2.0]
    """
    lost = np.zeros(len(y), dtype=bool) if above is None else above
    if np.linalg.matrix_rank(X[~lost]) < X.shape[1]:
        raise InputError("the cells that are not censored do not determine the law; measure more of them")
    start = _least_squares(X[~lost], y[~lost])
    return _censored(X, y, lost, start) if lost.any() else start


def _least_squares(X: Floats, y: Floats) -> Fit:
    gram = np.asarray(np.linalg.inv(X.T @ X), dtype=np.float64)
    beta: Floats = gram @ X.T @ y
    left = len(y) - X.shape[1]
    sigma = float(np.sqrt(np.sum((y - X @ beta) ** 2) / left)) if left else 0.0
    covariance: Floats = gram * sigma**2
    return Fit(beta, covariance, sigma, left)


def _censored(X: Floats, y: Floats, lost: Bools, start: Fit) -> Fit:
    """Greatest likelihood, by its gradient from the fit without the censored values."""
    from scipy.optimize import minimize
    from scipy.stats import norm

    size = int((~lost).sum())

    def negative(v: Floats) -> float:
        rest = (y - X @ v[:-1]) / np.exp(v[-1])
        return float(0.5 * np.sum(rest[~lost] ** 2) + size * v[-1] - norm.logsf(rest[lost]).sum())

    first = np.append(start.beta, log(max(start.sigma, 1e-6)))
    optimum: Any = minimize(negative, first, method="BFGS")
    p = X.shape[1]
    left = size - p
    inflate = (size / left) ** 0.5 if left > 0 else 0.0  # the divisor of the unbiased variance
    # That of the search is a few per cent off
    covariance = np.linalg.inv(_hessian(negative, optimum.x))[:p, :p]
    return Fit(optimum.x[:-1], covariance * inflate**2, float(np.exp(optimum.x[-1])) * inflate, left)


def _hessian(f: Callable[[Floats], float], x: Floats, step: float = 1e-3) -> Floats:
    """Second derivatives by central differences."""
    moves = step * np.eye(len(x))
    return np.array(
        [
            [(f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * step**2) for b in moves]
            for a in moves
        ]
    )
