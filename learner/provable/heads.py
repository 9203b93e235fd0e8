"""Phase 6b: the pattern of every head on every row, read off by least squares once the Wᵢ are roughly known.

Y_a = Σᵢ p_a⁽ⁱ⁾ X Wᵢ is linear in the m(k−1) free weights of the m patterns of row a (learner 1.4). One round reads
them, moves each Θᵢ towards its patterns by a step of Gauss and Newton, and fits all Wᵢ anew. Nothing is searched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner.attempt import examples_wanted, random_theta
from learner.base import Array
from learner.varpro import anchored, attend, pairs, project, settle_signs

ROUNDS = 100
PATIENCE, GAIN = 15, 0.03  # rounds that together must lower the residual by this fraction
SPREAD = 2.0  # of the scores at a random start, in units of `random_theta`
KEPT = 0.8  # share of the rows, those of least tolerance, that move Θ
DAMPING = 1e-3  # of a step, in units of the mean diagonal of its matrix
EXACT = 1e-9  # relative residual at which the rounds end
DEPENDENT = 1e-8  # least eigenvalue of edges of length one, below which they do not tell the heads apart
MOST_FEATURES = 64  # a step solves for the d² entries of one Θ at once


@dataclass(frozen=True)
class Readings:
    """Holds attention patterns estimated by least squares: `weights` (n, k, m, k−1), without that of the last token.

    `roots` (n, m, k−1, k−1) bring the errors of a head's weights to unit covariance, up to one factor. `kept` (n, k)
    are the rows to use. `usable` is the share of the examples on which the heads can be told apart.
    """

    weights: Array
    roots: Array
    kept: NDArray[np.bool_]
    usable: float


def impossible(heads: int, tokens: int, dim: int) -> str:
    """Return why least squares cannot find every head's attention pattern (too many weights, or dim over 64), or ""."""
    if heads * (tokens - 1) > dim:
        free = heads * (tokens - 1)
        return f"a row shows {dim} numbers, and the patterns of {heads} heads on {tokens} tokens have {free}"
    if dim > MOST_FEATURES:
        return f"its steps solve for {dim**2} unknowns at once, and take at most {MOST_FEATURES**2}"
    return ""


def rows_wanted(heads: int, tokens: int, dim: int) -> int:
    """Return the number of examples for phase 6b (steps of each head by itself): 4 `examples_wanted`, at least 600."""
    return max(600, 4 * examples_wanted(heads, tokens, dim))


def random_start(heads: int, dim: int, rng: np.random.Generator) -> Array:
    """Draw Θ (heads, dim, dim) at which the attention scores of ±1 tokens differ by about 2."""
    return SPREAD * random_theta(rng, heads, dim)


def run(X: Array, Y: Array, theta: Array, rounds: int = ROUNDS) -> MultiHeadAttention:
    """Return the layer of least residual on X and Y (n, k, d) in up to `rounds` steps from Θ (m, d, d), phase 6b.

    A step estimates all heads' patterns from Y, and moves each Θᵢ towards its own. Steps end early where the residual
    is 0, or hardly falls, or too few examples tell the heads apart.
    """
    residuals: list[float] = []
    best = theta
    for _ in range(rounds):
        P, w, uniform, residual = fitted(X, Y, theta)
        if residual < min(residuals, default=np.inf):
            best = theta
        residuals.append(residual)
        before = min(residuals[:-PATIENCE], default=np.inf)
        if residual < EXACT or min(residuals) > (1 - GAIN) * before:
            break
        readings = read(X, Y, w, uniform)
        if readings.usable < 0.5:
            break
        theta = moved(X, theta, P, readings)
    best = settle_signs(X, Y, best)
    m, d = len(best), X.shape[2]
    w = project(attend(X, best)[1], Y.reshape(-1, d))[0].reshape(m, d, d)
    return MultiHeadAttention(best, w)


def fitted(X: Array, Y: Array, theta: Array) -> tuple[Array, Array, Array, float]:
    """Return the fit of Y at Θ: patterns (n, m, k, k), W (m, d, d), W (d, d) of an extra head, the relative residual.

    On two tokens the extra head attends uniformly, so that −Θᵢ fits as well as Θᵢ (learner 1.6). Else its W is 0.
    """
    m, d = len(theta), X.shape[2]
    P, Z = attend(X, theta)
    W, R, _ = project(anchored(X, Z), Y.reshape(-1, d))
    spare = W[m * d :] if len(W) > m * d else np.zeros((d, d))
    return P, W[: m * d].reshape(m, d, d), spare, float(np.linalg.norm(R) / (np.linalg.norm(Y) or 1.0))


def read(X: Array, Y: Array, w: Array, uniform: Array, best: float = KEPT) -> Readings:
    """Return the patterns of all m heads that fit Y (n, k, d) by least squares, given W (m, d, d), and the rows to use.

    One more head, of W `uniform` (d, d), attends uniformly. The rows to use are, of those on which Y determines the
    patterns, the share `best` of least estimated error.
    """
    n, k, d = X.shape
    m, free = len(w), len(w) * (k - 1)
    edges = (X[:, :-1] - X[:, -1:]).reshape(-1, d)
    shown = (edges @ w.transpose(1, 0, 2).reshape(d, m * d)).reshape(n, k - 1, m, d)
    B = shown.transpose(0, 2, 1, 3).reshape(n, free, d)
    off = Y - (X[:, -1] @ w.sum(axis=0) + X.mean(axis=1) @ uniform)[:, None]
    usable, covariance = _inverses(B @ B.transpose(0, 2, 1))
    q = off @ B.transpose(0, 2, 1) @ covariance
    tolerance = np.sqrt(np.einsum("nii->n", covariance))[:, None]
    # A residual is left over only if a row shows more numbers than there are unknown weights.
    if free < d:
        tolerance = tolerance * np.linalg.norm(off - q @ B, axis=2)
    tolerance = np.where(usable[:, None], tolerance, np.inf)
    kept = usable[:, None] & (tolerance <= np.quantile(tolerance[usable], best) if usable.any() else False)
    blocks = np.einsum("nibic->nibc", covariance.reshape(n, m, k - 1, m, k - 1))
    blocks = np.where(usable[:, None, None, None], blocks, np.eye(k - 1))
    roots = np.asarray(np.linalg.inv(np.linalg.cholesky(blocks)), dtype=np.float64)
    return Readings(q.reshape(n, k, m, k - 1), roots, np.broadcast_to(kept, (n, k)), float(usable.mean()))


def moved(X: Array, theta: Array, P: Array, readings: Readings) -> Array:
    """Return Θ (m, d, d) after a step of each head from its patterns P (n, m, k, k) to the estimates in `readings`."""
    return stepped(theta, *zip(*normal_equations(X, P, readings), strict=True))


def stepped(theta: Array, matrices: Sequence[Array], slopes: Sequence[Array]) -> Array:
    """Return Θ (m, d, d) plus each head's solution of damped normal equations: `matrices` (d², d²), `slopes` (d²,)."""
    steps = []
    for A, slope in zip(matrices, slopes, strict=True):
        ridge = DAMPING * float(A.trace()) / len(A) + 1e-300
        steps.append(np.linalg.solve(A + ridge * np.eye(len(A)), slope))
    ahead: Array = theta + np.stack(steps).reshape(theta.shape)
    return ahead


def normal_equations(X: Array, P: Array, readings: Readings) -> Iterator[tuple[Array, Array]]:
    """Yield each head's normal matrix (d², d²), right side (d²,) for a step from patterns P to those in `readings`."""
    n, k, d = X.shape
    j, h, position = pairs(d)
    tokens = X.reshape(n * k, d)
    products = tokens[:, j] * tokens[:, h]
    grid = position[:, None, :, None], position[None, :, None, :]
    for i in range(P.shape[1]):
        edges, slope = _pulls(X, P[:, i], readings, i)
        curve = np.einsum("narl,narl->nal", edges[..., j], edges[..., h]).reshape(n * k, -1)
        # The normal matrix is Σ x_a[j] x_a[j'] · edge[l] edge[l'], symmetric in both pairs.
        A = (products.T @ curve)[grid].reshape(d * d, d * d)
        yield A, (tokens.T @ slope).ravel()


def slopes(X: Array, P: Array, readings: Readings) -> Array:
    """Return g (m, n·k, d): Σ_a x_aᵀ g_ia over all tokens x_a is the right side of head i's `normal_equations`."""
    return np.stack([_pulls(X, P[:, i], readings, i)[1] for i in range(P.shape[1])])


def _pulls(X: Array, p: Array, readings: Readings, i: int) -> tuple[Array, Array]:
    """Return the derivatives (n, k, k−1, d) of head i's attention weights p by x_a Θᵢ, and their products with gaps.

    A gap is the weight as estimated in `readings` less that in p (n, k, k). Products (n·k, d) are summed over the
    weights. All are in units of the estimates' noise, and 0 on rows that are not to be used.
    """
    n, k, d = X.shape
    roots = readings.roots[:, i, None]
    edges = roots @ (p[..., :-1, None] * (X[:, None, :-1] - (p @ X)[:, :, None]))
    edges *= readings.kept[:, :, None, None]
    gap = (roots @ (readings.weights[:, :, i] - p[..., :-1])[..., None])[..., 0]
    return edges, np.einsum("nar,narl->nal", gap, edges).reshape(n * k, d)


def _inverses(G: Array) -> tuple[NDArray[np.bool_], Array]:
    """Return which Gram matrices G (n, r, r) are well conditioned, (n,), and their inverses (0 of the others)."""
    scale = np.sqrt(np.einsum("nii->ni", G))
    scale = np.where(scale > 0, scale, np.inf)
    values, vectors = np.linalg.eigh(G / (scale[:, :, None] * scale[:, None]))
    usable = values[:, 0] > DEPENDENT
    values = np.where(usable[:, None], values, np.inf)
    inverse = (vectors / values[:, None]) @ vectors.transpose(0, 2, 1)
    return usable, inverse / (scale[:, :, None] * scale[:, None])
