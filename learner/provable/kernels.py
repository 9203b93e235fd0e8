"""Two tokens, compiled: what sculpt and refine ask of every row, in one pass over it (on more tokens numpy does it)."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
FAST = {"reassoc", "contract", "arcp"}  # sums in any order, so that they use vectors


@njit(cache=True, nogil=True, fastmath=FAST)
def certify_two(X: Array, Y: Array, w: Array, threshold: float) -> tuple[Array, Array]:
    """Weight of the first token (n, 2) on each row, and its tolerance (n·2,), as `sculpt.certify` defines them."""
    n, _, d = X.shape
    first, eta = np.empty((n, 2)), np.full(2 * n, np.inf)
    D, last = np.empty(d), np.empty(d)
    for i in range(n):
        D[:] = 0.0
        last[:] = 0.0
        for j in range(d):
            delta, x = X[i, 0, j] - X[i, 1, j], X[i, 1, j]
            if delta != 0.0:
                for c in range(d):
                    D[c] += delta * w[j, c]
            for c in range(d):
                last[c] += x * w[j, c]
        size, scale = 0.0, 0.0
        for c in range(d):
            size += D[c] * D[c]
            scale += last[c] * last[c]
        for a in range(2):
            part = 0.0
            for c in range(d):
                part += (Y[i, a, c] - last[c]) * D[c]
            part = part / size if size > 1e-12 * scale else np.nan
            first[i, a] = part
            low = min(part, 1.0 - part)
            if low >= threshold:
                power = 0.0
                for c in range(d):
                    power += (Y[i, a, c] - last[c] - part * D[c]) ** 2
                eta[2 * i + a] = np.sqrt(power / (d - 1) / size) / low
    return first, eta


@njit(cache=True, nogil=True, fastmath=FAST)
def disagree_two(X: Array, basis: Array) -> Array:
    """h (n·2,) of `refine.disagreement`, for a basis (1 + q, d, d) of the hull, each matrix transposed."""
    n, _, d = X.shape
    h = np.empty(2 * n)
    turned = np.empty(d)
    for i in range(n):
        apart = 0.0
        for j in range(d):
            apart += (X[i, 0, j] - X[i, 1, j]) ** 2
        p0 = p1 = move0 = move1 = 0.0
        for q in range(len(basis)):
            turned[:] = 0.0
            for j in range(d):
                delta = X[i, 0, j] - X[i, 1, j]
                if delta != 0.0:
                    for c in range(d):
                        turned[c] += delta * basis[q, j, c]
            s0 = s1 = 0.0
            for c in range(d):
                s0 += X[i, 0, c] * turned[c]
                s1 += X[i, 1, c] * turned[c]
            if q == 0:
                p0, p1 = 0.5 / np.cosh(0.5 * s0), 0.5 / np.cosh(0.5 * s1)  # √(p(1 − p))
            else:
                move0 += s0 * s0
                move1 += s1 * s1
        h[2 * i] = p0**4 * apart * move0
        h[2 * i + 1] = p1**4 * apart * move1
    return h
