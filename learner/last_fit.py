"""The last fit: from near the solution to least squares on every example, and without heads that only fit noise."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner import varpro
from learner.noise import Residue, examine

Array = NDArray[np.float64]
DENSE = 6000  # entries of Θ up to which the normal matrix is formed: 300 MB, ten seconds a step
Block = tuple[Array, Array]
QUICK, QUICK_ITERATIONS = 10_000, 30  # examples, and steps, of a fit that is asked whether noise is what it leaves
ROWS = 20_000  # examples on which the most costly head is chosen


def counting_floor(heads: int, tokens: int, dim: int) -> int:
    """Examples that there must be for any learner: as many equations as unknowns, for all heads and for a single Θ.

    2·m·d² unknowns meet k·d equations an example; the d² entries of one Θ are seen through k(k−1) scores an example.

    >>> counting_floor(2, 2, 40), counting_floor(8, 2, 8)
    (800, 64)
    """
    return max(-(-2 * heads * dim // tokens), -(-dim * dim // (tokens * (tokens - 1))))


def all_rows(X: Array, Y: Array, theta: Array, iterations: int = 100) -> tuple[Array, Array, float]:
    """The last fit: Θ and W of least squares on all examples, from a Θ nearby, and the relative residual.

    L-BFGS in the coordinates in which the normal matrix of the first `matrix_rows` examples is the identity: so all
    rows count, and no matrix of all of them is made.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import minimize

    target = Y.reshape(-1, X.shape[2])
    power = float(np.vdot(target, target)) or 1.0
    lower = None
    if rows := matrix_rows(X, theta):
        few = varpro.evaluate(X[:rows], Y[:rows].reshape(-1, X.shape[2]), theta)
        A = varpro.normal_matrix(X[:rows], few.P, few.Z, few.w, few.L)
        lower = np.tril(varpro.damped(A, A.diagonal().copy(), 1e-6)[0][0])

    def moved(v: Array) -> Array:
        step = v if lower is None else solve_triangular(lower, v, lower=True, trans=1, check_finite=False)
        return theta + step.reshape(theta.shape)

    def loss(v: Array) -> tuple[float, Array]:
        here = varpro.evaluate(X, target, moved(v))
        slope = varpro.pull_back(X, here.P, here.w, here.R).ravel()
        if lower is not None:
            slope = solve_triangular(lower, slope, lower=True, check_finite=False)
        return 0.5 * here.residual**2, -slope / power

    options: Any = {"maxiter": iterations, "maxfun": 2 * iterations, "ftol": 1e-10, "gtol": 0, "maxcor": 20}
    found: Any = minimize(loss, np.zeros(theta.size), jac=True, method="L-BFGS-B", options=options)
    end = varpro.evaluate(X, target, moved(found.x))
    return end.theta, end.w, end.residual


def removal_costs(X: Array, Y: Array, theta: Array) -> Array:
    """Norm (m,) of what the labels keep unexplained without each head (W of the others by least squares)."""
    m, d = len(theta), X.shape[2]
    target = Y.reshape(-1, d)
    features = varpro.anchored(X, varpro.attend(X, theta)[1])
    columns = np.arange(features.shape[1])
    return np.array([np.linalg.norm(varpro.project(features[:, columns // d != i], target)[1]) for i in range(m)])


def drop_head(X: Array, Y: Array, theta: Array) -> Array:
    """Θ without the head that the others can best do without."""
    return np.delete(theta, int(np.argmin(removal_costs(X, Y, theta))), axis=0)


def last_fit(layer: MultiHeadAttention, X: Array, Y: Array) -> MultiHeadAttention:
    """The last fit: least squares on all examples, from `layer`; it is kept if that is no better.

    Spare heads that only fit noise are dropped: without one the residual variance, corrected for the unknowns,
    must not rise by more than three standard deviations of its own.
    """
    theta, w, residual = all_rows(X, Y, layer.theta)
    while len(theta) > 1:
        shorter = drop_head(X[:ROWS], Y[:ROWS], theta)
        less, less_w, less_residual = all_rows(X, Y, shorter)
        free = [max(Y.size - 2 * t.size, 1) for t in (theta, less)]
        if less_residual**2 / free[1] > residual**2 / free[0] * (1 + 3 * (2 / free[0]) ** 0.5):
            break
        theta, w, residual = less, less_w, less_residual
    return MultiHeadAttention(theta, w)


def quick_residue(
    theta: Array, train: Block, test: Block, rng: np.random.Generator
) -> tuple[MultiHeadAttention, Residue]:
    """The layer fitted to the first `QUICK` examples from Θ (m, d, d), and what that leaves of their labels."""
    X, Y = train[0][:QUICK], train[1][:QUICK]
    theta, w, _ = all_rows(X, Y, theta, iterations=QUICK_ITERATIONS)
    layer = MultiHeadAttention(theta, w)
    return layer, examine(X, Y, layer, test, rng)


def fitted_on_all(
    layer: MultiHeadAttention, train: Block, test: Block, rng: np.random.Generator
) -> tuple[MultiHeadAttention, Residue]:
    """The layer after the last fit, and what it leaves; unchanged if even a few examples show structure in the rest."""
    _, left = quick_residue(layer.theta, train, test, rng)
    if not left.is_noise:
        return layer, left
    layer = last_fit(layer, *train)
    return layer, examine(*train, layer, test, rng)


def matrix_rows(X: Array, theta: Array) -> int:
    """Examples whose normal matrix is worth making at Θ (m, d, d): none if it would not fit."""
    return min(len(X), 8 * counting_floor(len(theta), X.shape[1], X.shape[2])) if theta.size <= DENSE else 0
