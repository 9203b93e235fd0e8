"""Models of log2 cost in the dimension d and the hidden size s: linear, fitted by maximum likelihood (theory 3.6).

Errors are Gaussian between cells; a censored cell, whose cost is only known to exceed its entry, counts by its tail.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]
FLOOR = 1e-3  # bits: cells that fit better than this are not told apart


def log2_binomial(d: Integers, s: Integers) -> Floats:
    """log2 C(d-1, s), elementwise."""
    return np.array([np.log2(float(comb(int(a) - 1, int(b)))) for a, b in zip(d, s, strict=True)])


# Every model is linear: log2 cost = columns · coefficients; a, b, c, k are fitted.
MODELS: dict[str, Callable[[Integers, Integers], list[NDArray[Any]]]] = {
    "a + k log₂ C(d−1, m)": lambda d, s: [log2_binomial(d, s)],
    "a + k m log₂(e d/m)": lambda d, s: [s * np.log2(np.e * d / s)],
    "a + k m log₂ d": lambda d, s: [s * np.log2(d)],
    "a + k m": lambda d, s: [s * 1.0],
    "a + b log₂ d + c m": lambda d, s: [np.log2(d), s * 1.0],
    "a + b log₂ d + c log₂ m": lambda d, s: [np.log2(d), np.log2(s)],
}
GROWING = ("a + k log₂ C(d−1, m)", "a + k m log₂(e d/m)")  # either may carry the verdict EXPONENTIAL
POLYNOMIAL = "a + b log₂ d + c log₂ m"


@dataclass(frozen=True)
class Model:
    """One fitted model: coefficients, residual in bits, information criteria, error on the held-out size."""

    name: str
    coefficients: tuple[float, ...]
    sigma: float
    aic: float
    bic: float
    held_out: float


def fit(X: Floats, Y: Floats, censored: Bools) -> tuple[Floats, Floats, Floats]:
    """Maximum-likelihood coefficients (B, p), sigma (B,), log-likelihood (B,) of Y (B, n) ~ N(X beta, sigma^2).

    A censored entry of Y is a lower bound. EM: replace it by its expectation above the bound, fit, repeat; without
    censored entries that is least squares.

    >>> X = np.column_stack([np.ones(4), np.arange(4.0)])
    >>> beta, sigma, _ = fit(X, np.array([[1.0, 3.0, 5.0, 7.0]]), np.zeros((1, 4), dtype=bool))
    >>> beta.round(6).tolist(), float(sigma[0]) == FLOOR
    ([[1.0, 2.0]], True)
    """
    from scipy.special import log_ndtr

    solve = np.linalg.pinv(X).T
    filled, spread = Y.copy(), np.zeros_like(Y)
    for _ in range(200 if censored.any() else 1):
        beta = filled @ solve
        mean = beta @ X.T
        sigma = np.maximum(np.sqrt(((filled - mean) ** 2 + spread).mean(axis=1)), FLOOR)[:, None]
        z = (Y - mean) / sigma
        hazard = np.exp(-(z**2) / 2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)
        filled = np.where(censored, mean + sigma * hazard, Y)
        spread = np.where(censored, sigma**2 * np.maximum(1 + z * hazard - hazard**2, 0), 0)
    density = -(z**2) / 2 - np.log(sigma * np.sqrt(2 * np.pi))
    return beta, sigma[:, 0], np.where(censored, log_ndtr(-z), density).sum(axis=1)


def exponent_design(d: Integers, s: Integers, sizes: Sequence[int]) -> tuple[Floats, Floats]:
    """Columns of log2 cost = a_s + alpha(s) log2 d, and the rows that read alpha(s) and then d alpha/ds off them.

    >>> d, s = np.array([16, 32, 16, 32]), np.array([1, 1, 2, 2])
    >>> X, readout = exponent_design(d, s, [1, 2])
    >>> (readout @ np.linalg.lstsq(X, s * np.log2(d), rcond=None)[0]).round(6).tolist()
    [1.0, 2.0, 1.0]
    """
    member = (s[:, None] == np.array(sizes)).astype(float)
    S = len(sizes)
    alpha = np.hstack([np.zeros((S, S)), np.eye(S)])
    centred = np.array(sizes) - np.mean(sizes)
    return np.hstack([member, member * np.log2(d)[:, None]]), np.vstack([alpha, centred @ alpha / (centred @ centred)])


def half_width(X: Floats, readout: Floats, sigma: Floats) -> Floats:
    """Half width (B, rows) of the 95 % t interval of readout · coefficients, from sigma (B,) of the ML fit."""
    from scipy.stats import t

    n, p = X.shape
    error = np.sqrt(np.diag(readout @ np.linalg.pinv(X.T @ X) @ readout.T))
    unbiased: Floats = sigma[:, None] * np.sqrt(n / (n - p))
    return unbiased * error * float(t.ppf(0.975, n - p))


def design_matrix(name: str, d: Integers, s: Integers) -> Floats:
    """Columns of a model on these cells."""
    return np.column_stack([np.ones(len(d)), *MODELS[name](d, s)])


def criteria(
    name: str, d: Integers, s: Integers, Y: Floats, censored: Bools, held: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """A model on data sets Y (B, n): coefficients (B, p), sigma, log-likelihood and held-out RMSE, each (B,)."""
    X, train = design_matrix(name, d, s), s < held
    beta, sigma, likelihood = fit(X, Y, censored)
    apart = fit(X[train], Y[:, train], censored[:, train])[0]
    miss = np.where(censored | (s != held), np.nan, apart @ X.T - Y)
    return beta, sigma, likelihood, np.sqrt(np.nanmean(miss**2, axis=1))


def fitted(name: str, d: Integers, s: Integers, y: Floats, censored: Bools, held: int) -> Model:
    """A model on one data set y (1, n), judged at the held-out size."""
    (beta,), (sigma,), (likelihood,), (miss,) = criteria(name, d, s, y, censored, held)
    free = len(beta) + 1  # with sigma
    return Model(
        name=name,
        coefficients=tuple(map(float, beta)),
        sigma=float(sigma),
        aic=float(2 * free - 2 * likelihood),
        bic=float(free * np.log(len(d)) - 2 * likelihood),
        held_out=float(miss),
    )
