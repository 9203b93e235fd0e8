"""T(e) of theorem B: how far apart a query can drive e pairs of parities, over every affine type of 2e points.

If the best window keeps w = k - e of k >= 2e parities, the e pairs (j, j + w) of their sorted means are disjoint and
more than 2 tau apart each. So T(e) is the largest half gap that e disjoint pairs out of 2e points can all have,
whatever their dependencies: a finite search over types of points, halves that go up, and matchings.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hardness.sq.affine_types import Type, affine_type, characters, coordinates, symmetries
from hardness.sq.separation import folded, separate


def all_types(count: int) -> list[tuple[list[int], int]]:
    """One list of distinct points (coordinates in their span) and its rank for every affine type of so many points.

    >>> [len(all_types(count)) for count in (2, 4, 6)]
    [1, 2, 4]
    """
    found: list[tuple[list[int], int]] = [([0, 1], 1)]
    for _ in range(count - 2):
        longer: dict[Type, tuple[list[int], int]] = {}
        for points, rank in found:
            for point in range(2**rank + 1):
                if point not in points:
                    generators, own = coordinates([*points, point])
                    longer.setdefault(affine_type(own, len(generators)), (own, len(generators)))
        found = list(longer.values())
    return found


@dataclass(frozen=True)
class Apart:
    """T(e), exactly, and where it is reached: points of AG(rank, 2), and the pairs (upper, lower) of their indices."""

    reach: Fraction
    points: tuple[int, ...]
    rank: int
    pairs: tuple[tuple[int, int], ...]


def most_apart(lost: int, above: Fraction = Fraction(0)) -> Apart | None:
    """T(lost) by running through all affine types of 2 lost points; None if it is at most `above`.

    Every half and matching is either reached by a query or excluded by weights, both in rationals. Seconds up to
    lost = 4, minutes at 5.

    >>> most_apart(2).reach
    Fraction(3, 16)
    """
    best = None
    for points, rank in all_types(2 * lost):
        signs = characters(points, rank)
        for half in _halves(points, rank, lost):
            found = _matched(signs, half, [i for i in range(2 * lost) if i not in half], [], above)
            if found is not None:
                above, pairs = found
                best = Apart(above, tuple(points), rank, pairs)
    return best


def _halves(points: list[int], rank: int, lost: int) -> list[list[int]]:
    """The halves that may go up, one of each class under the points' symmetries and exchange with the other half.

    Largest sums first: the gaps of any matching average E|sum of one half minus sum of the other|/(2 lost).
    """
    signs, every = characters(points, rank), range(2 * lost)
    maps, seen, found = symmetries(points, rank), set(), []
    for half in combinations(every, lost):
        if half in seen:
            continue
        for map_ in maps:
            image = tuple(sorted(map_[i] for i in half))
            seen |= {image, tuple(i for i in every if i not in image)}
        g = np.where(np.isin(every, half), 1, -1)
        found.append((int(np.abs(g @ signs).sum()), list(half)))
    return [half for _, half in sorted(found, reverse=True)]


def _matched(
    signs: NDArray[np.int64], upper: list[int], lower: list[int], pairs: list[tuple[int, int]], above: Fraction
) -> tuple[Fraction, tuple[tuple[int, int], ...]] | None:
    """The best completion of a matching whose half gaps all exceed `above`, with its reach; None if there is none."""
    forms = [signs[a] - signs[b] for a, b in pairs]
    if upper:  # what is not matched yet counts with its sum, in units that keep integers
        forms = [len(upper) * form for form in forms] + [signs[upper].sum(axis=0) - signs[lower].sum(axis=0)]
    columns, chances, _ = folded(np.array(forms))
    answer = separate(columns, chances, 2 * above * max(1, len(upper)))
    if not answer.possible:
        return None
    if not upper:
        return answer.gap / 2, tuple(pairs)
    best = None
    for b in lower:
        found = _matched(signs, upper[1:], [i for i in lower if i != b], [*pairs, (upper[0], b)], above)
        if found is not None:
            best, above = found, found[0]
    return best
