"""Rounding with few heads: labels follow the level ⟨w, u⟩ through few changes, and a regression on these finds w."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from hardness.attacks import Progress, Recovery
from hardness.attacks.equations import Equations, on_equations

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_HEADS = 1000
DOUBTFUL, AT_ONCE = 40, 3  # groups of inputs that may be wrong, and how many at a time: 10,701 guesses
PLACES = 8  # of the first change relative to the mean of the levels, which nobody knows
FITS = 3  # of the likeliest beginnings
SOFTNESS = np.repeat((0.5, 0.25, 0.12, 0.06, 0.03, 0.015), (12, 6, 6, 6, 6, 6))  # of changes, in cells
KNOWN = 60_000  # rows to regress on, at most
RIGHT = 0.95  # of the labels held out: so good a rule leaves few in doubt


@on_equations
def few_heads(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Learn the labels of rounding with few heads by regression on the cells of the level.

    Means of label times one coordinate, or times two, point along w; then scoring (Newton's method with the expected
    Hessian) makes the labels likeliest, while the changes of level sharpen. `budget` bounds its steps; 42. The secret
    itself is not sought: `rule` tells labels. `refused` where heads are not few, or rows are.
    """
    heads = equations.heads
    if heads is None or heads > MOST_HEADS:
        return Recovery.refused("labels are parities, or heads are not few: try gaussian, bkw or lattice")
    held_out = min(len(equations) // 6, 5000)
    known, fresh = equations.rows(slice(held_out, held_out + KNOWN)), equations.rows(slice(0, held_out))
    if len(known) < 4 * known.n:
        return Recovery.refused(f"{len(known)} informative rows, {4 * known.n} are needed")
    levels = np.arange(heads + 1) % known.p  # of the cells between changes at x = 0, 1, …, heads - 1
    a, level = np.column_stack((known.a, np.ones(len(known)))).astype(np.float64), known.level

    def cell(x: Floats) -> Integers:
        return np.clip(np.floor(x).astype(np.int64) + 1, 0, heads)

    def agreement(w: Floats) -> float:
        return float((levels[cell(a @ w)] == level).mean())

    def odds(x: Floats, soft: float) -> tuple[Floats, Floats]:
        """Return the probability of every level (N, levels) at x (N,) with logistic changes, and its derivative."""
        passed = expit((x[:, None] - np.arange(heads)) / soft)
        merge = np.eye(min(known.p, heads + 1))[levels]
        law = -np.diff(passed, prepend=1.0, append=0.0) @ merge
        slope = -np.diff(passed * (1 - passed) / soft, prepend=0.0, append=0.0) @ merge
        return np.maximum(law, 1e-9), slope

    def fitted(w: Floats) -> Floats:
        """Return w (n + 1,), the best of those after each step of scoring, one a softness."""
        best = w
        for soft in SOFTNESS[:budget]:
            law, slope = odds(a @ w, soft)
            score = slope[np.arange(len(a)), level] / law[np.arange(len(a)), level]
            hessian = (a * (slope**2 / law).sum(axis=1)[:, None]).T @ a
            hessian += 1e-3 * np.trace(hessian) / len(w) * np.eye(len(w))
            w = w + np.linalg.solve(hessian, a.T @ score)
            best = max((best, w), key=agreement)
        return best

    def likelihood(w: Floats) -> float:
        law = odds(a[:5000] @ w, 1.0)[0]
        return float(np.log(law[np.arange(len(law)), level[:5000]]).mean())

    beginnings = sorted(_beginnings(known, heads), key=likelihood, reverse=True)[:FITS]
    w = max(map(fitted, beginnings), key=agreement)

    def rule(rows: NDArray[np.int8]) -> Iterator[Integers]:
        """Yield the levels of rows (N, n), then with those nearest a change on its other side."""
        x = rows @ w[:-1] + w[-1]
        change = np.clip(np.rint(x), 0, heads - 1).astype(np.int64)
        other = np.where(x >= change, change, change + 1)
        return likeliest(levels[cell(x)], levels[other], -np.abs(x - change), np.arange(len(x)))

    right = float((next(rule(fresh.a)) == fresh.level).mean())
    ended = "solved" if right >= RIGHT else "budget"
    return Recovery(ended, None, len(equations), detail={"agreement": right}, rule=rule)


def _beginnings(known: Equations, heads: int) -> Iterator[Floats]:
    """Yield w (n + 1,) with a direction that means show, a typical length and some first change.

    Directions are those of the means of level times row, and of level times pairs in it, and their negatives.
    """
    n, q, p = known.n, known.q, known.p
    support = n if known.sparsity is None else known.sparsity
    length, mean = p / q * np.sqrt(support * (q * q - 1) / 12), known.a.mean(axis=0)
    centred = known.a - mean
    shown = np.eye(int(known.level.max()) + 1)[known.level]
    shown -= shown.mean(axis=0)
    directions = [np.linalg.svd(centred.T @ shown)[0][:, 0]]
    for column in shown.T[:2]:
        square = (centred * column[:, None]).T @ centred
        np.fill_diagonal(square, 0.0)
        values, vectors = np.linalg.eigh(square)
        directions.append(vectors[:, np.abs(values).argmax()])
    for direction in directions:
        for w in (length * direction, -length * direction):
            for place in (np.arange(PLACES) / PLACES - 0.5) * p:
                yield np.append(w, (heads - 1) / 2 + place - w @ mean)


def likeliest(
    first: Integers, second: Integers, doubt: NDArray[np.float64], group: Integers
) -> Iterator[Integers]:
    """Yield levels (N,): `first`, then with some of the most doubtful groups of inputs as `second` says.

    `doubt` (N,) is the same for all inputs of a `group` (N,).
    """
    groups, where = np.unique(group, return_index=True)
    doubtful = groups[np.argsort(-doubt[where], kind="stable")[:DOUBTFUL]]
    for count in range(AT_ONCE + 1):
        for some in combinations(doubtful.tolist(), count):
            yield np.where(np.isin(group, some), second, first)
