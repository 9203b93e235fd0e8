"""Laws of log cost in d and m: linear, fitted by maximum likelihood to many data sets at once.

The scatter of the cells around a law is Gaussian and estimated: it holds both what the runs leave and a random effect
of the cell. A censored cell, known only to exceed its entry, counts by its tail. Standard errors and degrees of freedom
are those of the cells that are not censored.
"""

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from hardness.statistics.cells import Bools, Floats, Integers

FLOOR = 0.01  # of the scatter: costs that differ by one per cent are not told apart
ROUNDS, TOLERANCE = 100, 1e-4  # of EM: rounds at most, and the change of an entry that ends it
LEVEL = 0.05  # every limit is one that the truth lies beyond in 5 % of data sets


def log_binomial(d: Integers, m: Integers) -> Floats:
    """log N = log C(d-1, m), elementwise; natural, as every logarithm of a cost here."""
    return np.array([np.log(float(comb(int(a) - 1, int(b)))) for a, b in zip(d, m, strict=True)])


def designs(d: Integers, m: Integers, split: bool) -> dict[str, Floats]:
    """Columns of four laws. In all but `product` the last is the one that is read.

    collapse: c N^kappa. product: c d^a m^b. growth: c d^a m^b N^k. free: f(d) g(m) d^(lambda m), for whatever f and g,
    so that lambda = d alpha/dm is compared over one range of d. With `split`, odd and even m are two series: each has a
    constant and an exponent (of N in the collapse, of d elsewhere) of its own, and what is read is their mean.

    >>> d, m = np.array([12, 16, 20, 12, 16, 20]), np.array([2, 2, 2, 3, 3, 3])
    >>> {name: X.shape[1] for name, X in designs(d, m, split=False).items()}
    {'collapse': 2, 'product': 3, 'growth': 4, 'free': 5}
    """
    one, D, M, N = np.ones(len(d)), np.log(d * 1.0), np.log(m * 1.0), log_binomial(d, m)
    D, N = D - D.mean(), N - N.mean()
    odd = np.where(m % 2, 0.5, -0.5)

    def apart(x: Floats) -> list[Floats]:
        return [odd, odd * x] if split else []

    product = [one, D, M, *apart(D)]
    levels = [*(m[:, None] == np.unique(m)).T * 1.0, *(d[:, None] == np.unique(d)[1:]).T * 1.0]
    laws = {
        "collapse": [one, *apart(N), N],
        "product": product,
        "growth": [*product, N],
        "free": [*levels, *apart(D)[1:], (m - m.mean()) * D],
    }
    return {name: np.column_stack(columns) for name, columns in laws.items()}


@dataclass(frozen=True)
class Fit:
    """A law fitted to data sets of any shape (...): coefficients (..., p), scatter (maximum likelihood), likelihood."""

    beta: Floats
    sigma: Floats
    likelihood: Floats


def fit(X: Floats, Y: Floats, censored: Bools, weights: Floats | None = None) -> Fit:
    """Fit Y (..., n) ~ N(X beta, sigma^2), where a censored entry is a lower bound. `weights` (B, n) count
    the cells of B resamples, for Y (D, B, n).

    EM: replace a censored entry by its expectation above the bound, fit, repeat; least squares where nothing is.

    >>> X = np.column_stack([np.ones(4), np.arange(4.0)])
    >>> found = fit(X, np.array([[1.0, 3.0, 5.0, 7.0]]), np.zeros((1, 4), dtype=bool))
    >>> found.beta.round(6).tolist(), float(found.sigma[0]) == FLOOR
    ([[1.0, 2.0]], True)
    """
    from scipy.special import log_ndtr

    w = np.broadcast_to(np.ones(X.shape[0]) if weights is None else weights, Y.shape)
    square = X.T @ (w[:1, ..., None] * X)  # the weights are the same in every data set
    solve = np.linalg.pinv(square, hermitian=True) @ (X.T * w[:1, ..., None, :])
    beta = np.einsum("...pn,...n->...p", solve, Y)
    error = (w * (Y - beta @ X.T) ** 2).sum(axis=-1) / w.sum(axis=-1)
    sigma = np.maximum(np.sqrt(error), FLOOR)
    some = censored.any(axis=-1)
    if some.any():
        solve = solve.reshape(-1, *solve.shape[-2:])
        which = np.broadcast_to(np.arange(len(solve)), some.shape)[some]
        beta[some], sigma[some] = _expected(X, solve, which, Y[some], censored[some], w[some], beta[some])
    z = (Y - beta @ X.T) / sigma[..., None]
    density = -(z**2) / 2 - np.log(sigma[..., None] * np.sqrt(2 * np.pi))
    density[censored] = log_ndtr(-z[censored])
    return Fit(beta, sigma, (w * density).sum(axis=-1))


def _expected(
    X: Floats, solve: Floats, which: Integers, Y: Floats, censored: Bools, w: Floats, beta: Floats
) -> tuple[Floats, Floats]:
    """EM for rows Y (K, n) with c censored entries at most: coefficients and scatter; `which` (K,) of `solve` is a
    row's, and `beta` its least-squares fit.

    With H = X solve and r the residuals of that fit, entries raised by delta have means X beta + H delta and the sum
    of squares w (r^2 + delta (2 r + delta - H delta)), as r is orthogonal to X: so a round is one of the censored
    entries alone. Rows that have settled are left alone.
    """
    from scipy.special import log_ndtr

    order = np.argsort(~censored, axis=1, kind="stable")[:, : censored.sum(axis=1).max()]
    lost, y, v = (
        np.take_along_axis(censored, order, 1),
        np.take_along_axis(Y, order, 1),
        np.take_along_axis(w, order, 1),
    )
    H = (X @ solve)[which[:, None, None], order[:, :, None], order[:, None, :]]
    fitted = (X[order] @ beta[..., None])[..., 0]
    squares, weight = (w * (Y - beta @ X.T) ** 2).sum(axis=1), w.sum(axis=1)
    delta, sigma, extra = np.zeros_like(y), np.zeros(len(y)), np.zeros_like(y)
    going = np.arange(len(y))
    for _ in range(ROUNDS):
        now, shift = delta[going], (H[going] @ delta[going][..., None])[..., 0]
        gain = now * (2 * (y - fitted)[going] + now - shift) + extra[going]
        s = np.sqrt((squares[going] + (v[going] * gain).sum(axis=1)) / weight[going])
        sigma[going] = s = np.maximum(s, FLOOR)
        mean = fitted[going] + shift
        z = (y[going] - mean) / s[:, None]
        hazard = np.exp(-(z**2) / 2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)
        delta[going] = np.where(lost[going], mean + s[:, None] * hazard - y[going], 0.0)
        extra[going] = np.where(lost[going], s[:, None] ** 2 * np.maximum(1 + z * hazard - hazard**2, 0), 0.0)
        going = going[np.abs(delta[going] - now).max(axis=1) > TOLERANCE]
        if not going.size:
            break
    raised = np.take_along_axis(solve[which], order[:, None, :], 2)
    return beta + (raised @ delta[..., None])[..., 0], sigma


@dataclass(frozen=True)
class Freedom:
    """What the cells that are not censored leave to a law in each of D data sets: their number, the rank of the law on
    them, and the length of its last column off the others (0: not estimable). Each (D,)."""

    n: Integers
    rank: Integers
    length: Floats

    @property
    def left(self) -> Integers:
        """Degrees of freedom of the scatter."""
        return self.n - self.rank


def freedom(X: Floats, censored: Bools) -> Freedom:
    """`Freedom` of X (n, p) where `censored` (D, n)."""
    patterns, where = np.unique(censored, axis=0, return_inverse=True)
    found = []
    for pattern in patterns:
        seen = X[~pattern]
        others, last = seen[:, :-1], seen[:, -1]
        off = last - others @ np.linalg.lstsq(others, last, rcond=None)[0] if len(seen) else last
        found.append((len(seen), np.linalg.matrix_rank(seen) if len(seen) else 0, float(np.linalg.norm(off))))
    n, rank, length = np.array(found).T[:, where.ravel()]
    return Freedom(n.astype(np.int64), rank.astype(np.int64), np.where(length > 1e-6, length, 0.0))


def scatter(found: Fit, free: Freedom) -> Floats:
    """Standard deviation (D,) of the cells around a law, corrected for what was fitted; infinite if nothing is left."""
    left = free.left
    return np.where(left > 0, found.sigma * np.sqrt(free.n / np.maximum(left, 1)), np.inf)


def limits(found: Fit, free: Freedom) -> Floats:
    """The last coefficient, its lower and its upper 95 % limit by Student's t: (3, D)."""
    from scipy.stats import t

    value = found.beta[..., -1]
    safe = np.where(free.length > 0, free.length, 1.0)
    half = scatter(found, free) / safe * t.ppf(1 - LEVEL, np.maximum(free.left, 1))
    half = np.where(free.length > 0, half, np.inf)
    return np.stack([value, value - half, value + half])


def p_value(null: Fit, law: Fit, less: Freedom, more: Freedom, error: Floats, left: Integers) -> Any:
    """P (D,) of a likelihood ratio at least this large if `null`, of freedom `less`, holds within `law`, at a scatter
    `error` of `left` degrees of freedom.

    That is the scatter around a larger law, so that a shape which `law` lacks is no noise. With Gaussian scatter, no
    censored cell and a larger law that holds `law` this is an F test. f(d) g(m) d^(lambda m) holds the product law, and
    log N but for 2 % of its part off that; simulated levels are those of an F test.
    """
    from scipy.stats import f

    extra = more.rank - less.rank
    gain = np.expm1(np.clip(2 * (law.likelihood - null.likelihood) / np.maximum(more.n, 1), 0, 700))
    ratio = gain * more.n * (law.sigma / error) ** 2 / np.maximum(extra, 1)
    return np.where((extra > 0) & (left > 0), f.sf(ratio, np.maximum(extra, 1), np.maximum(left, 1)), 1.0)
