"""Phase 1: a crude estimate of ΣWᵢ, the sum of the projection matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from learner.base import Array

ZERO = 1e-6  # |Ŵ|_F / (rms(Y) √d) of a sum that vanishes exactly: rounding only
SMALL = (
    0.5  # nice layers have 0.9 to 2, ΣW = 0 up to 0.33 (k = 5, τ = 20): below, the sum may be what is missing
)
ROWS_A_FEATURE = 4  # with fewer the debiased estimate is worse than the crude one (d = 16: 0.36 against 0.11)
WORK = 2e10  # multiplications that the debiased estimate may take: about a second
MIN_SECOND = 1e-3  # second over first singular value; the least of 4000 nice sums was 0.49


@dataclass(frozen=True)
class Crude:
    """Ŵ (d, d) by one `estimator`; `linear_r2`, of the debiased one, is how much of Y a linear response explains."""

    estimator: str
    w: Array
    ratio: float
    singular: Array
    linear_r2: float | None = None

    def refusal(self) -> str:
        """Why the next phases cannot use Ŵ, or nothing. That ΣW is small is no reason: what it certifies, counts."""
        if self.ratio < ZERO:
            return "the projection matrices sum to zero: phase 1 has nothing to start from"
        if self.singular[1] < MIN_SECOND * self.singular[0]:
            return (
                "the projection matrices sum to a matrix of rank one: it shows one coordinate of the attended "
                "token, which cannot certify an attention pattern"
            )
        return ""

    def conditions(self) -> dict[str, float]:
        """Return what it says of the conditions of the theorem: the size of ΣW, and the stable rank of ΣW."""
        top = float(self.singular[0])
        rank = float(np.sum(self.singular**2)) / top**2 if top else 0.0
        return {"sum of w": float(self.ratio), "stable rank of the sum of w": rank}

    def diagnostics(self) -> dict[str, Any]:
        """The numbers of the phase, for its `Phase`."""
        return {
            "estimator": self.estimator,
            "ratio": self.ratio,
            "singular": self.singular[: min(4, len(self.singular))].tolist(),
            "linear_r2": self.linear_r2,
        }


def crude(X: Array, Y: Array) -> Crude:
    """The paper's: correlate the sum of the tokens with the sum of the outputs, (1/Nk) Σ Xᵀ11ᵀY.

    One step of gradient descent from a uniform pattern. Biased by about ΣΘᵢWᵢ, which more data does not cure.
    """
    return _crude("crude", X.sum(axis=1).T @ Y.sum(axis=1) / (len(X) * X.shape[1]), Y)


def ols(X: Array, Y: Array) -> Crude:
    """Least squares of the mean output on the mean token: the same bias, less variance."""
    return _crude("ols", np.linalg.lstsq(X.mean(axis=1), Y.mean(axis=1))[0], Y)


def debiased(X: Array, Y: Array) -> Crude:
    """Least squares of each output row on its token, the mean token and their first-order response to Θ.

    The response is x_a[j]·Cov(X)[l, q]: with it as a regressor the bias of first order is gone.
    """
    n, k, d = X.shape
    j, h = np.triu_indices(d)
    size = features(d)
    n = min(n, max(5 * size // (2 * k), int(WORK / size**2 / k)))
    X, Y = X[:n], Y[:n]
    mean = X.mean(axis=1)
    cov = (X[:, :, j] * X[:, :, h]).mean(axis=1) - mean[:, j] * mean[:, h]
    gram, cross = np.zeros((size, size)), np.zeros((size, d))
    for start in range(0, n, 2000):
        x, y = X[start : start + 2000], Y[start : start + 2000]
        response = x[:, :, :, None] * cov[start : start + 2000, None, None, :]
        means = np.broadcast_to(mean[start : start + 2000, None], x.shape)
        table = np.concatenate([x, means, response.reshape(len(x), k, -1)], axis=2).reshape(-1, size)
        gram += table.T @ table
        cross += table.T @ y.reshape(-1, d)
    # On two tokens of ±1, x_a[j]·Cov[j, j] = x_a[j] − mean[j]: d of the regressors follow from others.
    ridge = 1e-9 * gram.trace() / size
    coefficients: Array = np.linalg.solve(gram + ridge * np.eye(size), cross)
    explained = float(np.vdot(coefficients, 2 * cross - gram @ coefficients))
    r2 = explained / (float(np.vdot(Y, Y)) or 1.0)
    # Where all tokens are equal Cov = 0 and Y = x ΣW, whatever the patterns: there x_a and the mean are both x.
    return _crude("debiased", coefficients[:d] + coefficients[d : 2 * d], Y, r2)


def features(d: int) -> int:
    """Regressors of the debiased estimate: two tokens, and a token's coordinate times a covariance."""
    return 2 * d + d * d * (d + 1) // 2


def estimate(X: Array, Y: Array) -> Crude:
    """The debiased estimate where there are rows enough a feature (d at most about 12), else `ols`."""
    n, k, d = X.shape
    size = features(d)
    rows = min(n * k, WORK / size**2)
    return debiased(X, Y) if rows >= ROWS_A_FEATURE * size else ols(X, Y)


def size_of(w: Array, Y: Array) -> float:
    """|Ŵ|_F / (rms(Y) √d): about 1 for the sum of independent projection matrices, 0 if they cancel."""
    rms = float(np.sqrt(np.mean(Y**2)))
    return float(np.linalg.norm(w)) / (rms * np.sqrt(len(w))) if rms else 0.0


def _crude(estimator: str, w: Array, Y: Array, r2: float | None = None) -> Crude:
    return Crude(
        estimator, w, size_of(w, Y), np.asarray(np.linalg.svd(w, compute_uv=False), dtype=np.float64), r2
    )
