"""Phases 2 and 4: rows on which all heads agree, certified, and the affine hull of the Θᵢ that they carve out.

If every head has the same pattern p on row a then Y_a = p X ΣWᵢ, and x_a Θᵢ (x_b − x_c)ᵀ = ln(p_b/p_c) for every
i: an affine constraint on each Θᵢ. Conversely a row of Y in the simplex of the rows of X Ŵ betrays such an
agreement, up to a tolerance η that is estimated row by row. Such rows are rare: a fraction about η^((m−1)(k−1)).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CHUNK = 50_000
LEAST_WEIGHT = 0.02  # below this a log-ratio of the pattern is too noisy to use


@dataclass(frozen=True)
class Certificates:
    """Patterns p (n·k, k) read off each row, and its tolerance `eta` (n·k,), infinite where no p fits."""

    p: Array
    eta: Array

    @property
    def finite(self) -> int:
        return int(np.isfinite(self.eta).sum())


@dataclass(frozen=True)
class Constraints:
    """|A vec Θ − b| <= eta: A (rows, d²), b and eta (rows,)."""

    A: Array
    b: Array
    eta: Array


@dataclass(frozen=True)
class Hull:
    """The affine hull of the Θᵢ as estimated: its point of least norm, and m − 1 unit directions (m−1, d, d).

    `spectrum` holds the singular values of the constraints, ascending, in units of their median: the first m − 1
    are the directions that nothing pins. `gap` is the ratio there; `rank` counts the others.
    """

    theta: Array
    directions: Array
    spectrum: Array
    rank: int
    gap: float | None
    spread: float  # median absolute residual of the constraints

    def verdict(self) -> str:
        """How far the gap is to be trusted: ok, weak, poor or failed."""
        if self.gap is None or self.gap >= 5:
            return "ok"
        return "weak" if self.gap >= 2 else "poor" if self.gap >= 1.6 else "failed"


def certify(X: Array, Y: Array, w: Array) -> Certificates:
    """The affine least-squares pattern of every row of Y (n, k, d) on X ŵ, with its tolerance."""
    parts = [_certify(X[i : i + CHUNK], Y[i : i + CHUNK], w) for i in range(0, len(X), CHUNK)]
    return Certificates(np.concatenate([p for p, _ in parts]), np.concatenate([eta for _, eta in parts]))


def _certify(X: Array, Y: Array, w: Array) -> tuple[Array, Array]:
    n, k, d = X.shape
    Z = (X.reshape(-1, d) @ w).reshape(n, k, d)
    D = Z[:, :-1] - Z[:, -1:]
    G = D @ D.transpose(0, 2, 1)
    scale = np.sqrt(np.einsum("nbb->nb", G))
    with np.errstate(divide="ignore", invalid="ignore"):
        volume = np.linalg.det(G / (scale[:, :, None] * scale[:, None, :]))
    usable = np.isfinite(volume) & (volume > 1e-6)  # equal tokens make no simplex
    inverse = np.zeros_like(G)
    inverse[usable] = np.linalg.inv(G[usable])
    off = Y - Z[:, -1:]
    part = off @ D.transpose(0, 2, 1) @ inverse  # (n, row a, k − 1)
    p = np.concatenate([part, 1 - part.sum(axis=2, keepdims=True)], axis=2)
    residual = np.linalg.norm(off - part @ D, axis=2)
    least = p.min(axis=2)
    noise = np.sqrt(np.einsum("nbb->n", inverse) / max(k - 1, 1))
    accepted = usable[:, None] & (least >= LEAST_WEIGHT)
    eta = np.full((n, k), np.inf)
    reading = residual / np.sqrt(d - k + 1) * noise[:, None]
    np.divide(reading, least, out=eta, where=accepted)
    return p.reshape(-1, k), eta.ravel()


def wanted(d: int, k: int) -> int:
    """How many certificates to keep: 4d²/(k−1) pin the hull as well as twice as many."""
    return max(300, -(-4 * d * d // (k - 1)))


def constraints(X: Array, found: Certificates, count: int) -> Constraints:
    """The `count` certificates of least tolerance (fewer if there are fewer), as constraints."""
    k, d = X.shape[1:]
    keep = np.argpartition(found.eta, min(count, len(found.eta) - 1))[:count]
    keep = keep[np.isfinite(found.eta[keep])]
    example, a = keep // k, keep % k
    x, others = X[example, a], X[example, :-1] - X[example, -1:]
    p = found.p[keep]
    A = (x[:, None, :, None] * others[:, :, None, :]).reshape(-1, d * d)
    b = np.log(p[:, :-1] / p[:, -1:]).ravel()
    return Constraints(A, b, np.repeat(found.eta[keep], k - 1))


def least_squares_hull(system: Constraints, heads: int, d: int) -> Hull:
    """The hull by robust least squares (Huber: some certificates are false) and the weakest singular directions."""
    A, b = system.A, system.b
    weight = np.ones(len(b))
    ridge = 1e-9 * len(b) * np.eye(d * d)
    for _ in range(5):
        t = np.linalg.solve((A.T * weight) @ A + ridge, A.T @ (weight * b))
        residual = np.abs(A @ t - b)
        spread = float(np.median(residual))
        weight = 1 / np.maximum(1, residual / max(3 * 1.4826 * spread, 1e-15))
    values, vectors = np.linalg.eigh(A.T @ A / len(A))
    singular = np.sqrt(np.maximum(values, 0))
    rank = int((singular > 1e-6 * singular[-1]).sum())
    spectrum = singular / (float(np.median(singular)) or 1.0)
    free = vectors[:, : heads - 1]
    t = t - free @ (free.T @ t)
    gap = float(spectrum[heads - 1] / max(spectrum[heads - 2], 1e-12)) if heads > 1 else None
    return Hull(t.reshape(d, d), free.T.reshape(-1, d, d), spectrum, rank, gap, spread)


def refusal(found: Certificates, hull: Hull | None, heads: int, d: int, k: int) -> str:
    """Why the certificates cannot carve out a hull, or nothing."""
    least = -(-2 * d * d // (k - 1))
    if found.finite < least:
        return (
            f"only {found.finite} rows look like an attention pattern common to all heads, and {least} are needed: "
            "the heads never agree, or phase 1 misled"
        )
    if hull is not None and hull.rank < d * d - (heads - 1):
        return (
            f"the certificates constrain only {hull.rank} of {d * d - (heads - 1)} directions: the patterns are "
            "saturated, and every certificate says the same"
        )
    return ""


def diagnostics(found: Certificates, system: Constraints, hull: Hull, heads: int) -> dict[str, Any]:
    """The numbers of one sculpting round, for its `Phase`: rows, tolerances, spectrum, rank and gap."""
    finite = np.sort(found.eta[np.isfinite(found.eta)])
    return {
        "rows": len(found.eta),
        "finite": found.finite / len(found.eta),
        "eta_quantiles": np.quantile(finite, [0.01, 0.1, 0.5]).tolist(),
        "kept": len(system.b),
        "eta_max": float(system.eta.max()),
        "eta_median": float(np.median(system.eta)),
        "spread": hull.spread,
        "spectrum": hull.spectrum[: heads + 2].tolist(),
        "rank": hull.rank,
        "gap": hull.gap,
    }
