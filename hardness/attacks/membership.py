"""Attacks by membership queries: the attacker chooses inputs, and a counting oracle labels them (theory 2.9).

A hidden set falls in n queries, a rounded inner product by bisection. Of a random layer equal tokens show Σ W; then let
token x stand against k - 1 copies of y, δ = (x - y)/2 and L = ln(k - 1). A row of token z (x or y) is

    (x + y)/2 · Σ_i W_i + Σ_i tanh(z Θ_i δ - L/2) δ W_i

(learner 1). Where δ = e_j + κ with κ in columns that are known, only column j of each Θ_i and row j of each W_i are
new, and the heads are those of the columns before.
"""

from collections.abc import Callable
from functools import partial
from math import log
from time import perf_counter
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.linear import Hidden
from hardness.gadgets import modular
from hardness.gadgets.coefficients import Gadget
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.scores import EXACT, judge
from hardness.sq.oracle import Membership

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# The level of the sum of the secret's coordinates at some places, as the oracle shows it.
Level = Callable[[list[int]], int]

JUDGED = 2000  # fresh inputs on which a random layer is judged
TABLE_ENTRIES = 2**27  # entries of a table of lists that agree with the answers so far
SAMPLE, LOG2_SUMS = 1000, 9  # lists and log2 of sums among which the most even split is looked for
STARTS, NOTHING = 200, 1e-24  # random starts a column; squared residual over the labels' that counts as none
SINGULAR = 1e9  # condition of the equations from which on they are not believed to determine the column
WELL = 2.0  # condition of tokens, over their dimension, up to which they are asked


def attack(instance: Instance, seed: int = 0) -> dict[str, Any]:
    """Attack an instance by labels of chosen inputs; return a status, queries, seconds, and `secret` or `layer_error`.

    The learner sees only public parameters and labels that an oracle gives. Parities take n queries, rounding about n
    (1 + ⌈log2 ⌈q/p⌉⌉) (theory 2.9), random layers of d features about 5d²/8. Raises `InputError` for other families.
    """
    teacher, linear = instance.teacher, instance.family.linear
    oracle = Membership(teacher, instance.family.tokens, instance.family.dim)
    started, rng = perf_counter(), np.random.default_rng(seed)
    if isinstance(teacher, Gadget) and linear is not None:
        hidden, n = linear.of(instance.public(0)), instance.family.dim - 1
        if hidden.q == 2:
            w: Integers | None = np.array([_level(oracle, hidden, [j]) for j in range(n)])
        else:
            w = rounding(oracle, hidden, rng)
        answer: dict[str, Any] = {"secret": None if w is None else hidden.write(w)}
        right = w is not None and np.array_equal(w, hidden.read(instance.secret, n))
    elif isinstance(teacher, MultiHeadAttention):
        recovered = layer(oracle, teacher.heads, rng)
        scores = {} if recovered is None else judge(instance, recovered, JUDGED, seed)
        answer, right = {"layer_error": scores.get("relative_error")}, EXACT.met(scores)
    else:
        raise InputError(
            f"no attack by membership queries on family {instance.family.name}; give parity, rounding or a random layer"
        )
    status = "solved" if right else "wrong"
    if None in answer.values():
        status = "refused"
        answer["reason"] = "no queries of this kind determine the secret, or too many would be needed"
    counted = {"queries": oracle.ledger.queries, "seconds": perf_counter() - started}
    return {"status": status, "attack": "membership", **answer, **counted}


def _level(oracle: Membership, hidden: Hidden, places: list[int]) -> int:
    """Return the level of ⟨w, u⟩, its rounded residue mod q, where u is 1 at `places` and else 0, by one query."""
    X = np.ones(oracle.shape, dtype=np.int8)
    X[1, [0, *(j + 1 for j in places)]] = -1
    return round(float(hidden.levels(np.array(oracle.label(X)[0, 0] - hidden.offset))))


def rounding(oracle: Membership, hidden: Hidden, rng: Generator) -> Integers | None:
    """Return the secret (n,), centred residues mod q, from labels that `oracle` gives; None if they leave it open.

    Lists of values that agree with all answers so far grow by one coordinate at a time. Each query asks for the level
    of the sum of the new coordinate and some earlier ones, chosen so that the answer splits the lists most evenly. None
    comes back also if the lists become too many. The result is right if the oracle is (theory 2.9).
    """
    q, p, n, level = hidden.q, hidden.p, oracle.shape[1] - 1, partial(_level, oracle, hidden)
    lists, every = np.zeros((1, 0), dtype=np.int32), np.arange(q)
    for j in range(n):
        values = every[modular.level(every, q, p) == level([j])]
        if len(lists) * len(values) * (j + 1) > TABLE_ENTRIES:
            return None
        last = np.tile(values, len(lists)).astype(np.int32)
        lists = np.column_stack([np.repeat(lists, len(values), axis=0), last])
        subsets = np.arange(1, 2**j)[:, None] >> np.arange(j) & 1 if j < LOG2_SUMS else None
        # With coordinate j: the sums to ask
        inside = rng.integers(0, 2, (2**LOG2_SUMS, j)) if subsets is None else subsets
        while len(inside) and len(lists) > 1:
            some = lists[rng.integers(len(lists), size=SAMPLE)] if len(lists) > SAMPLE else lists
            shown = modular.level(some[:, :j] @ inside.T + some[:, j:], q, p)
            # The lists that agree on the answer of each sum
            most = np.max([(shown == y).sum(axis=0) for y in range(p)], axis=0)
            places = [*np.flatnonzero(inside[most.argmin()]).tolist(), j]
            alike = most.min() == len(some)  # then most of what could split has been asked
            if alike and len(some) == len(lists):
                break
            lists = lists[modular.level(lists[:, places].sum(axis=1), q, p) == level(places)]
            if alike:
                break
    return modular.centred(lists[0].astype(np.int64), q) if len(lists) == 1 else None


def queries_of(dim: int) -> int:
    """Return how many label queries recover a layer of d = `dim` features: d + Σ_j max(⌈d/2⌉, d - j), j = 1..d."""
    return dim + sum(max(-(-dim // 2), dim - j) for j in range(1, dim + 1))


def layer(oracle: Membership, heads: int, rng: Generator) -> MultiHeadAttention | None:
    """Return the layer of `heads` heads behind `oracle`, up to floating-point error; None if a column was not solved.

    Column by column, Θ_i and W_i are fitted to labels from random starts, by Levenberg-Marquardt; a fit counts only if
    it meets all its equations and they determine it. This takes `queries_of(d)` queries.
    """
    k, d = oracle.shape
    x = np.ones(
        (d, d), np.int64
    )  # independent tokens, which show Σ W_i where every place holds one and the same
    while np.linalg.cond(x) > WELL * d:
        x = rng.choice([-1, 1], (d, d))
    total = np.linalg.solve(x, np.array([oracle.label(np.repeat(row[None], k, axis=0))[0] for row in x]))
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
        column = _column(z, shown, scores, carried, total[j], rng)
        if column is None:
            return None
        theta[:, :, j], w[:, j] = column
    return MultiHeadAttention(theta, w)


def _design(dim: int, j: int, count: int, rng: Generator) -> NDArray[np.int64]:
    """Return random token pairs (x, y), (count, 2, dim), that differ at j, where x_j = 1, and at about half of 0..j-1.

    They are drawn until the matrix of their 2 `count` tokens has a condition number below 2 `dim`.
    """
    while True:
        x = rng.choice([-1, 1], (count, dim))
        x[:, j] = 1
        differ = (rng.random((count, dim)) < 0.5) & (np.arange(dim) < j)
        differ[:, j] = True
        pairs = np.stack([x, np.where(differ, -x, x)], axis=1)
        if np.linalg.cond(pairs.reshape(2 * count, dim)) < WELL * dim:
            return pairs


def _column(
    z: Floats, shown: Floats, scores: Floats, carried: Floats, total: Floats, rng: Generator
) -> tuple[Floats, Floats] | None:
    """Return column j of every Θ_i and row j of every W_i, (m, d) each; None if no fit is exact and unique.

    Labels `shown` (R, d) of tokens z (R, d) are to be Σ_i tanh(scores_i + ⟨z, column_i⟩) (carried_i + row_i), where the
    columns known before give `scores` (R, m) and `carried` (R, m, d). The rows of all heads add up to `total` (d,).
    """
    from scipy.optimize import least_squares

    (m, d), scale = (scores.shape[1], z.shape[1]), float(np.sum(shown**2))
    if not (np.isfinite(scale) and np.isfinite(scores).all() and np.isfinite(carried).all()):
        return None

    def residual(unknowns: Floats) -> Floats:
        """Return a fit's errors (R d + d,): in the labels of R tokens, and in the sum of rows, which is to be `total`.
        `unknowns` (2 m d,) holds column j of each Θ_i, then row j of each W_i, for the m heads."""
        columns, rows = unknowns.reshape(2, m, d)
        labels = np.einsum("ri,rib->rb", np.tanh(scores + z @ columns.T), carried + rows)
        return np.concatenate([(labels - shown).ravel(), rows.sum(axis=0) - total])

    def slopes(unknowns: Floats) -> Floats:
        """Return the Jacobian (R d + d, 2 m d) of the fit's errors (`residual`) in its unknowns."""
        columns, rows = unknowns.reshape(2, m, d)
        pull = np.tanh(scores + z @ columns.T)
        by_column = np.einsum("ri,ra,rib->rbia", 1 - pull**2, z, carried + rows)
        by_row = np.einsum("ri,bc->rbic", pull, np.eye(d))
        parts = np.concatenate([by_column.reshape(-1, m * d), by_row.reshape(-1, m * d)], axis=1)
        sums = np.concatenate([np.zeros((d, m * d)), np.tile(np.eye(d), m)], axis=1)
        return np.concatenate([parts, sums])

    options = {"method": "lm", "xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 300}
    for _ in range(STARTS):
        columns = rng.normal(0, 1 / d, m * d)
        rows = total / m + rng.normal(0, d**-0.5, (m, d))
        x = least_squares(residual, np.concatenate([columns, rows.ravel()]), slopes, **options).x
        if np.sum(residual(x) ** 2) < NOTHING * scale and np.linalg.cond(slopes(x)) < SINGULAR:
            columns, rows = x.reshape(2, m, d)
            return columns, rows
    return None
