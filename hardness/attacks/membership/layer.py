"""Recover a random layer from chosen inputs: Σ W from equal tokens, then a column of every Θ_i at a time.

Let token x stand against k - 1 copies of y, δ = (x - y)/2 and L = ln(k - 1). A row of token z (x or y) is then

    (x + y)/2 · Σ_i W_i + Σ_i tanh(z Θ_i δ - L/2) δ W_i

(learner 1): equal tokens show Σ W_i, and what remains is a sum of m sigmoids in z. Where δ = e_j + κ with κ in columns
that are known, only column j of each Θ_i and row j of each W_i are new, and the heads are those of the columns before.
"""

from itertools import product
from math import log

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from hardness.sq.oracle import Membership

Floats = NDArray[np.float64]
STARTS, EXACT = 200, 1e-24  # random starts a column; squared residual over the labels' that counts as none
SINGULAR = 1e9  # condition of the equations from which on they are not believed to determine the column
DESIGNS = 50  # random sets of queries of which the best conditioned is asked


def queries_of(dim: int) -> int:
    """Return the queries of `layer`: d for Σ W, and max(⌈d/2⌉, d - j) for column j = 1..d.

    >>> queries_of(16)
    172
    """
    return dim + sum(max(-(-dim // 2), dim - j) for j in range(1, dim + 1))


def layer(oracle: Membership, heads: int, rng: Generator) -> MultiHeadAttention | None:
    """Return the layer of `heads` heads behind `oracle`, exact to rounding; None if a column was not solved.

    Uses `queries_of(d)` queries. Columns are fitted by Levenberg-Marquardt from random starts; a fit counts only if it
    meets all its equations and they determine it.
    """
    k, d = oracle.shape
    total = _sum_of_w(oracle, rng)
    theta, w = np.zeros((heads, d, d)), np.zeros((heads, d, d))
    for j in range(d):
        pairs = _design(d, j, max(-(-d // 2), d - j - 1), rng)  # (R/2, 2, d)
        labels = np.array([oracle.label(np.stack([x] + [y] * (k - 1)))[:2] for x, y in pairs])
        if 2 * len(pairs) + 1 < 2 * heads:  # fewer equations than unknowns
            return None
        rest = labels - (pairs.mean(axis=1) @ total)[:, None]
        z, shown = pairs.reshape(-1, d).astype(np.float64), rest.reshape(-1, d)  # (R, d)
        delta = np.repeat((pairs[:, 0] - pairs[:, 1]) / 2, 2, axis=0)  # (R, d)
        scores = np.einsum("ra,iab,rb->ri", z, theta, delta) - log(k - 1) / 2  # (R, m)
        carried = np.einsum("ra,iab->rib", delta, w)  # (R, m, d)
        # Two tokens, nothing known: a head and its negative show equal labels but for the sum of W.
        paired = not w.any() and k == 2
        column = _column(z, shown, scores, carried, total[j], paired, rng)
        if column is None:
            return None
        theta[:, :, j], w[:, j] = column
    return MultiHeadAttention(theta, w)


def _sum_of_w(oracle: Membership, rng: Generator) -> Floats:
    """Return Σ W_i (d, d), from d independent tokens, each in every place."""
    tokens, dim = oracle.shape
    x = np.ones((dim, dim))
    while np.linalg.matrix_rank(x) < dim or np.linalg.cond(x) > 100 * dim:
        x = rng.choice([-1.0, 1.0], (dim, dim))
    shown = np.array([oracle.label(np.repeat(row[None], tokens, axis=0).astype(int))[0] for row in x])
    return np.asarray(np.linalg.solve(x, shown))


def _design(dim: int, j: int, count: int, rng: Generator) -> NDArray[np.int64]:
    """Return pairs x, y (count, 2, d) that differ in coordinate j, where x_j = 1, and in about half of those before.

    Of many random sets the one whose tokens span all directions best.
    """
    best, smallest = np.zeros((count, 2, dim), np.int64), np.inf
    while not np.isfinite(smallest):
        for _ in range(DESIGNS):
            x = rng.choice([-1, 1], (count, dim))
            x[:, j] = 1
            differ = (rng.random((count, dim)) < 0.5) & (np.arange(dim) < j)
            differ[:, j] = True
            pairs = np.stack([x, np.where(differ, -x, x)], axis=1)
            condition = np.linalg.cond(pairs.reshape(2 * count, dim))
            if condition < min(smallest, 1e6):
                best, smallest = pairs, condition
    return best


def _column(
    z: Floats,
    shown: Floats,
    scores: Floats,
    carried: Floats,
    total: Floats,
    paired: bool,
    rng: Generator,
) -> tuple[Floats, Floats] | None:
    """Return a column of every Θ_i and that row of every W_i, (m, d) each; None if no fit is exact and unique.

    Tokens z (R, d) have labels `shown` (R, d). Of known columns come the `scores` (R, m) and δ W_i, `carried`
    (R, m, d). The rows add up to `total` (d,). If `paired`, any head may be its own negative.
    """
    from scipy.optimize import least_squares

    (m, d), scale = (scores.shape[1], z.shape[1]), float(np.sum(shown**2))
    if not (np.isfinite(scale) and np.isfinite(scores).all() and np.isfinite(carried).all()):
        return None

    def residual(unknowns: Floats) -> Floats:
        """Return by how much the equations are missed, (R d + d,), at columns and rows (2 m d,)."""
        columns, rows = unknowns.reshape(2, m, d)
        labels = np.einsum("ri,rib->rb", np.tanh(scores + z @ columns.T), carried + rows)
        return np.concatenate([(labels - shown).ravel(), rows.sum(axis=0) - total])

    def slopes(unknowns: Floats) -> Floats:
        """Return the Jacobian of `residual`, (R d + d, 2 m d)."""
        columns, rows = unknowns.reshape(2, m, d)
        pull = np.tanh(scores + z @ columns.T)
        by_column = np.einsum("ri,ra,rib->rbia", 1 - pull**2, z, carried + rows)
        by_row = np.einsum("ri,bc->rbic", pull, np.eye(d))
        parts = np.concatenate([by_column.reshape(-1, m * d), by_row.reshape(-1, m * d)], axis=1)
        sums = np.concatenate([np.zeros((d, m * d)), np.tile(np.eye(d), m)], axis=1)
        return np.concatenate([parts, sums])

    signs = product((1.0, -1.0), repeat=m) if paired else [(1.0,) * m]
    turns = [np.reshape(sign, (m, 1)) for sign in signs]
    options = {"method": "lm", "xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 300}
    for _ in range(STARTS):
        columns = rng.normal(0, 1 / d, m * d)
        rows = total / m + rng.normal(0, d**-0.5, (m, d))
        x = least_squares(residual, np.concatenate([columns, rows.ravel()]), slopes, **options).x
        for turn in turns:
            x = (x.reshape(2, m, d) * turn).ravel()
            met = np.sum(residual(x) ** 2) < EXACT * scale
            if met and np.linalg.cond(slopes(x)) < SINGULAR:
                columns, rows = x.reshape(2, m, d)
                return columns, rows
    return None
