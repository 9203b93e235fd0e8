"""Lattice reduction for the attack: the orthogonal lattice of short public vectors, and a ladder of block sizes.

Rows U (N, n) are binary or ternary, so the q-ary lattice of theory 4.2 contains vectors, the columns of U,
that are shorter than the rounding error. Decoding in their directions is hopeless and needless: projecting
them away leaves π(Zᴺ), the dual of the orthogonal lattice Λ⊥ = {c ∈ Zᴺ : cU = 0} of rank M = N - n and volume
det(UᵀU)^{1/2}, in which no q appears. Λ⊥ has short integer bases, and each of its vectors b says, for labels
y = Uw - qk + e, that ⟨b, y⟩/q is ⟨b, e⟩/q away from an integer.
"""

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from math import e, exp, lgamma, log, log2, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.pruning import MOST_NODES, log2_reduction_nodes, pruning
from hardness.errors import missing_extra

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

LADDER = (20, 30, 35, 40)
LOOPS = 4
PRUNED_FROM = 30


def delta(beta: float) -> float:
    """Root Hermite factor δ(β) = ((β/(2πe)) (πβ)^{1/β})^{1/(2(β-1))} of BKZ-β, β > 40 (references B2).

    >>> round(delta(406), 6)
    1.003941
    """
    return float((beta / (2 * pi * e) * (pi * beta) ** (1 / beta)) ** (1 / (2 * (beta - 1))))


def orthogonal_basis(U: NDArray[np.integer]) -> tuple[Integers, Integers]:
    """An LLL-reduced basis B (M, N) of Λ⊥ = {c : c U = 0}, and rows (n, N) that complete it to a unimodular matrix.

    Raises `InputError` where fpylll is not installed, and `LinAlgError` if U has not full rank.

    >>> B, rest = orthogonal_basis(np.array([[1], [1], [1]]))
    >>> (B @ np.ones(3)).tolist(), abs(round(np.linalg.det(np.vstack((B, rest)))))
    ([0.0, 0.0], 1)
    """
    N, n = U.shape
    # The weight keeps every vector outside Λ⊥ longer than a reduced basis of Λ⊥; the larger, the slower.
    for weight in (4 * N, 2**20 * N):
        reduced = lll(np.hstack((weight * U.astype(np.int64), np.eye(N, dtype=np.int64))))
        if not reduced[: N - n, :n].any() and reduced[N - n :, :n].any(axis=1).all():
            return reduced[: N - n, n:], reduced[N - n :, n:]
    raise np.linalg.LinAlgError("the public vectors do not have full rank")


def require_fpylll() -> None:
    """Raise `InputError` where fpylll is not installed: nothing is reduced without it."""
    # Without cysignals the wheel of fpylll is there but its import fails.
    if find_spec("fpylll") is None or find_spec("cysignals") is None:
        raise missing_extra("fpylll", "lattice", "the lattice attack")


def lll(basis: Integers) -> Integers:
    """An LLL-reduced basis of the lattice that the rows generate. Raises `InputError` where fpylll is not installed."""
    require_fpylll()
    from fpylll import LLL, IntegerMatrix

    A = IntegerMatrix.from_matrix(basis.tolist())
    LLL.reduction(A)
    return _array(A)


def ladder(B: Integers, top: int = LADDER[-1]) -> Iterator[tuple[int, Integers]]:
    """Block sizes and ever better reduced bases of the lattice of B."""
    yield 2, B
    from fpylll import BKZ, IntegerMatrix

    A = IntegerMatrix.from_matrix(B.tolist())
    for beta in range(10, 20, 5):  # cheap, and what a larger block size would do first anyway
        BKZ.reduction(A, BKZ.Param(beta, flags=BKZ.AUTO_ABORT | BKZ.MAX_LOOPS, max_loops=LOOPS))
    for beta in LADDER:
        if beta <= min(top, len(B)):
            flags = BKZ.AUTO_ABORT | BKZ.MAX_LOOPS | BKZ.GH_BND
            BKZ.reduction(A, BKZ.Param(beta, strategies=_strategies(), flags=flags, max_loops=LOOPS))
            yield beta, _array(A)


@cache
def _strategies() -> list[Any]:
    """Pruning for every block size of the ladder, made here: the wheel of fpylll ships none.

    Radius 5% above the Gaussian heuristic on the geometric-series profile, half of the solutions kept per
    tour.
    """
    from fpylll import Pruning
    from fpylll.fplll.bkz_param import Strategy

    out = [Strategy(beta) for beta in range(PRUNED_FROM)]
    for beta in range(PRUNED_FROM, LADDER[-1] + 1):
        slope = log(delta(max(beta, 41)))
        profile = [exp(2 * (beta - 1 - 2 * i) * slope) for i in range(beta)]
        heuristic = exp(2 / beta * (lgamma(beta / 2 + 1) - beta / 2 * log(pi)))
        bounds = Pruning.run(1.05 * heuristic, 2.0 ** (8 + beta / 10), [profile], 0.5, flags=Pruning.GRADIENT)
        out.append(Strategy(beta, [beta - 20] if beta >= 40 else [], [bounds]))
    return out


def _array(A: Any) -> Integers:
    out = np.zeros((A.nrows, A.ncols), dtype=np.int64)
    A.to_matrix(out)
    return out


def triangular(B: Integers) -> Floats:
    """L (M, M), lower triangular with positive diagonal, with B = L Q for orthonormal rows Q: Gram-Schmidt."""
    R: Any = np.linalg.qr(B.T.astype(np.float64), mode="r")
    return np.asarray(R.T * np.sign(np.diag(R)))


def nearest_integers(
    B: Integers, y: Floats, q: float, sd: float, detail: dict[str, Any]
) -> tuple[Integers, Floats | None]:
    """A better reduced basis B' and the integers m = B'(y - e)/q of the shortest error e, of standard deviation `sd`.

    B (M, N) is reduced further while that pays, then searched with pruning; m is None where that finds nothing, or has
    more than 2^`MOST_NODES` nodes. `detail` gets block size, nodes and chance of success.
    """
    from hardness.kernels.lattice import nearest

    price = np.inf
    for beta, basis in ladder(B):
        B, L, before = basis, triangular(basis), price
        search = pruning(np.log(np.diag(L)), sd / q, log2_reduction_nodes(beta, len(B)))
        price = search.log2_price
        # A larger block size must pay: an eighth cheaper per success, or the ladder ends here.
        if price > before + log2(0.875) and search.log2_nodes < MOST_NODES:
            break
    detail |= {
        "block_size": beta,
        "log2_nodes": round(search.log2_nodes, 1),
        "chance": round(search.chance, 3),
    }
    if search.log2_nodes > MOST_NODES:
        return B, None
    m, norm, _ = nearest(L, B @ y / q, search.bounds, int(2**MOST_NODES))
    return B, m if np.isfinite(norm) else None
