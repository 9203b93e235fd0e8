"""A search for a hidden set in about the root of the number of sets: halves meet on labels (theory 4.1)."""

from math import ceil, comb, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import ended
from hardness.attacks.equations import Equations, on_equations
from hardness.attacks.gaussian import check_plan
from hardness.tokens import Words, pack_bits

BUDGET = 2**32  # elementary steps: about a minute
MOST_HALVES = 2**24
STEPS = 32  # elementary steps a half and round


@on_equations
def search(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Find the hidden set of a parity in about the root of the number of sets.

    Two halves of weight s/2 meet on the labels of random rows, all of them right with probability (1-η)^K under noise.
    `budget` bounds the elementary steps. `refused` where the search does not fit it.
    """
    if not equations.are_parities:
        return Recovery.refused("search finds hidden sets; of rounding try lattice or bkw")
    n, s, eta = equations.n, equations.sparsity or 0, equations.flip
    held_out, bar = check_plan(eta, 2.0**60) if eta else (64, 0.0)
    needed = held_out + (2 * n if eta else 64)
    if len(equations) < needed:
        return Recovery.refused(f"{len(equations)} informative rows, {needed} are needed")
    half, budget = comb(n, (s + 1) // 2), BUDGET if budget is None else budget
    # Labels on which two halves must meet: all 64 without noise; under noise few, for all of them must be right.
    bits = min(64, ceil(log2(half)) + 4) if eta else 64
    if half > MOST_HALVES or STEPS * half / (1 - eta) ** bits > budget:
        return Recovery.refused(f"no search within {budget} steps: 2^{log2(half):.0f} half secrets")
    rounds = max(1, budget // (STEPS * half)) if eta else 1
    rng = np.random.default_rng(seed)
    w, detail = _meeting(equations, held_out, int(bar * held_out), bits, rounds, rng)
    return ended(w, equations, len(equations), detail)


def _meeting(
    equations: Equations, held_out: int, limit: int, bits: int, rounds: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64] | None, dict[str, Any]]:
    """Return the parity of weight s by sorting the halves' labels on `bits` random rows, until all are right.

    At most `limit` of the first `held_out` rows may contradict it.
    """
    from hardness.kernels.search import first_match, subsets, sums

    n, s = equations.n, equations.sparsity or 0
    first, second = (subsets(n, size, comb(n, size)) for size in ((s + 1) // 2, s // 2))
    columns, target = _column_words(equations, np.arange(held_out))
    for attempt in range(rounds):
        draw = held_out + rng.permutation(len(equations) - held_out)[:bits]
        (drawn_columns,), (drawn_target,) = _column_words(equations, draw)
        keys = sums(drawn_columns, first)
        order = np.argsort(keys)
        keys, wanted = keys[order], sums(drawn_columns, second) ^ drawn_target
        low, high = (np.searchsorted(keys, wanted, side).astype(np.int64) for side in ("left", "right"))
        i, j, tested = first_match(first[order], second, low, high, columns, target, limit)
        if i >= 0:
            w = np.zeros(n, dtype=np.int64)
            for half in (first[order[i]], second[j]):  # a coordinate of both halves is in neither
                w[half] ^= 1
            return w, {"halves": len(first), "rounds": attempt + 1, "tested": tested}
    return None, {"halves": len(first), "rounds": rounds}


def _column_words(equations: Equations, rows: NDArray[np.int64]) -> tuple[Words, Words]:
    """Return rows, 64 to a word: columns (C, n) and labels (C,)."""
    words = pack_bits(np.column_stack((equations.a[rows] & 1, equations.level[rows])).T).T
    return np.ascontiguousarray(words[:, :-1]), np.ascontiguousarray(words[:, -1])
