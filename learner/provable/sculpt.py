"""Phases 2 and 4: rows on which all heads agree, certified, and the affine hull of the Θᵢ that they carve out.

If every head has the same pattern p on row a then Y_a = p X ΣWᵢ, and x_a Θᵢ (x_b − x_c)ᵀ = ln(p_b/p_c) for every
i: an affine constraint on each Θᵢ. Conversely a row of Y in the simplex of the rows of X Ŵ betrays such an
agreement, up to a tolerance η that is estimated row by row. Such rows are rare: a fraction about η^((m−1)(k−1)).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learner.base import Array

CHUNK = 2000  # examples that a phase looks at together: what it makes of them stays in cache
KEPT = 4  # times as many certificates as a hull wants, for those whose best lack rank
MOST_HEADS = 12  # heads beyond which the spectrum is not read
LEAST_GAP = 1.6  # in the spectrum: below, nothing tells the hull from what is pinned
LEAST_WEIGHT = 0.02  # below this a log-ratio of the pattern is too noisy to use


@dataclass(frozen=True)
class Certificates:
    """Holds rows that one pattern p common to all heads fits, by rising `eta` (r,), the estimated error of ln p.

    Row a (r,) of example X (r, k, d) has pattern p (r, k). `rows` were looked at, a pattern fits `finite` of them.
    """

    X: Array
    a: NDArray[np.intp]
    p: Array
    eta: Array
    rows: int
    finite: int


@dataclass(frozen=True)
class Hull:
    """Holds the affine hull of the Θᵢ as estimated: its point of least norm, and m − 1 unit directions (m−1, d, d).

    `spectrum` holds the singular values of the linear constraints on Θ, ascending, in units of their median: the first
    m − 1 are those of the directions, which nothing pins. `gap` is the m-th value over the one before, None for one
    head. `rank` counts the values that are not 0. `tolerance` is the median error `eta` of the `Certificates` used.
    """

    theta: Array
    directions: Array
    spectrum: Array
    rank: int
    gap: float | None
    tolerance: float = float("inf")

    @property
    def heads(self) -> int:
        """Return the number of heads whose Θᵢ this affine hull is meant to hold, one more than its directions."""
        return len(self.directions) + 1

    @property
    def heads_seen(self) -> int:
        """Return how many heads the singular values show: one more than lie below their widest gap; 1 without a gap."""
        ratios = self.spectrum[1 : MOST_HEADS + 1] / np.maximum(self.spectrum[:MOST_HEADS], 1e-12)
        widest = int(np.argmax(ratios))
        return widest + 2 if ratios[widest] >= LEAST_GAP else 1

    def verdict(self) -> str:
        """Judge a hull by `gap`, a ratio of singular values: ok (from 5), weak (2), poor (1.6) or failed (below)."""
        if self.gap is None or self.gap >= 5:
            return "ok"
        return "weak" if self.gap >= 2 else "poor" if self.gap >= LEAST_GAP else "failed"


def slices(count: int) -> Iterator[slice]:
    """Yield slices of at most 2000 examples, which together cover `count` examples."""
    return (slice(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK))


def least(values: Array, count: int) -> NDArray[np.intp]:
    """Return the indices of the `count` smallest finite values (n,), ascending; all of them if they are fewer."""
    return np.argsort(values, kind="stable")[: min(count, int(np.isfinite(values).sum()))]


def gather(X: Array, Y: Array, w: Array, count: int) -> Certificates:
    """Return the `count` rows of Y (n, k, d) that one pattern p of all heads fits best: Y_a ≈ p X w, w (d, d) ≈ ΣWᵢ."""
    parts = [certify(X[part], Y[part], w) for part in slices(len(X))]
    p, eta = (np.concatenate(each) for each in zip(*parts, strict=True))
    best = least(eta, count)
    example, a = np.divmod(best, X.shape[1])
    return Certificates(X[example], a, p[example, a], eta[best], len(eta), int(np.isfinite(eta).sum()))


def certify(X: Array, Y: Array, w: Array) -> tuple[Array, Array]:
    """Return patterns p (n, k, k) common to all heads that fit Y (n, k, d) best, Y_a ≈ p_a X w, and errors (n·k,).

    w (d, d) estimates ΣWᵢ. Errors are estimates, of ln p_a, and infinite where no p with weights of at least .02 fits.
    """
    n, k, d = X.shape
    Z = (X.reshape(-1, d) @ w).reshape(n, k, d)
    D = Z[:, :-1] - Z[:, -1:]
    usable, inverse = _inverse(D @ D.transpose(0, 2, 1))  # equal tokens make no simplex
    off = Y - Z[:, -1:]
    part = off @ D.transpose(0, 2, 1) @ inverse  # (n, row a, k − 1)
    p = np.concatenate([part, 1 - part.sum(axis=2, keepdims=True)], axis=2)
    off -= part @ D
    residual = np.sqrt(np.einsum("nad,nad->na", off, off))
    lightest = p.min(axis=2)
    # As of a regression: the misfit has d − k + 1 degrees of freedom, its deviation times `noise` is that of a weight,
    # and over the lightest weight that of the logarithm, in which Θᵢ is linear.
    noise = np.sqrt(np.einsum("nbb->n", inverse) / (k - 1))
    accepted = usable[:, None] & (lightest >= LEAST_WEIGHT)
    eta = np.full((n, k), np.inf)
    np.divide(residual / np.sqrt(d - k + 1) * noise[:, None], lightest, out=eta, where=accepted)
    return p, eta.ravel()


def _inverse(G: Array) -> tuple[NDArray[np.bool_], Array]:
    """Return which Gram matrices G (n, k − 1, k − 1) are well conditioned, (n,), and their inverses (else 0)."""
    inverse = np.zeros_like(G)
    scale = np.sqrt(np.einsum("nbb->nb", G))
    with np.errstate(divide="ignore", invalid="ignore"):
        volume = np.linalg.det(G / (scale[:, :, None] * scale[:, None, :]))
    # The determinant of unit edges tells nearly equal tokens, or a degenerate simplex, at any length of the edges.
    usable = np.isfinite(volume) & (volume > 1e-6)
    inverse[usable] = np.linalg.inv(G[usable])
    return usable, inverse


def wanted(d: int, k: int) -> int:
    """Return how many rows with one pattern of all heads suffice to estimate the Θᵢ's hull: 4d²/(k−1), at least 300."""
    return max(300, -(-4 * d * d // (k - 1)))


def equations(X: Array, a: NDArray[np.intp], p: Array) -> tuple[Array, Array]:
    """Return A (r(k−1), d²) and b with A vec Θ = b where rows a (r,) of examples X (r, k, d) have patterns p (r, k)."""
    d = X.shape[2]
    x, edges = X[np.arange(len(X)), a], X[:, :-1] - X[:, -1:]
    A = (x[:, None, :, None] * edges[:, :, None, :]).reshape(-1, d * d)
    return A, np.log(p[:, :-1] / p[:, -1:]).ravel()


def hull_of(certificates: Certificates, heads: int) -> Hull:
    """Return the affine hull of the Θᵢ of `heads` heads, fitted to the best `certificates`, rows with a common pattern.

    The `wanted` rows of least error are used. While they leave a direction of Θ undetermined their number is doubled,
    as long as the worst error is at most three times that of the first choice.
    """
    k, d = certificates.X.shape[1:]
    count = wanted(d, k)
    eta = certificates.eta
    worst = 3 * float(eta[:count][-1])
    while True:
        A, b = equations(certificates.X[:count], certificates.a[:count], certificates.p[:count])
        hull = least_squares_hull(A, b, heads, float(np.median(eta[:count])))
        count *= 2
        if not unpinned(hull) or count > len(eta) or eta[count - 1] > worst:
            return hull


def least_squares_hull(A: Array, b: Array, heads: int, tolerance: float) -> Hull:
    """Return the affine space of Θ with A vec Θ ≈ b, A (rows, d²): a solution and A's `heads` − 1 weakest directions.

    The solution is robust (Huber), as some rows may be false. `tolerance`, the error of the rows, is only stored.
    """
    d = round(A.shape[1] ** 0.5)
    weight = np.ones(len(b))
    # Every Θᵢ meets every constraint, so A (Θᵢ − Θⱼ) ≈ 0: without a ridge the solution is singular for m > 1.
    ridge = 1e-9 * len(b) * np.eye(d * d)
    for _ in range(5):
        t = np.linalg.solve((A.T * weight) @ A + ridge, A.T @ (weight * b))
        residual = np.abs(A @ t - b)
        # 1.4826 median deviations are a standard deviation of normal errors; from three on, certificates may be false.
        weight = 1 / np.maximum(1, residual / max(3 * 1.4826 * float(np.median(residual)), 1e-15))
    values, vectors = np.linalg.eigh(A.T @ A / len(A))
    singular = np.sqrt(np.maximum(values, 0))
    # AᵀA has half of the digits of A: below 1e-8 of the largest, singular values are rounding.
    rank = int((singular > 1e-6 * singular[-1]).sum())
    spectrum = singular / (float(np.median(singular)) or 1.0)
    # The heads' own differences are the m − 1 directions that nothing pins; the rest of t is the same for all heads.
    free = vectors[:, : heads - 1]
    t = t - free @ (free.T @ t)
    gap = float(spectrum[heads - 1] / max(spectrum[heads - 2], 1e-12)) if heads > 1 else None
    return Hull(t.reshape(d, d), free.T.reshape(-1, d, d), spectrum, rank, gap, tolerance)


def too_few(certificates: Certificates) -> str:
    """Return why there are too few rows with one pattern of all heads (`certificates`) to estimate Θ, or ""."""
    k, d = certificates.X.shape[1:]
    enough = -(-2 * d * d // (k - 1))
    if len(certificates.eta) >= enough:
        return ""
    return (
        f"only {certificates.finite} of {certificates.rows} rows look like a pattern common to all heads, and {enough} "
        "distinct ones are needed"
    )


def unpinned(hull: Hull) -> str:
    """Return why the rows that `hull` was fitted to leave some directions of Θ undetermined, or "" if they do not."""
    if hull.rank == hull.theta.size:
        return ""
    return (
        f"the certificates constrain only {hull.rank} of {hull.theta.size} directions: the patterns are saturated, and "
        "every certificate says the same"
    )
