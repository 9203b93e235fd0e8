"""A search for a hidden set in about the root of the number of sets: halves meet on labels (theory 4.1)."""

from itertools import chain, combinations
from math import ceil, comb, log2

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
    """Find the hidden set of a parity in about √N steps, N being the number of sets, by matching sets of half its size.

    Two halves match if their parities add up to the labels of K random rows, all right with probability (1-η)^K if a
    share η is flipped. `budget` bounds steps (None: 2^32). `refused` where the search takes more or rows are too few.
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
    first, second = _subsets(n, (s + 1) // 2), _subsets(n, s // 2)
    rng, fresh, w, rounds = np.random.default_rng(seed), equations.rows(slice(0, held_out)), None, 0
    while w is None and rounds < (max(1, budget // (STEPS * half)) if eta else 1):
        rounds += 1
        drawn = equations.rows(held_out + rng.permutation(len(equations) - held_out)[:bits])
        i, j = _meeting(drawn, first, second)
        w = _first_right(fresh, first[i], second[j], bar * held_out)
    return ended(w, equations, len(equations), {"halves": half, "rounds": rounds})


def _subsets(n: int, size: int) -> NDArray[np.int16]:
    """Return all subsets of range(n) that have `size` elements, one a row, (C(n, size), size)."""
    count = comb(n, size)
    return np.fromiter(chain.from_iterable(combinations(range(n), size)), np.int16, count * size).reshape(
        count, size
    )


def _label_words(rows: Equations) -> Words:
    """Return the columns of at most 64 rows as words of bits: one a coordinate, the last one for labels (n + 1,)."""
    return np.asarray(pack_bits(np.column_stack((rows.a & 1, rows.level)).T)[:, 0])


def _xor(words: Words, sets: NDArray[np.int16]) -> Words:
    """Return for each row of indices in `sets` (count, size) the XOR of the `words` at these indices, (count,)."""
    return np.asarray(np.bitwise_xor.reduce(words[sets.T], axis=0))


def _meeting(
    rows: Equations, first: NDArray[np.int16], second: NDArray[np.int16]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return indices (P,) into `first` and into `second`: all pairs of sets whose parities sum to the rows' labels."""
    words = _label_words(rows)
    keys, wanted = _xor(words, first), _xor(words, second) ^ words[-1]
    i, j = np.argsort(keys), np.argsort(wanted)  # what is looked for in order is found near what came before
    keys, wanted = keys[i], wanted[j]
    low, high = (np.searchsorted(keys, wanted, side) for side in ("left", "right"))
    pairs = high - low
    within = np.arange(pairs.sum()) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    return np.asarray(i[np.repeat(low, pairs) + within]), np.repeat(j, pairs)


def _first_right(
    fresh: Equations, first: NDArray[np.int16], second: NDArray[np.int16], limit: float
) -> NDArray[np.int64] | None:
    """Return as w (n,) the first set first[i] XOR second[i] with at most `limit` of `fresh` rows wrong, or None."""
    wrong, alive = np.zeros(len(first), dtype=np.int64), np.arange(len(first))
    for start in range(0, len(fresh), 64):
        words = _label_words(fresh.rows(slice(start, start + 64)))
        misses = _xor(words, first[alive]) ^ _xor(words, second[alive]) ^ words[-1]
        wrong[alive] += np.bitwise_count(misses)
        alive = alive[wrong[alive] <= limit]
    if not len(alive):
        return None
    w = np.zeros(fresh.n, dtype=np.int64)
    for half in (first[alive[0]], second[alive[0]]):  # a coordinate of both halves is in neither
        w[half] ^= 1
    return w
