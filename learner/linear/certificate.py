"""When a regression has found the only possible linear attention: on all inputs, or on this one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """What the second moment Λ = HᵀH/n of the features of n examples says.

    If labels come from some linear attention and `identifiable` (full rank: λ_min > 0), all least-squares solutions
    are one function on all inputs of all lengths (paper, lemma 2.3). Sufficient, not necessary; never true of ±1
    tokens, whose squares are constant. `rank` counts singular values of column-equilibrated features beyond a
    relative tolerance; `lam_min` is 0 below full rank.
    """

    features: int
    rank: int
    lam_min: float
    lam_max: float

    @property
    def identifiable(self) -> bool:
        return self.rank == self.features

    def disagreement(self, error: float, H: Array) -> Array:
        """Bound on |F(Z) − F'(Z)|² for two layers of squared training error at most `error`, at inputs of features H.

        4·error·|H(Z)|²/λ_min, (n,): both are within `error` of the labels, so within 4·error of one another on
        average, and λ_min turns that into a distance of parameters. inf where the data do not identify. After lemma
        A.7 of the paper, with the square that its proof has.
        """
        bound = 4 * error / self.lam_min if self.identifiable else np.inf
        return np.asarray(bound * np.sum(H**2, axis=1))


def certificate(H: Array, rank_tol: float = 1e-9) -> Certificate:
    """The certificate of features H (n, ψ).

    >>> certificate(np.array([[1.0, 0.0], [1.0, 0.0]])).rank
    1
    """
    size = np.linalg.norm(H, axis=0)
    spectrum = np.linalg.svd(H / np.where(size > 0, size, 1.0), compute_uv=False)
    rank = int(np.sum(spectrum > rank_tol * spectrum.max(initial=0.0)))
    # Singular values of H itself: the eigenvalues of HᵀH would lose half of the digits.
    lam = np.linalg.svd(H, compute_uv=False) ** 2 / len(H)
    lam_min = float(lam[-1]) if rank == H.shape[1] else 0.0
    return Certificate(H.shape[1], rank, lam_min, float(lam.max(initial=0.0)))


@dataclass(frozen=True)
class Span:
    """The row space of training features and the least-norm solution on it.

    For features H (n, f): `basis` (f, r) is orthonormal and `solution` (f, outputs). For a kernel K = HHᵀ: `basis`
    (n, r) is scaled so that a row k of kernel values has coordinates k @ basis, and `solution` is (n, outputs).
    """

    basis: Array
    solution: Array

    @property
    def rank(self) -> int:
        return int(self.basis.shape[1])

    @staticmethod
    def of_features(H: Array, Y: Array, tol: float) -> "Span":
        from scipy.linalg import qr, solve_triangular

        # Pivoted QR finds the rank as SVD does, several times faster: H = upperᵀ basisᵀ, its rows in the pivots' order.
        basis, upper, order = qr(H.T, mode="economic", pivoting=True, check_finite=False)
        size = np.abs(np.diag(upper))
        rank = int(np.sum(size > tol * size.max(initial=0.0)))
        q, r = qr(upper[:rank].T, mode="economic", check_finite=False)
        within: Array = basis[:, :rank].astype(np.float64)
        return Span(within, within @ solve_triangular(r, q.T @ Y[order]))

    @staticmethod
    def of_kernel(K: Array, Y: Array, tol: float) -> "Span":
        lam, U = np.linalg.eigh(K)
        keep = lam > tol * lam.max(initial=0.0)
        lam, U = lam[keep], U[:, keep]
        return Span(U / np.sqrt(lam), U @ ((U.T @ Y) / lam[:, None]))

    def inside(self, h: Array) -> Array:
        """Squared length of the projections on the span of rows of features (or of kernel values), (n,)."""
        return np.asarray(np.sum((h @ self.basis) ** 2, axis=1))
