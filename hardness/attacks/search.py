"""Searches in about the root of the number of secrets: halves that meet, or collisions of samples (theory 4.1)."""

from math import ceil, comb, inf, log2

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Answer, Progress, Recovery
from hardness.attacks.acceptance import accepts
from hardness.attacks.boxes import MOST_HALVES, meet_in_boxes
from hardness.attacks.collisions import collide, collision_plan
from hardness.attacks.equations import Equations, on_equations
from hardness.attacks.gaussian import check_plan
from hardness.gadgets.modular import preimages
from hardness.tokens import pack_bits

Integers = NDArray[np.int64]
Sets = NDArray[np.int16]

BUDGET = 2**32  # elementary steps: about a minute
TEST_ROWS = 64


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
    w, detail = (_parity if equations.are_parities else _rounding)(equations, budget, rng)
    if "reason" in detail:
        return Recovery.refused(**detail)
    if w is None:
        return Recovery("budget", None, len(equations), detail=detail)
    if not accepts(equations, w):
        return Recovery("wrong", None, len(equations), detail=detail)
    return Recovery("solved", equations.secret(w), len(equations), detail=detail)


def _parity(equations: Equations, budget: int, rng: np.random.Generator) -> Answer:
    """Return the answer of halves that meet or of collisions, whichever takes fewer steps on so many rows."""
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
        return collide(equations, held_out, plan)
    return meet_in_the_middle(equations, held_out, bits, budget, rng)


def _column_words(equations: Equations, rows: Integers) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return rows, 64 to a word: columns (C, n) and labels (C,)."""
    words = pack_bits(np.column_stack((equations.a[rows] & 1, equations.level[rows])).T).T
    return np.ascontiguousarray(words[:, :-1]), np.ascontiguousarray(words[:, -1])


def meet_in_the_middle(
    equations: Equations, held_out: int, bits: int, budget: int, rng: np.random.Generator
) -> Answer:
    """Return the parity of weight s by sorting the halves' labels on `bits` random rows, until all are right."""
    from hardness.kernels.search import subsets

    n, s = equations.n, equations.sparsity or 0
    halves = subsets(n, (s + 1) // 2, comb(n, (s + 1) // 2)), subsets(n, s // 2, comb(n, s // 2))
    rounds = max(1, budget // (32 * len(halves[0]))) if equations.flip else 1
    for attempt in range(rounds):
        draw = held_out + rng.permutation(len(equations) - held_out)[:bits]
        sets, tested = _matching_halves(equations, held_out, draw, *halves)
        if sets is None:
            continue
        w = np.zeros(n, dtype=np.int64)
        for half in sets:  # a coordinate of both halves is in neither
            w[half] ^= 1
        detail = {"halves": len(halves[0]), "rounds": attempt + 1, "tested": tested}
        return w, {"method": "meet in the middle", **detail}
    return None, {"method": "meet in the middle", "halves": len(halves[0]), "rounds": rounds}


def _matching_halves(
    equations: Equations, held_out: int, draw: Integers, sets1: Sets, sets2: Sets
) -> tuple[tuple[Sets, Sets] | None, int]:
    """Return the first two half supports whose sums agree with labels, and the number of pairs tested.

    They agree with all labels of the rows `draw`, and with those held out often enough.
    """
    from hardness.kernels.search import first_match, sums

    _, bar = check_plan(equations.flip, 2.0**60)
    columns, target = _column_words(equations, np.arange(held_out))
    (words,), (labels,) = _column_words(equations, draw)
    keys = sums(words, sets1)
    order = np.argsort(keys)
    keys, wanted = keys[order], sums(words, sets2) ^ labels
    low, high = (np.searchsorted(keys, wanted, side).astype(np.int64) for side in ("left", "right"))
    i, j, tested = first_match(sets1[order], sets2, low, high, columns, target, int(bar * held_out))
    return ((sets1[order[i]], sets2[j]) if i >= 0 else None), tested


def _rounding(equations: Equations, budget: int, rng: np.random.Generator) -> Answer:
    """Return the answer of halves that meet in boxes: a label says in which interval of residues ⟨w, a⟩ lies."""
    n, q = equations.n, equations.q
    if equations.noise:
        reason = "label noise: a half secret cannot be told right from wrong; try lattice"
        return None, {"reason": reason}
    centre, width = preimages(q, equations.p)
    # More than TEST_ROWS, so that the pair that passes is the secret and not a neighbour.
    rows = rng.permutation(len(equations))[: max(TEST_ROWS, 8 * q // equations.p + 4 * n)]
    a, level = equations.a[rows].astype(np.int64), equations.level[rows]
    low, span = (centre - (width - 1) / 2).astype(np.int64)[level], width[level]
    return meet_in_boxes(a, low, span, q, np.arange(q), equations.sparsity, budget)
