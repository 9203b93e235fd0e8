"""Queries shaped to dependent sets: e of them driven up and e down, further than a sign batch drives any (theory 2.7).

The gaps of e pairs sum to at most E|sum g chi|/2, g = +1 on the upper sets, -1 on the lower and 0 elsewhere. So g is
annealed to make E|sum g chi| large, which needs sets whose dependencies keep the sum away from both 0 and large values;
the sign of that sum is a query, and a linear program evens the gaps out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.kernels.bits import compiled, random_word

MOVES = 20_000
HOT, COLD = 0.02, 0.0005  # temperatures in units of E|sum g chi|, start and end
ROUNDS = 4
MARGIN = 1e-9


@dataclass(frozen=True)
class ShapedQuery:
    """A function on the states of AG(r, 2) and what it does to points there.

    `values` f in [-1, 1] (2^r,); the indices `upper` and `lower` (e,) of points; a query with this f moves the j-th
    upper point at least twice `reach` above the j-th lower one: at a tolerance below `reach` no answer keeps both.
    """

    values: NDArray[np.float64]
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    reach: float


def shape_query(
    signs: NDArray[np.int8], lost: int, tolerance: float, rng: Random, moves: int = MOVES
) -> ShapedQuery | None:
    """A query that loses so many of the points with these characters (points, states) at this tolerance, if found."""
    g, total = annealed(signs, lost, moves, rng)
    # The e pairs come apart by total/(2 e states) on average at most, and have to by more than 2 tau each; where they
    # could, the linear program may still fail, as the least gap counts and not the mean one.
    if total <= 4 * lost * (tolerance + MARGIN) * signs.shape[1]:
        return None
    found = equalize_gaps(signs, np.flatnonzero(g > 0), np.flatnonzero(g < 0), tolerance)
    return found if found.reach > tolerance + MARGIN else None


def annealed(signs: NDArray[np.int8], lost: int, moves: int, rng: Random) -> tuple[NDArray[np.int64], int]:
    """g of `anneal` from a random start of so many 1s and as many -1s, and the sum that it reaches."""
    g, chosen = np.zeros(len(signs), np.int64), rng.permutation(len(signs))[: 2 * lost]
    g[chosen[:lost]], g[chosen[lost:]] = 1, -1
    return g, anneal(signs, g, moves, rng.integers(0, 2**64, 1, np.uint64, endpoint=False))


@compiled
def anneal(signs: Any, g: Any, moves: Any, state: Any) -> Any:
    """Anneal g in {-1, 0, 1} in place, by exchanges of two entries, to a large sum over states of |sum g chi|: that."""
    points, states = signs.shape
    sums = np.zeros(states, np.int32)
    for i in range(points):
        for x in range(states):
            sums[x] += g[i] * signs[i, x]
    # sums[x] = sum_i g_i chi_i(x): an exchange of g_i and g_j changes every state by step (chi_i - chi_j), no more.
    here = np.abs(sums).sum()
    best, kept = here, g.copy()
    for move in range(moves):
        word = random_word(state)
        i, j = int(word % np.uint64(points)), int((word >> np.uint64(24)) % np.uint64(points))
        step = np.int32(g[j] - g[i])
        if step == 0:
            continue
        there = np.int64(0)
        for x in range(states):
            there += abs(sums[x] + step * (np.int32(signs[i, x]) - np.int32(signs[j, x])))
        heat = HOT * (COLD / HOT) ** (move / moves) * states
        if there >= here or random_word(state) < np.uint64(np.exp((there - here) / heat) * 1.8e19):
            for x in range(states):
                sums[x] += step * (np.int32(signs[i, x]) - np.int32(signs[j, x]))
            g[i], g[j] = g[j], g[i]
            here = there
            if here > best:
                best = here
                kept[:] = g
    g[:] = kept
    return best


def equalize_gaps(
    signs: NDArray[np.int8], upper: NDArray[Any], lower: NDArray[Any], enough: float = 1.0
) -> ShapedQuery:
    """The query on these points with the largest least gap found: pairs in sorted order, a linear program, repeat.

    Ends early once the reach passes `enough`.
    """
    states = signs.shape[1]
    f = np.sign((signs[upper].sum(axis=0, dtype=np.int64) - signs[lower].sum(axis=0, dtype=np.int64)).astype(float))
    best = ShapedQuery(f, upper, lower, -1.0)
    for _ in range(ROUNDS):
        means = signs.astype(np.float64) @ f / (2 * states)
        up, down = upper[np.argsort(means[upper])], lower[np.argsort(means[lower])]
        reach = float(np.min(means[up] - means[down])) / 2
        if reach <= best.reach:
            break
        best = ShapedQuery(f, up, down, reach)
        if reach > enough + MARGIN:
            break
        f = maximin_gap((signs[up].astype(np.float64) - signs[down]) / (2 * states), f)
    return best


def maximin_gap(forms: NDArray[np.float64], f: NDArray[np.float64]) -> NDArray[np.float64]:
    """f in [-1, 1] with the largest least value of the forms (R, C); the given one if the solver fails."""
    from scipy.optimize import linprog

    rows, columns = forms.shape
    # Variables (f, t): maximize t with forms f >= t, |f| <= 1.
    scaled = forms * columns  # entries of order 1
    cost = np.append(np.zeros(columns), -1.0)
    limits = np.vstack([np.tile([-1.0, 1.0], (columns, 1)), [-np.inf, np.inf]])
    found = linprog(cost, A_ub=np.hstack([-scaled, np.ones((rows, 1))]), b_ub=np.zeros(rows), bounds=limits)
    return np.clip(found.x[:-1], -1, 1) if found.status == 0 else f
