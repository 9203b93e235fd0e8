"""The lattice attack at work: rows with the law of their errors, their selection, a trial, and the way back."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.equations import Equations
from hardness.attacks.lattice_plan import SPARE
from hardness.attacks.regression import Pull, unwrap_and_regress
from hardness.gadgets import modular
from hardness.gadgets.modular import preimages

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

BEAM = 400_000  # prefixes of a secret that a look-up follows
MARGIN = 2.0  # residues beyond its level's by which an error may lie, before label noise
ENOUGH = 50_000  # rows in a regression: beyond, precision is not what is missing
ROUNDS = 4  # of a regression; at first every residual counts, for the estimate may be off


@dataclass(frozen=True)
class Rows:
    """Public vectors a (N, n) with centres y (N,) of the residues each label leaves: a·w = y + error mod q.

    The error has standard deviation `sd`; beyond `reach` it is that of a label that is wrong.
    """

    a: NDArray[np.int8]
    y: Floats
    q: int
    sd: float
    reach: float = np.inf

    def where(self, keep: Any) -> "Rows":
        return replace(self, a=self.a[keep], y=self.y[keep])

    def columns(self, keep: Any) -> "Rows":
        return replace(self, a=self.a[:, keep])


def rows_of(equations: Equations) -> Rows:
    """The equations as rows with the law of their errors."""
    centre, width = preimages(equations.q, equations.p)
    sd = float(np.sqrt(((width[equations.level] ** 2 - 1) / 12).mean() + equations.noise**2))
    reach = (int(width.max()) - 1) / 2 + MARGIN + 4 * equations.noise
    return Rows(equations.a, centre[equations.level], equations.q, max(sd, 0.2), reach)


def select(rows: Rows, rank: int) -> tuple[Integers, Integers]:
    """Coordinates to keep, and those to do without, in the order of giving them up.

    Greedily: the coordinate that vanishes on most of the rows left, as long as the rows that vanish on all
    given up so far are half as many again as a trial in this rank draws.
    """
    n = rows.a.shape[1]
    zero = rows.a == 0
    left = np.arange(n)
    given_up: list[int] = []
    alive = np.ones(len(zero), dtype=bool)
    while len(left) > 4:
        counts = zero[np.ix_(alive, left)].sum(axis=0)
        smaller = len(left) - 1
        if counts.max() < SPARE * (smaller + rank):
            break
        j = int(left[np.argmax(counts)])
        given_up.append(j)
        alive &= zero[:, j]
        left = left[left != j]
    return left, np.array(given_up, dtype=np.int64)


def decode(core: Rows, rank: int, rng: np.random.Generator, detail: dict[str, Any]) -> Floats | None:
    """One trial: w mod q (n,), a real estimate, from freshly drawn rows, or None, and how it went in `detail`.

    The basis B of the orthogonal lattice is reduced while that pays, then searched with pruning for the integers
    m = B(y - e)/q of the shortest error e; a search of more than 2^`MOST_NODES` nodes is not made.
    """
    from hardness.attacks.reduction import nearest_integers, orthogonal_basis

    n = core.a.shape[1]
    sample = core.where(rng.permutation(len(core.a))[: n + rank])
    try:
        B, rest = orthogonal_basis(sample.a)
    except np.linalg.LinAlgError:
        return None
    detail |= {"dimension": len(sample.a), "rank": len(B)}
    B, m = nearest_integers(B, sample.y, core.q, core.sd, detail)
    if m is None:
        return None
    k = np.rint(np.linalg.solve(np.vstack((B, rest)).astype(np.float64), np.append(-m, np.zeros(n))))
    w = np.linalg.lstsq(sample.a.astype(np.float64), sample.y + core.q * k, rcond=None)[0]
    return regress(core, w % core.q)


def regress(rows: Rows, w: Floats) -> Floats:
    """A better estimate (n,) by least squares, at last only where the error is within reach."""

    def within(reach: float) -> Pull:
        return lambda residual, at: np.where(np.abs(residual) > reach, 0.0, residual)

    pulls = [within(reach) for reach in (np.inf, *(rows.reach,) * (ROUNDS - 1))]
    return unwrap_and_regress(rows.a[:ENOUGH].astype(np.float64), rows.y[:ENOUGH], rows.q, w, pulls)


def grow(rows: Rows, kept: Integers, order: Integers, w: Floats) -> Floats:
    """Extend the estimate on `kept` to all coordinates, in reverse of the order in which they were given up.

    On rows that vanish on the coordinates still missing, a new one is the circular mean of what the known
    ones leave; each step doubles the rows of the regression.
    """
    active, estimate = kept, w
    for position in range(len(order) - 1, -1, -1):
        j = order[position]
        class_rows = rows.where(~rows.a[:, order[:position]].any(axis=1))
        hit = class_rows.where(class_rows.a[:, j] != 0)
        left = (hit.y - hit.a[:, active] @ estimate) * hit.a[:, j]
        angle = np.angle(np.exp(2j * np.pi * left / rows.q).sum())
        active, estimate = np.append(active, j), np.append(estimate, angle / (2 * np.pi) * rows.q)
        estimate = regress(class_rows.columns(active), estimate)
    full = np.empty(len(active))
    full[active] = estimate
    return full


def lookup(equations: Equations) -> Integers:
    """Secrets (C, n) that reproduce every label, built up a coordinate at a time; none if over `BEAM` fit a prefix.

    Rows supported on the first j coordinates filter the first j residues: with few coordinates all such rows
    occur.
    """
    q, p = equations.q, equations.p
    table, index = np.unique(equations.a, axis=0, return_index=True)
    level = equations.level[index]
    last = np.where(table.any(axis=1), table.shape[1] - np.argmax(table[:, ::-1] != 0, axis=1), 0)
    prefixes = np.zeros((1, 0), dtype=np.int64)
    for j in range(1, equations.n + 1):
        prefixes = np.column_stack((np.repeat(prefixes, q, axis=0), np.tile(np.arange(q), len(prefixes))))
        for row in np.flatnonzero(last == j):
            shown = modular.level(prefixes @ table[row, :j].astype(np.int64), q, p)
            prefixes = prefixes[shown == level[row]]
        if len(prefixes) > BEAM:
            return prefixes[:0]
    return prefixes
