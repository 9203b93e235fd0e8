"""Hidden sets and vectors from chosen inputs (theory 2.9): a parity in n queries, rounding by bisection."""

from collections.abc import Callable
from math import ceil, log2

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hardness.families.linear import Hidden
from hardness.gadgets import modular
from hardness.sq.oracle import Membership

Integers = NDArray[np.int64]
# The level of the sum of the secret's coordinates at some places, as the oracle shows it.
Level = Callable[[list[int]], int]
TABLE_ENTRIES = 2**27  # entries of a table of lists that agree with the answers so far
SAMPLE, LOG2_SUMS = 1000, 9  # lists and log2 of sums among which the most even split is looked for


def parity(oracle: Membership, hidden: Hidden) -> Integers:
    """Return the indicator w (n,) of the hidden set.

    Tokens that differ in the gate and in coordinate j show whether the set has j.

    >>> from hardness import families
    >>> from hardness.instance import Instance
    >>> instance = Instance.generate(families.get("parity")(dim=9, heads=3), seed=0)
    >>> oracle = Membership(instance.teacher, 2, 9)
    >>> w = parity(oracle, instance.family.linear.of(instance.public(0)))
    >>> np.flatnonzero(w).tolist() == (instance.secret["support"] - 1).tolist(), oracle.ledger.queries
    (True, 8)
    """
    labels = np.array([_shown(oracle, [j]) for j in range(1, oracle.shape[1])])
    return np.rint(hidden.levels(labels - hidden.offset)).astype(np.int64)


def _shown(oracle: Membership, places: list[int]) -> float:
    """Return A + g at the level of u = Σ e_j over `places`: x_1 is all ones, x_2 differs there and in the gate."""
    X = np.ones(oracle.shape, dtype=np.int8)
    X[1, [0, *places]] = -1
    return float(oracle.label(X)[0, 0])


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
    q, p, n = hidden.q, hidden.p, oracle.shape[1] - 1

    def level(places: list[int]) -> int:
        label = _shown(oracle, [j + 1 for j in places]) - hidden.offset
        return round(float(hidden.levels(np.array(label))))

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
        lists = np.concatenate(
            [np.repeat(lists, len(values), axis=0), np.tile(values, len(lists))[:, None]],
            axis=1,
            dtype=np.int32,
        )
        subsets = np.arange(1, 2**j) if j < LOG2_SUMS else np.unique(rng.integers(1, 2**j, 2**LOG2_SUMS))
        inside = subsets[:, None] >> np.arange(j) & 1  # with the new coordinate these are the sums to ask
        while len(inside) and len(lists) > 1:
            some = lists[rng.integers(len(lists), size=SAMPLE)] if len(lists) > SAMPLE else lists
            shown = modular.level(some[:, :j] @ inside.T + some[:, j:], q, p)
            largest = np.max([(shown == y).sum(axis=0) for y in range(p)], axis=0)
            best = int(np.argmin(largest))
            if largest[best] == len(some) == len(lists):
                break
            chosen = inside[best] if largest[best] < len(some) else inside[rng.integers(len(inside))]
            places = [*np.flatnonzero(chosen).tolist(), j]
            lists = lists[modular.level(lists[:, places].sum(axis=1), q, p) == level(places)]
            if largest[best] == len(
                some
            ):  # the sample is of one mind: most of what could split has been asked
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
