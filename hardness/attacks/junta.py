"""Sparse rounding secrets: labels that depend on few coordinates, found one after the other, and a table of labels."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import expected_agreement
from hardness.attacks.equations import Equations, on_equations
from hardness.attacks.few_heads import likeliest

Integers = NDArray[np.int64]
Rows = NDArray[np.int8]

LEVELS = 4  # that choices of coordinates are made by
MOST_PATTERNS = 2**22
ROUNDS = 4  # of choosing each coordinate again


@on_equations
def junta(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Learn the labels of a sparse rounding secret: its coordinates, then the level of each of their patterns.

    Coordinates are chosen that make levels of the same pattern most alike, one at a time; then each is chosen again
    beside the others. A secret that no single coordinate shows is not found. `budget` bounds the rounds of choosing
    again; 4. The secret itself is not sought: where the table is right on rows that had no part in it, `rule` tells
    labels. `refused` for dense secrets and more than 2^22 patterns.
    """
    h, base = equations.sparsity, len(np.unique(equations.a))  # bits, or -1, 0, 1
    if h is None or base**h > MOST_PATTERNS:
        return Recovery.refused("the secret is dense, or its patterns are more than 2^22")
    held_out = len(equations) // 5
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))
    coarse = known.level * min(LEVELS, known.p) // known.p
    enough = (expected_agreement(fresh) + 1 / fresh.p) / 2

    def rule(a: Rows) -> Iterator[Integers]:
        """Yield the most frequent levels of patterns among the rows known, then the second most of doubtful ones."""
        pattern = _patterns(a, chosen, base)
        counts = table[pattern]
        order = counts.argsort(axis=1)
        second, most = np.take_along_axis(counts, order[:, -2:], axis=1).T
        return likeliest(order[:, -1], order[:, -2], (second + 1) / (most + 1), pattern)

    chosen = list[int]()
    while len(chosen) < h:
        chosen.append(_next(known.a, coarse, chosen, base))
    for _ in range(ROUNDS if budget is None else budget):
        before = sorted(chosen)
        for j in before:
            chosen.remove(j)
            chosen.append(_next(known.a, coarse, chosen, base))
        if sorted(chosen) == before:
            break
    table = np.zeros((base**h, known.p), dtype=np.int64)
    np.add.at(table, (_patterns(known.a, chosen, base), known.level), 1)
    agreement = float((next(rule(fresh.a)) == fresh.level).mean())
    detail = {"coordinates": sorted(j + 1 for j in chosen), "agreement": agreement}
    ended = "solved" if agreement > enough else "budget"
    return Recovery(ended, None, len(equations), detail=detail, rule=rule)


def _patterns(a: Rows, chosen: list[int], base: int) -> Integers:
    """Return the pattern of each row (N,) on the chosen coordinates, as a number; entries -1, 0, 1 count as 2, 0, 1."""
    return np.asarray((a[:, chosen] % base).astype(np.int64) @ base ** np.arange(len(chosen)))


def _next(a: Rows, level: Integers, chosen: list[int], base: int) -> int:
    """Return the coordinate that, with those chosen, makes levels of a pattern most alike (least Gini impurity)."""
    from scipy.sparse import csr_array

    levels = int(level.max()) + 1
    _, cell = np.unique(_patterns(a, chosen, base), return_inverse=True)
    rows, width = len(a), levels * (int(cell.max()) + 1)
    shown = csr_array((np.ones(rows), (np.arange(rows), cell * levels + level)), shape=(rows, width))
    alike = np.zeros(a.shape[1])
    for value in np.unique(a):
        counts = (shown.T @ (a == value)).T.reshape(a.shape[1], -1, levels)  # (n, cells, levels)
        alike += ((counts**2).sum(axis=2) / np.maximum(counts.sum(axis=2), 1)).sum(axis=1)
    alike[chosen] = -1
    return int(alike.argmax())
