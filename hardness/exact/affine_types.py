"""Parities up to what a query can see: points of AG(r, 2) up to affine maps.

Multiplying a query by a character shifts a class, so only the affine dependencies of its sets matter: which even
subsets xor to nothing (theory 2.7).
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations, permutations
from operator import xor

import numpy as np
from numpy.typing import NDArray

from hardness.sq.queries import reduced, span_coordinates

Type = tuple[int, tuple[int, ...]]


def coordinates(masks: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return generators of the affine span of some sets, as differences from the first, and each set's coordinates."""
    moved = np.array([mask ^ masks[0] for mask in masks], np.uint64)
    basis, _, codes = span_coordinates(moved, moved)
    return [int(moved[i]) for i in basis], [int(c) for c in codes]


def characters(points: Sequence[int], rank: int) -> NDArray[np.int64]:
    """Return the points' characters on all states, +-1 (points, 2^rank)."""
    states = np.arange(1 << rank)
    odd = np.bitwise_count(np.array(points)[:, None] & states) & 1
    return np.asarray(1 - 2 * odd.astype(np.int64))


def affine_type(points: Sequence[int], rank: int) -> Type:
    """Name distinct points that span AG(rank, 2): alike for two lists iff an affine map takes one to the other.

    (rank + 1, the other points' barycentric coordinates over the best affine basis): the least over all bases and
    orders. For up to a dozen points.
    """
    bases = list(_over_bases([2 * p + 1 for p in points], rank + 1))
    lightest = min(weights for weights, _ in bases)
    return rank + 1, min(_least(rest, rank + 1) for weights, rest in bases if weights == lightest)


def _over_bases(vectors: list[int], size: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield for every basis among the vectors the others' sorted weights over it, and the others over it."""
    for basis in combinations(vectors, size):
        rows: list[tuple[int, int]] = []
        for i, vector in enumerate(basis):
            rest, code = reduced(vector, 1 << i, rows)
            if not rest:
                break
            rows.append((rest, code))
        else:
            others = tuple(reduced(vector, 0, rows)[1] for vector in vectors if vector not in basis)
            yield tuple(sorted(other.bit_count() for other in others)), others


def _least(rows: tuple[int, ...], width: int) -> tuple[int, ...]:
    """Return the least matrix among all orders of its rows and of its columns, as the fewer of the two."""
    entries = [[row >> j & 1 for j in range(width)] for row in rows]
    vectors = [*zip(*entries, strict=True)] if len(rows) <= width else entries
    orders = permutations(range(min(len(rows), width)))
    return min(
        tuple(sorted(sum(vector[i] << k for k, i in enumerate(order)) for vector in vectors))
        for order in orders
    )


def symmetries(points: Sequence[int], limit: int = 720) -> list[tuple[int, ...]]:
    """Return affine maps that take the points to themselves, as maps of their indices: all, or the first `limit`."""
    vectors = [2 * p + 1 for p in points]
    masks = np.array(vectors, np.uint64)
    basis, _, places = span_coordinates(masks, masks)
    index = {vector: i for i, vector in enumerate(vectors)}
    maps: list[tuple[int, ...]] = []

    def extend(images: list[int], spanned: list[tuple[int, int]]) -> None:
        if len(images) == len(basis):
            chosen = ([image for i, image in enumerate(images) if code >> i & 1] for code in places.tolist())
            sums = [reduce(xor, some) for some in chosen]
            if all(total in index for total in sums):
                maps.append(tuple(index[total] for total in sums))
            return
        for vector in vectors:
            rest = reduced(vector, 0, spanned)[0]
            if rest and len(maps) < limit:
                extend([*images, vector], [*spanned, (rest, 0)])

    extend([], [])
    return maps
