"""Rounding with few heads: labels follow the level ⟨w, u⟩ through few changes, and a regression on these finds w."""

from collections.abc import Iterator
from dataclasses import dataclass
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
    if equations.heads is None or equations.heads > MOST_HEADS:
        return Recovery.refused("labels are parities, or heads are not few: try gaussian, bkw or lattice")
    held_out = min(len(equations) // 6, 5000)
    known, fresh = equations.rows(slice(held_out, held_out + KNOWN)), equations.rows(slice(0, held_out))
    if len(known) < 4 * known.n:
        return Recovery.refused(f"{len(known)} informative rows, {4 * known.n} are needed")
    cells = _Cells(known.heads or 2, known.p)
    a = np.column_stack((known.a, np.ones(len(known)))).astype(np.float64)
    fits = [cells.fitted(a, known.level, w, SOFTNESS[:budget]) for w in _beginnings(known, a, cells)]
    w = max(fits, key=lambda fit: cells.agreement(a, known.level, fit))

    def rule(rows: NDArray[np.int8]) -> Iterator[Integers]:
        return cells.guesses(rows @ w[:-1] + w[-1])

    agreement = float((next(rule(fresh.a)) == fresh.level).mean())
    ended = "solved" if agreement >= RIGHT else "budget"
    return Recovery(ended, None, len(equations), detail={"agreement": agreement}, rule=rule)


@dataclass(frozen=True)
class _Cells:
    """Levels 0, 1, …, p - 1, 0, … of the cells between changes at x = 0, 1, …, heads - 1."""

    heads: int
    p: int

    @property
    def levels(self) -> Integers:
        return np.arange(self.heads + 1) % self.p

    def guesses(self, x: Floats) -> Iterator[Integers]:
        """Yield levels (N,) at x (N,), then with those nearest a change on its other side."""
        cell = np.clip(np.floor(x).astype(np.int64) + 1, 0, self.heads)
        change = np.clip(np.rint(x), 0, self.heads - 1).astype(np.int64)
        other = np.where(x >= change, change, change + 1)
        return likeliest(self.levels[cell], self.levels[other], -np.abs(x - change), np.arange(len(x)))

    def agreement(self, a: Floats, level: Integers, w: Floats) -> float:
        """Return the share of levels (N,) that w (n + 1,) gives rows a (N, n + 1)."""
        return float((next(self.guesses(a @ w)) == level).mean())

    def odds(self, x: Floats, soft: float) -> tuple[Floats, Floats]:
        """Return the probability of every level (N, levels) at x (N,) with logistic changes, and its derivative."""
        passed = expit((x[:, None] - np.arange(self.heads)) / soft)
        merge = np.eye(min(self.p, self.heads + 1))[self.levels]
        law = -np.diff(passed, prepend=1.0, append=0.0) @ merge
        slope = -np.diff(passed * (1 - passed) / soft, prepend=0.0, append=0.0) @ merge
        return np.maximum(law, 1e-9), slope

    def likelihood(self, a: Floats, level: Integers, w: Floats, soft: float) -> float:
        """Return the mean logarithm of the probabilities of the levels (N,)."""
        return float(np.log(self.odds(a @ w, soft)[0][np.arange(len(a)), level]).mean())

    def fitted(self, a: Floats, level: Integers, w: Floats, softness: Floats) -> Floats:
        """Return w (n + 1,), the best of those after each step of scoring, one a softness."""
        best = w
        for soft in softness:
            law, slope = self.odds(a @ w, soft)
            score = slope[np.arange(len(a)), level] / law[np.arange(len(a)), level]
            weight = (slope**2 / law).sum(axis=1)
            hessian = (a * weight[:, None]).T @ a
            hessian += 1e-3 * np.trace(hessian) / len(w) * np.eye(len(w))
            w = w + np.linalg.solve(hessian, a.T @ score)
            best = max((best, w), key=lambda each: self.agreement(a, level, each))
        return best


def _beginnings(known: Equations, a: Floats, cells: _Cells) -> list[Floats]:
    """Return the likeliest w (n + 1,) with a direction that means show, a typical length and some first change."""
    n, q, p = known.n, known.q, known.p
    support = n if known.sparsity is None else known.sparsity
    length, mean = p / q * np.sqrt(support * (q * q - 1) / 12), a[:, :-1].mean(axis=0)
    all_of_them = []
    for direction in _directions(a[:, :-1] - mean, known.level):
        for place in (np.arange(PLACES) / PLACES - 0.5) * p:
            w = length * direction
            all_of_them.append(np.append(w, (cells.heads - 1) / 2 + place - w @ mean))
    return sorted(all_of_them, key=lambda w: -cells.likelihood(a[:5000], known.level[:5000], w, 1.0))[:FITS]


def _directions(centred: Floats, level: Integers) -> list[Floats]:
    """Return unit vectors (n,) and their negatives: of the means of level times row, and of level times pairs in it."""
    shown = np.eye(int(level.max()) + 1)[level]
    shown -= shown.mean(axis=0)
    unit = [np.linalg.svd(centred.T @ shown)[0][:, 0]]
    for column in shown.T[:2]:
        square = (centred * column[:, None]).T @ centred
        np.fill_diagonal(square, 0.0)
        values, vectors = np.linalg.eigh(square)
        unit.append(vectors[:, np.abs(values).argmax()])
    return [sign * each for each in unit for sign in (1, -1)]


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
