"""Meet in the middle mod q: halves of a secret whose residues add up to where the labels say (theory 4.1)."""

from math import comb, log2

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Answer

Integers = NDArray[np.int64]

MOST_HALVES = 2**24


def meet_in_boxes(
    a: Integers, low: Integers, span: Integers, q: int, values: Integers, weight: int | None, budget: int
) -> Answer:
    """Return the w (n,) with ⟨w, a⟩ mod q in [low, low + span) for every row of a (R, n).

    Its entries are of `values`, `weight` of them not 0 if that is given. Two halves of it meet in boxes of residues,
    each as wide as the widest span.
    """
    from hardness.kernels.search import box_match, residues

    n = a.shape[1]
    large = n - n // 2 if weight is None else (weight + 1) // 2
    kinds = values if weight is None else values[values != 0]
    count = len(kinds) ** large * (1 if weight is None else comb(n, large))
    if count > MOST_HALVES:
        return None, {"reason": f"2^{log2(count):.0f} half secrets, more than 2^{log2(MOST_HALVES):.0f}"}
    halves = _halves(n, kinds, weight)
    counts, box = (len(halves[0][0]), len(halves[1][0])), int(span.max())
    boxes = max(1, q // box)
    k, cost = _meeting_rows(*counts, boxes)
    if cost > budget:
        pairs = log2(counts[0] * counts[1])
        return None, {"reason": f"2^{log2(cost):.0f} steps to match 2^{pairs:.0f} pairs exceed the budget"}
    first, second = (residues(a, *half, q) for half in halves)
    # A row's box is a digit, so that halves meet where a number of k digits does.
    keys = np.minimum(first[:, :k] // box, boxes - 1) @ boxes ** np.arange(k - 1, -1, -1, dtype=np.int64)
    order = np.argsort(keys)
    matches = box_match(keys[order], order, first, second, low, span, k, box, boxes, q)
    detail = {"method": "meet in the middle", "halves": len(keys), "meeting_rows": k}
    if matches[0] < 0:
        return None, detail
    w = np.zeros(n, dtype=np.int64)
    for (places, entries), i in zip(halves, matches, strict=True):
        w[places[i]] += entries[i]
    return w % q, detail


def _halves(n: int, values: Integers, h: int | None) -> list[tuple[NDArray[np.int16], Integers]]:
    """Return both kinds of half secret: places (count, h) and values (count, h)."""
    from hardness.kernels.search import subsets

    middle = n - n // 2
    if h is None:
        supports = [np.arange(middle, dtype=np.int16)[None], np.arange(middle, n, dtype=np.int16)[None]]
    else:
        supports = [subsets(n, size, comb(n, size)) for size in ((h + 1) // 2, h // 2)]
    halves = []
    for sets in supports:
        size = sets.shape[1]
        grid = np.stack(np.meshgrid(*[values] * size, indexing="ij"), axis=-1) if size else np.zeros(0)
        tuples = grid.reshape(-1, size) if size else np.zeros((1, 0), dtype=np.int64)
        entries = np.tile(tuples, (len(sets), 1)).astype(np.int64)
        halves.append((np.repeat(sets, len(tuples), axis=0), entries))
    return halves


def _meeting_rows(count1: int, count2: int, boxes: int) -> tuple[int, float]:
    """Return rows k on which halves meet, and the steps: a row multiplies look-ups by up to 2, pairs by 2/boxes."""
    if boxes <= 2:  # such boxes tell nothing apart
        return 0, 4.0 * count1 * count2
    costs = [
        count2 * 2.0**k * 20 + count1 * count2 * (2 / boxes) ** k * 4 for k in range(int(62 / log2(boxes)))
    ]
    k = int(np.argmin(costs))
    return k, costs[k]
