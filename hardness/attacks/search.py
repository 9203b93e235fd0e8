"""Searches: meet in the middle for sparse secrets, birthday collisions of samples for noisy parities."""

from collections.abc import Iterable
from math import ceil, comb, inf, log, log2, sqrt
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Public, Recovery
from hardness.attacks.equations import Equations, accepts, extract, on_equations, secret
from hardness.attacks.gaussian import check_plan
from hardness.errors import InputError
from hardness.examples import Examples
from hardness.gadgets.modular import preimages
from hardness.tokens import pack_bits

Integers = NDArray[np.int64]

BUDGET = 2**32  # elementary steps: about a minute
MOST_HALVES = 2**24
TEST_ROWS = 64
FINAL_BITS = 26  # bits of the last transform, a table of 256 MiB
SURE = 20.0  # nats: a wrong secret is taken for the right one with probability at most e^-20


@on_equations
def search(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Find the secret of examples in about the root of the number of secrets.

    `budget` bounds the elementary steps. Parity of weight s: two halves of weight s/2 meet on the labels of
    random rows, all of them right with probability (1-η)^K under noise; or, where cheaper, collisions of
    samples cancel blocks of coordinates until a Walsh-Hadamard transform finds the rest (LF2). Rounding: two
    halves of the secret meet in boxes of residues. `refused` where no search fits the budget.
    """
    budget = BUDGET if budget is None else budget
    rng = np.random.default_rng(seed)
    w, detail = (_parity if equations.parity else _rounding)(equations, budget, rng)
    if "reason" in detail:
        return Recovery.refused(**detail)
    if w is None:
        return Recovery("budget", None, len(equations), detail=detail)
    right = accepts(equations, w)
    return Recovery(
        "solved" if right else "wrong", secret(equations, w) if right else None, len(equations), detail=detail
    )


Found = tuple[Integers | None, dict[str, Any]]


def _parity(equations: Equations, budget: int, rng: np.random.Generator) -> Found:
    n, s, eta = equations.n, equations.sparsity or 0, equations.flip
    held_out = check_plan(eta, 2.0**60)[0] if eta else 64
    need = held_out + (2 * n if eta else 64)
    if len(equations) < need:
        return None, {"reason": f"{len(equations)} informative rows, {need} are needed"}
    half = comb(n, (s + 1) // 2)
    # Labels on which two halves must meet: all 64 without noise; under noise few, for all of them must be right.
    bits = min(64, ceil(log2(half)) + 4) if eta else 64
    middle = (half * 32 if half <= MOST_HALVES else np.inf) / (1 - eta) ** bits
    plan = collision_plan(n, len(equations) - held_out, eta, budget)
    if plan is None and middle > budget:
        return None, {"reason": f"no search within {budget} steps: 2^{log2(half):.0f} half secrets"}
    if plan and plan[2] < middle:
        return collide(equations, held_out, plan)
    return meet_in_the_middle(equations, held_out, bits, budget, rng)


def _column_words(equations: Equations, rows: Integers) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Rows, 64 to a word: columns (C, n) and labels (C,)."""
    words = pack_bits(np.column_stack((equations.a[rows] & 1, equations.level[rows])).T).T
    return np.ascontiguousarray(words[:, :-1]), np.ascontiguousarray(words[:, -1])


def meet_in_the_middle(
    equations: Equations, held_out: int, bits: int, budget: int, rng: np.random.Generator
) -> Found:
    """The parity of weight s by sorting the halves' labels on `bits` random rows, again until all those are right."""
    from hardness.kernels.search import first_match, subsets, sums

    n, s = equations.n, equations.sparsity or 0
    large, small = (s + 1) // 2, s // 2
    sets1, sets2 = subsets(n, large, comb(n, large)), subsets(n, small, comb(n, small))
    _, bar = check_plan(equations.flip, 2.0**60)
    columns, target = _column_words(equations, np.arange(held_out))
    rounds = max(1, budget // (32 * len(sets1))) if equations.flip else 1
    for attempt in range(rounds):
        draw = held_out + rng.permutation(len(equations) - held_out)[:bits]
        (words,), (labels,) = _column_words(equations, draw)
        keys = sums(words, sets1)
        order = np.argsort(keys)
        keys = keys[order]
        wanted = sums(words, sets2) ^ labels
        low = np.searchsorted(keys, wanted, "left").astype(np.int64)
        high = np.searchsorted(keys, wanted, "right").astype(np.int64)
        i, j, tested = first_match(sets1[order], sets2, low, high, columns, target, int(bar * held_out))
        if i >= 0:
            w = np.zeros(n, dtype=np.int64)
            w[sets1[order[i]]] ^= 1
            w[sets2[j]] ^= 1
            return w, {
                "method": "meet in the middle",
                "halves": len(sets1),
                "rounds": attempt + 1,
                "tested": tested,
            }
    return None, {"method": "meet in the middle", "halves": len(sets1), "rounds": rounds}


def collision_plan(n: int, rows: int, eta: float, budget: float = inf) -> tuple[int, int, float] | None:
    """(steps, bits a step, elementary steps) of LF2 on `rows` samples: the fewest steps that leave a signal and fit
    `budget`, or None if no number of steps does.

    With b = log2(rows) - 1 bits a step there are about as many colliding pairs as there were rows; t steps leave noise
    of bias B = (1-2η)^{2^t}, and f = n - t b bits for the transform. It tells the right secret from 2^f others by the
    bar half way between their means, which each of them passes with probability at most e^{-rows B²/8} (Hoeffding):
    8 (ln 2^f + 5)/B² rows leave e^-5 for all of them (union bound).
    """
    if n > 63 or rows < 256:
        return None
    b = int(log2(rows)) - 1
    for steps in range(6):
        final = max(n - steps * b, 1)
        bias = (1 - 2 * eta) ** 2**steps
        if final <= FINAL_BITS and rows * bias**2 > 8 * (final * log(2) + 5):
            cost = rows * 40.0 * (steps + 1) + 2.0**final * final
            if cost <= budget:
                return steps, b, cost
    return None


def collide(equations: Equations, held_out: int, plan: tuple[int, int, float]) -> Found:
    """The parity of any weight by LF2: cancel blocks by sums of colliding samples, transform what is left, repeat."""
    from hardness.kernels.search import collisions, tally
    from hardness.kernels.walsh import walsh_hadamard

    n, (steps, block, cost) = equations.n, plan
    # Later transforms cost no more than it
    most = max(n - steps * block, 1, min(FINAL_BITS, int(log2(cost)) - 5))
    w = np.zeros(n, dtype=np.int64)
    a = (equations.a[held_out:] & 1).astype(np.int64)
    label = equations.level[held_out:]
    left, rounds = np.arange(n), 0
    while len(left):
        rounds += 1
        # Rows as words: the label in bit 0, the coordinates above it, so that blocks are cancelled from the top.
        rows = pack_bits(np.column_stack((label, a[:, left])))[:, 0]
        width = len(left)
        while width > most:
            width -= block
            rows = collisions(np.sort(rows), max(width, 1) + 1, len(a))
        width = max(width, 1)
        table = np.zeros(1 << width, dtype=np.int32)
        tally(rows, table)
        found, left = left[:width], left[width:]
        walsh_hadamard(table)
        w[found] = int(np.argmax(table)) >> np.arange(width) & 1
        label = (label + a[:, found] @ w[found]) % 2
    return w, {"method": "collisions", "steps": steps, "bits": block, "rounds": rounds}


def search_stream(chunks: Iterable[Examples], public: Public) -> Recovery:
    """The secret of a parity of n <= 26 bits, of any weight and noise, from examples that come in chunks.

    One Walsh-Hadamard transform correlates the labels with all 2^n parities at once; a chunk is counted and let go, so
    that memory is that of a table of 2^n integers, however many rows the noise takes: about 2 (ln 2^n + 20)/(1-2η)².
    Of R rows whose labels have nothing to do with it, a parity reaches |Σ ±1| >= √(2R (ln 2^n + 20)) with probability
    at most 2 e^-20/2^n (Hoeffding), so that a parity above it is the right one but for e^-19 (union bound); `budget`
    if none is.

    >>> from hardness.families.parity import Parity
    >>> from hardness.instance import Instance
    >>> instance = Instance.generate(Parity(dim=12, heads=5, flip=0.4), seed=0)
    >>> found = search_stream(instance.chunks(20_000, seed=1), instance.public(1))
    >>> found.secret == {"support": instance.secret["support"].tolist()}
    True
    """
    from hardness.kernels.search import tally
    from hardness.kernels.walsh import walsh_hadamard

    began, used, rows, n = perf_counter(), 0, 0, int(public["dim"]) - 1
    if public.get("family") != "parity" or n > FINAL_BITS:
        raise InputError(
            f"one transform finds parities of at most {FINAL_BITS} bits, got {public.get('family')} of {n}"
        )
    table = np.zeros(1 << n, dtype=np.int32)
    for chunk in chunks:
        equations = extract(chunk.X, chunk.Y, public)
        tally(pack_bits(np.column_stack((equations.level, equations.a & 1)))[:, 0], table)
        used, rows = used + len(chunk), rows + len(equations)
    walsh_hadamard(table)
    best, bar = int(np.argmax(table)), sqrt(2 * rows * (n * log(2) + SURE))
    found = {"support": [j + 1 for j in range(n) if best >> j & 1]} if table[best] >= bar else None
    detail = {"method": "transform", "rows": rows, "peak": int(table[best]), "bar": round(bar, 1)}
    return Recovery("solved" if found else "budget", found, used, perf_counter() - began, detail)


def _rounding(equations: Equations, budget: int, rng: np.random.Generator) -> Found:
    n, q = equations.n, equations.q
    if equations.noise:
        return None, {"reason": "label noise: a half secret cannot be told right from wrong; try lattice"}
    centre, width = preimages(q, equations.p)
    # More than TEST_ROWS, so that the pair that passes is the secret and not a neighbour.
    rows = rng.permutation(len(equations))[: max(TEST_ROWS, 8 * q // equations.p + 4 * n)]
    a, level = equations.a[rows].astype(np.int64), equations.level[rows]
    low, span = (centre - (width - 1) / 2).astype(np.int64)[level], width[level]
    return meet_in_boxes(a, low, span, q, np.arange(q), equations.sparsity, budget)


def meet_in_boxes(
    a: Integers, low: Integers, span: Integers, q: int, values: Integers, weight: int | None, budget: int
) -> Found:
    """The w (n,) with entries of `values`, `weight` of them not 0 if it is given, and ⟨w, a⟩ mod q in [low, low + span)
    for every row of a (R, n): two halves of it meet in boxes of residues, each as wide as the widest span."""
    from hardness.kernels.search import box_match, residues

    n = a.shape[1]
    large = n - n // 2 if weight is None else (weight + 1) // 2
    kinds = values if weight is None else values[values != 0]
    count = len(kinds) ** large * (1 if weight is None else comb(n, large))
    if count > MOST_HALVES:
        return None, {"reason": f"2^{log2(count):.0f} half secrets, more than 2^{log2(MOST_HALVES):.0f}"}
    one, two = _halves(n, kinds, weight)
    pairs, box = len(one[0]) * len(two[0]), int(span.max())
    boxes = max(1, q // box)
    k, cost = _meeting_rows(len(one[0]), len(two[0]), boxes)
    if cost > budget:
        return None, {
            "reason": f"2^{log2(cost):.0f} steps to match 2^{log2(pairs):.0f} pairs exceed the budget"
        }
    first, second = residues(a, *one, q), residues(a, *two, q)
    keys = np.minimum(first[:, :k] // box, boxes - 1) @ boxes ** np.arange(k - 1, -1, -1, dtype=np.int64)
    order = np.argsort(keys)
    i, j = box_match(keys[order], order, first, second, low, span, k, box, boxes, q)
    detail = {"method": "meet in the middle", "halves": len(keys), "meeting_rows": k}
    if i < 0:
        return None, detail
    w = np.zeros(n, dtype=np.int64)
    w[one[0][i]] += one[1][i]
    w[two[0][j]] += two[1][j]
    return w % q, detail


def _halves(n: int, values: Integers, h: int | None) -> list[tuple[NDArray[np.int16], Integers]]:
    """Both kinds of half secret: places (count, h) and values (count, h); dense halves own half the places each."""
    from hardness.kernels.search import subsets

    out = []
    for first in (True, False):
        if h is None:
            places = (
                np.arange(n - n // 2, dtype=np.int16) if first else np.arange(n - n // 2, n, dtype=np.int16)
            )
            sets = places[None]
        else:
            size = (h + 1) // 2 if first else h // 2
            sets = subsets(n, size, comb(n, size))
        size = sets.shape[1]
        grid = np.stack(np.meshgrid(*[values] * size, indexing="ij"), axis=-1) if size else np.zeros(0)
        tuples = grid.reshape(-1, size) if size else np.zeros((1, 0), dtype=np.int64)
        out.append((np.repeat(sets, len(tuples), axis=0), np.tile(tuples, (len(sets), 1)).astype(np.int64)))
    return out


def _meeting_rows(count1: int, count2: int, boxes: int) -> tuple[int, float]:
    """Rows k on which halves meet, and the steps it takes: a row multiplies look-ups by up to 2, pairs by 2/boxes."""
    if boxes <= 2:  # such boxes tell nothing apart
        return 0, 4.0 * count1 * count2
    costs = [
        count2 * 2.0**k * 20 + count1 * count2 * (2 / boxes) ** k * 4 for k in range(int(62 / log2(boxes)))
    ]
    k = int(np.argmin(costs))
    return k, costs[k]
