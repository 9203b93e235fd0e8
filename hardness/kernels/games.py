"""Compiled games: the best window, and means of label tables."""

from typing import Any

from hardness.kernels.bits import compiled


@compiled
def best_window(values: Any, length: Any, zeros: Any) -> Any:
    """Return (low, count) of the closed interval [low, low + length] that holds the most points.

    The points are the sorted `values` and `zeros` points at 0. The first best interval is taken.
    """
    best, low, j = -1, values[0] if values.size else 0 * length, 0
    before = 0  # values[before:j] lie in [start, start + length]
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
def table_means(labels: Any, rows: Any, table: Any, out: Any) -> Any:
    """Fill out[i] with Σ_u table[u, labels[rows[i], u]]; labels uint8 (N, U), table float64 (U, p), indices `rows`."""
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
