"""Theorem D's table (theory 2.7), from the stored queries: nothing of the lab is imported."""

import json
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, count
from operator import xor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from theorem_b import lost, separation

ROOT = Path(__file__).parents[2]
STORED = json.loads((ROOT / "hardness/exact/templates.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
Stored = dict[str, Any]
PEAK = 55_440  # a query's values are integers over this


def transform(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of values times every character, (2^r,): half a step for each bit."""
    out, width = values.astype(np.int64), 1
    while width < len(out):
        pairs = out.reshape(-1, 2, width)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        width *= 2
    return out


def points(stored: Stored) -> list[int]:
    """Where the sets of a layer lie in their affine span: each less the first, in the generators {i, last}."""
    size, held = stored["size"], stored["held"]
    masks = [sum(1 << i for i in chosen) for chosen in combinations(range(size), held)]
    return [(mask ^ masks[0]) % 2 ** (size - 1) for mask in masks]


def dimension(vectors: Iterable[int]) -> int:
    """Of the span over GF(2)."""
    basis: list[int] = []
    for vector in vectors:
        rest = reduce(lambda left, row: min(left, left ^ row), basis, vector)
        if rest:
            basis.append(rest)
    return len(basis)


def affine_rank(places: tuple[int, ...]) -> int:
    return dimension(place ^ places[0] for place in places)


def reach(stored: Stored) -> Fraction:
    """No window of a tolerance below it holds both of a pair, the pairs being made in order of the means."""
    values = np.array(stored["values"])
    assert np.abs(values).max() <= PEAK
    sums, places = transform(values), points(stored)
    upper, lower = (sorted(int(sums[places[i]]) for i in stored[side]) for side in ("upper", "lower"))
    assert len({*stored["upper"], *stored["lower"]}) == 2 * len(upper) == 2 * len(lower)
    gap = min(up - down for up, down in zip(upper, lower, strict=True))
    return Fraction(gap, 4 * PEAK * len(values))  # a mean is half of an average


def ranks() -> dict[int, int]:
    """The least affine rank of a stored query that reaches T(e), by e."""
    return {e: min(affine_rank(support(stored)) for stored in tight(e)) for e in range(2, 13)}


def tight(e: int) -> list[Stored]:
    """The stored queries that lose e sets at every tolerance below T(e)."""
    return [stored for stored in STORED if len(stored["upper"]) == e and reach(stored) == separation(e)]


def support(stored: Stored) -> tuple[int, ...]:
    places = points(stored)
    return tuple(places[i] for i in stored["upper"] + stored["lower"])


def coordinates(vectors: list[int]) -> tuple[list[int], list[int]]:
    """A basis out of the vectors, and each vector's coordinates in it, by listing all sums."""
    basis: list[int] = []
    sums = {0: 0}
    for vector in vectors:
        if vector not in sums:
            sums |= {at ^ vector: code | 1 << len(basis) for at, code in sums.items()}
            basis.append(vector)
    return basis, [sums[vector] for vector in vectors]


def parts(places: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The ways to cut the points into two or more classes, each the points at which an affine function is 1."""
    codes, full = coordinates([place ^ places[0] for place in places])[1], (1 << len(places)) - 1
    linear = {
        sum(((code & a).bit_count() & 1) << i for i, code in enumerate(codes)) for a in range(max(codes) * 2)
    }
    words = sorted((linear | {full ^ word for word in linear}) - {0, full})

    def cuts(rest: int) -> Iterator[tuple[int, ...]]:
        if not rest:
            yield ()
        for word in words:
            if word & rest & -rest and word & rest == word:
                yield from ((word, *others) for others in cuts(rest ^ word))

    return sorted(cuts(full), key=len, reverse=True)


@cache
def labelled(places: tuple[int, ...]) -> tuple[tuple[int, ...], ...] | None:
    """The fewest cuts whose classes generate all affine functions: cut i says which of its elements, out of part i, a
    point's set has. Then an even number of the sets has the symmetric difference 0 iff the points have. None if more
    than four cuts are needed."""
    rank, cuts = affine_rank(places), parts(places)
    gain = len(cuts[0]) - 1  # what a cut adds to the functions generated, at most

    def grown(
        chosen: tuple[tuple[int, ...], ...], left: int, start: int
    ) -> tuple[tuple[int, ...], ...] | None:
        lacking = rank + 1 - max(1, dimension(word for cut in chosen for word in cut))
        if lacking > left * gain or not left:
            return None if lacking else chosen
        longer = (grown((*chosen, cuts[i]), left - 1, i + 1) for i in range(start, len(cuts)))
        return next((cuts for cuts in longer if cuts), None)

    return next((chosen for s in range(1, 5) if (chosen := grown((), s, 0))), None)


def partite(e: int) -> tuple[Stored, tuple[tuple[int, ...], ...]]:
    """A stored query that reaches T(e), and its labels out of as few parts as any has."""
    queries = [(stored, cuts) for stored in tight(e) if (cuts := labelled(support(stored)))]
    return min(queries, key=lambda pair: len(pair[1]))


def sizes() -> dict[int, int]:
    """The least size of sets on which a stored query reaches T(e), by e; for e = 1, 2 every size will do."""
    return {1: 1, 2: 1} | {e: len(partite(e)[1]) for e in range(3, 13)}


def test_the_table_of_theorem_d():
    assert ranks() == {2: 3, 3: 4, 4: 4, 5: 5, 6: 5, **dict.fromkeys(range(7, 13), 7)}
    rows = re.findall(r"^\| (\d+) \| \[(\S+), (\S+)\) \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    assert [int(e) for e, *_ in rows] == list(range(1, 13))
    of_rank, needed = {1: 1} | ranks(), sizes()
    for e, low, high, rank, size in rows:
        assert (Fraction(low), Fraction(high)) == (separation(int(e) + 1), separation(int(e)))
        assert lost(Fraction(low)) == int(e) == lost(Fraction(high) - Fraction(1, 10**9))
        assert (int(rank), int(size)) == (of_rank[int(e)], needed[int(e)])


def test_where_the_limit_is_known():
    """For sets of size s from T(e) up, e being the first that they do not reach."""
    needed = sizes()
    limits = {s: separation(min(e for e in range(1, 14) if needed.get(e, 99) > s)) for s in range(1, 8)}
    assert limits == {1: Fraction(1, 6), 2: Fraction(13, 112), 3: Fraction(5, 48)} | dict.fromkeys(
        range(4, 8), Fraction(19, 208)
    )


@pytest.mark.parametrize("e", range(3, 13))
def test_sets_out_of_s_parts_hold_the_query(e: int):
    """On sets with an element out of each of s parts the query has the means of the stored one, input by input."""
    stored, cuts = partite(e)
    places, sums, elements = support(stored), transform(np.array(stored["values"])), count()
    part = [[(word, 1 << next(elements)) for word in cut] for cut in cuts]
    sets = [sum(bit for words in part for word, bit in words if word >> i & 1) for i in range(len(places))]
    assert all(mask.bit_count() == len(cuts) for mask in sets)
    assert len(set(sets)) == len(places) == 2 * e
    # The sets depend on one another as the points do: the same are a basis, with the same sums.
    basis, codes = coordinates([mask ^ sets[0] for mask in sets])
    vectors, same = coordinates([place ^ places[0] for place in places])
    assert codes == same
    # f on r independent signs: the stored query, averaged over the states that agree on the span.
    spectrum = np.array([sums[places[0] ^ _sum(vectors, code)] for code in range(1 << len(basis))])
    f = transform(spectrum)
    assert np.abs(f).max() <= PEAK * len(sums)
    # A word's bit j says that v_j = -1. The query is chi of the first set times f at the signs of the basis.
    words = np.arange(1 << next(elements))
    state = sum(
        (np.bitwise_count(words & vector).astype(np.int64) & 1) << i for i, vector in enumerate(basis)
    )
    means = transform((1 - 2 * (np.bitwise_count(words & sets[0]).astype(np.int64) & 1)) * f[state])
    reached = [Fraction(int(means[mask]), 2 * PEAK * len(sums) * len(words)) for mask in sets]
    assert reached == [Fraction(int(sums[place]), 2 * PEAK * len(sums)) for place in places]
    gaps = [up - down for up, down in zip(sorted(reached[:e]), sorted(reached[e:]), strict=True)]
    assert min(gaps) == 2 * separation(e)


def _sum(vectors: list[int], code: int) -> int:
    return reduce(xor, (vector for i, vector in enumerate(vectors) if code >> i & 1), 0)
