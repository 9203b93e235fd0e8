"""The Walsh-Hadamard transform in place: three levels a pass, in blocks that stay in cache."""

from typing import Any

from hardness.kernels.bits import compiled

BLOCK = 1 << 17  # elements of which all levels are done at first: they stay in the second-level cache


@compiled
def walsh_hadamard(f: Any) -> Any:
    """Replace f (2^k,), signed or float, by its transform Σ_v f[v] (-1)^|S & v| at each index S, |·| counting bits."""
    # Plain loops: code for the vector unit written by hand was 2 to 4 times as fast, in three times as many lines.
    for start in range(0, f.size, BLOCK):
        _levels_from(f[start : start + BLOCK], 1)
    _levels_from(f, BLOCK)


@compiled
def _levels_from(f: Any, h: Any) -> Any:
    """Do the steps of the Walsh-Hadamard transform of f, in place, that combine entries h apart, 2h apart, …."""
    while 8 * h <= f.size:
        for start in range(0, f.size, 8 * h):
            # Eight runs of h neighbours: the loop over them becomes vector instructions.
            part = f[start : start + 8 * h]
            a, b, c, d = part[:h], part[h : 2 * h], part[2 * h : 3 * h], part[3 * h : 4 * h]
            p, q, r, s = part[4 * h : 5 * h], part[5 * h : 6 * h], part[6 * h : 7 * h], part[7 * h :]
            for i in range(h):
                a[i], b[i], c[i], d[i], p[i], q[i], r[i], s[i] = _eight(
                    a[i], b[i], c[i], d[i], p[i], q[i], r[i], s[i]
                )
        h *= 8
    while h < f.size:
        for start in range(0, f.size, 2 * h):
            a, b = f[start : start + h], f[start + h : start + 2 * h]
            for i in range(h):
                a[i], b[i] = a[i] + b[i], a[i] - b[i]
        h *= 2


@compiled
def _eight(a: Any, b: Any, c: Any, d: Any, p: Any, q: Any, r: Any, s: Any) -> Any:
    """Return the Walsh-Hadamard transform of eight numbers."""
    a, b, c, d, p, q, r, s = a + b, a - b, c + d, c - d, p + q, p - q, r + s, r - s
    a, b, c, d, p, q, r, s = a + c, b + d, a - c, b - d, p + r, q + s, p - r, q - s
    return a + p, b + q, c + r, d + s, a - p, b - q, c - r, d - s
