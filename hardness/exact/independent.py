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
    """Raised where a linear program, rounded to rationals, proves neither answer."""


def separate(
    forms: NDArray[Any], chances: NDArray[Any], gap: Fraction
) -> tuple[Rationals, None] | tuple[None, Rationals]:
    """Return (b', None), b' a query with E[b' D_r] > gap for every form D_r, or (None, weights), proof of none.

    The forms are functions on C states, the rows of `forms` (R, C); `chances` (C,) are the states' probabilities, whose
    sum may differ from 1. Both hold integers or Fractions. b' (C,) lies in [-1/2, 1/2]. The weights (R,), at least 0
    and of sum 1, prove that there is no such b' by E|sum_r weights_r D_r|/2 <= gap. A linear program is solved in
    floating point and rounded to rationals; only what these prove exactly is returned. Raises `Undecided` if they prove
    neither.
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
    """Return the distinct columns (R, c), up to sign, of forms (R, C), their probabilities, and each state's column.
    The C states are equally likely; those on which all forms agree, or are opposite, share a query's value up to sign.
    The last array (C,) holds sign times (1 + column), 0 where all forms vanish."""
    signs = np.sign(forms[np.argmax(forms != 0, axis=0), np.arange(forms.shape[1])]).astype(np.int64)
    columns, which, counts = np.unique(forms * signs, axis=1, return_inverse=True, return_counts=True)
    chances = np.array([Fraction(int(c), forms.shape[1]) for c in counts], object)
    return columns, chances, signs * (which.ravel() + 1)


def _integers(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return integers or Fractions as an object array of integers, and the common denominator they are over."""
    if values.dtype != object:
        return values.astype(object), 1
    scale = lcm(*(Fraction(x).denominator for x in values.flat))
    return np.array([int(x * scale) for x in values.flat], object).reshape(values.shape), scale


def _solve(forms: NDArray[np.float64], chances: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return b' (C,) that makes the least mean E[b' D_r], D_r the rows of `forms`, largest, and dual weights (R,).
    The program's variables are chance times b', so that rare states have small bounds instead of small coefficients."""
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
    """Return V, the fewest queries that surely identify one of this many affinely independent parities.
    While k >= 2E + 2 are left, the best query rules out exactly E (`independent_lost`, theorem A). Below, the largest
    class that q queries identify follows from the largest that q - 1 do (`end_game`). Raises `InputError` at tolerance
    1/4 and above, and where the linear programs of the end are too large (tolerances below about 0.02)."""
    tau = decimal(tolerance)
    if concepts == 1:
        return 0
    lost = independent_lost(tau)
    jumps = max(0, -(-(concepts - 2 * lost - 1) // lost))
    left = concepts - jumps * lost
    return jumps + bisect_left(end_game(tau, left), left)


@cache
def end_game(tau: Fraction, largest: int | None = None) -> tuple[int, ...]:
    """Return, for 0, 1, 2, ... queries, among how many independent parities they surely identify the hidden one.
    The last entry is 2E + 1 (E: what `independent_lost` gives) or `largest`, whichever is less."""
    most = 2 * independent_lost(tau) + 1
    target, reached = most if largest is None else min(most, largest), [1]
    while (kept := reached[-1]) < target:
        worse = range(kept + 1, target + 1)
        reached.append(kept + bisect_left(worse, True, key=lambda k: not separable(k, kept, tau)))
    return tuple(reached)


@cache
def separable(concepts: int, kept: int, tau: Fraction) -> bool:
    """Return, by proof, whether some query on independent parities leaves at most `kept` of them whatever the answer.
    Its means, sorted, must lie over 2 tau above the mean `kept` places before, so that they form `kept` chains. By
    symmetry chains of one length may look alike, and the query may depend on the sums of the characters at each place
    of a chain alone. A linear program decides this. Raises `InputError` where these sums take too many values."""
    if kept * 2 >= concepts:
        return independent_apart(concepts - kept) > tau
    return chains_fit(concepts, kept, tau) and separate(*_levels(concepts, kept), 2 * tau)[0] is not None


def _levels(concepts: int, kept: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the linear program by which `separable` decides: forms (R, states) and the probabilities of the states.
    A form is the gap between two means of a query, which must exceed 2 tau; a state gives the sums of characters on
    which the query depends. Raises `InputError` for more than 120,000 states."""
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
