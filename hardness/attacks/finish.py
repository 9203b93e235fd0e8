"""From an estimate of the secret mod q to the secret: trimmed regression, rounding, moves by one and by two."""

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.equations import PAIR_ROWS, Equations, preimages

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDS = 12
SETTLED = 0.02
MARGIN = 2.0  # beyond its level's half width a residual belongs to a label that is wrong


def finish(equations: Equations, w: Floats) -> Integers:
    """The secret (n,) nearest to the estimate w (n,) that reproduces most labels."""
    w = trimmed(equations, w)
    guess = np.rint(w).astype(np.int64) % equations.q
    return guess if equations.noise else polish(equations, guess)


def trimmed(equations: Equations, w: Floats) -> Floats:
    """Least squares on rows whose residue lies within its level's width, and again: wrong labels do not count.

    Every other round, only what sticks out of a level pulls: residues inside are all equally right.
    """
    centre, width = preimages(equations.q, equations.p)
    a, y = equations.a.astype(np.float64), centre[equations.level]
    half = (width[equations.level] - 1) / 2 + 2 * equations.noise
    for turn in range(ROUNDS):
        rest = (y - a @ w + equations.q / 2) % equations.q - equations.q / 2
        keep = np.abs(rest) <= half + MARGIN
        if keep.sum() < 2 * len(w):
            return w
        pull = rest if turn % 2 == 0 else np.sign(rest) * np.maximum(np.abs(rest) - half, 0)
        part = a[keep]
        change = np.linalg.lstsq(part.T @ part, part.T @ pull[keep], rcond=None)[0]
        w = w + change
        if turn and np.abs(change).max() < SETTLED:
            break
    return w


def polish(equations: Equations, w: Integers) -> Integers:
    """Change one coordinate of w by ±1, or two, while that reproduces more labels: mends what was rounded wrong."""
    w, wrong = _single(equations, w)
    few = equations.rows(slice(0, PAIR_ROWS))
    for _ in range(len(w)):
        if not wrong:
            break
        pair = _pair(few, w)
        if pair is None:
            break
        moved, less = _single(equations, pair)
        if less >= wrong:
            break
        w, wrong = moved, less
    return w % equations.q


def _single(equations: Equations, w: Integers) -> tuple[Integers, int]:
    """The end of single moves from w, and the labels it leaves wrong."""
    q, p, a = equations.q, equations.p, equations.a
    t = a.astype(np.int64) @ w
    best = int((t % q * p // q != equations.level).sum())
    improved = best > 0
    while improved:
        improved = False
        for j in range(len(w)):
            for step in (1, -1):
                moved = t + step * a[:, j]
                wrong = int((moved % q * p // q != equations.level).sum())
                if wrong < best:
                    w, t, best, improved = w + step * (np.arange(len(w)) == j), moved, wrong, True
    return w, best


def _pair(equations: Equations, w: Integers) -> Integers | None:
    """w after the best move of two coordinates by ±1 each, if one reproduces more labels."""
    q, p, a = equations.q, equations.p, equations.a
    t = a.astype(np.int64) @ w
    best, found = int((t % q * p // q != equations.level).sum()), None
    for i in range(len(w)):
        for r in (1, -1):
            here = t + r * a[:, i]
            for j in range(i):
                for s in (1, -1):
                    moved = here + s * a[:, j]
                    wrong = int((moved % q * p // q != equations.level).sum())
                    if wrong < best:
                        best, found = wrong, w + r * (np.arange(len(w)) == i) + s * (np.arange(len(w)) == j)
    return found
