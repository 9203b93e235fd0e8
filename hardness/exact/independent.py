"""What one query can do to parities: forms driven apart, in rationals; V of independent sets (theorem A, theory 2.7).

A query is a function b' with values in [-1/2, 1/2] on states x of known probability; forms D_r(x) are differences of
characters (or of averages of some). Can b' make every mean E[b' D_r] larger than a given number? If not, weights
lambda >= 0 of sum 1 prove it: the least of the means is at most their lambda-average, so at most
E|sum_r lambda_r D_r|/2.
"""

from bisect import bisect_left
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.sq.bounds.batches import independent_apart, independent_lost
from hardness.sq.bounds.floors import chains_fit, decimal

DENOMINATORS = (64, 5040, 2**40)  # that rounded programs are tried with
MOST_STATES = 120_000  # of a linear program


Rationals = tuple[Fraction, ...]


class Undecided(ArithmeticError):
    """Rounded to rationals, neither side of the program proves its answer."""


def separate(
    forms: NDArray[Any], chances: NDArray[Any], gap: Fraction
) -> tuple[Rationals, None] | tuple[None, Rationals]:
    """Return a query b' in [-1/2, 1/2] (C,) with E[b' D_r] > gap for all r, strictly, or weights that exclude it (R,).

    `forms` (R, C) and `chances` (C,) hold Python integers or Fractions (object arrays; integer arrays also do);
    chances need not sum to 1. The program is solved in floating point, its primal and dual solutions are rounded to
    rationals, and only what these prove exactly is returned. Raises `Undecided` if they prove neither.
    """
    (whole, scale), (counts, total) = _integers(forms), _integers(chances)
    unit = Fraction(1, 2 * scale * total)
    b, dual = _solve(whole.astype(float) / scale, counts.astype(float) / total)
    for denominator in DENOMINATORS:
        near = [Fraction(float(w)).limit_denominator(denominator) for w in dual / dual.sum()]
        weights = tuple(w / sum(near) for w in near)
        lambdas, parts = _integers(np.array(weights, object))
        above = Fraction(int(np.abs(lambdas @ whole) @ counts), parts) * unit
        if above <= gap:
            return None, weights
        values = np.array([round(x) for x in (b * 2 * denominator).tolist()], object)
        below = Fraction(min((whole * counts) @ values), denominator) * unit
        if below > gap:
            return tuple(Fraction(x, 2 * denominator) for x in values), None
    raise Undecided(
        f"a gap of {float(gap)} is neither reached nor excluded: at least {below}, at most {above}"
    )


def folded(forms: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return forms (R, C) on equally likely states as distinct columns (R, c), their chances, and whence they came.

    States on which all forms agree, or are opposite, may share a query's value, or its opposite. The last array (C,)
    holds sign times (1 + column), 0 where all forms vanish: the query on the states is sign times its value there.
    """
    signs = np.sign(forms[np.argmax(forms != 0, axis=0), np.arange(forms.shape[1])]).astype(np.int64)
    columns, which, counts = np.unique(forms * signs, axis=1, return_inverse=True, return_counts=True)
    chances = np.array([Fraction(int(c), forms.shape[1]) for c in counts], object)
    return columns, chances, signs * (which.ravel() + 1)


def _integers(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return an array of integers or Fractions as integers (object) over a common denominator."""
    if values.dtype != object:
        return values.astype(object), 1
    scale = lcm(*(Fraction(x).denominator for x in values.flat))
    return np.array([int(x * scale) for x in values.flat], object).reshape(values.shape), scale


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


def independent_value(concepts: int, tolerance: float | Fraction) -> int:
    """Return V of this many affinely independent parities: theorem A, and a symmetric linear program at the end.

    While k >= 2E + 2 a query loses E (`independent_lost`) and no more. Below, the largest class that q queries
    identify follows from the largest that q - 1 do (`end_game`). Raises `InputError` at tolerance 1/4 and above, and
    where the end game is too large (tolerances below about 0.02).
    """
    tau = decimal(tolerance)
    if concepts == 1:
        return 0
    lost = independent_lost(tau)
    jumps = max(0, -(-(concepts - 2 * lost - 1) // lost))
    left = concepts - jumps * lost
    return jumps + bisect_left(end_game(tau, left), left)


@cache
def end_game(tau: Fraction, largest: int | None = None) -> tuple[int, ...]:
    """Return the largest class, up to 2E + 1 and `largest` independent parities, that 0, 1, 2, ... queries identify."""
    most = 2 * independent_lost(tau) + 1
    target, reached = most if largest is None else min(most, largest), [1]
    while (kept := reached[-1]) < target:
        worse = range(kept + 1, target + 1)
        reached.append(kept + bisect_left(worse, True, key=lambda k: not separable(k, kept, tau)))
    return tuple(reached)


@cache
def separable(concepts: int, kept: int, tau: Fraction) -> bool:
    """Decide with proof whether a query on independent parities leaves no answer with more than `kept` of them.

    Sorted means must satisfy a_(j+w) - a_(j) > 2 tau. Independent characters are independent fair signs, so the class
    has every permutation and every change of signs as a symmetry, and the average of a solution over those that keep
    the chains j, j + w, j + 2w, ... is one: chains of one length look alike and are odd about their middle. What is
    left are levels of |a|, a chain's positions from its end to its middle, and the query depends on the sums of the
    characters of each level only. Raises `InputError` where these take too many values.
    """
    if kept * 2 >= concepts:
        return independent_apart(concepts - kept) > tau
    return chains_fit(concepts, kept, tau) and separate(*_levels(concepts, kept), 2 * tau)[0] is not None


def _levels(concepts: int, kept: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the gaps (gaps, states) of the levels of |a|, and the states' chances, of `separable`."""
    length, longer = divmod(concepts, kept)
    chains = [
        (size, number)
        for size, number in ((length + 1, longer), (length, kept - longer))
        if number and size > 1
    ]
    sizes = [2 * number for size, number in chains for _ in range(size // 2)]
    if prod(size + 1 for size in sizes) > MOST_STATES:
        raise InputError(
            f"whether one query leaves {kept} of {concepts} independent parities is a linear program of more than "
            f"{MOST_STATES} states; raise the tolerance or lower the number of parities"
        )
    # A query may be taken odd: of a state and its negative one is kept, with both their chances.
    states = [s for s in product(*(range(-n, n + 1, 2) for n in sizes)) if s > tuple(-x for x in s)]
    total = 2 ** (sum(sizes) - 1)
    chances = [
        Fraction(prod(comb(n, (n - x) // 2) for n, x in zip(sizes, s, strict=True)), total) for s in states
    ]
    means = [[Fraction(s[i], n) for s in states] for i, n in enumerate(sizes)]
    gaps, first = [], 0
    for size, _ in chains:
        last = first + size // 2 - 1
        gaps += [[a - b for a, b in zip(means[i], means[i + 1], strict=True)] for i in range(first, last)]
        gaps.append([a * (2 if size % 2 == 0 else 1) for a in means[last]])
        first = last + 1
    return np.array(gaps, object), np.array(chances, object)
