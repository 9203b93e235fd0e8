"""Attacks by membership queries: the attacker chooses inputs, and a counting oracle labels them (theory 2.9).

A hidden set falls in n queries, a rounded inner product by bisection. Of a random layer equal tokens show Σ W; then let
token x stand against k - 1 copies of y, δ = (x - y)/2 and L = ln(k - 1). A row of token z (x or y) is

    (x + y)/2 · Σ_i W_i + Σ_i tanh(z Θ_i δ - L/2) δ W_i

(learner 1). Where δ = e_j + κ with κ in columns that are known, only column j of each Θ_i and row j of each W_i are
new, and the heads are those of the columns before.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from math import ceil, log, log2
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
from hardness.sq.bounds.parity import membership_floor
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
DESIGNS = 50  # random sets of queries of which the best conditioned is asked


def attack(instance: Instance, seed: int = 0) -> dict[str, Any]:
    """Attack an instance by membership queries: status, queries, `secret` or `layer_error`, and what was predicted.

    The learner gets the oracle and the public parameters, the lab judges. Parities take n queries, rounding about
    `predicted`, random layers `queries_of`. `floor` is what no learner can beat: answers of rounding have p values, of
    a parity 2; an input of a random layer shows k d numbers and k(k-1) scores a head. Raises `InputError` for a family
    of another kind.
    """
    teacher, linear = instance.teacher, instance.family.linear
    oracle = Membership(teacher, instance.family.tokens, instance.family.dim)
    started, rng = perf_counter(), np.random.default_rng(seed)
    if isinstance(teacher, Gadget) and linear is not None:
        fields = _equations(instance, linear.of(instance.public(0)), oracle, rng)
    elif isinstance(teacher, MultiHeadAttention):
        fields = _layer(instance, teacher.heads, oracle, rng, seed)
    else:
        raise InputError(
            f"no attack by membership queries on family {instance.family.name}; give parity, rounding or a random layer"
        )
    right = fields.pop("right")
    if fields.get("secret", fields.get("layer_error")) is None:
        fields["reason"] = "no queries of this kind determine the secret, or too many would be needed"
    status = "solved" if right else "refused" if "reason" in fields else "wrong"
    counted = {"queries": oracle.ledger.queries, "seconds": perf_counter() - started}
    return {"status": status, "attack": "membership", **fields, **counted}


def _equations(instance: Instance, hidden: Hidden, oracle: Membership, rng: Generator) -> dict[str, Any]:
    """Recover a secret w mod q: bit by bit where q is 2, else by bisection."""
    n, q, p = instance.family.dim - 1, hidden.q, hidden.p
    if q == 2:
        w: Integers | None = np.array([_level(oracle, hidden, [j]) for j in range(n)])
        counts = {"predicted": n, "floor": instance.family.log2_secrets()}
    else:
        w = rounding(oracle, hidden, rng)
        counts = {"predicted": predicted(n, q, p), "floor": membership_floor(n, q, p)}
    right = w is not None and np.array_equal(w, hidden.read(instance.secret, n))
    return {"secret": None if w is None else hidden.write(w), "right": right, **counts}


def _level(oracle: Membership, hidden: Hidden, places: list[int]) -> int:
    """Return the level at u = Σ e_j over `places`: x_1 is all ones, x_2 differs there and in the gate."""
    X = np.ones(oracle.shape, dtype=np.int8)
    X[1, [0, *(j + 1 for j in places)]] = -1
    return round(float(hidden.levels(np.array(oracle.label(X)[0, 0] - hidden.offset))))


def predicted(n: int, q: int, p: int) -> int:
    """Return the queries of `rounding` if every coordinate takes a bisection: n (1 + ⌈log2 ⌈q/p⌉⌉) (theory 2.9).

    >>> predicted(64, 97, 2), predicted(128, 257, 16)
    (448, 768)
    """
    return n * (1 + ceil(log2(-(-q // p))))


def rounding(oracle: Membership, hidden: Hidden, rng: Generator) -> Integers | None:
    """Return the secret (n,), centred residues mod q, or None where no queries of this kind determine it.

    (1) The list of all values of the first few coordinates that agree with the answers, one coordinate more at a time,
    each with the subset sums that split the list most evenly, until a single one is left. (2) For each further
    coordinate the residues that agree: ask the known subset sum whose answer splits them most evenly. A coordinate
    that no known sum splits waits until more is known. The answer is right where the oracle's are, as no other agrees
    (theory 2.9).
    """
    q, p, n, level = hidden.q, hidden.p, oracle.shape[1] - 1, partial(_level, oracle, hidden)
    head = _head(level, n, q, p, rng)
    if head is None:
        return None
    known = dict(enumerate(head.tolist()))
    sums: dict[int, list[int]] = {0: []}
    for j, value in known.items():
        _extend(sums, j, value, q)
    waiting = {j: _agree(np.arange(q), 0, level([j]), q, p) for j in range(len(head), n)}
    while waiting:
        before = len(waiting)
        for j, values in list(waiting.items()):
            waiting[j] = left = _bisect(level, j, values, sums, q, p)
            if len(left) == 1:
                known[j] = int(left[0])
                _extend(sums, j, known[j], q)
                del waiting[j]
        if len(waiting) == before:
            return None
    return modular.centred(np.array([known[j] for j in range(n)]), q)


def _head(level: Level, n: int, q: int, p: int, rng: Generator) -> Integers | None:
    """Return residues of the first few coordinates: as many as it takes until one list agrees with all their sums."""
    lists = np.zeros((1, 0), dtype=np.int32)
    for j in range(n):
        values = _agree(np.arange(q), 0, level([j]), q, p)
        if len(lists) * len(values) * (j + 1) > TABLE_ENTRIES:
            return None
        last = np.tile(values, len(lists)).astype(np.int32)
        lists = np.column_stack([np.repeat(lists, len(values), axis=0), last])
        subsets = np.arange(1, 2**j) if j < LOG2_SUMS else np.unique(rng.integers(1, 2**j, 2**LOG2_SUMS))
        inside = subsets[:, None] >> np.arange(j) & 1  # with the new coordinate these are the sums to ask
        while len(inside) and len(lists) > 1:
            some = lists[rng.integers(len(lists), size=SAMPLE)] if len(lists) > SAMPLE else lists
            shown = modular.level(some[:, :j] @ inside.T + some[:, j:], q, p)
            largest = np.max([(shown == y).sum(axis=0) for y in range(p)], axis=0)
            best = int(np.argmin(largest))
            alike = largest[best] == len(some)
            if alike and len(some) == len(lists):
                break
            chosen = inside[rng.integers(len(inside))] if alike else inside[best]
            places = [*np.flatnonzero(chosen).tolist(), j]
            lists = lists[modular.level(lists[:, places].sum(axis=1), q, p) == level(places)]
            if alike:  # the sample is of one mind: most of what could split has been asked
                break
        if len(lists) <= 1:
            break
    return lists[0].astype(np.int64) if len(lists) == 1 else None


def _extend(sums: dict[int, list[int]], j: int, value: int, q: int) -> None:
    """Add the sums of one more known coordinate with those before, until every residue is there."""
    if len(sums) < q:
        for residue, places in list(sums.items()):
            sums.setdefault((residue + value) % q, [*places, j])


def _bisect(level: Level, j: int, values: Integers, sums: dict[int, list[int]], q: int, p: int) -> Integers:
    """Return the residues of coordinate j that agree, when no known sum splits them further."""
    residues = np.array(list(sums))
    while len(values) > 1:
        shown = modular.level(values[:, None] + residues, q, p)
        largest = np.max([(shown == y).sum(axis=0) for y in range(p)], axis=0)
        best = int(np.argmin(largest))
        if largest[best] == len(values):
            break
        shift = int(residues[best])
        values = _agree(values, shift, level([j, *sums[shift]]), q, p)
    return values


def _agree(values: Integers, shift: int, shown: int, q: int, p: int) -> Integers:
    return np.asarray(values[modular.level(values + shift, q, p) == shown])


def _layer(instance: Instance, heads: int, oracle: Membership, rng: Generator, seed: int) -> dict[str, Any]:
    """Recover a layer of random heads and judge it on fresh inputs."""
    recovered = layer(oracle, heads, rng)
    scores = {} if recovered is None else judge(instance, recovered, JUDGED, seed)
    k, d = oracle.shape
    # An input shows k d numbers, and of every head k (k - 1) scores: of 2 m d² unknowns no fewer inputs tell all.
    floor = max(2 * heads * d / k, d * d / (k * (k - 1)))
    error, right = scores.get("relative_error"), EXACT.met(scores)
    return {"layer_error": error, "right": right, "predicted": queries_of(d), "floor": floor}


def queries_of(dim: int) -> int:
    """Return the queries of `layer`: d for Σ W, and max(⌈d/2⌉, d - j) for column j = 1..d."""
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
            met = np.sum(residual(x) ** 2) < NOTHING * scale
            if met and np.linalg.cond(slopes(x)) < SINGULAR:
                columns, rows = x.reshape(2, m, d)
                return columns, rows
    return None
