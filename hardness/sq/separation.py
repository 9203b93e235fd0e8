"""How far one bounded function can drive linear forms apart: a linear program, answered in rationals.

Every question of theory 2.7 on a single query has this shape. A query is a function b' with values in [-1/2, 1/2]
on states x of known probability; forms D_r(x) are differences of characters (or of averages of some); can b' make
every mean E[b' D_r] larger than a given number? If not, weights lambda >= 0 of sum 1 prove it: the least of the means
is at most their lambda-average, so at most E|sum_r lambda_r D_r|/2.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

FINE = 2**40  # denominators that rounded programs are tried with, last
DENOMINATORS = (64, 5040, FINE)


class Undecided(ArithmeticError):
    """Rounded to rationals, neither side of the program proves its answer."""


@dataclass(frozen=True)
class Separation:
    """The answer, with its proof in rationals: `query` b' (C,) if the forms come apart, else `weights` lambda (R,).

    `gap` is what is proved: the query's least mean (above the number asked for) or E|sum lambda D|/2 (at most it).
    """

    gap: Fraction
    query: tuple[Fraction, ...] | None = None
    weights: tuple[Fraction, ...] | None = None

    @property
    def possible(self) -> bool:
        return self.query is not None


def separate(forms: NDArray[Any], chances: NDArray[Any], least: Fraction) -> Separation:
    """Is there b' in [-1/2, 1/2] with E[b' D_r] > least for all r? Strictly: windows are closed.

    `forms` (R, C) and `chances` (C,) hold Python integers or Fractions (object arrays; integer arrays also do);
    chances need not sum to 1: they are probabilities as they stand. The program is solved in floating point (HiGHS),
    its primal and dual solutions are rounded to rationals, and only what these prove exactly is returned. Raises
    `Undecided` if they prove neither, and if the solver ends otherwise than optimally.

    >>> half = Fraction(1, 4)  # four states of two independent characters; can they be driven apart by more than 1/4?
    >>> answer = separate(np.array([[0, 2, -2, 0]]), np.array([half] * 4), Fraction(1, 4))
    >>> answer.possible, answer.gap, separate(np.array([[0, 2, -2, 0]]), np.array([half] * 4), Fraction(1, 2)).weights
    (True, Fraction(1, 2), (Fraction(1, 1),))
    """
    forms, chances = np.asarray(forms, object), np.asarray(chances, object)
    b, dual = _solve(forms.astype(float), chances.astype(float))
    for denominator in DENOMINATORS:
        weights = _simplex(dual, denominator)
        above = bound(forms, chances, weights)
        if above <= least:
            return Separation(above, weights=weights)
        query = tuple(_rounded(value, denominator) for value in b)
        below = min((forms * chances) @ np.array(query, object))
        if below > least:
            return Separation(Fraction(below), query=query)
    raise Undecided(f"a gap of {float(least)} is neither reached nor excluded: at least {below}, at most {above}")


def bound(forms: NDArray[Any], chances: NDArray[Any], weights: tuple[Fraction, ...]) -> Fraction:
    """E|sum_r lambda_r D_r|/2, exactly: no query drives all forms further apart (for weights >= 0 of sum 1)."""
    scale = np.lcm.reduce([w.denominator for w in weights])
    total = np.array([int(w * int(scale)) for w in weights], object) @ forms
    return Fraction(np.abs(total) @ chances) / (2 * int(scale))


def _solve(forms: NDArray[np.float64], chances: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Maximise t under E[b' D_r] >= t: b' (C,) and the dual weights (R,), in floating point.

    The program's variables are chance times b', so that rare states have small bounds instead of small coefficients.
    """
    rows, columns = forms.shape
    cost = np.zeros(columns + 1)
    cost[-1] = -1
    limits = [(-p / 2, p / 2) for p in chances] + [(None, None)]
    found = linprog(cost, A_ub=np.hstack([-forms, np.ones((rows, 1))]), b_ub=np.zeros(rows), bounds=limits)
    if found.status != 0:
        raise Undecided(f"the linear program ended with status {found.status}: {found.message}")
    return np.clip(found.x[:-1] / chances, -0.5, 0.5), np.maximum(-found.ineqlin.marginals, 0)


def _rounded(value: float, denominator: int) -> Fraction:
    return Fraction(round(float(value) * 2 * denominator), 2 * denominator)


def _simplex(dual: NDArray[np.float64], denominator: int) -> tuple[Fraction, ...]:
    """The weights in rationals of that denominator, or so, of sum exactly 1."""
    whole = [Fraction(float(w)).limit_denominator(denominator) for w in dual / dual.sum()]
    return tuple(w / sum(whole) for w in whole)
