"""When a regression has found the only possible linear attention: on all inputs, or on this one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RANK, SPAN_RANK = 1e-9, 1e-10  # relative singular values that count: of equilibrated features, and of a span


@dataclass(frozen=True)
class Certificate:
    """What the second moment Λ = HᵀH/n of the features of n examples says.

    If labels come from some linear attention and `identifiable` (full rank: λ_min > 0), all least-squares solutions
    are one function on all inputs of all lengths (paper, lemma 2.3). Sufficient, not necessary; never true of ±1
    tokens, whose squares are constant. `lam_min` is 0 below full rank.
    """

    identifiable: bool
    rank: int
    lam_min: float


def certificate(H: Array) -> Certificate:
    """Return the certificate of features H (n, ψ); their rank is that of column-equilibrated ones."""
    size = np.linalg.norm(H, axis=0)
    spectrum = np.linalg.svd(H / np.where(size > 0, size, 1.0), compute_uv=False)
    rank = int(np.sum(spectrum > RANK * spectrum.max(initial=0.0)))
    full = rank == H.shape[1]
    # Singular values of H itself: the eigenvalues of HᵀH would lose half of the digits.
    lam = np.linalg.svd(H, compute_uv=False) ** 2 / len(H)
    return Certificate(full, rank, float(lam[-1]) if full else 0.0)


@dataclass(frozen=True)
class Span:
    """The row space of training features and the least-norm solution on it.

    For features H (n, f): `basis` (f, r) is orthonormal and `solution` (f, outputs). For a kernel K = HHᵀ: `basis`
    (n, r) is scaled so that a row k of kernel values has coordinates k @ basis, and `solution` is (n, outputs).
    """

    basis: Array
    solution: Array

    @staticmethod
    def of_features(H: Array, Y: Array) -> "Span":
        from scipy.linalg import qr, solve_triangular

        # Pivoted QR finds the rank as SVD does, several times faster: H = upperᵀ basisᵀ, its rows in the pivots' order.
        basis, upper, order = qr(H.T, mode="economic", pivoting=True, check_finite=False)
        size = np.abs(np.diag(upper))
        rank = int(np.sum(size > SPAN_RANK * size.max(initial=0.0)))
        q, r = qr(upper[:rank].T, mode="economic", check_finite=False)
        within: Array = basis[:, :rank].astype(np.float64)
        return Span(within, within @ solve_triangular(r, q.T @ Y[order]))

    @staticmethod
    def of_kernel(K: Array, Y: Array) -> "Span":
        lam, U = np.linalg.eigh(K)
        keep = lam > SPAN_RANK * lam.max(initial=0.0)
        lam, U = lam[keep], U[:, keep]
        return Span(U / np.sqrt(lam), U @ ((U.T @ Y) / lam[:, None]))

    def inside(self, h: Array) -> Array:
        """Return the squared length of the projections on the span of rows of features (or of kernel values), (n,)."""
        return np.asarray(np.sum((h @ self.basis) ** 2, axis=1))
