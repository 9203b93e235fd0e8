"""Heads as lottery tickets: the prediction x N P(rho_T² > x) of theory 2.10, a heuristic, by sampling.

A head tanh(b + Σ_j t_j v_j) on signs v has the slope g = tanh'. What pulls it towards a hidden set S in coordinate j is
the coefficient of g at T, S without j, and rho_T² = ĝ(T)²/E g² is its strength per informative example. Coefficients
are integrals over one frequency w, exact for every n: with the transform G of sech², ĝ(T) is the mean over w of G(w)
exp(i w b) times Π cos(w t_j) over j outside T and Π i sin(w t_j) over j in T. All of it is numpy and may be changed.
"""

from collections.abc import Callable
from math import comb, pi

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
HIGHEST = 26.0  # frequency beyond which the transforms of sech² and sech⁴ are below 1e-15
TAIL = 24.0  # beyond |z| = 24 sech² is below 1e-20


def restarts(batch: int, l1: float) -> float:
    """Return x = 8 l1²/batch, the rate per informative example at which an l1 penalty renews a head's weights."""
    return 8 * l1**2 / batch


def scale(rate: float, l1: float) -> float:
    """Return rate/(2 l1), the scale of the Laplace law of a head's weights at learning rate `rate`, l1 penalty `l1`."""
    return rate / (2 * l1)


def equilibrium(rng: np.random.Generator, heads: int, n: int, scale: float) -> tuple[Floats, Floats]:
    """Draw heads tanh(b + t·v) as noise and decay leave them: t (heads, n) is Laplace of `scale`, b (heads,) normal."""
    # That b spreads as far as the sums t·v is an assumption: the learner does not pull it to 0.
    return rng.laplace(0.0, scale, (heads, n)), rng.normal(0.0, scale * (2 * n) ** 0.5, heads)


def coefficients(t: Floats, b: Floats, size: int) -> Floats:
    """Return for heads of weights t (heads, n), b (heads,) the means over signs v of tanh'(b + t·v) v_1 ⋯ v_size."""
    return _mean(t, b, size, lambda w: pi * w / np.sinh(pi * w / 2))


def mean_squares(t: Floats, b: Floats) -> Floats:
    """Return for heads of weights t (heads, n), b (heads,) the means over uniform signs v of tanh'(b + t·v)²."""
    return _mean(t, b, 0, lambda w: pi * w * (w**2 + 4) / (6 * np.sinh(pi * w / 2)))


def _mean(t: Floats, b: Floats, size: int, transform: Callable[[Floats], Floats]) -> Floats:
    """Return the means (heads,) over signs v of f(b + t·v) v_1 ⋯ v_size, given the Fourier `transform` of f."""
    step = pi / (TAIL + float((np.abs(t).sum(axis=1) + np.abs(b)).max()))
    w: Floats = (np.arange(int(HIGHEST / step) + 1, dtype=np.float64) + 0.5) * step
    product = np.exp(1j * w * b[:, None]) * 1j**size
    for place, column in enumerate(t.T):
        product *= (np.sin if place < size else np.cos)(w * column[:, None])
    return np.asarray((product.real * transform(w)).sum(axis=1) * step / pi)


def likely_sets(rng: np.random.Generator, t: Floats, size: int) -> tuple[Floats, Floats]:
    """Draw for each head a set T of `size` of its n weights, large ones more likely, and move these to the front.

    The probability of T is in proportion to Π tanh² t_j over j in T. Returns the reordered weights (heads, n), and the
    ratios (heads,) of uniform probability to this one: means weighted by them are means over uniform T.
    """
    heads, n = t.shape
    a = np.tanh(t) ** 2
    e = np.zeros((n + 1, size + 1, heads))  # e[j, k]: of degree k in the first j
    e[:, 0] = 1
    for j in range(n):
        e[j + 1, 1:] = e[j, 1:] + a[:, j] * e[j, :-1]
    left, chosen = np.full(heads, size), np.zeros((heads, n), bool)
    rows = np.arange(heads)
    for j in range(n - 1, -1, -1):
        taken = (left > 0) & (rng.random(heads) * e[j + 1, left, rows] < a[:, j] * e[j, left - 1, rows])
        chosen[:, j], left = taken, left - taken
    product = np.where(chosen, a, 1).prod(axis=1)
    ordered = np.take_along_axis(t, np.argsort(~chosen, axis=1, kind="stable"), axis=1)
    return ordered, e[n, size] / (comb(n, size) * product)


def strengths(rng: np.random.Generator, n: int, s: int, scale: float, heads: int) -> tuple[Floats, Floats]:
    """Return rho_T² (heads,) of random heads at random sets T of s - 1 of n signs, and importance weights (heads,).

    The square of the Fourier coefficient at T of a head's slope g = tanh'(b + t·v), over E g², is rho_T². Weights t
    have the Laplace scale `scale`. Means with importance weights are means over uniform T.
    """
    t, b = equilibrium(rng, heads, n, scale)
    t, ratios = likely_sets(rng, t, s - 1)
    return coefficients(t, b, s - 1) ** 2 / mean_squares(t, b), ratios


def prediction(
    rng: np.random.Generator, n: int, s: int, rate: float, batch: int, l1: float, heads: int = 20_000
) -> tuple[float, float]:
    """Return x N P(rho_T² > x), N = C(n, s), with its standard error: how fast `heads` random heads find a hidden set.

    rho_T² says how strongly a random head is pulled to s - 1 of n coordinates (`strengths`). x is the rate at which the
    penalty `l1` renews weights (`restarts`), and `rate` is the learning rate. Times 1.4/N, a factor fitted once, the
    value is the predicted rate, per head and informative example, at which a first head holds the set (theory 2.10).
    """
    x = restarts(batch, l1)
    squares, ratios = strengths(rng, n, s, scale(rate, l1), heads)
    tail = x * comb(n, s) * np.where(squares > x, ratios, 0)
    return float(tail.mean()), float(tail.std() / heads**0.5)
