"""From an estimate of the secret mod q to the secret, and when it is believed.

A secret is accepted if it explains rows that had no part in finding it, and no neighbour explains them better.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Recovery
from hardness.families.linear import Equations, span
from hardness.gadgets import modular

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# Of residuals (N,) at an estimate (n,), the part of each that is regressed on
Pull = Callable[[Floats, Floats], Floats]

EDGE = 4  # least distance of a trusted row from the last level change of the heads
# What a residual may exceed its level's half width by, round by round: first whole residuals pull, then excesses only.
INSIDE = (12.0, 8.0, 6.0, 4.0, 3.0, 2.0, 2.0)
OUTSIDE = (8.0,) * 8 + (4.0,) * 8 + (2.0,) * 8
PAIR_ROWS = 4000  # rows on which moves are compared: of two coordinates there are 2n²


def accepts(fresh: Equations, w: Integers, known: Equations | None = None) -> bool:
    """Tell whether w (n,) explains `fresh` rows, not used to find it, and no neighbour explains `known` rows better.

    Without noise w must give the level of every row that the heads can label rightly (theory 1.4). With noise or flips,
    its share of right levels on `fresh` rows must lie above halfway between the right secret's and a guess's, and no
    change of one coordinate by ±1 may fit `known` rows (if None, the fresh ones) better.
    """
    known = fresh if known is None else known
    if len(fresh) == 0:
        return False
    if fresh.noise == 0 and fresh.flip == 0:
        return _reproduces(fresh, w) and _reproduces(known, w)
    if fresh.agreement(w) < (expected_agreement(fresh) + 1 / fresh.p) / 2:
        return False
    if fresh.q == 2:  # a wrong secret agrees with half of the labels however near it is: the bar is enough
        return True
    # Least squares led to w, and has one minimum: a better pair of moves would hold a better single one.
    centre = modular.preimages(known.q, known.p)[0][known.level]
    rest = known.a.astype(np.int64) @ w - centre
    here = np.mean(wrapped(rest, known.q) ** 2)
    moves = (sign * column for column in known.a.T for sign in (1, -1))
    return all(np.mean(wrapped(rest + move, known.q) ** 2) > here for move in moves)


def ended(w: Integers | None, fresh: Equations, used: int, detail: dict[str, Any]) -> Recovery:
    """Return how an attack on `used` examples ended: `budget` if w (n,) is None, `wrong` if refuted, else `solved`."""
    if w is None:
        return Recovery("budget", None, used, detail=detail)
    if not accepts(fresh, w):
        return Recovery("wrong", None, used, detail=detail)
    return Recovery("solved", fresh.secret(w), used, detail=detail)


def _reproduces(rows: Equations, w: Integers) -> bool:
    """Tell whether w gives the level of every row, or of all that the heads can label rightly, if over a quarter."""
    if rows.agreement(w) == 1:
        return True
    reached = trusted(rows, w)
    return 4 * int(reached.sum()) > len(rows) and rows.rows(reached).agreement(w) == 1


def trusted(equations: Equations, w: Floats | Integers) -> NDArray[np.bool_]:
    """Return a mask (N,) of rows whose level the heads show rightly (`span`), if w (n,) is near the secret."""
    q = equations.q
    whole = modular.centred(np.rint(w).astype(np.int64) % q, q)
    ends = span(whole, q, equations.p, equations.heads, bool((equations.a < 0).any()))
    if ends is None:
        return np.ones(len(equations), dtype=bool)
    t = equations.a @ whole
    return np.asarray((t >= ends[0] + EDGE) & (t < ends[1] - EDGE))


def expected_agreement(equations: Equations) -> float:
    """Return the probability that noise or a flip leaves a label's level as it was, over uniform residues."""
    if equations.noise == 0:
        return 1.0 - equations.flip
    from scipy.special import ndtr

    q, p = equations.q, equations.p
    reach = int(6 * equations.noise) + q
    e = np.arange(-reach, reach + 1)
    weight = ndtr((e + 0.5) / equations.noise) - ndtr((e - 0.5) / equations.noise)
    r = np.arange(q)
    same = modular.level(r[:, None], q, p) == modular.level(r[:, None] + e, q, p)
    return float((same * weight).sum() / q)


def finish(known: Equations, fresh: Equations, w: Floats) -> Integers | None:
    """Return the secret (n,) that regression of an estimate w on `known` rows gives; None if `fresh` rows refute it."""
    w = trimmed(known, w)
    guess = modular.centred(np.rint(w).astype(np.int64) % known.q, known.q)
    if known.noise == 0:
        for _ in range(2):  # which rows are trusted depends on the answer
            guess = modular.centred(polish(known.rows(trusted(known, guess)), guess), known.q)
    near, far = (rows.rows(trusted(rows, guess)) for rows in (known, fresh))
    return guess if 4 * len(far) > len(fresh) and accepts(far, guess, near) else None


def trimmed(equations: Equations, w: Floats) -> Floats:
    """Return w (n,) after rounds of least squares on `trusted` rows whose residuals lie not far beyond the level.

    At first whole residuals count, in the end what exceeds the level: all residues inside it are equally right.
    """
    centre, width = modular.preimages(equations.q, equations.p)
    half = (width[equations.level] - 1) / 2 + 2 * equations.noise

    def pull(residual: Floats, at: Floats, margin: float, idle: float | Floats) -> Floats:
        """Return residuals shrunk by `idle`: 0 on rows not trusted at estimate `at`, or `margin` off the level."""
        size = np.abs(residual)
        counts = (size <= half + margin) & trusted(equations, at)
        return np.where(counts, np.sign(residual) * np.maximum(size - idle, 0), 0.0)

    pulls = [partial(pull, margin=margin, idle=0.0) for margin in INSIDE]
    pulls += [partial(pull, margin=margin, idle=half) for margin in OUTSIDE if equations.noise == 0]
    a = equations.a.astype(np.float64)
    return unwrap_and_regress(a, centre[equations.level], equations.q, w, pulls)


def wrapped(x: NDArray[np.floating] | NDArray[np.integer], q: float) -> Floats:
    """Return x plus the multiple of q that brings it into [-q/2, q/2)."""
    return np.asarray((x + q / 2) % q - q / 2, dtype=np.float64)


def unwrap_and_regress(a: Floats, y: Floats, q: float, w: Floats, pulls: Iterable[Pull]) -> Floats:
    """Return the estimate w (n,) after one least-squares step for each of `pulls` on a w = y mod q, a (N, n), y (N,).

    Residuals y - a w are wrapped into [-q/2, q/2), which is right if w is near the secret (theory 4.2). A pull returns
    the part of each residual (N,) that its step is to remove.
    """
    inverse = np.linalg.pinv(a.T @ a)  # of all rows, although fewer count: it is only a step size
    for pull in pulls:
        w = w + inverse @ (a.T @ pull(wrapped(y - a @ w, q), w))
    return w


def polish(equations: Equations, w: Integers) -> Integers:
    """Return w (n,) mod q after changes of one coordinate by ±1, or else of two, while more labels become right."""
    few, steps = equations.rows(slice(PAIR_ROWS)), [(j, step) for j in range(len(w)) for step in (1, -1)]
    columns = np.ascontiguousarray(few.a.T, dtype=np.int64)
    right = equations.agreement(w)
    improved = right < 1

    def wrong(move: tuple[tuple[int, int], ...]) -> int:
        """Return how many of the few rows are wrong after a move, ((coordinate, ±1), …)."""
        moved = t + sum(step * columns[j] for j, step in move)
        return int((modular.level(moved, few.q, few.p) != few.level).sum())

    while improved:
        t = w @ columns
        for size in (1, 2):
            moved = w.copy()
            for j, step in min(combinations(steps, size), key=wrong):
                moved[j] += step
            agreement = equations.agreement(moved)
            improved = agreement > right
            if improved:
                w, right = moved, agreement
                break
    return w % equations.q
