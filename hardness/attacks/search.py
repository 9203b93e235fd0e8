"""Searches: meet in the middle for sparse secrets, birthday collisions of samples for noisy parities."""

from math import ceil, comb, log, log2
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Outcome, Progress, Public
from hardness.attacks.equations import Equations, accepts, extract, secret
from hardness.attacks.gaussian import check_plan
from hardness.modular import preimages

Integers = NDArray[np.int64]

BUDGET = 2**32  # elementary steps: about a minute
MOST_HALVES = 2**24
TEST_ROWS = 64
FINAL_BITS = 22


def search(
    X: NDArray[np.int8],
    Y: NDArray[np.float64],
    public: Public,
    *,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Outcome:
    """Find the secret of examples X (N, 2, d), Y (N, 2, d) in about the root of the number of secrets.

    `budget` bounds the elementary steps. Parity of weight s: two halves of weight s/2 meet on the labels of
    random rows, all of them right with probability (1-η)^K under noise; or, where cheaper, collisions of
    samples cancel blocks of coordinates until a Walsh-Hadamard transform finds the rest (LF2). Rounding: two
    halves of the secret meet in boxes of residues. `refused` where no search fits the budget.
    """
    start = perf_counter()
    equations = extract(X, Y, public)
    budget = BUDGET if budget is None else budget
    rng = np.random.default_rng(seed)
    w, detail = (_parity if equations.parity else _rounding)(equations, budget, rng)
    seconds = perf_counter() - start
    if "reason" in detail:
        return Outcome("refused", None, 0, seconds, detail)
    if w is None:
        return Outcome("budget", None, len(equations), seconds, detail)
    right = accepts(equations, w)
    return Outcome(
        "solved" if right else "wrong", secret(equations, w) if right else None, len(equations), seconds, detail
    )


Found = tuple[Integers | None, dict[str, Any]]


def _parity(equations: Equations, budget: int, rng: np.random.Generator) -> Found:
    n, s, eta = equations.n, equations.sparsity or 0, equations.flip
    held_out = check_plan(eta, 2.0**60)[0] if eta else 64
    need = held_out + (2 * n if eta else 64)
    if len(equations) < need:
        return None, {"reason": f"{len(equations)} informative rows, {need} are needed"}
    half = comb(n, (s + 1) // 2)
    bits = key_bits(n, s, eta)
    middle = (half * 32 if half <= MOST_HALVES else np.inf) / (1 - eta) ** bits
    plan = collision_plan(n, len(equations) - held_out, eta)
    if min(middle, plan[2] if plan else np.inf) > budget:
        return None, {"reason": f"no search within {budget} steps: 2^{log2(half):.0f} half secrets"}
    if plan and plan[2] < middle:
        return collide(equations, held_out, plan)
    return meet_in_the_middle(equations, held_out, bits, budget, rng)


def key_bits(n: int, s: int, eta: float) -> int:
    """Labels K on which two halves must meet: all 64 without noise; under noise few, for all K must be right."""
    return 64 if eta == 0 else min(64, ceil(log2(comb(n, (s + 1) // 2))) + 4)


def _column_words(equations: Equations, rows: Integers) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Rows, 64 to a word: columns (C, n) and labels (C,)."""
    padded = np.zeros((-(-len(rows) // 64) * 64, equations.n + 1), dtype=np.uint8)
    padded[: len(rows), :-1] = equations.a[rows] & 1
    padded[: len(rows), -1] = equations.level[rows]
    packed = np.packbits(padded.reshape(-1, 64, equations.n + 1), axis=1, bitorder="little")
    words = np.ascontiguousarray(packed.transpose(0, 2, 1)).view("<u8")[..., 0]
    return np.ascontiguousarray(words[:, :-1]), np.ascontiguousarray(words[:, -1])


def meet_in_the_middle(equations: Equations, held_out: int, bits: int, budget: int, rng: np.random.Generator) -> Found:
    """The parity of weight s by sorting the halves' labels on `bits` random rows, again until all those are right."""
    from hardness.attacks.kernels_search import first_match, subsets, sums

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
            return w, {"method": "meet in the middle", "halves": len(sets1), "rounds": attempt + 1, "tested": tested}
    return None, {"method": "meet in the middle", "halves": len(sets1), "rounds": rounds}


def collision_plan(n: int, rows: int, eta: float) -> tuple[int, int, float] | None:
    """(steps, bits a step, elementary steps) of LF2 on `rows` samples, or None if no number of steps leaves a signal.

    With b = log2(rows) - 1 bits a step there are about as many colliding pairs as there were rows; t steps
    leave noise of bias (1-2η)^{2^t}, and the transform of `FINAL_BITS` needs about 8 (ln 2^f + 5)/bias² of
    them.
    """
    if n > 63 or rows < 256:
        return None
    b = int(log2(rows)) - 1
    for steps in range(6):
        final = n - steps * b
        if final <= FINAL_BITS:
            bias = (1 - 2 * eta) ** 2**steps
            enough = rows * bias**2 > 8 * (max(final, 1) * log(2) + 5)
            return (steps, b, rows * 40.0 * (steps + 1) + 2.0**FINAL_BITS * 22) if enough else None
    return None


def collide(equations: Equations, held_out: int, plan: tuple[int, int, float]) -> Found:
    """The parity of any weight by LF2: cancel blocks by sums of colliding samples, transform what is left, repeat."""
    from hardness.attacks.kernels_gf import pack_rows
    from hardness.attacks.kernels_search import collisions, walsh

    n, (steps, block, _) = equations.n, plan
    w = np.zeros(n, dtype=np.int64)
    a = (equations.a[held_out:] & 1).astype(np.int64)
    label = equations.level[held_out:]
    left, rounds = np.arange(n), 0
    while len(left):
        rounds += 1
        # Label in bit 0, unknown coordinates above it: blocks are cancelled from the top of the word.
        rows = pack_rows(np.column_stack((label, a[:, left])))[:, 0]
        width = len(left)
        while width > FINAL_BITS:
            width -= block
            rows = collisions(np.sort(rows), max(width, 1) + 1, len(a))
        width = max(width, 1)
        places = (rows >> np.uint64(1)).astype(np.int64)
        table = np.bincount(places, 1.0 - 2.0 * (rows & np.uint64(1)), 1 << width).astype(np.float64)
        walsh(table)
        found, left = left[:width], left[width:]
        w[found] = int(np.argmax(table)) >> np.arange(width) & 1
        label = (label + a[:, found] @ w[found]) % 2
    return w, {"method": "collisions", "steps": steps, "bits": block, "rounds": rounds}


def _rounding(equations: Equations, budget: int, rng: np.random.Generator) -> Found:
    from hardness.attacks.kernels_search import box_match, residues

    n, q, h = equations.n, equations.q, equations.sparsity
    if equations.noise:
        return None, {"reason": "label noise: a half secret cannot be told right from wrong; try lattice"}
    large = n - n // 2 if h is None else (h + 1) // 2
    count = q**large if h is None else comb(n, large) * (q - 1) ** large
    if count > MOST_HALVES:
        return None, {"reason": f"2^{log2(count):.0f} half secrets, more than 2^{log2(MOST_HALVES):.0f}"}
    one, two = _halves(n, q, h)
    centre, width = preimages(q, equations.p)
    pairs = len(one[0]) * len(two[0])
    # More than TEST_ROWS, so that the pair that passes is the secret and not a neighbour.
    rows = rng.permutation(len(equations))[: max(TEST_ROWS, 8 * q // equations.p + 4 * n)]
    box = int(width.max())
    boxes = max(1, q // box)
    k, cost = _meeting_rows(len(one[0]), len(two[0]), boxes)
    if cost > budget:
        return None, {"reason": f"2^{log2(cost):.0f} steps to match 2^{log2(pairs):.0f} pairs exceed the budget"}
    low = (centre - (width - 1) / 2).astype(np.int64)[equations.level[rows]]
    span = width[equations.level[rows]]
    a = equations.a[rows].astype(np.int64)
    full1, full2 = residues(a, *one, q), residues(a, *two, q)
    radix = boxes ** np.arange(k - 1, -1, -1, dtype=np.int64)
    keys = np.minimum(full1[:, :k] // box, boxes - 1) @ radix
    order = np.argsort(keys)
    halves = (full1, full2, low, span, order)
    i, j = box_match(keys[order], full2[:, :k], low[:k], span[:k], box, boxes, q, *halves)
    detail = {"method": "meet in the middle", "halves": len(keys), "meeting_rows": k}
    if i < 0:
        return None, detail
    w = np.zeros(n, dtype=np.int64)
    w[one[0][i]] += one[1][i]
    w[two[0][j]] += two[1][j]
    return w % q, detail


def _halves(n: int, q: int, h: int | None) -> list[tuple[NDArray[np.int16], Integers]]:
    """Both kinds of half secret: places (count, h) and values (count, h); dense halves own half the places each."""
    from hardness.attacks.kernels_search import subsets

    out = []
    for first in (True, False):
        if h is None:
            places = np.arange(n - n // 2, dtype=np.int16) if first else np.arange(n - n // 2, n, dtype=np.int16)
            sets, values = places[None], np.arange(q)
        else:
            size = (h + 1) // 2 if first else h // 2
            sets, values = subsets(n, size, comb(n, size)), np.arange(1, q)
        size = sets.shape[1]
        grid = np.stack(np.meshgrid(*[values] * size, indexing="ij"), axis=-1) if size else np.zeros(0)
        tuples = grid.reshape(-1, size) if size else np.zeros((1, 0), dtype=np.int64)
        out.append((np.repeat(sets, len(tuples), axis=0), np.tile(tuples, (len(sets), 1)).astype(np.int64)))
    return out


def _meeting_rows(count1: int, count2: int, boxes: int) -> tuple[int, float]:
    """Rows k on which halves meet, and the steps it takes: a row multiplies look-ups by up to 2, pairs by 2/boxes."""
    if boxes <= 2:  # such boxes tell nothing apart
        return 0, 4.0 * count1 * count2
    costs = [count2 * 2.0**k * 20 + count1 * count2 * (2 / boxes) ** k * 4 for k in range(int(62 / log2(boxes)))]
    k = int(np.argmin(costs))
    return k, costs[k]
