"""How far one bounded function can drive linear forms apart: a linear program, answered in rationals.

Every question of theory 2.7 on a single query has this shape. A query is a function b' with values in [-1/2, 1/2]
on states x of known probability; forms D_r(x) are differences of characters (or of averages of some); can b' make
every mean E[b' D_r] larger than a given number? If not, weights lambda >= 0 of sum 1 prove it: the least of the means
is at most their lambda-average, so at most E|sum_r lambda_r D_r|/2.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

DENOMINATORS = (64, 5040, 2**40)  # that rounded programs are tried with


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


def separate(forms: NDArray[Any], chances: NDArray[Any], gap: Fraction) -> Separation:
    """Decide whether b' in [-1/2, 1/2] has E[b' D_r] > gap for all r, strictly, as windows are closed.

    `forms` (R, C) and `chances` (C,) hold Python integers or Fractions (object arrays; integer arrays also do);
    chances need not sum to 1: they are probabilities as they stand. The program is solved in floating point (HiGHS),
    its primal and dual solutions are rounded to rationals, and only what these prove exactly is returned. Raises
    `Undecided` if they prove neither, and if the solver ends otherwise than optimally.

    >>> half = Fraction(1, 4)  # four states of two independent characters; can they be driven apart by more than 1/4?
    >>> answer = separate(np.array([[0, 2, -2, 0]]), np.array([half] * 4), Fraction(1, 4))
    >>> answer.possible, answer.gap, separate(np.array([[0, 2, -2, 0]]), np.array([half] * 4), Fraction(1, 2)).weights
    (True, Fraction(1, 2), (Fraction(1, 1),))
    """
    (whole, scale), (counts, total) = _integers(forms), _integers(chances)
    unit = Fraction(1, 2 * scale * total)
    floats, odds = whole.astype(float) / scale, counts.astype(float) / total
    b, dual = _solve(floats, odds)
    for denominator in DENOMINATORS:
        weights = _simplex(dual, denominator)
        above = _bound(whole, counts, weights) * unit
        if above <= gap:
            return Separation(above, weights=weights)
        values = np.array([round(x) for x in (b * 2 * denominator).tolist()], object)
        below = Fraction(min((whole * counts) @ values), denominator) * unit
        if below > gap:
            return Separation(below, query=tuple(Fraction(x, 2 * denominator) for x in values))
    raise Undecided(
        f"a gap of {float(gap)} is neither reached nor excluded: at least {below}, at most {above}"
    )


def folded(forms: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return forms (R, C) on equally likely states as distinct columns (R, c), their chances, and whence they came.

    States on which all forms agree, or are opposite, may share a query's value, or its opposite. The last array (C,)
    holds sign times (1 + column), 0 where all forms vanish: the query on the states is sign times its value there.

    >>> columns, chances, places = folded(np.array([[0, 2, -2, 2], [0, 0, 0, 2]]))
    >>> columns.tolist(), [str(c) for c in chances], places.tolist()
    ([[0, 2, 2], [0, 0, 2]], ['1/4', '1/2', '1/4'], [0, 2, -2, 3])
    """
    signs = np.sign(forms[np.argmax(forms != 0, axis=0), np.arange(forms.shape[1])]).astype(np.int64)
    columns, which, counts = np.unique(forms * signs, axis=1, return_inverse=True, return_counts=True)
    return (
        columns,
        np.array([Fraction(int(c), forms.shape[1]) for c in counts], object),
        signs * (which.ravel() + 1),
    )


def _integers(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return an array of integers or Fractions as integers (object) over a common denominator."""
    if values.dtype != object:
        return values.astype(object), 1
    scale = lcm(*(Fraction(x).denominator for x in values.flat))
    return np.array([int(x * scale) for x in values.flat], object).reshape(values.shape), scale


def _bound(forms: NDArray[Any], counts: NDArray[Any], weights: tuple[Fraction, ...]) -> Fraction:
    """Return the sum over states of |sum_r lambda_r D_r|, in the units of the integers given, exactly."""
    scale = lcm(*(w.denominator for w in weights))
    total = np.array([w.numerator * (scale // w.denominator) for w in weights], object) @ forms
    return Fraction(int(np.abs(total) @ counts), scale)


def _solve(forms: NDArray[np.float64], chances: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Maximise t under E[b' D_r] >= t; return b' (C,) and the dual weights (R,), in floating point.

    The program's variables are chance times b', so that rare states have small bounds instead of small coefficients.
    """
    from scipy.optimize import linprog

    rows, columns = forms.shape
    cost = np.zeros(columns + 1)
    cost[-1] = -1
    limits = np.column_stack([np.append(-chances / 2, -np.inf), np.append(chances / 2, np.inf)])
    program = linprog(cost, A_ub=np.hstack([-forms, np.ones((rows, 1))]), b_ub=np.zeros(rows), bounds=limits)
    if program.status != 0:
        raise Undecided(f"the linear program ended with status {program.status}: {program.message}")
    return np.clip(program.x[:-1] / chances, -0.5, 0.5), np.maximum(-program.ineqlin.marginals, 0)


def _simplex(dual: NDArray[np.float64], denominator: int) -> tuple[Fraction, ...]:
    """Return the weights in rationals of that denominator, or so, of sum exactly 1."""
    whole = [Fraction(float(w)).limit_denominator(denominator) for w in dual / dual.sum()]
    return tuple(w / sum(whole) for w in whole)
