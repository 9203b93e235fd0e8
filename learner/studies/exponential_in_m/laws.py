"""Laws for what hidden sets cost, and the questions of the third plan: pure functions of numbers.

A place is (s, d): s hidden bits in dimension d. What is fitted is the logarithm of the median number of examples.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, exp, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.statistics.regression import Fit, regress

Place = tuple[int, int]
Floats = NDArray[np.float64]
N_OVER_D, SUBSETS = "c N/d", "c C(d-1, s-1)"
COMBINATORIAL = (N_OVER_D, SUBSETS, "c N^k d^a")  # they grow with the number of possible sets
RIVALS = ("c d^a s^b", "c d^a e^(gs)", "c 2^(d-1)")  # polynomial in d with one exponent, or a lookup table
CONFIRMING = "c d^(a+bs)"  # it grows along rays as the first kind does


class Shape(NamedTuple):
    """A law: log cost = `offset`(s, d) + `columns`(s, d) · coefficients, of which the first is log c."""

    offset: Callable[[int, int], float]
    columns: Callable[[int, int], list[float]]


def log_sets(s: int, d: int) -> float:
    """log N, N = C(d-1, s): how many sets of s of the d - 1 coordinates could be hidden."""
    return log(comb(d - 1, s))


LAWS: dict[str, Shape] = {
    N_OVER_D: Shape(lambda s, d: log_sets(s, d) - log(d), lambda s, d: [1.0]),
    SUBSETS: Shape(lambda s, d: log(comb(d - 1, s - 1)), lambda s, d: [1.0]),
    "c N^k d^a": Shape(lambda s, d: 0.0, lambda s, d: [1.0, log_sets(s, d), log(d)]),
    "c d^a s^b": Shape(lambda s, d: 0.0, lambda s, d: [1.0, log(d), log(s)]),
    "c d^a e^(gs)": Shape(lambda s, d: 0.0, lambda s, d: [1.0, log(d), float(s)]),
    "c 2^(d-1)": Shape(lambda s, d: (d - 1) * log(2), lambda s, d: [1.0]),
    CONFIRMING: Shape(lambda s, d: 0.0, lambda s, d: [1.0, log(d), s * log(d)]),
}


@dataclass(frozen=True)
class LogMedian:
    """The log of the median cost at a place; `censored`: the truth is only known to lie above it."""

    place: Place
    cost: float
    censored: bool = False


@dataclass(frozen=True)
class Law:
    """A law with its coefficients, log c first."""

    name: str
    beta: Floats

    def at(self, place: Place) -> float:
        """The log of the cost that it predicts."""
        shape = LAWS[self.name]
        return shape.offset(*place) + float(np.dot(shape.columns(*place), self.beta))


def median(costs: Sequence[float], solved: Sequence[bool]) -> tuple[float, bool]:
    """The median of log costs, and whether it is censored; runs that did not solve count as costlier than all that did.

    The costs of such runs are the caps at which they ended.

    >>> median([4, 1, 16], [True, True, False]), median([4.0, 100.0], [True, False])
    ((4.0, False), (20.0, True))
    """
    ranked = sorted(zip([not done for done in solved], costs, strict=True))
    middle = ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1]
    return (middle[0][1] * middle[-1][1]) ** 0.5, middle[-1][0]


def _regress(rows: Sequence[Sequence[float]], values: Sequence[float], cells: Sequence[LogMedian]) -> Fit:
    above = np.array([cell.censored for cell in cells])
    return regress(np.array(rows, dtype=float), np.array(values), above)


def fit(name: str, cells: Sequence[LogMedian]) -> Law:
    """A law fitted by least squares, censored cells by likelihood."""
    shape = LAWS[name]
    rows = [shape.columns(*cell.place) for cell in cells]
    values = [cell.cost - shape.offset(*cell.place) for cell in cells]
    return Law(name, _regress(rows, values, cells).beta)


def errors(law: Law, cells: Sequence[LogMedian]) -> Floats:
    """Log of the median over the prediction; 0 where the truth is only known to lie above what is predicted below."""
    wrong = np.array([cell.cost - law.at(cell.place) for cell in cells])
    return np.where([cell.censored for cell in cells], np.maximum(wrong, 0.0), wrong)


def typical(wrong: Floats) -> float:
    """Root mean square of log errors, as a factor.

    >>> typical(np.log([2.0, 0.5]))
    2.0
    """
    return exp(float(np.sqrt(np.mean(wrong**2))))


def _log_total(wrong: Floats) -> float:
    """The log of the total squared error, finite for a law that errs nowhere."""
    return log(max(float(np.sum(wrong**2)), 1e-300))


def primary(errors: Mapping[str, Floats], margin: float) -> str:
    """Which kind of law errs less at the larger cells: "combinatorial", "rival" or "undecided".

    The first if the best law of the first kind has a total squared error below that of every rival by more than a
    factor e^margin, the second if the best rival is so far below the best of the first kind.
    """
    total = {name: _log_total(wrong) for name, wrong in errors.items()}
    lead = min(total[name] for name in RIVALS) - min(total[name] for name in COMBINATORIAL)
    return "combinatorial" if lead > margin else "rival" if lead < -margin else "undecided"


def tertiary(errors: Mapping[str, Floats], margin: float) -> str:
    """Which of N/d and C(d-1, s-1) errs less, by more than a factor e^margin in the total squared error."""
    sets, subsets = (_log_total(errors[name]) for name in (N_OVER_D, SUBSETS))
    return "N/d" if subsets - sets > margin else "C(d-1, s-1)" if sets - subsets > margin else "undecided"


def common_slope(cells: Sequence[LogMedian]) -> tuple[float, float, float]:
    """The slope of log cost on log C(d-1, s-1), one for all s with a level for each, and its 95 % interval."""
    sizes = sorted({cell.place[0] for cell in cells})
    places = [cell.place for cell in cells]
    rows = [[*(float(s == size) for size in sizes), log(comb(d - 1, s - 1))] for s, d in places]
    line = _regress(rows, [cell.cost for cell in cells], cells)
    return (float(line.beta[-1]), *line.limits(len(sizes)))


def secondary(slope: Sequence[float], excluded: Sequence[float]) -> str:
    """Whether the interval of the slope contains 1, and excludes both values of `excluded`."""
    _, low, high = slope
    if not low <= 1 <= high:
        return "not as C(d-1, s-1)"
    return "as C(d-1, s-1)" if excluded[0] < low and high < excluded[1] else "undecided"


def slope(cells: Sequence[LogMedian], x: Callable[[int, int], float]) -> tuple[float, float, float] | None:
    """The slope of log cost on x(s, d) with its 95 % interval over cells; None for fewer than three that are known."""
    if len({x(*cell.place) for cell in cells if not cell.censored}) < 3:
        return None
    line = _regress([[1.0, x(*cell.place)] for cell in cells], [cell.cost for cell in cells], cells)
    return (float(line.beta[1]), *line.limits(1))


@dataclass(frozen=True)
class Answers:
    """What the rules of the plan make of cells.

    The laws, fitted to the cells `fitted`, with their errors at the cells `asked`; `new` are the indices of those among
    the latter on which nothing had been run before; the common `slope`; and the outcome of every question.
    """

    fitted: Sequence[LogMedian]
    asked: Sequence[LogMedian]
    new: Sequence[int]
    laws: Mapping[str, Law]
    errors: Mapping[str, Floats]
    slope: tuple[float, float, float]
    outcomes: Mapping[str, str]


def answers(plan: Mapping[str, Any], cells: Sequence[LogMedian]) -> Answers:
    """The plan's questions put to cells of hidden sets."""
    rule, margin = plan["primary"], plan["primary"]["margin"]
    sets = {cell.place: exp(log_sets(*cell.place)) for cell in cells}
    inside = [cell for cell in cells if sets[cell.place] > rule["sets above"]]
    fitted = [cell for cell in inside if sets[cell.place] < rule["fitted to sets"]]
    asked = [cell for cell in inside if sets[cell.place] >= rule["fitted to sets"]]
    seen = {tuple(place) for place in rule["known"]}
    new = [i for i, cell in enumerate(asked) if cell.place not in seen]
    frozen = {name: fit(name, fitted) for name in LAWS}
    wrong = {name: errors(law, asked) for name, law in frozen.items()}
    slope = common_slope(of_wide(plan["secondary"], inside))
    outcomes = {
        "primary": primary(wrong, margin),
        "primary, new cells": primary({name: error[new] for name, error in wrong.items()}, margin),
        "secondary": secondary(slope, plan["secondary"]["excluded"]),
        "tertiary": tertiary(wrong, plan["tertiary"]["margin"]),
    }
    return Answers(fitted, asked, new, frozen, wrong, slope, outcomes)


def of_wide(rule: Mapping[str, Any], cells: Sequence[LogMedian]) -> list[LogMedian]:
    """The cells of few bits in many dimensions, of which the plan asks for the slope."""
    least_ratio = rule["d at least, times s"]
    places = ((cell, *cell.place) for cell in cells)
    return [cell for cell, s, d in places if s <= rule["up to s"] and d >= least_ratio * s]


def simulated(
    truth: Law, places: Sequence[Place], scatter: float, rng: np.random.Generator
) -> list[LogMedian]:
    """Cells whose costs are a law's, with normal scatter of their logarithms."""
    return [LogMedian(place, truth.at(place) + scatter * float(rng.standard_normal())) for place in places]
