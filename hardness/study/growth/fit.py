"""How a measured cost grows with the dimension d and the hidden size s: fits, intervals, verdict (theory 3.6).

The cost of a cell (d, s) is its expected running time: everything spent in the cell over the number of solved
runs. That is the mean cost if every run solved, and the maximum-likelihood mean under right-censoring of an exponential
law otherwise: a run that did not solve counts what it spent, so a crash that spent nothing adds no hardness. A
cell without a solved run is censored: its cost is only known to exceed what one run spent on average. Where costs are
not exponential, a cell of which some runs did not solve measures the time with restarts after that budget. What is
fitted, and how, is in `models`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hardness.study.growth.models import (
    GROWING,
    MODELS,
    POLYNOMIAL,
    Bools,
    Floats,
    Model,
    design_matrix,
    exponent_design,
    fit,
    fitted,
    half_width,
)

LEAST = 4  # dimensions, and hidden sizes, below which no growth is fitted
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
        from hardness.study.growth.power import detectable

        return detectable(np.array([c.dim for c in measured]), np.array([c.size for c in measured]), self.noise)

    @property
    def rivals(self) -> tuple[Model, Model]:
        """The better of the growing models, and the polynomial one."""
        model = {each.name: each for each in self.models}
        return min((model[name] for name in GROWING), key=lambda m: m.bic), model[POLYNOMIAL]

    @property
    def verdict(self) -> str:
        return "EXPONENTIAL" if self.exponential else "INCONCLUSIVE"


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
    law = design_matrix("a + k log₂ C(d−1, m)", d, s)
    (k,) = _intervals(law, np.array([[0.0, 1.0]]), y, censored, replicas, lost)
    models = tuple(fitted(name, d, s, y, censored, sizes[-1]) for name in MODELS)
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


def _intervals(X: Floats, readout: Floats, y: Floats, censored: Bools, replicas: Floats, lost: Bools) -> list[Interval]:
    """readout · coefficients with the hull of the bootstrap and the t interval."""
    beta, sigma, _ = fit(X, y, censored)
    value = readout @ beta[0]
    low, high = np.quantile(fit(X, replicas, lost)[0] @ readout.T, [0.025, 0.975], axis=0)
    half = half_width(X, readout, sigma)[0]
    bounds = zip(value, np.minimum(low, value - half), np.maximum(high, value + half), strict=True)
    return [Interval(*map(float, each)) for each in bounds]
