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
    """Tell whether w (n,) is accepted as the secret, by `fresh` equations that had no part in finding it.

    Without noise w must give the level (rounded residue) of every equation that the heads can label rightly (theory
    1.4). With noise or flips, its share of right levels must exceed the mean of two: a right secret's share and 1/p, a
    guess's. Also, no change of one coordinate by ±1 may fit the `known` equations (None: the fresh ones) better.
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
    """Return how an attack on `used` examples ended: `solved` with secret w (n,), or `budget` if w is None.
    If `fresh` equations refute w, the status is `wrong`. `detail` holds further figures of the attack."""
    if w is None:
        return Recovery("budget", None, used, detail=detail)
    if not accepts(fresh, w):
        return Recovery("wrong", None, used, detail=detail)
    return Recovery("solved", fresh.secret(w), used, detail=detail)


def _reproduces(rows: Equations, w: Integers) -> bool:
    """Tell whether w (n,) gives the level of all rows, or of all that the heads label rightly if over a quarter."""
    if rows.agreement(w) == 1:
        return True
    reached = trusted(rows, w)
    return 4 * int(reached.sum()) > len(rows) and rows.rows(reached).agreement(w) == 1


def trusted(equations: Equations, w: Floats | Integers) -> NDArray[np.bool_]:
    """Return a mask (N,) of the equations whose level the layer's heads show rightly, if w (n,) is near the secret."""
    q = equations.q
    whole = modular.centred(np.rint(w).astype(np.int64) % q, q)
    ends = span(whole, q, equations.p, equations.heads, bool((equations.a < 0).any()))
    if ends is None:
        return np.ones(len(equations), dtype=bool)
    t = equations.a @ whole
    return np.asarray((t >= ends[0] + EDGE) & (t < ends[1] - EDGE))


def expected_agreement(equations: Equations) -> float:
    """Return the probability that neither noise nor a flip changes the level of a uniform residue mod q."""
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
    """Return the secret (n,) to which `known` rows refine an estimate w (n,), or None if `fresh` rows refute it."""
    w = trimmed(known, w)
    guess = modular.centred(np.rint(w).astype(np.int64) % known.q, known.q)
    if known.noise == 0:
        for _ in range(2):  # which rows are trusted depends on the answer
            guess = modular.centred(polish(known.rows(trusted(known, guess)), guess), known.q)
    near, far = (rows.rows(trusted(rows, guess)) for rows in (known, fresh))
    return guess if 4 * len(far) > len(fresh) and accepts(far, guess, near) else None


def trimmed(equations: Equations, w: Floats) -> Floats:
    """Return the estimate w (n,) of the secret, refined by rounds of least squares that leave outliers out.

    A row counts if the heads show its level rightly at w, and its residual is not far outside its level. Later rounds,
    if there is no noise, fit only what lies outside the level: all residues in it are equally right.
    """
    centre, width = modular.preimages(equations.q, equations.p)
    half = (width[equations.level] - 1) / 2 + 2 * equations.noise

    def pull(residual: Floats, at: Floats, margin: float, idle: float | Floats) -> Floats:
        """Return the part of each residual (N,) to fit: its size less `idle`, with its sign, or 0 for rows left out.
        Those lie over `margin` outside their level's residues, or have levels that w = `at` does not show rightly."""
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
    """Return w (n,) after one least-squares step for each function in `pulls`, on a w = y mod q, a (N, n), y (N,).

    Residuals y - a w are wrapped into [-q/2, q/2), which is right if w is near the secret (theory 4.2). A pull is given
    all residuals (N,) and w, and returns the part of each residual that its step is to remove.
    """
    inverse = np.linalg.pinv(a.T @ a)  # of all rows, although fewer count: it is only a step size
    for pull in pulls:
        w = w + inverse @ (a.T @ pull(wrapped(y - a @ w, q), w))
    return w


def polish(equations: Equations, w: Integers) -> Integers:
    """Return w (n,) mod q, improved by changing one or two coordinates by ±1 as long as more labels become right."""
    few, steps = equations.rows(slice(PAIR_ROWS)), [(j, step) for j in range(len(w)) for step in (1, -1)]
    columns = np.ascontiguousarray(few.a.T, dtype=np.int64)
    right = equations.agreement(w)
    improved = right < 1

    def wrong(move: tuple[tuple[int, int], ...]) -> int:
        """Return how many rows of a sample contradict w after the changes in `move`, each (coordinate, ±1)."""
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
