"""From an estimate of the secret mod q to the secret: trimmed regression, rounding, moves by one and by two."""

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.equations import PAIR_ROWS, Equations, accepts, span
from hardness.gadgets import modular

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Beyond a level's half width, what a residual may be by, round by round
WIDE = 12.0, 8.0, 6.0, 4.0, 3.0, 2.0, 2.0
OUTSIDE = (8.0,) * 8 + (4.0,) * 8 + (2.0,) * 8
EDGE = 4  # as far from the last level change of the heads a row must lie to be trusted


def finish(known: Equations, fresh: Equations, w: Floats) -> Integers | None:
    """The secret (n,) from its estimate w (n,) on `known` rows, if it passes on `fresh` rows (`accepts`)."""
    w = trimmed(known, w)
    guess = modular.centred(np.rint(w).astype(np.int64) % known.q, known.q)
    if known.noise == 0:
        for _ in range(2):  # which rows are to be trusted depends on the answer
            guess = modular.centred(polish(known.rows(trusted(known, guess)), guess), known.q)
    near, far = (rows.rows(trusted(rows, guess)) for rows in (known, fresh))
    return guess if 4 * len(far) > len(fresh) and accepts(far, guess, near) else None


def trusted(equations: Equations, w: Floats | Integers) -> NDArray[np.bool_]:
    """Rows (N,) whose level the heads show right if w (n,) is about the secret, for they have heads enough (`span`)."""
    q = equations.q
    whole = modular.centred(np.rint(w).astype(np.int64) % q, q)
    ends = span(whole, q, equations.p, equations.heads, bool((equations.a < 0).any()))
    if ends is None:
        return np.ones(len(equations), dtype=bool)
    t = equations.a @ whole
    return np.asarray((t >= ends[0] + EDGE) & (t < ends[1] - EDGE))


def trimmed(equations: Equations, w: Floats) -> Floats:
    """Least squares on trusted rows whose residue lies within its level's width, and again: others do not count.

    At first all of a residual pulls, in the end only what sticks out of a level: residues inside are equally right.
    """
    q = equations.q
    centre, width = modular.preimages(q, equations.p)
    a, y = equations.a.astype(np.float64), centre[equations.level]
    half = (width[equations.level] - 1) / 2 + 2 * equations.noise
    inverse = np.linalg.pinv(a.T @ a)
    for margin, outside in [(m, False) for m in WIDE] + [(m, True) for m in OUTSIDE if equations.noise == 0]:
        rest = (y - a @ w + q / 2) % q - q / 2
        pull = np.sign(rest) * np.maximum(np.abs(rest) - half, 0) if outside else rest
        pull[(np.abs(rest) > half + margin) | ~trusted(equations, w)] = 0
        w = w + inverse @ (a.T @ pull)
    return w


def polish(equations: Equations, w: Integers) -> Integers:
    """Change one coordinate of w by ±1, or two, while that reproduces more labels: mends what was rounded wrong."""
    w, wrong = _single(equations, w)
    few = equations.rows(slice(0, PAIR_ROWS))
    for _ in range(len(w)):
        pair = _pair(few, w) if wrong else None
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
    best = int((modular.level(t, q, p) != equations.level).sum())
    improved = best > 0
    while improved:
        improved = False
        for j in range(len(w)):
            for step in (1, -1):
                moved = t + step * a[:, j]
                wrong = int((modular.level(moved, q, p) != equations.level).sum())
                if wrong < best:
                    w, t, best, improved = w + step * (np.arange(len(w)) == j), moved, wrong, True
    return w, best


def _pair(equations: Equations, w: Integers) -> Integers | None:
    """w after the best move of two coordinates by ±1 each, if one reproduces more labels."""
    q, p, a = equations.q, equations.p, equations.a
    t = a.astype(np.int64) @ w
    best, found = int((modular.level(t, q, p) != equations.level).sum()), None
    for i in range(len(w)):
        for r in (1, -1):
            here = t + r * a[:, i]
            for j in range(i):
                for s in (1, -1):
                    wrong = int((modular.level(here + s * a[:, j], q, p) != equations.level).sum())
                    if wrong < best:
                        best, found = wrong, w + r * (np.arange(len(w)) == i) + s * (np.arange(len(w)) == j)
    return found
