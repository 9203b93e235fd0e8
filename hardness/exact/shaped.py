"""Queries shaped to dependent sets: e of them driven up and e down, further than a sign batch drives any (theory 2.7).

The gaps of e pairs sum to at most E|sum g chi|/2, g = +1 on the upper sets, -1 on the lower and 0 elsewhere. So g is
annealed to make E|sum g chi| large, which needs sets whose dependencies keep the sum away from both 0 and large values;
the sign of that sum is a query, and a linear program evens the gaps out.
"""

from typing import Any

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.kernels.bits import compiled, random_word

MOVES = 20_000
HOT, COLD = 0.02, 0.0005  # temperatures in units of E|sum g chi|, start and end
ROUNDS = 4
MARGIN = 1e-9


def shape_query(
    signs: NDArray[np.int8], lost: int, tolerance: float, rng: Random
) -> NDArray[np.float64] | None:
    """Return values in [-1, 1] on the states of points with these characters (points, states) that lose so many.

    So many pairs of points come apart by more than twice the tolerance: pairs in sorted order, a linear program for
    the largest least gap, and again.
    """
    states, chosen = signs.shape[1], rng.permutation(len(signs))[: 2 * lost]
    g = np.zeros(len(signs), np.int64)
    g[chosen[:lost]], g[chosen[lost:]] = 1, -1
    total = anneal(signs, g, MOVES, rng.integers(0, 2**64, 1, np.uint64, endpoint=False))
    # The e pairs come apart by total/(2 e states) on average at most, and have to by more than 2 tau each; where they
    # could, the linear program may still fail, as the least gap counts and not the mean one.
    if total <= 4 * lost * (tolerance + MARGIN) * states:
        return None
    upper, lower, reached = np.flatnonzero(g > 0), np.flatnonzero(g < 0), -1.0
    sums = signs[upper].sum(axis=0, dtype=np.int64) - signs[lower].sum(axis=0, dtype=np.int64)
    f: NDArray[np.float64] = np.sign(sums.astype(float))
    for _ in range(ROUNDS):
        means = signs.astype(np.float64) @ f / (2 * states)
        up, down = upper[np.argsort(means[upper])], lower[np.argsort(means[lower])]
        reach = float(np.min(means[up] - means[down])) / 2
        if reach > tolerance + MARGIN:
            return f
        if reach <= reached:
            break
        reached, f = reach, maximin_gap((signs[up].astype(np.float64) - signs[down]) / (2 * states), f)
    return None


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


def maximin_gap(forms: NDArray[np.float64], f: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return f in [-1, 1] with the largest least value of the forms (R, C); the given one if the solver fails."""
    from scipy.optimize import linprog

    rows, columns = forms.shape
    # Variables (f, t): maximize t with forms f >= t, |f| <= 1.
    scaled = forms * columns  # entries of order 1
    cost = np.append(np.zeros(columns), -1.0)
    limits = np.vstack([np.tile([-1.0, 1.0], (columns, 1)), [-np.inf, np.inf]])
    program = linprog(cost, A_ub=np.hstack([-scaled, np.ones((rows, 1))]), b_ub=np.zeros(rows), bounds=limits)
    return np.clip(program.x[:-1], -1, 1) if program.status == 0 else f
