"""Laws for the price of hidden bits, and the three questions of the plan: pure functions of numbers.

A place is (s, d); rho there is the log of the median cost on hidden parities over that on random layers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.statistics.regression import Fit, neighbours, regress

Place = tuple[int, int]
Floats = NDArray[np.float64]
EXPONENTIAL, POWER, SUM = "exponential", "power", "sum of two powers"
IN_S: dict[str, Callable[[float], float]] = {EXPONENTIAL: float, POWER: log}
# Exponents and log weight of sums s^b + w s^c, b < c, of which the best is taken.
SUMS = [(b, c, w) for b in np.arange(0.0, 5.1, 0.5) for c in np.arange(b + 1, b + 9) for w in np.arange(-8.0, 2.0)]


@dataclass(frozen=True)
class Cell:
    """Rho of a place; `censored`: the truth is only known to lie above it."""

    place: Place
    rho: float
    censored: bool = False


def median(costs: Sequence[float], solved: Sequence[bool]) -> tuple[float, bool]:
    """The median of log costs, and whether it is censored; runs that did not solve count as costlier than all that did.

    The costs of such runs are the caps at which they ended.

    >>> median([4, 1, 16], [True, True, False]), median([4.0, 100.0], [True, False])
    ((4.0, False), (20.0, True))
    """
    ranked = sorted(zip([not each for each in solved], costs, strict=True))
    middle = ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1]
    return (middle[0][1] * middle[-1][1]) ** 0.5, middle[-1][0]


@cache
def levels(places: tuple[Place, ...], dims: tuple[int, ...]) -> Floats:
    """A level for every d of `dims`, between two of which it is linear in log d; and one term for odd s."""
    at, known = np.log([d for _, d in places]), np.log(dims)
    return np.stack([*(np.interp(at, known, unit) for unit in np.eye(len(dims))), [s % 2 for s, _ in places]], axis=1)


@cache
def correlations(places: tuple[Place, ...], correlation: float) -> Floats:
    """Residuals of one s correlate along d."""
    return neighbours([s for s, _ in places], [d for _, d in places], correlation)


def _places(cells: Sequence[Cell]) -> tuple[Place, ...]:
    return tuple(cell.place for cell in cells)


def _dims(places: Sequence[Place]) -> tuple[int, ...]:
    return tuple(sorted({d for _, d in places}))


def regressed(X: Floats, cells: Sequence[Cell], correlation: float) -> Fit:
    """Generalised least squares of the cells' rho."""
    above = np.array([cell.censored for cell in cells])
    return regress(X, np.array([cell.rho for cell in cells]), correlations(_places(cells), correlation), above)


def design(law: str, places: tuple[Place, ...], dims: tuple[int, ...]) -> Floats:
    """rho = level of d + [s odd] o + g s, or b log s in the place of g s: its columns."""
    return np.column_stack([levels(places, dims), [IN_S[law](s) for s, _ in places]])


@cache
def _sums(places: tuple[Place, ...], asked: tuple[Place, ...], correlation: float) -> tuple[Any, ...]:
    """What fitting a sum of two powers needs of the places alone."""
    A, B = levels(places, _dims(places)), levels(asked, _dims(places))
    inverse = np.linalg.inv(correlations(places, correlation))
    H = np.linalg.solve(A.T @ inverse @ A, A.T @ inverse)
    b, c, w = np.array(SUMS).T[:, :, None]
    s, t = (np.log([each for each, _ in own]) - log(3) for own in (places, asked))
    return inverse - inverse @ A @ H, B @ H, np.logaddexp(b * s, w + c * s), np.logaddexp(b * t, w + c * t)


def sum_of_two(cells: Sequence[Cell], asked: Sequence[Place], correlation: float) -> Floats:
    """Rho at places by the sum of two powers of s that fits cells best; a censored cell is taken at its bound."""
    Q, H, inside, outside = _sums(_places(cells), tuple(asked), correlation)
    rest = np.array([cell.rho for cell in cells]) - inside
    best = int(np.sum(rest @ Q * rest, axis=1).argmin())
    return np.asarray(H @ rest[best] + outside[best])


def errors(predictions: Floats, seen: Sequence[Cell]) -> Floats:
    """Squared errors; a bound counts only where it contradicts the prediction."""
    wrong = np.array([cell.rho for cell in seen]) - predictions
    return np.where([cell.censored for cell in seen], np.maximum(wrong, 0.0), wrong) ** 2


def primary(cells: Sequence[Cell], seen: Sequence[Cell], rule: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Whether an exponential of s predicts cells better than a power of s, by the rule of the plan.

    Laws are fitted to `cells`, frozen, and predict the cells `seen`: the outcome; the exponential's `factor` and the
    `power` with 95 % limits; `wins`, the cells that the former predicts better; `ratio` and `margin`, logs of the total
    squared error of the power law and of the sum of two powers over that of the exponential; and the `predictions`.
    """
    r, places, asked = rule["correlation"], _places(cells), _places(seen)
    dims = _dims(places)
    fits = {law: regressed(design(law, places, dims), cells, r) for law in IN_S}
    found = {law: design(law, asked, dims) @ fit.beta for law, fit in fits.items()}
    found[SUM] = sum_of_two(cells, asked, r)
    off = {law: errors(each, seen) for law, each in found.items()}
    rate, power = ([float(fit.beta[-1]), *fit.limits(len(fit.beta) - 1)] for fit in fits.values())
    total = {law: max(float(each.sum()), 1e-300) for law, each in off.items()}
    ratio, margin = (log(total[law] / total[EXPONENTIAL]) for law in (POWER, SUM))
    if ratio > rule["ratio"] and rate[1] > 0:
        outcome = "exponential" if margin > rule["margin"] else "better"
    else:
        outcome = "power" if ratio < -rule["ratio"] else "undecided"
    return outcome, {
        "factor": [exp(each) for each in rate], "power": power, "ratio": ratio, "margin": margin,
        "wins": int((off[EXPONENTIAL] < off[POWER]).sum()),
        "predictions": [
            {"s": cell.place[0], "d": cell.place[1], "seen": cell.rho, "censored": cell.censored,
             **{law: float(each[i]) for law, each in found.items()}} for i, cell in enumerate(seen)
        ],
    }  # fmt: skip


def secondary(cells: Sequence[Cell], correlation: float) -> tuple[str, list[float]]:
    """Whether the exponent of d rises with s: the slope a bit, even and odd s with exponents of their own."""
    places = _places(cells)
    sizes = sorted({s for s, _ in places})
    X = np.array([[*(float(s == one) for one in sizes), (1 - s % 2) * log(d), s % 2 * log(d), (s - 3.5) * log(d)]
                  for s, d in places])  # fmt: skip
    fit = regressed(X, cells, correlation)
    low, high = fit.limits(X.shape[1] - 1)
    outcome = "rises" if low > 0 else "falls" if high < 0 else "undecided"
    return outcome, [float(fit.beta[-1]), low, high]


def score(cells: Sequence[Cell], seen: Sequence[Cell], law: str, correlation: float) -> float:
    """Log density of the cells `seen` under a law fitted to `cells`: as C(d-1, s)^k, or as d^a e^(g s)."""
    from scipy.stats import norm

    def columns(own: Sequence[Cell]) -> Floats:
        def row(s: int, d: int) -> list[float]:
            return [log(comb(d - 1, s))] if law == "N" else [log(d), float(s)]

        return np.array([[1.0, float(s % 2), *row(s, d)] for s, d in _places(own)])

    fit, Z = regressed(columns(cells), cells, correlation), columns(seen)
    spread = np.sqrt(fit.sigma**2 + np.einsum("ij,jk,ik->i", Z, fit.covariance, Z))
    off = (np.array([cell.rho for cell in seen]) - Z @ fit.beta) / spread
    censored = np.array([cell.censored for cell in seen])
    return float(np.where(censored, norm.logsf(off), norm.logpdf(off) - np.log(spread)).sum())


def tertiary(cells: Sequence[Cell], seen: Sequence[Cell], rule: Mapping[str, Any]) -> tuple[str, float]:
    """Whether C(d-1, s) predicts the largest d better than d^a e^(g s); the difference of their log scores."""
    r = rule["correlation"]
    found = score(cells, seen, "N", r) - score(cells, seen, "product", r)
    return "as N" if found > rule["as N"] else "not as N" if found < rule["not as N"] else "undecided", found


def described(cells: Sequence[Cell], correlation: float) -> list[dict[str, Any]]:
    """Laws for log costs by likelihood: parameters, AIC, BIC, the residuals' standard deviation."""
    places = _places(cells)
    y, C = np.array([cell.rho for cell in cells]), correlations(places, correlation)
    above = np.array([cell.censored for cell in cells])
    d, s = np.log([d for _, d in places]), np.array([s for s, _ in places], dtype=float)
    one, odd = np.ones(len(y)), s % 2
    kappa = np.log([comb(d - 1, s) for s, d in places])
    shapes = {
        "N^κ": [one, odd, kappa],
        "d^a s^b": [one, odd, d, np.log(s)],
        "d^a e^(g s)": [one, odd, d, s],
        "d^(a + c s) s^b": [one, odd, d, d * s, np.log(s)],
    }
    found = []
    for name, columns in shapes.items():
        fit = regress(np.column_stack(columns), y, C, above)
        count = len(columns) + 1
        found.append({"law": name, "parameters": count, "AIC": 2 * count - 2 * fit.log_likelihood,
                      "BIC": count * log(len(y)) - 2 * fit.log_likelihood, "scatter": fit.sigma,
                      "last coefficient": float(fit.beta[-1])})  # fmt: skip
    return [*found, _two_powers(d, s, odd, y, C)]


def _two_powers(d: Floats, s: Floats, odd: Floats, y: Floats, C: Floats) -> dict[str, Any]:
    """A sum of two powers of d and s, by least squares from a grid of starts (censored costs at their bounds)."""
    from scipy.optimize import least_squares

    half, z, t = np.linalg.cholesky(C), d - d.mean(), np.log(s / 3)

    def off(v: Floats) -> Floats:
        law = np.logaddexp(v[0] + v[1] * z + v[2] * t, v[3] + v[4] * z + v[5] * t) + v[6] * odd
        return np.asarray(np.linalg.solve(half, np.clip(law - y, -50, 50)))

    starts = [(y.mean(), 1.5, b, y.mean() - gap, a, c, 0.3) for b in (3.0, 5.0) for gap in (2.0, 6.0)
              for a in (0.0, 4.0) for c in (6.0, 12.0)]  # fmt: skip
    square = min(2 * least_squares(off, start).cost for start in starts)
    n, count = len(y), 8
    likelihood = -0.5 * n * (log(2 * np.pi * square / n) + 1) - float(np.log(np.diag(half)).sum())
    return {"law": "sum of two powers", "parameters": count, "AIC": 2 * count - 2 * likelihood,
            "BIC": count * log(n) - 2 * likelihood, "scatter": (square / max(n - count + 1, 1)) ** 0.5,
            "last coefficient": None}  # fmt: skip
