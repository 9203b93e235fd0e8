"""Phase 1: a crude estimate of ΣWᵢ, the sum of the projection matrices, from examples X and Y (n, k, d)."""

import numpy as np

from learner.base import Array

ZERO = 1e-6  # |Ŵ|_F / (rms(Y) √d) of a sum that vanishes exactly: rounding only
# Nice layers have 0.9 to 2, ΣW = 0 up to 0.33 (k = 5, τ = 20): below, the sum may be what is missing
SMALL = 0.5
ROWS_A_FEATURE = 4  # with fewer the debiased estimate is worse than the crude one (d = 16: 0.36 against 0.11)
WORK = 2e10  # multiplications that the debiased estimate may take: about a second
MIN_SECOND = 1e-3  # second over first singular value; the least of 4000 nice sums was 0.49


def crude(X: Array, Y: Array) -> Array:
    """Return ΣWᵢ (d, d) as the paper estimates it, (1/nk) Σ Xᵀ11ᵀY: its bias, about ΣΘᵢWᵢ, stays with more data."""
    w: Array = X.sum(axis=1).T @ Y.sum(axis=1) / (len(X) * X.shape[1])
    return w


def ols(X: Array, Y: Array) -> Array:
    """Return ΣWᵢ (d, d) by least squares of mean outputs on mean tokens: as biased as `crude`, but less variable."""
    return np.asarray(np.linalg.lstsq(X.mean(axis=1), Y.mean(axis=1))[0], dtype=np.float64)


def debiased(X: Array, Y: Array) -> Array:
    """Return ΣWᵢ (d, d) by least squares of output rows Y_a that removes the bias of first order in Θ.

    The regressors are the token x_a, the mean token, and x_a[j]·C[l, q], C the covariance of the example's tokens.
    """
    n, k, d = X.shape
    j, h = np.triu_indices(d)
    size = features(d)
    n = min(n, max(5 * size // (2 * k), int(WORK / size**2 / k)))
    gram, cross = np.zeros((size, size)), np.zeros((size, d))
    for start in range(0, n, 2000):
        part = slice(start, min(start + 2000, n))
        x, mean = X[part], X[part].mean(axis=1)
        cov = (x[:, :, j] * x[:, :, h]).mean(axis=1) - mean[:, j] * mean[:, h]
        response = (x[:, :, :, None] * cov[:, None, None, :]).reshape(len(x), k, -1)
        means = np.broadcast_to(mean[:, None], x.shape)
        table = np.concatenate([x, means, response], axis=2).reshape(-1, size)
        gram += table.T @ table
        cross += table.T @ Y[part].reshape(-1, d)
    # On two tokens of ±1, x_a[j]·Cov[j, j] = x_a[j] − mean[j]: d of the regressors follow from others.
    ridge = 1e-9 * gram.trace() / size
    coefficients: Array = np.linalg.solve(gram + ridge * np.eye(size), cross)
    # Where all tokens are equal Cov = 0 and Y = x ΣW, whatever the patterns: there x_a and the mean are both x.
    return coefficients[:d] + coefficients[d : 2 * d]


def features(d: int) -> int:
    """Return the number of regressors of `debiased`: 2d entries of two tokens, d²(d + 1)/2 of tokens × covariances."""
    return 2 * d + d * d * (d + 1) // 2


def estimate(X: Array, Y: Array) -> Array:
    """Return ΣWᵢ (d, d) without first-order bias (`debiased`) if rows suffice (d at most about 12), else by `ols`."""
    size = features(X.shape[2])
    rows = min(X.shape[0] * X.shape[1], WORK / size**2)
    return debiased(X, Y) if rows >= ROWS_A_FEATURE * size else ols(X, Y)


def conditions(w: Array, Y: Array) -> dict[str, float]:
    """Return {"sum of w": its size (see `size_of`), "stable rank of the sum of w": |w|_F²/|w|₂²}, given w ≈ ΣWᵢ."""
    singular = np.linalg.svd(w, compute_uv=False)
    rank = float(np.sum(singular**2) / singular[0] ** 2) if singular[0] else 0.0
    return {"sum of w": size_of(w, Y), "stable rank of the sum of w": rank}


def refusal(w: Array, Y: Array) -> str:
    """Return why `w`, an estimate of ΣWᵢ, cannot be used (0 relative to labels Y, or of rank one), or "" if it can."""
    if size_of(w, Y) < ZERO:
        return "the projection matrices sum to zero: phase 1 has nothing to start from"
    first, second = np.linalg.svd(w, compute_uv=False)[:2]
    if second < MIN_SECOND * first:
        return (
            "the projection matrices sum to a matrix of rank one: it shows one coordinate of the attended "
            "token, which cannot certify an attention pattern"
        )
    return ""


def size_of(w: Array, Y: Array) -> float:
    """Return |w|_F / (rms(Y) √d), w an estimate of ΣWᵢ: about 1 if the Wᵢ are independent, 0 if they cancel."""
    rms = float(np.sqrt(np.mean(Y**2)))
    return float(np.linalg.norm(w)) / (rms * np.sqrt(len(w))) if rms else 0.0
