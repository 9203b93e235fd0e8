"""What cells say about growth: exponents with their 95 % limits, likelihood ratios, and the degree of polynomials.

Written for D data sets at once, so that calibration judges simulated ones by the very code that judges the measured.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, hypot, log

import numpy as np

from hardness.statistics.cells import Bools, Cell, Draws, Floats, Integers, median_error, spread
from hardness.statistics.models import LEVEL, Fit, Freedom, designs, fit, freedom, limits, p_value, scatter

MIN_POINTS = 3  # sizes, dimensions and degrees of freedom below which nothing is said
REPLICATES = 1000
SEED = 0  # of the bootstrap: the same rows give the same page


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
    """An estimate with its lower and its upper 95 % limit; each is missed on its side in 5 % of data sets."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Estimates:
    """Of D data sets: `kappa` and `slope` = d alpha/dm as (value, low, high), (3, D). All else is (D,).

    `growth_p`: of a likelihood ratio as large, in favour of growth with N, under the product law; 1 if it is against.
    `product_p`: of one as large in favour of f(d) g(m) d^(lambda m). `split`: odd and even m are taken as two series,
    by `split_p`. `tau`: standard deviation of the cells around f(d) g(m) d^(lambda m), of `left` degrees of freedom:
    the noise of all three ratios. `misfit`: the same around the growth law, `wide_p` what `growth_p` would be if all of
    that were noise, and `k` its power of N. `enough`: whether a verdict may be given.
    """

    kappa: Floats
    slope: Floats
    growth_p: Floats
    product_p: Floats
    split: Bools
    split_p: Floats
    tau: Floats
    left: Integers
    misfit: Floats
    wide_p: Floats
    k: Floats
    enough: Bools


def estimates(data: Draws, replicates: int = REPLICATES) -> Estimates:
    """Everything the rule needs, of every data set; without replicates kappa has its t limits alone.

    Odd and even m are two series where two more columns, their constant and their exponent of d, improve the growth law
    by an F test at 5 %.
    """
    Y, censored = data.medians()
    one, two = (_Laws.of(data, Y, censored, split) for split in (False, True))
    left = two.free["free"].left
    split_p = p_value(
        one.fits["growth"], two.fits["growth"], one.free["growth"], two.free["growth"], two.scatter("free"), left
    )
    split = (split_p < LEVEL) & (left >= MIN_POINTS)
    kappa = np.where(split, two.limits("collapse"), one.limits("collapse"))
    for which, keep in enumerate((~split, split)):
        if replicates and keep.any():
            low, high = _bootstrap(data.sets(keep), bool(which), replicates)
            kappa[1, keep] = np.minimum(kappa[1, keep], low)
            kappa[2, keep] = np.maximum(kappa[2, keep], high)
    seen = [[len(np.unique(x[~row])) for x in (data.d, data.m)] for row in censored]
    return Estimates(
        kappa=kappa,
        slope=np.where(split, two.limits("free"), one.limits("free")),
        growth_p=np.where(split, two.growth_p("free"), one.growth_p("free")),
        product_p=np.where(split, two.p("product", "free"), one.p("product", "free")),
        split=split,
        split_p=split_p,
        tau=np.where(split, two.scatter("free"), one.scatter("free")),
        left=np.where(split, left, one.free["free"].left),
        misfit=np.where(split, two.scatter("growth"), one.scatter("growth")),
        wide_p=np.where(split, two.growth_p("growth"), one.growth_p("growth")),
        k=np.where(split, two.fits["growth"].beta[:, -1], one.fits["growth"].beta[:, -1]),
        enough=(np.min(seen, axis=1) >= MIN_POINTS) & (one.free["free"].left >= MIN_POINTS),
    )


@dataclass(frozen=True)
class _Laws:
    """The four laws fitted to every data set, with odd and even m as one series or two."""

    fits: dict[str, Fit]
    free: dict[str, Freedom]

    @staticmethod
    def of(data: Draws, Y: Floats, censored: Bools, split: bool) -> "_Laws":
        laws = designs(data.d, data.m, split)
        fits = {name: fit(X, Y, censored) for name, X in laws.items()}
        return _Laws(fits, {name: freedom(X, censored) for name, X in laws.items()})

    def limits(self, name: str) -> Floats:
        return limits(self.fits[name], self.free[name])

    def p(self, null: str, law: str, error: str = "free") -> Floats:
        """Of the product law, say, within another, at the scatter around `error`."""
        fits, free = self.fits, self.free
        return np.asarray(p_value(fits[null], fits[law], free[null], free[law], self.scatter(error), free[error].left))

    def growth_p(self, error: str) -> Floats:
        """One where the power of N is negative: that speaks against growth."""
        return np.where(self.fits["growth"].beta[:, -1] > 0, self.p("product", "growth", error), 1.0)

    def scatter(self, name: str) -> Floats:
        return scatter(self.fits[name], self.free[name])


def _bootstrap(data: Draws, split: bool, replicates: int) -> Floats:
    """Lower and upper 95 % limit of kappa, (2, D), with cells drawn again and, in each, its runs."""
    rng = np.random.default_rng(SEED)
    Y, censored = data.resampled(replicates, rng)
    cells = len(data.d)
    weights = rng.multinomial(cells, np.full(cells, 1 / cells), size=replicates).astype(float)
    X = designs(data.d, data.m, split)["collapse"]
    kappa = fit(X, Y, censored, weights).beta[..., -1]
    return np.asarray(np.quantile(kappa, [LEVEL, 1 - LEVEL], axis=1))


def exponents(cells: Sequence[Cell], misfit: float, left: int) -> dict[int, Interval]:
    """alpha(m): the slope of log median cost on log d over the cells of each m that are not censored, two or more.

    Its limits are Student's t, of `left` degrees of freedom, at the scatter `misfit` of all cells about a law that is
    straight in log d at each m, as the line is.
    """
    from scipy.stats import t

    found = {}
    for m in sorted({cell.size for cell in cells}):
        seen = [cell for cell in cells if cell.size == m and not cell.censored]
        if len({cell.dim for cell in seen}) > 1:
            D = np.log([cell.dim for cell in seen])
            D = D - D.mean()
            value = float(D @ np.log([cell.median for cell in seen]) / (D @ D))
            half = float(misfit / np.sqrt(D @ D) * t.ppf(1 - LEVEL, left))
            found[m] = Interval(value, value - half, value + half)
    return found


@dataclass(frozen=True)
class Step:
    """The local exponent between two cells, from the spread of their runs; `censored`: `value` is a lower bound."""

    start: Cell
    stop: Cell
    exponent: Interval
    censored: bool


def steps(pairs: Sequence[tuple[Cell, Cell, float]], level: float, runs: float) -> list[Step]:
    """log(cost/cost) / `width` for each (cell, later cell, width), the first of a pair not censored.

    Limits at `level` from the median's error: the spread between runs is the pooled one, `runs`, or that of the cell if
    it is larger. A censored later cell gives lower bounds alone.
    """
    from scipy.stats import norm

    found = []
    for start, stop, width in pairs:
        a, b = (max(runs, float(np.log(c.cost).std())) * median_error(len(c.cost)) for c in (start, stop))
        half = float(norm.ppf(1 - level)) * hypot(a, b) / width
        value = log(stop.median / start.median) / width
        high = np.inf if stop.censored else value + half
        found.append(Step(start, stop, Interval(value, value - half, high), stop.censored))
    return found


def degree(cells: Sequence[Cell]) -> Step | None:
    """The step in d at fixed m of the largest lower limit, if that is positive; limits hold for all pairs at once.

    The log-log slope of a polynomial with non-negative coefficients never exceeds its degree, nor does its mean over a
    range of d. So every such polynomial through the true medians has at least this degree, with 95 % confidence.
    """
    pairs = [
        (a, b, log(b.dim / a.dim))
        for a in cells
        for b in cells
        if a.size == b.size and a.dim < b.dim and not a.censored
    ]
    found = steps(pairs, LEVEL / max(len(pairs), 1), spread(cells))
    best = max(found, key=lambda step: step.exponent.low, default=None)
    return best if best and best.exponent.low > 0 else None


def least_degree(step: Step) -> int:
    """The least whole degree that the lower limit of a step allows."""
    return ceil(step.exponent.low - 1e-9)


def rays(cells: Sequence[Cell]) -> dict[Fraction, list[Step]]:
    """gamma: the local exponent d log cost/dm between neighbours on each ray d = c m that has two cells or more."""
    on: dict[Fraction, list[Cell]] = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: cell.size):
        on[Fraction(cell.dim, cell.size)].append(cell)
    pooled, found = spread(cells), {}
    for c, line in sorted(on.items()):
        pairs = [(a, b, float(b.size - a.size)) for a, b in pairwise(line) if not a.censored]
        if pairs:
            found[c] = steps(pairs, LEVEL, pooled)
    return found
