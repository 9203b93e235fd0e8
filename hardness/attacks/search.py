"""Searches for a hidden set in about the root of the number of sets: halves meet, or samples collide (theory 4.1)."""

from math import ceil, comb, inf, log, log2

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Answer, Progress, Recovery
from hardness.attacks.acceptance import accepts
from hardness.attacks.equations import Equations, on_equations
from hardness.attacks.gaussian import check_plan
from hardness.tokens import pack_bits

Integers = NDArray[np.int64]

BUDGET = 2**32  # elementary steps: about a minute
MOST_HALVES = 2**24
FINAL_BITS = 26  # bits of the last transform, a table of 256 MiB


@on_equations
def search(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Find the hidden set of a parity in about the root of the number of sets.

    `budget` bounds the elementary steps. Two halves of weight s/2 meet on the labels of random rows, all of them right
    with probability (1-η)^K under noise; or, where cheaper, collisions of samples cancel blocks of coordinates until a
    Walsh-Hadamard transform finds the rest (LF2). `refused` where no search fits the budget.
    """
    if not equations.are_parities:
        return Recovery.refused("search finds hidden sets; of rounding try junta, lattice or bkw")
    rng = np.random.default_rng(seed)
    w, detail = _halves_or_collisions(equations, BUDGET if budget is None else budget, rng)
    if "reason" in detail:
        return Recovery.refused(**detail)
    if w is None:
        return Recovery("budget", None, len(equations), detail=detail)
    if not accepts(equations, w):
        return Recovery("wrong", None, len(equations), detail=detail)
    return Recovery("solved", equations.secret(w), len(equations), detail=detail)


def _halves_or_collisions(equations: Equations, budget: int, rng: np.random.Generator) -> Answer:
    """Return the answer of halves that meet or of collisions, whichever takes fewer steps on this many rows."""
    n, s, eta = equations.n, equations.sparsity or 0, equations.flip
    held_out = check_plan(eta, 2.0**60)[0] if eta else 64
    needed = held_out + (2 * n if eta else 64)
    if len(equations) < needed:
        return None, {"reason": f"{len(equations)} informative rows, {needed} are needed"}
    half = comb(n, (s + 1) // 2)
    # Labels on which two halves must meet: all 64 without noise; under noise few, for all of them must be right.
    bits = min(64, ceil(log2(half)) + 4) if eta else 64
    meeting_steps = (half * 32 if half <= MOST_HALVES else inf) / (1 - eta) ** bits
    plan = collision_plan(n, len(equations) - held_out, eta, budget)
    if plan is None and meeting_steps > budget:
        return None, {"reason": f"no search within {budget} steps: 2^{log2(half):.0f} half secrets"}
    if plan and plan[2] < meeting_steps:
        return _collide(equations, held_out, plan)
    return _meet_in_the_middle(equations, held_out, bits, budget, rng)


def _meet_in_the_middle(
    equations: Equations, held_out: int, bits: int, budget: int, rng: np.random.Generator
) -> Answer:
    """Return the parity of weight s by sorting the halves' labels on `bits` random rows, until all are right."""
    from hardness.kernels.search import first_match, subsets, sums

    n, s = equations.n, equations.sparsity or 0
    sets1, sets2 = (subsets(n, size, comb(n, size)) for size in ((s + 1) // 2, s // 2))
    _, bar = check_plan(equations.flip, 2.0**60)
    columns, target = _column_words(equations, np.arange(held_out))
    rounds = max(1, budget // (32 * len(sets1))) if equations.flip else 1
    detail = {"method": "meet in the middle", "halves": len(sets1), "rounds": rounds}
    for attempt in range(rounds):
        draw = held_out + rng.permutation(len(equations) - held_out)[:bits]
        (words,), (labels,) = _column_words(equations, draw)
        keys = sums(words, sets1)
        order = np.argsort(keys)
        keys, wanted = keys[order], sums(words, sets2) ^ labels
        low, high = (np.searchsorted(keys, wanted, side).astype(np.int64) for side in ("left", "right"))
        i, j, tested = first_match(sets1[order], sets2, low, high, columns, target, int(bar * held_out))
        if i >= 0:
            w = np.zeros(n, dtype=np.int64)
            for half in (sets1[order[i]], sets2[j]):  # a coordinate of both halves is in neither
                w[half] ^= 1
            return w, detail | {"rounds": attempt + 1, "tested": tested}
    return None, detail


def _column_words(equations: Equations, rows: Integers) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return rows, 64 to a word: columns (C, n) and labels (C,)."""
    words = pack_bits(np.column_stack((equations.a[rows] & 1, equations.level[rows])).T).T
    return np.ascontiguousarray(words[:, :-1]), np.ascontiguousarray(words[:, -1])


def collision_plan(n: int, rows: int, eta: float, budget: float = inf) -> tuple[int, int, float] | None:
    """Return (steps, bits a step, elementary steps) of LF2 on `rows` samples, or None where it does not work.

    The fewest steps that leave a signal and fit `budget`. With b = log2(rows) - 1 bits a step there are about as many
    colliding pairs as there were rows; t steps leave noise of bias B = (1-2η)^{2^t}, and f = n - t b bits for the
    transform. Each of 2^f wrong secrets passes the bar half way between the means with probability at most e^{-rows
    B²/8} (Hoeffding): 8 (ln 2^f + 5)/B² rows leave e^-5 for all of them (union bound).
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


def _collide(equations: Equations, held_out: int, plan: tuple[int, int, float]) -> Answer:
    """Return a parity of any weight by LF2: cancel blocks by sums of colliding samples, transform the rest, repeat."""
    n, (steps, block, cost) = equations.n, plan
    # Later transforms cost no more than the plan.
    widest = max(n - steps * block, 1, min(FINAL_BITS, int(log2(cost)) - 5))
    w = np.zeros(n, dtype=np.int64)
    a = (equations.a[held_out:] & 1).astype(np.int64)
    label = equations.level[held_out:]
    unknown, rounds = np.arange(n), 0
    while len(unknown):
        rounds += 1
        values = _leading(label, a[:, unknown], block, widest)
        solved, unknown = unknown[: len(values)], unknown[len(values) :]
        w[solved] = values
        label = (label + a[:, solved] @ values) % 2
    return w, {"method": "collisions", "steps": steps, "bits": block, "rounds": rounds}


def _leading(label: Integers, a: Integers, block: int, widest: int) -> Integers:
    """Return the first coordinates of the parity, at most `widest`: the others are cancelled, `block` at a time."""
    from hardness.kernels.search import collisions
    from hardness.kernels.walsh import walsh_hadamard

    # Rows as words: the label in bit 0, the coordinates above it, so that blocks are cancelled from the top.
    rows = pack_bits(np.column_stack((label, a)))[:, 0]
    width = a.shape[1]
    while width > widest:
        width -= block
        rows = collisions(np.sort(rows), max(width, 1) + 1, len(a))
    width = max(width, 1)
    shown = 1 - 2 * (rows & np.uint64(1)).astype(np.int32)  # a label is +-1
    table = np.bincount((rows >> np.uint64(1)).astype(np.int64), shown, 1 << width).astype(np.int32)
    walsh_hadamard(table)
    return int(np.argmax(table)) >> np.arange(width) & 1
