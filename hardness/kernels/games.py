"""Compiled games: the best window, characters against the adversaries and on honest samples, means of label tables."""

from typing import Any

import numpy as np

from hardness.kernels.bits import ONE, U, compiled, next_mask, popcount, random_word


@compiled
def best_window(values: Any, length: Any, zeros: Any) -> Any:
    """Closed window of `length` that holds most of `values` (sorted) and of `zeros` further values 0.

    Returns (low end, number inside). An optimal window can be slid up until its low end is a value, so the
    maximum over the values (and 0) as low ends is the maximum over all windows. The first optimum is taken.
    """
    best, low, j = -1, values[0] if values.size else 0 * length, 0
    before = 0  # values[i:j] lie in [start, start + length]
    zero_tried = zeros == 0
    i = 0
    # Low ends are tried in ascending order, 0 in its turn. As they rise the right end j only moves right, so the whole
    # sweep takes one pass: before counts the values left of the window, j those not right of it.
    while i < values.size or not zero_tried:
        if not zero_tried and (i == values.size or values[i] > 0):
            start, zero_tried = 0 * length, True
            before = i
        else:
            start, before = values[i], i
            i += 1
        while j < values.size and values[j] <= start + length:
            j += 1
        inside = j - before
        if start <= 0 and start + length >= 0:
            inside += zeros
        if inside > best:
            best, low = inside, start
    return low, best


@compiled
def eliminate_in_order(first: Any, start: Any, count: Any, bitmap: Any, live: Any) -> Any:
    """`count` single-character queries in colex order from rank `start`, played on a bitmap (bit = dead).

    The queried concept has mean 1/2 and all other live ones 0, so for tolerance < 1/4 both adversaries answer
    from the fuller side: the zeros, as long as two concepts live. Returns the number still live.
    """
    mask = first
    for rank in range(start, start + count):
        if live < 2:
            return live
        word, bit = rank >> 6, ONE << U(rank & 63)
        # A wrapped mask (0) is past the last set of 64 bits.
        if mask and not bitmap[word] & bit:
            bitmap[word] |= bit
            live -= 1
        mask = next_mask(mask)
    return live


@compiled
def sampled_sum(state: Any, words: Any, tail: Any, match: Any) -> Any:
    """Sum over samples of chi_S(v) y 1{z_0 != 0}, for one fresh sample set (theory 3.4).

    chi_S chi_S* of fresh uniform v is a uniform bit unless S = S* (`match`), where it is 1: drawing that bit
    instead of v gives exactly the law of the sum. One word draws 64 gates z_0 != 0, one 64 products.
    """
    total = np.int64(0)
    for w in range(words):
        gate = random_word(state)
        if w == words - 1:
            gate &= tail
        total += np.int64(popcount(gate))
        if not match:
            total -= 2 * np.int64(popcount(gate & random_word(state)))
    return total


@compiled
def scan_samples(
    state: Any,
    target: Any,
    count: Any,
    words: Any,
    tail: Any,
    threshold: Any,
    confirm: Any,
    confirm_threshold: Any,
) -> Any:
    """Query `count` characters, the `target`-th of them (if any) the secret, until one is accepted.

    A query whose sum reaches `threshold` is asked `confirm` times more and accepted if those sums together
    reach `confirm_threshold`. Returns (accepted position or -1, queries, confirmations).
    """
    confirmations = 0
    for i in range(count):
        # The law of the sum depends on whether the set is the secret alone: which other set it is does not matter.
        if sampled_sum(state, words, tail, i == target) >= threshold:
            total = 0
            for _ in range(confirm):
                total += sampled_sum(state, words, tail, i == target)
            confirmations += confirm
            if confirm == 0 or total >= confirm_threshold:
                return i, i + 1, confirmations
    return -1, count, confirmations


@compiled
def table_means(labels: Any, rows: Any, table: Any, out: Any) -> Any:
    """out[i] = sum_u table[u, labels[rows[i], u]]; labels uint8 (N, U), table float64 (U, p)."""
    flat, p, width = table.ravel(), table.shape[1], labels.shape[1]
    for i in range(rows.size):
        row = labels[rows[i]]
        # Four sums run side by side: one alone would wait for each addition.
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for u in range(0, width - 3, 4):
            a += flat[u * p + row[u]]
            b += flat[(u + 1) * p + row[u + 1]]
            c += flat[(u + 2) * p + row[u + 2]]
            d += flat[(u + 3) * p + row[u + 3]]
        for u in range(width - width % 4, width):
            a += flat[u * p + row[u]]
        out[i] = a + b + c + d
