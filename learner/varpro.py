"""Variable projection: given Θ the best W is linear least squares, so only Θ is searched, by Levenberg–Marquardt.

Used by `learner.direct` as the whole learner and by the provable one as phase 7. The normal matrix of the projected
problem is in Kaufman's form, and made of products of small feature tables: the Jacobian, n·k·d rows tall, is never
formed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.layer import softmax
from learner.base import Array

Factor = tuple[Array, bool]  # as of scipy.linalg.cho_factor
CONVERGED, GIVE_UP = 1e-13, 1e-9  # relative residual, and gain of a step, at which Levenberg–Marquardt ends
REUSE = 0.7  # gain of a step after which its matrix serves again


def attend(X: Array, theta: Array) -> tuple[Array, Array]:
    """Return patterns P (n, m, k, k) and attended tokens Z = [P₁X … PₘX] (n·k, m·d), of X (n, k, d) and Θ (m, d, d)."""
    n, k, d = X.shape
    m = len(theta)
    # One product for all heads and rows; the tiny ones that remain are per example.
    left = (X.reshape(n * k, d) @ theta.transpose(1, 0, 2).reshape(d, m * d)).reshape(n, k, m, d)
    P: Array = softmax(left.transpose(0, 2, 1, 3) @ X.transpose(0, 2, 1)[:, None])
    Z = (P.reshape(n, m * k, k) @ X).reshape(n, m, k, d).transpose(0, 2, 1, 3).reshape(n * k, m * d)
    return P, Z


def pull_back(X: Array, P: Array, w: Array, R: Array) -> Array:
    """Return the gradient (m, d, d) by Θ of <F, R>, R (n·k, d) fixed, F the outputs by patterns P and W = `w`."""
    n, k, d = X.shape
    m = len(w)
    dZ = (R @ w.transpose(2, 0, 1).reshape(d, m * d)).reshape(n, k, m, d).transpose(0, 2, 1, 3)
    dP = dZ @ X.transpose(0, 2, 1)[:, None]
    dS = P * (dP - (P * dP).sum(axis=-1, keepdims=True))
    right = (dS.reshape(n, m * k, k) @ X).reshape(n, m, k, d).transpose(0, 2, 1, 3).reshape(n * k, m * d)
    gradient: Array = X.reshape(n * k, d).T @ right
    return gradient.reshape(d, m, d).transpose(1, 0, 2)


def project(Z: Array, Y: Array) -> tuple[Array, Array, Array]:
    """Return W of Y ≈ Z W by least squares, the residual Y − Z W, and the lower Cholesky factor of ZᵀZ; Z is (r, f)."""
    from scipy.linalg import cho_solve

    gram = Z.T @ Z
    ridge = 1e-15 * gram.trace() / len(gram)  # 1e-10 would floor the final error at 1e-10
    while True:
        try:
            L = np.linalg.cholesky(gram + ridge * np.eye(len(gram)))
            break
        except np.linalg.LinAlgError:  # two heads coincide: any split of their W is as good
            ridge *= 100
    W = cho_solve((L, True), Z.T @ Y, check_finite=False)
    R = Y - Z @ W
    # One refinement: the normal equations squared cond(Z)
    step = cho_solve((L, True), Z.T @ R, check_finite=False)
    return W + step, R - Z @ step, L


def anchored(X: Array, Z: Array) -> Array:
    """Return features Z (n·k, f), on two tokens with the mean token as d more: those of a head that attends uniformly.

    On two tokens a head (Θ, W) equals (−Θ, −W) plus a head 2W that attends uniformly. With that extra head every choice
    of the heads' signs can fit (`settle_signs`); without it all but one are false minima. On more tokens Z is not
    changed.
    """
    if X.shape[1] != 2:
        return Z
    beside: Array = np.hstack([Z, np.repeat(X.mean(axis=1), 2, axis=0)])
    return beside


def descend(
    X: Array, Y: Array, theta: Array, *, until: float = 1e-3, iterations: int = 400
) -> tuple[Array, float, int]:
    """Return Θ (m, d, d) where L-BFGS from `theta` ends, the relative residual, and the number of evaluations.

    W is fitted at every Θ, on two tokens with an extra head that attends uniformly (`anchored`). It ends at a relative
    residual of `until`, where steps gain hardly anything, or after `iterations` steps.
    """
    from scipy.optimize import minimize

    m, d = len(theta), X.shape[2]
    target = Y.reshape(-1, d)
    # In units of the goal: so the relative tolerance means the same at every scale.
    power = (float(np.vdot(target, target)) or 1.0) * until**2

    def loss(v: Array) -> tuple[float, Array]:
        P, Z = attend(X, v.reshape(theta.shape))
        W, R, _ = project(anchored(X, Z), target)
        gradient = pull_back(X, P, W[: m * d].reshape(theta.shape), R)
        return 0.5 * float(np.vdot(R, R)) / power, -gradient.ravel() / power

    def near(intermediate_result: Any) -> None:  # scipy looks at this parameter's name
        if intermediate_result.fun < 0.5:
            raise StopIteration

    options: Any = {"maxiter": iterations, "maxfun": 2 * iterations, "ftol": 1e-6, "gtol": 0, "maxcor": 20}
    minimum: Any = minimize(loss, theta.ravel(), jac=True, method="L-BFGS-B", callback=near, options=options)
    return minimum.x.reshape(theta.shape), until * float(np.sqrt(2 * minimum.fun)), int(minimum.nfev)


def settle_signs(X: Array, Y: Array, theta: Array) -> Array:
    """Return Θ with some heads' signs flipped, so that no extra head that attends uniformly is needed (`anchored`).

    The extra head's W is −2 times the sum of the W of the heads with the wrong sign. Where these W are linearly
    dependent, least squares do not show which; then, for up to ten heads, every choice of signs is compared.
    """
    if X.shape[1] != 2:
        return theta
    m, d = len(theta), X.shape[2]
    W = project(anchored(X, attend(X, theta)[1]), Y.reshape(-1, d))[0].reshape(m + 1, d * d)
    share = np.linalg.lstsq(W[:m].T, W[m], rcond=None)[0]
    wrong = share < -1
    if m <= 10 and (np.abs(np.abs(share + 1) - 1) > 0.5).any():
        choices = np.array(list(product((0.0, 1.0), repeat=m)))
        wrong = choices[np.argmin(np.linalg.norm(2 * choices @ W[:m] + W[m], axis=1))] > 0
    return np.where(wrong, -1.0, 1.0)[:, None, None] * theta


def fit(X: Array, Y: Array, theta: Array, *, iterations: int = 100) -> "tuple[Point, list[float]]":
    """Return the end of Levenberg–Marquardt on all entries of Θ, from `theta`, and the relative residuals on the way.

    X and Y are (n, k, d). It stops at a relative training residual below 1e-13, when a step lowers it by less than the
    fraction 1e-9 (a local minimum, or rounding), or after `iterations` steps.
    """
    target = Y.reshape(-1, X.shape[2])

    def ahead(theta: Array) -> Point:
        return evaluate(X, target, theta)

    def slope(here: Point) -> Array:
        return pull_back(X, here.P, here.w, here.R).ravel()

    def system(here: Point) -> tuple[Array, Array]:
        return normal_matrix(X, here.P, here.Z, here.w, here.L), slope(here)

    return levenberg_marquardt(ahead(theta), ahead, system, iterations, GIVE_UP, CONVERGED, slope=slope)


@dataclass(frozen=True)
class Point:
    """Holds the least-squares fit w of W at `theta`: patterns P, attended tokens Z, R = Y − Z w, L with L Lᵀ = ZᵀZ."""

    theta: Array
    P: Array
    Z: Array
    w: Array
    R: Array
    L: Array
    residual: float


def evaluate(X: Array, target: Array, theta: Array) -> Point:
    """Return the least-squares fit of W to labels `target` (n·k, d) of X (n, k, d) at Θ (m, d, d), as a `Point`."""
    P, Z = attend(X, theta)
    W, R, L = project(Z, target)
    relative = float(np.linalg.norm(R)) / (float(np.linalg.norm(target)) or 1.0)
    return Point(theta, P, Z, W.reshape(theta.shape), R, L, relative)


def levenberg_marquardt(
    here: Point,
    evaluate: Callable[[Array], Point],
    system: Callable[[Point], tuple[Array, Array]],
    iterations: int,
    give_up: float,
    tolerance: float = 0.0,
    tries: int = 11,
    slope: Callable[[Point], Array] | None = None,
) -> tuple[Point, list[float]]:
    """Return the point, Θ with its fitted W, where Levenberg–Marquardt from `here` ends, and all relative residuals.

    `evaluate` gives the point at a Θ, `system` the normal matrix (lower triangle) and right-hand side at a point,
    `slope` that side alone: with it a factored matrix serves again after a gain above .7. It ends at a relative
    residual of `tolerance`, when a step gains less than the fraction `give_up`, when none of `tries` values of the
    damping gains, or after `iterations` steps.
    """
    from scipy.linalg import cho_solve

    history, lam = [here.residual], 1e-2

    def unfinished() -> bool:
        return len(history) <= iterations and history[-1] > tolerance

    def moved(factor: Factor, slope: Array) -> Point:
        step = cho_solve(factor, slope, check_finite=False)
        return evaluate(here.theta + step.reshape(here.theta.shape))

    while unfinished():
        A, right = system(here)
        diagonal = A.diagonal().copy()
        for _ in range(tries):
            factor, lam = damped(A, diagonal, lam)
            ahead = moved(factor, right)
            gain = 1 - ahead.residual / here.residual
            if gain > 0:
                break
            lam *= 4
        else:
            break
        here = ahead
        history.append(here.residual)
        if gain <= give_up:
            break
        lam = max(lam / 5, 1e-14)
        while slope and gain > REUSE and unfinished():
            ahead = moved(factor, slope(here))
            gain = 1 - ahead.residual / here.residual
            if gain > 0:
                here = ahead
                history.append(here.residual)
    return here, history


def damped(A: Array, diagonal: Array, lam: float) -> tuple[Factor, float]:
    """Return the Cholesky factor of A + λ diag A, and λ, raised until it exists; changes A, whose diagonal is given."""
    from scipy.linalg import cho_factor

    floor = 1e-12 * diagonal.max()
    while True:
        np.fill_diagonal(A, diagonal + lam * (diagonal + floor) + floor)
        try:
            return cho_factor(A, lower=True, check_finite=False), lam
        except np.linalg.LinAlgError:
            lam *= 4


@lru_cache(maxsize=8)
def pairs(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return row and column indices of a d × d matrix's upper triangle, and each entry's place (d, d) in that list."""
    j, h = np.triu_indices(d)
    position = np.empty((d, d), dtype=np.intp)
    position[j, h] = position[h, j] = np.arange(len(j))
    return j, h, position


def normal_matrix(X: Array, P: Array, Z: Array, w: Array, L: Array) -> Array:
    """Return the normal matrix (md², md²) of Θ with W eliminated (Kaufman), lower half; P, Z, w, L as in `Point`."""
    from scipy.linalg import solve_triangular
    from scipy.linalg.blas import dsyrk

    m, d = len(w), X.shape[2]
    A, C = blocks(X, P, Z, w)
    V = solve_triangular(L, C, lower=True, check_finite=False).reshape(m * d * d, -1)
    schur = dsyrk(-1.0, V.T, beta=1.0, c=A.reshape(m * d * d, -1).T, lower=0)
    return np.asarray(schur).T  # its lower triangle, which is all that a Cholesky reads


def blocks(X: Array, P: Array, Z: Array, w: Array) -> tuple[Array, Array]:
    """Return JᵀJ (m, d, d, m, d, d), J the derivative of outputs by Θ, and C = ZᵀJ (m·d, d·m·d²), which couples Θ to W.

    The derivative of output row a by Θ_i[j, l] is x_a[j]·(Cov W_i)[l, ·], Cov the covariance of tokens under head i's
    pattern p_a. Z are the attended tokens: C has a row for each column of Z, a column for each output and entry of Θ.
    """
    n, k, d = X.shape
    m = len(w)
    j, h, position = pairs(d)
    A = np.zeros((m, d, d, m, d, d))
    D = np.zeros((m * len(j), d * m * d))  # Σ Cov[l, l'] · x[j] z[q]
    chunk = max(64, 2_000_000 // (k * d * m * max(d, len(j))))
    for start in range(0, n, chunk):
        x, p = X[start : start + chunk], P[start : start + chunk]
        rows = len(x) * k
        z = Z[start * k : start * k + rows]
        tokens = x.reshape(rows, d)
        xx = tokens[:, j] * tokens[:, h]
        per_head = z.reshape(rows, m, d)
        second = (p.reshape(len(x), m * k, k) @ xx.reshape(len(x), k, -1)).reshape(len(x), m, k, -1)
        cov = second.transpose(0, 2, 1, 3).reshape(rows, m, -1) - per_head[:, :, j] * per_head[:, :, h]
        outer = (tokens[:, :, None] * z[:, None, :]).reshape(rows, -1)
        D += cov.reshape(rows, -1).T @ outer
        moved = [(cov[:, i][:, position].reshape(-1, d) @ w[i]).reshape(rows, d, d) for i in range(m)]
        for i in range(m):
            for g in range(i, m):
                products = (moved[i] @ moved[g].transpose(0, 2, 1)).reshape(rows, d * d)
                block = (xx.T @ products).reshape(-1, d, d)[position]  # (j, j', l, l')
                A[i, :, :, g] += block.transpose(0, 2, 1, 3)
    for i in range(m):
        for g in range(i):
            A[i, :, :, g] = A[g, :, :, i].transpose(2, 3, 0, 1)
    # C[(i, j, l), q, c] = Σ_l' D[i, (l, l'), j, q] W_i[l', c]
    full = D.reshape(m, len(j), d, m * d)[:, position]  # (m, l, l', j, q)
    return A, np.einsum("iabjq,ibc->qcija", full, w, optimize=True).reshape(m * d, -1)
