"""How many vectors of labels secrets can give to a set of inputs: what a guesser of all labels has to try."""

from itertools import combinations, product
from math import comb, e, log2

import numpy as np
from numpy.typing import NDArray

from hardness.gadgets import modular
from hardness.gadgets.levels import Kind
from hardness.tokens import pack_bits

Integers = NDArray[np.int64]
LISTED = 2**16  # secrets: so many are listed, and their label vectors counted
EXACT_SUM = 64  # terms of a sum of binomials; longer ones are bounded


def log2_parities(vectors: NDArray[np.int8], size: int) -> float:
    """log2 of an upper bound on the label vectors of the parities of `size` of n bits at public vectors (R, n).

    Labels are linear in the set over GF(2): of rank r there are at most 2^r, and as many as sets where r = n.

    >>> log2_parities(np.eye(4, dtype=np.int8), 2) == log2(6), log2_parities(np.eye(4, dtype=np.int8)[:2], 2)
    (True, 2.0)
    """
    from hardness.kernels.gf2 import rref2

    n = vectors.shape[1]
    rank = len(rref2(pack_bits(vectors & 1), n))
    return min(log2(comb(n, size)), float(rank))


def log2_roundings(
    vectors: NDArray[np.int8],
    q: int,
    p: int,
    weight: int | None = None,
    kind: Kind = "diag",
    heads: int | None = None,
) -> float:
    """log2 of an upper bound on the label vectors of rounding secrets at public vectors (R, n).

    The number itself for up to `LISTED` secrets, all dense ones, or all with `weight` non-zeros. Of more, the least of
    three bounds for each of the C(n, weight) supports, times their number: the secrets; p to the number of patterns
    that inputs show on the support; and the cells into which the level changes of these patterns cut the space of
    weights, Σ_{i<=h} C(c, i) for c changes in h dimensions (Zaslavsky 1975).

    >>> vectors = np.random.default_rng(0).integers(0, 2, (256, 16), dtype=np.int8)
    >>> log2_roundings(vectors, 2**20, 2, weight=3) == log2(560) + 7
    True
    """
    n, rows = vectors.shape[1], np.unique(vectors, axis=0)
    h = n if weight is None else weight
    supports, bits = log2(comb(n, h)), h * log2(q if weight is None else q - 1)
    if supports + bits <= log2(LISTED):
        return log2(_listed(rows, q, p, weight, kind, heads))
    ones = np.minimum(np.abs(rows).sum(axis=1, dtype=np.int64), h)
    shown, changes = len(rows), _changes(ones, q, p)
    base = 2 if kind == "diag" else 3
    if h < 40 and base**h < shown:
        shown = base**h
        changes = sum(comb(h, k) * (base - 1) ** k * _changes(np.array([k]), q, p) for k in range(h + 1))
    if heads is None:  # a level of 0 has the label 0 under every secret; few heads may begin anywhere
        shown -= bool((ones == 0).any() or base**h == shown)
    else:  # nor are their changes the same for all secrets: they follow the mean, one step a modulus
        changes += h // 2 + 2
    return min(supports + min(bits, shown * log2(p), _log2_cells(changes, h)), len(rows) * log2(p))


def _changes(ones: Integers, q: int, p: int) -> int:
    """Level changes within reach of patterns with so many non-zeros each: residues are at most q/2 from 0."""
    farthest = ones * (q // 2)
    return int((modular.cell(farthest, q, p) - modular.cell(-farthest, q, p)).sum())


def _log2_cells(planes: int, dimension: int) -> float:
    """log2 of Σ_{i<=h} C(c, i), or of its bound (e c/h)^h."""
    if planes <= dimension:
        return float(planes)
    if dimension <= EXACT_SUM:
        return log2(sum(comb(planes, i) for i in range(dimension + 1)))
    return dimension * log2(e * planes / dimension)


def _listed(rows: NDArray[np.int8], q: int, p: int, weight: int | None, kind: Kind, heads: int | None) -> int:
    """The number of label vectors, all secrets being listed."""
    from hardness.families.concepts import RoundingConcepts

    n = rows.shape[1]
    if weight is None:
        secrets = np.array(list(product(range(q), repeat=n)), dtype=np.int64)
    else:
        values = list(product(range(1, q), repeat=weight))
        secrets = np.zeros((comb(n, weight), len(values), n), dtype=np.int64)
        for i, places in enumerate(combinations(range(n), weight)):
            secrets[i][:, places] = values
    centred = modular.centred(secrets.reshape(-1, n), q)
    labels = RoundingConcepts(n, q, p, kind, heads).level(centred @ rows.T.astype(np.int64), centred)
    return len(np.unique(labels.astype(np.int32), axis=0))
