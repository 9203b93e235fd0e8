"""From an estimate of the secret mod q to the secret: trimmed regression, rounding, moves by one and by two."""

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.acceptance import accepts, trusted
from hardness.attacks.equations import Equations
from hardness.attacks.regression import Pull, unwrap_and_regress
from hardness.gadgets import modular

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Beyond a level's half width, what a residual may be by, round by round: while a whole residual pulls, and after.
INSIDE = (12.0, 8.0, 6.0, 4.0, 3.0, 2.0, 2.0)
OUTSIDE = (8.0,) * 8 + (4.0,) * 8 + (2.0,) * 8
PAIR_ROWS = 4000  # rows on which moves of two coordinates are compared: there are 2n² of them


def finish(known: Equations, fresh: Equations, w: Floats) -> Integers | None:
    """The secret (n,) from its estimate w (n,) on `known` rows, if it passes on `fresh` rows (`accepts`)."""
    w = trimmed(known, w)
    guess = modular.centred(np.rint(w).astype(np.int64) % known.q, known.q)
    if known.noise == 0:
        for _ in range(2):  # which rows are to be trusted depends on the answer
            guess = modular.centred(polish(known.rows(trusted(known, guess)), guess), known.q)
    near, far = (rows.rows(trusted(rows, guess)) for rows in (known, fresh))
    return guess if 4 * len(far) > len(fresh) and accepts(far, guess, near) else None


def trimmed(equations: Equations, w: Floats) -> Floats:
    """Least squares on trusted rows whose residue lies within its level's width, and again: others do not count.

    At first all of a residual pulls, in the end only what sticks out of a level: residues inside are equally right.
    """
    centre, width = modular.preimages(equations.q, equations.p)
    half = (width[equations.level] - 1) / 2 + 2 * equations.noise

    def pull(margin: float, idle: float | Floats) -> Pull:
        """All of a residual beyond `idle`, where the row is trusted and the residual not too large."""

        def pulled(residual: Floats, at: Floats) -> Floats:
            size = np.abs(residual)
            counts = (size <= half + margin) & trusted(equations, at)
            return np.where(counts, np.sign(residual) * np.maximum(size - idle, 0), 0.0)

        return pulled

    pulls = [pull(margin, 0.0) for margin in INSIDE]
    pulls += [pull(margin, half) for margin in OUTSIDE if equations.noise == 0]
    a = equations.a.astype(np.float64)
    return unwrap_and_regress(a, centre[equations.level], equations.q, w, pulls)


def polish(equations: Equations, w: Integers) -> Integers:
    """Change one coordinate of w by ±1, or two, while that reproduces more labels: mends what was rounded wrong."""
    w, wrong = _by_single_moves(equations, w)
    few = equations.rows(slice(0, PAIR_ROWS))
    for _ in range(len(w)):
        pair = _best_pair(few, w) if wrong else None
        if pair is None:
            break
        moved, wrong_after = _by_single_moves(equations, pair)
        if wrong_after >= wrong:
            break
        w, wrong = moved, wrong_after
    return w % equations.q


def _wrong(equations: Equations, t: Integers) -> int:
    """Labels that ⟨w, a⟩ = t does not reproduce."""
    return int((modular.level(t, equations.q, equations.p) != equations.level).sum())


def _by_single_moves(equations: Equations, w: Integers) -> tuple[Integers, int]:
    """The end of single moves from w, and the labels it leaves wrong."""
    t = equations.a.astype(np.int64) @ w
    fewest = _wrong(equations, t)
    improved = fewest > 0
    while improved:
        improved = False
        for j in range(len(w)):
            for step in (1, -1):
                moved = t + step * equations.a[:, j]
                wrong = _wrong(equations, moved)
                if wrong < fewest:
                    w, t, fewest, improved = w + step * (np.arange(len(w)) == j), moved, wrong, True
    return w, fewest


def _best_pair(equations: Equations, w: Integers) -> Integers | None:
    """w after the best move of two coordinates by ±1 each, if one reproduces more labels."""
    t = equations.a.astype(np.int64) @ w
    fewest, move = _wrong(equations, t), None
    for i in range(len(w)):
        for r in (1, -1):
            by_first = t + r * equations.a[:, i]
            for j in range(i):
                for s in (1, -1):
                    wrong = _wrong(equations, by_first + s * equations.a[:, j])
                    if wrong < fewest:
                        fewest, move = wrong, (i, r, j, s)
    if move is None:
        return None
    i, r, j, s = move
    unit = np.eye(len(w), dtype=np.int64)
    return np.asarray(w + r * unit[i] + s * unit[j])
