"""The nearest vector of a lattice."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def nearest(
    L: NDArray[np.float64], h: NDArray[np.float64], bound: NDArray[np.float64], nodes: int
) -> tuple[NDArray[np.float64], float, int]:
    """Return the integers m (M,) for which the solution g of L g = h - m is shortest, by a pruned depth-first search.

    `L` (M, M) is lower triangular with positive diagonal. Only g whose first i entries have a squared norm of at most
    bound[i-1], for every i, are considered, and each one found lowers the bounds. Returns m, the squared norm of its g
    (infinite if none was found) and the number of nodes visited; the search ends after `nodes` of them.
    """
    M = len(h)
    bound = bound.copy()
    best, best_norm = np.zeros(M), np.inf
    centre, m, g = np.zeros(M), np.zeros(M), np.zeros(M)
    step, norm = np.zeros(M), np.zeros(M + 1)
    # Level i chooses m[i]; norm[i + 1] is the squared length of the first i + 1 entries of g, which the bound prunes.
    # Invariant: g[:i] and norm[:i + 1] belong to the choices above, m[i] is the candidate to be tried next.
    i, visited = 0, 0
    centre[0] = h[0]
    m[0] = np.rint(h[0])
    step[0] = 1.0 if h[0] > m[0] else -1.0
    while i >= 0:
        visited += 1
        g[i] = (centre[i] - m[i]) / L[i, i]
        norm[i + 1] = norm[i] + g[i] * g[i]
        if norm[i + 1] <= bound[i] and visited < nodes:
            if i == M - 1:
                best = m.copy()
                best_norm = norm[M]
                for j in range(M):
                    # From here on only strictly shorter answers count, at every level: entries only lengthen a vector.
                    bound[j] = min(bound[j], best_norm * (1 - 1e-9))
            else:
                i += 1
                total = h[i]
                for j in range(i):
                    total -= L[i, j] * g[j]
                centre[i] = total
                m[i] = np.rint(total)
                step[i] = 1.0 if total > m[i] else -1.0
                continue
        else:
            if visited >= nodes:
                break
            i -= 1
            if i < 0:
                break
        # The next nearest integer at this level: zigzag around the centre.
        m[i] += step[i]
        step[i] = -step[i] - (1.0 if step[i] > 0 else -1.0)
    return best, best_norm, visited
