"""A random layer from inputs of one's own choice: sum W from equal tokens, then a column of every Θ_i at a time.

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
    """Queries of `layer`: d for Σ W, and max(⌈d/2⌉, d - j) for column j = 1..d.

    >>> queries_of(16)
    172
    """
    return dim + sum(max(-(-dim // 2), dim - j) for j in range(1, dim + 1))


def layer(oracle: Membership, heads: int, rng: Generator) -> MultiHeadAttention | None:
    """The layer behind `oracle` with `heads` heads, exact to rounding; None if a column's equations were not solved.

    Uses `queries_of(d)` queries. Columns are fitted by Levenberg-Marquardt from random starts; a fit counts only if it
    meets all its equations and they determine it.
    """
    tokens, dim = oracle.shape
    total = _sum_of_w(oracle, rng)
    theta, w = np.zeros((heads, dim, dim)), np.zeros((heads, dim, dim))
    for j in range(dim):
        tokens_of = _design(dim, j, max(-(-dim // 2), dim - j - 1), rng)
        rows, deltas, labels = zip(*(_ask(oracle, total, x, y) for x, y in tokens_of), strict=True)
        z, shown, delta = np.concatenate(rows), np.concatenate(labels), np.repeat(deltas, 2, axis=0)
        column = _column(z, delta, shown, log(tokens - 1) / 2, theta, w, total[j], rng)
        if column is None:
            return None
        theta[:, :, j], w[:, j] = column
    return MultiHeadAttention(theta, w)


def _sum_of_w(oracle: Membership, rng: Generator) -> Floats:
    """Σ W_i: all tokens equal, d independent ones."""
    tokens, dim = oracle.shape
    x = np.ones((dim, dim))
    while np.linalg.matrix_rank(x) < dim or np.linalg.cond(x) > 100 * dim:
        x = rng.choice([-1.0, 1.0], (dim, dim))
    shown = np.array([oracle.label(np.repeat(row[None], tokens, axis=0).astype(int))[0] for row in x])
    return np.asarray(np.linalg.solve(x, shown))


def _design(dim: int, j: int, count: int, rng: Generator) -> NDArray[np.int64]:
    """Pairs x, y (count, 2, d) that differ in coordinate j, where x_j = 1, and in about half of those before.

    Of many random ones those whose tokens span all directions best.
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


def _ask(
    oracle: Membership, total: Floats, x: NDArray[np.int64], y: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """One query, x against copies of y: tokens (2, d), δ (d,), and what is left of their labels (2, d)."""
    labels = oracle.label(np.stack([x] + [y] * (oracle.shape[0] - 1)))
    rows = np.stack([x, y]).astype(np.float64)
    return rows, (rows[0] - rows[1]) / 2, labels[:2] - rows.mean(axis=0) @ total


def _column(
    z: Floats,
    delta: Floats,
    shown: Floats,
    offset: float,
    theta: Floats,
    w: Floats,
    total: Floats,
    rng: Generator,
) -> tuple[Floats, Floats] | None:
    """A column of every Θ_i and that row of every W_i, both (m, d), given those before and the rows' sum `total`.

    Of rows z (R, d), δ (R, d) and what they show (R, d), whose only new columns these are.
    """
    from scipy.optimize import least_squares

    m, d = len(theta), z.shape[1]
    score = np.einsum("ra,iab,rb->ri", z, theta, delta) - offset  # of what is known
    carried = np.einsum("ra,iab->rib", delta, w)  # (R, m, d)
    scale = float(np.sum(shown**2))
    if (len(z) + 1) * d < 2 * m * d:  # fewer equations than unknowns
        return None
    if not (np.isfinite(scale) and np.isfinite(score).all() and np.isfinite(carried).all()):
        return None

    def residual(p: Floats) -> Floats:
        column, row = p.reshape(2, m, d)
        made = np.einsum("ri,rib->rb", np.tanh(score + z @ column.T), carried + row)
        return np.concatenate([(made - shown).ravel(), row.sum(axis=0) - total])

    def slopes(p: Floats) -> Floats:
        column, row = p.reshape(2, m, d)
        pull = np.tanh(score + z @ column.T)
        by_column = np.einsum("ri,ra,rib->rbia", 1 - pull**2, z, carried + row)
        by_row = np.einsum("ri,bc->rbic", pull, np.eye(d))
        parts = np.concatenate([by_column.reshape(-1, m * d), by_row.reshape(-1, m * d)], axis=1)
        sums = np.concatenate([np.zeros((d, m * d)), np.tile(np.eye(d), m)], axis=1)
        return np.concatenate([parts, sums])

    # Where nothing is known, a head of two tokens and its negative show the same but for their sum.
    alone = not w.any() and not offset
    for _ in range(STARTS):
        start = np.concatenate(
            [rng.normal(0, 1 / d, m * d), (total / m + rng.normal(0, d**-0.5, (m, d))).ravel()]
        )
        fit = least_squares(
            residual, start, slopes, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=300
        )
        for signs in product((1.0, -1.0), repeat=m) if alone else [(1.0,) * m]:
            fit.x = (fit.x.reshape(2, m, d) * np.reshape(signs, (m, 1))).ravel()
            if np.sum(residual(fit.x) ** 2) < EXACT * scale and np.linalg.cond(slopes(fit.x)) < SINGULAR:
                column, row = fit.x.reshape(2, m, d)
                return column, row
    return None
