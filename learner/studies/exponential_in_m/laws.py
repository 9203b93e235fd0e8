"""Twelve laws for the examples that a hidden set costs, fitted on small classes and tested on large ones.

All are fitted by least squares of logarithms, with a level of its own for even m.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learner.studies.exponential_in_m import plan

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]


class Law(NamedTuple):
    """Define examples as Σ_i c_i column_i, or as c_0 Π_i column_i^c_i if `exponents`.

    A column is a formula in m (hidden bits), n = d - 1, M (heads), N (sets) and p (`lottery.prediction`).
    """

    columns: tuple[str, ...]
    exponents: bool = False

    def logarithms(self, cells: "DataFrame") -> Floats:
        """Return the law's inputs (cells, columns + 1): logs of its column formulas, and last 1 for even m, else 0."""
        terms = [np.log(cells.eval(column)) for column in self.columns]
        return np.column_stack([*terms, cells.m % 2 == 0])

    def predicted(self, logarithms: Floats, v: Floats) -> Floats:
        """Return the law's log of the examples needed in each cell (cells,), for inputs `logarithms` and parameters v.

        v holds the logs of the law's constants, then its exponents if it has any, and last what is added for even m.
        """
        terms, even = logarithms[:, :-1], v[-1] * logarithms[:, -1]
        if self.exponents:
            return np.asarray(v[0] + terms @ v[1:-1] + even)
        return np.asarray(np.logaddexp.reduce(terms + v[:-1], axis=1) + even)

    def fitted(self, logarithms: Floats, y: Floats) -> Floats:
        """Return v, the parameters of `predicted`, that fit the log of the examples y (cells,) by least squares."""
        from scipy.optimize import least_squares

        if self.exponents:
            return linear(logarithms, np.log(y))
        if len(self.columns) == 1:
            return linear(logarithms[:, 1:], np.log(y) - logarithms[:, 0])
        start = np.append(np.log([5, 16]), 0.0)
        return np.asarray(least_squares(lambda v: self.predicted(logarithms, v) - np.log(y), start).x)


def linear(X: Floats, y: Floats) -> Floats:
    """Return the least-squares intercept and coefficients (columns + 1,) of y (cells,) on X (cells, columns)."""
    return np.asarray(np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0])


LAWS = {
    "a m³ n + b N/M": Law(("m**3 * n", "N / M")),
    "a √N + b N/M": Law(("N**0.5", "N / M")),
    "a m³ n + b N/(M d)": Law(("m**3 * n", "N / M / d")),
    "a m³ n + b N/(M p)": Law(("m**3 * n", "N / M / p")),
    "c N/M": Law(("N / M",)),
    "c N/(M d)": Law(("N / M / d",)),
    "c N": Law(("N",)),
    "c N/d": Law(("N / d",)),
    "c C(d-1, m-1)": Law(("N * m / (d - m)",)),
    "c N^k M^-l": Law(("N", "M"), exponents=True),
    "c d^a m^b M^-l": Law(("d", "m", "M"), exponents=True),
    "c d^a e^(g m) M^-l": Law(("d", "exp(m)", "M"), exponents=True),
}


def errors(cells: "DataFrame", draws: Iterable[Floats]) -> Iterator[dict[str, float]]:
    """Yield by law, for each vector in `draws` of the examples that cells need (cells,), by what factor the law errs.

    Laws are fitted to cells of few possible sets. The factor is exp of the root mean square log error on the others.
    """
    small = cells.N.to_numpy() < plan.read()["fit_below"]
    made_of = {name: law.logarithms(cells) for name, law in LAWS.items()}
    for y in draws:
        errors = {}
        for name, law in LAWS.items():
            v = law.fitted(made_of[name][small], y[small])
            wrong = np.log(y[~small]) - law.predicted(made_of[name][~small], v)
            errors[name] = float(np.exp(np.sqrt(np.mean(wrong**2))))
        yield errors
