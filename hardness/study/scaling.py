"""How a measured cost grows with the dimension d and the hidden size s: fits, intervals, models, verdict (theory 3.6).

The cost of a cell (d, s) is its expected running time: everything spent in the cell over the number of solved
runs. That is the mean cost if every run solved, and the maximum-likelihood mean under right-censoring of an exponential
law otherwise: a run that did not solve counts what it spent, so a crash that spent nothing adds no hardness. A
cell without a solved run is censored: its cost is only known to exceed what one run spent on average. Where costs are
not exponential, a cell of which some runs did not solve measures the time with restarts after that budget. Fits are
linear in log2 cost with Gaussian errors between cells, by maximum likelihood, censored cells by their tail.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

LEAST = 4  # dimensions, and hidden sizes, below which no growth is fitted
FLOOR = 1e-3  # bits: cells that fit better than this are not told apart
REPLICATES = 1000
SEED = 0  # of the bootstrap and the power simulation: the same rows give the same page
DECISIVE = 10.0  # difference of BIC


@dataclass(frozen=True)
class Cell:
    """The runs at one (d, s): what each spent, and whether it solved."""

    dim: int
    size: int
    cost: Floats
    solved: Bools

    @property
    def censored(self) -> bool:
        return not self.solved.any()

    @property
    def log2_cost(self) -> float:
        """log2 of the expected running time; of its lower bound where no run solved."""
        return float(_log2_cost(self.cost[None], self.solved[None])[0][0])


def _log2_cost(cost: Floats, solved: Bools) -> tuple[Floats, Bools]:
    """log2 expected running time and censoring of each row of runs, shapes (rows, runs) -> (rows,)."""
    wins = solved.sum(axis=-1)
    per = np.where(wins > 0, wins, cost.shape[-1])
    return np.log2(np.maximum(cost.sum(axis=-1) / per, 1.0)), wins == 0


def mean_half_width(cost: Floats) -> Floats:
    """Half width of the t interval, nominally 95 %, of the mean cost of runs that all solved: (..., runs) -> (...).

    By simulation it holds the mean in 92 to 95 % of sets of 5 to 20 runs of uniform or log-normal (0.5) cost, at any
    magnitude; in 88 to 92 % for exponential ones.

    >>> round(float(mean_half_width(np.array([10.0, 12.0, 14.0]))), 2)
    4.97
    """
    from scipy.stats import t

    runs = cost.shape[-1]
    return np.asarray(cost.std(axis=-1, ddof=1) / runs**0.5 * t.ppf(0.975, runs - 1))


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


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Growth:
    """What one series of cells says. `refusal` says why there is no fit; then all else is empty."""

    cells: tuple[Cell, ...]
    exponents: dict[int, Interval] = field(default_factory=dict)
    slope: Interval | None = None
    binomial_slope: Interval | None = None
    models: tuple[Model, ...] = ()
    held_out_size: int | None = None
    noise: float = 0.0
    refusal: str | None = None

    @property
    def exponential(self) -> bool:
        """The rule of theory 3.6: the exponent grows, and a model that says so fits and predicts better."""
        if self.slope is None:
            return False
        best, poly = self.rivals
        return self.slope.low > 0 and poly.bic - best.bic > DECISIVE and best.held_out < poly.held_out

    @cached_property
    def detectable(self) -> float | None:
        """The power: the smallest d alpha/ds that the rule finds on this grid at this noise, four times in five."""
        measured = [cell for cell in self.cells if not cell.censored]
        if self.slope is None:
            return None
        from hardness.study.power import detectable

        return detectable(np.array([c.dim for c in measured]), np.array([c.size for c in measured]), self.noise)

    @property
    def rivals(self) -> tuple[Model, Model]:
        """The better of the growing models, and the polynomial one."""
        model = {each.name: each for each in self.models}
        return min((model[name] for name in GROWING), key=lambda m: m.bic), model[POLYNOMIAL]

    @property
    def verdict(self) -> str:
        return "EXPONENTIAL" if self.exponential else "INCONCLUSIVE"


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


def growth(cells: Sequence[Cell]) -> Growth:
    """Fit a series: exponents and their slope (P1), the binomial law (P2), models, hold-out (P3), power.

    Intervals are the hull of two: bootstrap over the runs of each cell, and Student's t from the scatter of the
    cells around the fit, since a deterministic adversary leaves no scatter between runs.
    """
    cells = tuple(sorted((c for c in cells if len(c.cost)), key=lambda c: (c.size, c.dim)))
    sizes, refusal = _fitted_sizes(cells)
    if refusal:
        return Growth(cells, refusal=refusal)
    d, s = np.array([c.dim for c in cells]), np.array([c.size for c in cells])
    y, censored = np.array([[c.log2_cost for c in cells]]), np.array([[c.censored for c in cells]])
    replicas, lost = _bootstrap(cells)

    use = np.isin(s, sizes)
    design, readout = exponent_design(d[use], s[use], sizes)
    exponents = _intervals(design, readout, y[:, use], censored[:, use], replicas[:, use], lost[:, use])
    law = _columns("a + k log₂ C(d−1, m)", d, s)
    (k,) = _intervals(law, np.array([[0.0, 1.0]]), y, censored, replicas, lost)
    models = tuple(_model(name, d, s, y, censored, sizes[-1]) for name in MODELS)
    scatter = float(np.sqrt(replicas.var(axis=0)[~censored[0]].mean()))
    noise = max(scatter, float(fit(design, y[:, use], censored[:, use])[1][0]))
    return Growth(
        cells=cells,
        exponents=dict(zip(sizes, exponents[:-1], strict=True)),
        slope=exponents[-1],
        binomial_slope=k,
        models=models,
        held_out_size=sizes[-1],
        noise=noise,
    )


def _fitted_sizes(cells: Sequence[Cell]) -> tuple[list[int], str | None]:
    """The sizes with an exponent, those measured at three dimensions or more; or why nothing is fitted."""
    measured = [cell for cell in cells if not cell.censored]
    dims = {size: {cell.dim for cell in measured if cell.size == size} for size in {cell.size for cell in measured}}
    sizes = sorted(size for size in dims if len(dims[size]) >= 3)
    widest = set().union(*(dims[size] for size in sizes)) if sizes else set()
    if not cells:
        return [], "no trial has been run"
    if not measured:
        return [], "no trial solved its instance: every cost is only a lower bound"
    if len(widest) < LEAST or len(sizes) < LEAST:
        return [], (
            f"fewer than {LEAST} dimensions or fewer than {LEAST} sizes m measured at three dimensions "
            f"(got {len(widest)} and {len(sizes)}): too few for a growth fit"
        )
    return sizes, None


def _bootstrap(cells: Sequence[Cell]) -> tuple[Floats, Bools]:
    """log2 cost and censoring (REPLICATES, cells) with the runs of each cell drawn again."""
    rng = np.random.default_rng(SEED)
    columns = []
    for cell in cells:
        drawn = rng.integers(len(cell.cost), size=(REPLICATES, len(cell.cost)))
        columns.append(_log2_cost(cell.cost[drawn], cell.solved[drawn]))
    return np.column_stack([y for y, _ in columns]), np.column_stack([lost for _, lost in columns])


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


def _intervals(X: Floats, readout: Floats, y: Floats, censored: Bools, replicas: Floats, lost: Bools) -> list[Interval]:
    """readout · coefficients with the hull of the bootstrap and the t interval."""
    beta, sigma, _ = fit(X, y, censored)
    value = readout @ beta[0]
    low, high = np.quantile(fit(X, replicas, lost)[0] @ readout.T, [0.025, 0.975], axis=0)
    half = half_width(X, readout, sigma)[0]
    bounds = zip(value, np.minimum(low, value - half), np.maximum(high, value + half), strict=True)
    return [Interval(*map(float, each)) for each in bounds]


def half_width(X: Floats, readout: Floats, sigma: Floats) -> Floats:
    """Half width (B, rows) of the 95 % t interval of readout · coefficients, from sigma (B,) of the ML fit."""
    from scipy.stats import t

    n, p = X.shape
    error = np.sqrt(np.diag(readout @ np.linalg.pinv(X.T @ X) @ readout.T))
    unbiased: Floats = sigma[:, None] * np.sqrt(n / (n - p))
    return unbiased * error * float(t.ppf(0.975, n - p))


def _columns(name: str, d: Integers, s: Integers) -> Floats:
    return np.column_stack([np.ones(len(d)), *MODELS[name](d, s)])


def criteria(
    name: str, d: Integers, s: Integers, Y: Floats, censored: Bools, held: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """A model on data sets Y (B, n): coefficients (B, p), sigma, log-likelihood and held-out RMSE, each (B,)."""
    X, train = _columns(name, d, s), s < held
    beta, sigma, likelihood = fit(X, Y, censored)
    apart = fit(X[train], Y[:, train], censored[:, train])[0]
    miss = np.where(censored | (s != held), np.nan, apart @ X.T - Y)
    return beta, sigma, likelihood, np.sqrt(np.nanmean(miss**2, axis=1))


def _model(name: str, d: Integers, s: Integers, y: Floats, censored: Bools, held: int) -> Model:
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
