"""A random layer from inputs of one's own choice: sum W from equal tokens, then a column of every Θ_i at a time.

Let token x stand against k - 1 copies of y, δ = (x - y)/2 and L = ln(k - 1). A row of token z (x or y) is then

    (x + y)/2 · Σ_i W_i + Σ_i tanh(z Θ_i δ - L/2) δ W_i

(learner 1): equal tokens show Σ W_i, and what remains is a sum of m sigmoids in z. Where δ = e_j + κ with κ in columns
that are known, only column j of each Θ_i and row j of each W_i are new, and the heads are those of the columns before.
"""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class ColumnEquations:
    """What R rows say of a column of every Θ_i and that row of every W_i, both (m, d), where all before are known.

    Tokens z (R, d) and what is left of their labels, `shown` (R, d); of what is known the scores (R, m) and δ W_i
    (R, m, d); and the sum `total` (d,) of the rows. Unknowns are one vector (2 m d,): the columns, then the rows.
    """

    z: Floats
    shown: Floats
    scores: Floats
    carried: Floats
    total: Floats

    @property
    def heads(self) -> int:
        return int(self.scores.shape[1])

    @property
    def finite(self) -> bool:
        """Whether labels of any size allow a fit at all."""
        return bool(np.isfinite(np.sum(self.shown**2)) and np.isfinite(self.scores).all()) and bool(
            np.isfinite(self.carried).all()
        )

    def split(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """The columns and the rows, (m, d) each."""
        columns, rows = unknowns.reshape(2, self.heads, self.z.shape[1])
        return columns, rows

    def residual(self, unknowns: Floats) -> Floats:
        """By how much the equations are missed, (R d + d,)."""
        columns, rows = self.split(unknowns)
        labels = np.einsum("ri,rib->rb", np.tanh(self.scores + self.z @ columns.T), self.carried + rows)
        return np.concatenate([(labels - self.shown).ravel(), rows.sum(axis=0) - self.total])

    def slopes(self, unknowns: Floats) -> Floats:
        """The Jacobian of `residual`, (R d + d, 2 m d)."""
        (columns, rows), (m, d) = self.split(unknowns), (self.heads, self.z.shape[1])
        pull = np.tanh(self.scores + self.z @ columns.T)
        by_column = np.einsum("ri,ra,rib->rbia", 1 - pull**2, self.z, self.carried + rows)
        by_row = np.einsum("ri,bc->rbic", pull, np.eye(d))
        parts = np.concatenate([by_column.reshape(-1, m * d), by_row.reshape(-1, m * d)], axis=1)
        sums = np.concatenate([np.zeros((d, m * d)), np.tile(np.eye(d), m)], axis=1)
        return np.concatenate([parts, sums])


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
    m, d = len(theta), z.shape[1]
    if (len(z) + 1) * d < 2 * m * d:  # fewer equations than unknowns
        return None
    scores = np.einsum("ra,iab,rb->ri", z, theta, delta) - offset
    equations = ColumnEquations(z, shown, scores, np.einsum("ra,iab->rib", delta, w), total)
    if not equations.finite:
        return None
    # Where nothing is known, a head of two tokens and its negative show the same but for their sum.
    alone = not w.any() and not offset
    signs = [np.reshape(s, (m, 1)) for s in product((1.0, -1.0), repeat=m)] if alone else [np.ones((m, 1))]
    return _fitted(equations, signs, rng)


def _fitted(equations: ColumnEquations, signs: list[Floats], rng: Generator) -> tuple[Floats, Floats] | None:
    """What a fit from a random start reaches, up to `signs` of the heads, if the equations determine it."""
    from scipy.optimize import least_squares

    m, d, scale = equations.heads, equations.z.shape[1], float(np.sum(equations.shown**2))
    options = {"method": "lm", "xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 300}
    for _ in range(STARTS):
        columns = rng.normal(0, 1 / d, m * d)
        rows = equations.total / m + rng.normal(0, d**-0.5, (m, d))
        start = np.concatenate([columns, rows.ravel()])
        x = least_squares(equations.residual, start, equations.slopes, **options).x
        for sign in signs:
            x = (x.reshape(2, m, d) * sign).ravel()
            met = np.sum(equations.residual(x) ** 2) < EXACT * scale
            if met and np.linalg.cond(equations.slopes(x)) < SINGULAR:
                return equations.split(x)
    return None
