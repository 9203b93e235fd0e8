"""The verdict on a measured cost: GROWS WITH N, POLYNOMIAL FITS, INCONCLUSIVE, or none, in words made of its numbers.

N = C(d-1, m). GROWS WITH N needs three things: a positive lower 95 % limit of kappa, the slope of log cost on log N; a
lower one of d alpha/dm, where alpha(m) is the exponent of d at fixed m, above 0.25, since less counts as no change; and
a likelihood ratio that rejects c d^a m^b in favour of c d^a m^b N^k at 5 %. POLYNOMIAL FITS needs d alpha/dm between
-0.25 and 0.25 by both its 95 % limits, and a product law that neither growth with N nor f(d) g(m) d^(lambda m) rejects
at 5 %.

The slope d alpha/dm is estimated beside f(d) g(m) with f and g free, which compares the exponents over one range of d
although the larger m are measured up to smaller d: without this, a cost that only bends in log d passes for one that
grows (with the limit at 0, d^9 m^2/(d^8 + 16^8) did in 44 % of data sets). The noise of every ratio is the scatter of
the cells around that same law, f(d) g(m) d^(lambda m), as a bend in d is a shape and no noise. But where costs bend,
the ratio may follow the bend: then the slope alone protects.

Why 0.25 and not 0: the exponent of d of random layers, the nice control, rises too, by 0.1 to 0.2 a head. A grid large
enough to find growth as the root of N, where it rises by 0.65 to 0.85, finds that as well, and called the control
growing; the limit was set after that was seen. A constant plus a square or a cube of d m can rise faster, and is one of
the crossovers of `calibration`.

With Gaussian scatter a product law passes the ratio, which has a direction, in 2.5 % of data sets and the limit of the
slope in 5 %: so GROWS WITH N is false in at most 2.5 % of them, and in at most 5 % for any f(d) g(m). `calibration`
measures it for the grid of a study.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from hardness.statistics.cells import Bools, Cell, draws, median_error, spread
from hardness.statistics.fit import (
    MIN_POINTS,
    REPLICATES,
    Estimates,
    Interval,
    Step,
    degree,
    estimates,
    exponents,
    least_degree,
    rays,
)
from hardness.statistics.models import LEVEL

GROWS, FITS, INCONCLUSIVE, NONE = "GROWS WITH N", "POLYNOMIAL FITS", "INCONCLUSIVE", "NO VERDICT"
WORDS = (GROWS, FITS, INCONCLUSIVE, NONE)
# The models that are compared, in a summary: which is rejected for which.
PRODUCT_IN_GROWTH, PRODUCT_IN_ANY = "c d^a m^b in c d^a m^b N^k", "c d^a m^b in f(d) g(m)"
EQUIVALENT = 0.25  # of d alpha/dm: so little is no change


@dataclass(frozen=True)
class Growth:
    """What one series of cells says. `refusal` says why there is no verdict; then there are no estimates.

    `tau` is the standard deviation of log cost of the cells around f(d) g(m) d^(lambda m), `sigma` that between the
    runs of a cell, `omega` that of the random effect of the cell: what of `tau` the runs do not explain. `misfit` is
    the standard deviation around c d^a m^b N^k, `wide_p` what `growth_p` would be if all of it were noise, and `k` that
    power of N.
    """

    cells: tuple[Cell, ...]
    word: str = NONE
    refusal: str | None = None
    kappa: Interval | None = None
    slope: Interval | None = None
    growth_p: float = 1.0
    product_p: float = 1.0
    split: bool = False
    split_p: float = 1.0
    tau: float = 0.0
    sigma: float = 0.0
    omega: float = 0.0
    misfit: float = 0.0
    wide_p: float = 1.0
    k: float = 0.0
    exponents: dict[int, Interval] = field(default_factory=dict)
    rays: dict[Fraction, list[Step]] = field(default_factory=dict)
    degree: Step | None = None

    @property
    def reasons(self) -> list[str]:
        """What each condition of the rule came to, as clauses."""
        if self.kappa is None or self.slope is None:
            return [str(self.refusal)]
        k, a = self.kappa, self.slope
        series = ", odd and even m as two series" if self.split else ""
        rejected = "rejected" if self.growth_p < LEVEL else "not rejected"
        return [
            f"cost changes as N to the power {k.value:.2f} (one-sided 95 % limits {k.low:.2f} and {k.high:.2f}"
            f"{series})",
            _about_slope(a),
            f"the product law c·dᵃ·mᵇ is {rejected} in favour of c·dᵃ·mᵇ·Nᵏ (power of N {self.k:.2f}, p-value "
            f"{self.growth_p:.2g})",
            f"it is {'adequate' if self.product_p >= LEVEL else 'not adequate'} beside every f(d)·g(m) "
            f"(p-value {self.product_p:.2g})",
        ]

    @property
    def sentence(self) -> str:
        """The verdict and what it rests on: one line."""
        return f"{self.word}: {'; '.join(self.reasons)}."

    @property
    def record(self) -> dict[str, Any]:
        """The verdict for a summary: its word, kappa and the slope with their one-sided 95 % limits (None if they are
        not finite), and the p-value with which each model was compared with those that hold it."""
        return {
            "word": self.word,
            "refusal": self.refusal,
            "kappa": _limits(self.kappa),
            "slope": _limits(self.slope),
            "models": {} if self.kappa is None else {PRODUCT_IN_GROWTH: self.growth_p, PRODUCT_IN_ANY: self.product_p},
        }

    @property
    def degree_sentence(self) -> str:
        """What follows for polynomials, whatever the verdict."""
        if self.degree is None:
            return "The measured costs set no lower limit to the degree of a polynomial through them."
        step = self.degree
        bound = " (there only a lower bound was measured)" if step.censored else ""
        return (
            f"Every polynomial with non-negative coefficients through these points has degree at least "
            f"{least_degree(step)} in d: between d = {step.start.dim} and d = {step.stop.dim}{bound} at "
            f"m = {step.start.size} the local exponent is at least {step.exponent.low:.2f}, "
            f"with 95 % confidence for all pairs of cells at once."
        )


def _limits(interval: Interval | None) -> dict[str, float | None] | None:
    if interval is None:
        return None
    found = {"value": interval.value, "low": interval.low, "high": interval.high}
    return {name: float(value) if np.isfinite(value) else None for name, value in found.items()}


def _about_slope(a: Interval) -> str:
    if not np.isfinite(a.low):
        return "no range of d is common to three sizes m, so that nothing is known of dα/dm"
    return (
        f"the exponent of d changes by {a.value:.2f} a head (one-sided 95 % limits {a.low:.2f} and {a.high:.2f}; less "
        f"than {EQUIVALENT} counts as no change)"
    )


def words(found: Estimates) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The verdict on each data set, as its place in `WORDS`: the rule, in one place."""
    flat = (found.slope[1] > -EQUIVALENT) & (found.slope[2] < EQUIVALENT)
    grows: Bools = (found.kappa[1] > 0) & (found.slope[1] > EQUIVALENT) & (found.growth_p < LEVEL)
    fits = flat & (found.growth_p >= LEVEL) & (found.product_p >= LEVEL)
    return np.select([~found.enough, grows, fits], [3, 0, 1], 2)


def growth(cells: Sequence[Cell], identity: bool = False, replicates: int = REPLICATES) -> Growth:
    """Judge a series. `identity`: its costs are a closed form, and no statistic is made of them.

    >>> found = growth([Cell(12, 2, np.array([55.0]), np.array([True]))], identity=True)
    >>> found.sentence
    'NO VERDICT: these costs are a closed form: there is nothing to infer.'
    """
    cells = tuple(sorted((c for c in cells if len(c.cost)), key=lambda c: (c.size, c.dim)))
    refusal = _refusal(cells, identity)
    if refusal:
        return Growth(cells, refusal=refusal)
    found = estimates(draws(cells), replicates)
    if not found.enough[0]:
        return Growth(cells, refusal=_too_few(cells))
    tau, sigma, measured = float(found.tau[0]), spread(cells), [c for c in cells if not c.censored]
    explained = sigma**2 * float(np.mean([median_error(len(c.cost)) ** 2 for c in measured]))
    return Growth(
        cells=cells,
        word=WORDS[int(words(found)[0])],
        kappa=Interval(*map(float, found.kappa[:, 0])),
        slope=Interval(*map(float, found.slope[:, 0])),
        growth_p=float(found.growth_p[0]),
        product_p=float(found.product_p[0]),
        split=bool(found.split[0]),
        split_p=float(found.split_p[0]),
        tau=tau,
        sigma=sigma,
        omega=float(np.sqrt(max(tau**2 - explained, 0.0))),
        misfit=float(found.misfit[0]),
        wide_p=float(found.wide_p[0]),
        k=float(found.k[0]),
        exponents=exponents(cells, float(found.misfit[0]), int(found.left[0])),
        rays=rays(cells),
        degree=degree(cells),
    )


def _refusal(cells: Sequence[Cell], identity: bool) -> str | None:
    """Why no statistic is made of these cells, if none is."""
    if identity:
        return "these costs are a closed form: there is nothing to infer"
    if not cells:
        return "no trial has been run"
    measured = [cell for cell in cells if not cell.censored]
    if not measured:
        return "in no cell did half of the runs solve: every cost is only a lower bound"
    fixed = sum(cell.deterministic for cell in measured)
    if 2 * fixed > len(measured):
        return f"the runs show no spread in {fixed} of {len(measured)} cells: what does not vary is no measurement"
    return None


def _too_few(cells: Sequence[Cell]) -> str:
    measured = [cell for cell in cells if not cell.censored]
    dims, sizes = ({getattr(cell, name) for cell in measured} for name in ("dim", "size"))
    return (
        f"{len(measured)} cells are measured, at {len(dims)} dimensions and {len(sizes)} sizes m: a verdict needs "
        f"{MIN_POINTS} of each, and {MIN_POINTS} degrees of freedom beside f(d)·g(m)·d^(λm)"
    )
