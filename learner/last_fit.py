"""The last fit, on every example and without heads that only fit noise; and what it leaves: noise, or structure?

No test can tell every structure from noise (that is what hardness for statistical queries says), so the words are
narrow: nothing that attention at random directions can see, one size in every output, and a fit that explains
something.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner import varpro

Array = NDArray[np.float64]
DENSE = 6000  # entries of Θ up to which the normal matrix is formed: 300 MB, ten seconds a step
Block = tuple[Array, Array]
# Examples, and steps, of a fit that is asked whether noise is what it leaves
QUICK, QUICK_ITERATIONS = 10_000, 30
ROWS = (
    20_000  # examples on which the most costly head is chosen, and on which random heads look at the residual
)
SURE = 5.0  # standard deviations; a normal variable is beyond with chance 6e-7
PROBES = 8  # random heads that look at the residual


@dataclass(frozen=True)
class Residue:
    """What a fit leaves: its `level` (root mean square, corrected for what was fitted) and three scores, in sigmas.

    `explained`: how surely the fit explains labels that it has not seen. `structured`: how surely random heads
    predict the residual. `uneven`: how much the outputs differ in their residual power.
    """

    level: float
    explained: float
    structured: float
    uneven: float

    @property
    def is_noise(self) -> bool:
        return self.explained > SURE and self.structured < SURE and self.uneven < SURE

    def __str__(self) -> str:
        if self.explained <= SURE:
            return "nothing was learned that holds on held-out examples"
        if self.structured >= SURE:
            return "what is left has structure: more heads, or more starts, may explain it"
        if self.uneven >= SURE:
            return "what is left looks like noise to random heads, but not of one size in every output"
        return f"at the noise floor: what is left looks like independent noise of size {self.level:.2g}"


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
    minimum: Any = minimize(loss, np.zeros(theta.size), jac=True, method="L-BFGS-B", options=options)
    end = varpro.evaluate(X, target, moved(minimum.x))
    return end.theta, end.w, end.residual


def removal_costs(X: Array, Y: Array, theta: Array) -> Array:
    """Norm (m,) of what the labels keep unexplained without each head (W of the others by least squares)."""
    m, d = len(theta), X.shape[2]
    target = Y.reshape(-1, d)
    features = varpro.anchored(X, varpro.attend(X, theta)[1])
    columns = np.arange(features.shape[1])
    return np.array(
        [np.linalg.norm(varpro.project(features[:, columns // d != i], target)[1]) for i in range(m)]
    )


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


def quick_residue(theta: Array, train: Block, test: Block, rng: np.random.Generator) -> Residue:
    """What a fit to the first `QUICK` examples from Θ (m, d, d) leaves of their labels."""
    X, Y = train[0][:QUICK], train[1][:QUICK]
    theta, w, _ = all_rows(X, Y, theta, iterations=QUICK_ITERATIONS)
    return examine(X, Y, MultiHeadAttention(theta, w), test, rng)


def fitted_on_all(
    layer: MultiHeadAttention, train: Block, test: Block, rng: np.random.Generator
) -> tuple[MultiHeadAttention, Residue]:
    """The layer after the last fit, and what it leaves; unchanged if even a few examples show structure in the rest."""
    left = quick_residue(layer.theta, train, test, rng)
    if not left.is_noise:
        return layer, left
    layer = last_fit(layer, *train)
    return layer, examine(*train, layer, test, rng)


def matrix_rows(X: Array, theta: Array) -> int:
    """Examples whose normal matrix is worth making at Θ (m, d, d): none if it would not fit."""
    return min(len(X), 8 * counting_floor(len(theta), X.shape[1], X.shape[2])) if theta.size <= DENSE else 0


def examine(
    X: Array, Y: Array, layer: MultiHeadAttention, test: tuple[Array, Array], rng: np.random.Generator
) -> Residue:
    """Examine what `layer` leaves of Y (n, k, d), on which it was fitted; `test` are examples it has not seen."""
    R = Y - layer(X)
    unknowns = 2 * layer.theta.size
    level = float(np.sqrt(np.vdot(R, R) / max(Y.size - unknowns, 1)))
    explained = _sigmas((layer(test[0]) * test[1]).sum(axis=(1, 2)))
    return Residue(level, explained, structure(X[:ROWS], R[:ROWS], rng), unevenness(R))


def structure(X: Array, R: Array, rng: np.random.Generator) -> float:
    """How surely, in standard deviations, the residual R (n, k, d) is predicted by attention at random Θ.

    Least squares of R on what random heads attend to, on one half of the examples; the score is that of the
    products of prediction and residual on the other half, an example one independent value.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], size=(500, 2, 6))
    >>> abs(structure(X, rng.normal(size=X.shape), rng)) < 5, structure(X, X[:, ::-1], rng) > 5
    (True, True)
    """
    n, k, d = X.shape
    probes = max(1, min(PROBES, n * k // (8 * d)))
    theta = rng.normal(0, 1 / d, (probes, d, d)) / np.sqrt(np.mean(X**2))
    Z = np.concatenate([varpro.attend(X, theta)[1], X.reshape(n * k, d)], axis=1)
    half = n // 2 * k
    rows = R.reshape(n * k, d)
    gram = Z[:half].T @ Z[:half]
    fit = np.linalg.solve(
        gram + 1e-6 * gram.trace() / len(gram) * np.eye(len(gram)), Z[:half].T @ rows[:half]
    )
    return _sigmas(((Z[half:] @ fit) * rows[half:]).reshape(n - n // 2, -1).sum(axis=1))


def unevenness(R: Array) -> float:
    """How far the residual powers of the outputs differ, in standard deviations of the farthest.

    >>> rng = np.random.default_rng(0)
    >>> R = rng.normal(size=(500, 2, 6))
    >>> unevenness(R) < 5, unevenness(R * [2, 1, 1, 1, 1, 1]) > 5
    (True, True)
    """
    power = (R**2).mean(axis=1)  # an example, an output
    mean = float(power.mean())
    error = power.std(axis=0) / np.sqrt(len(R))
    return float((np.abs(power.mean(axis=0) - mean) / np.maximum(error, 1e-12 * mean + 1e-300)).max())


def _sigmas(values: Array) -> float:
    """Sum over its standard error, of independent values of mean zero under the null."""
    return float(values.sum() / (np.sqrt(np.sum(values**2)) or 1.0))
