"""One start of a search on Θ: descend, prune, settle the signs, finish (`learner.varpro`), and when to stop."""

from dataclasses import dataclass

import numpy as np

from learner import varpro
from learner.base import Array, counting_floor

DENSE = 6000  # entries of Θ up to which the normal matrix is formed: 300 MB, ten seconds a step
EXACT = 1e-9  # relative training residual of an interpolating layer
ROUGH, NEAR = 2e-3, 0.02  # residuals up to which a head may be dropped, and a finish is tried


@dataclass(frozen=True)
class Attempt:
    """Holds what one start found: (Θ, W), relative residuals after L-BFGS (`descent`) and at the end, and its cost."""

    theta: Array
    w: Array
    descent: float
    residual: float
    evaluations: int
    exhausted: bool


def random_theta(rng: np.random.Generator, heads: int, dim: int) -> Array:
    """Draw a normal Θ (heads, dim, dim) to start from, at which scores of ±1 tokens differ by about 1."""
    theta: Array = rng.normal(0, 0.5**0.5 / dim, (heads, dim, dim))
    return theta


def examples_wanted(heads: int, tokens: int, dim: int) -> int:
    """Return the number of examples for a start of a search: max(8·heads·dim, 4·counting_floor(1, tokens, dim)).

    >>> examples_wanted(2, 2, 8), examples_wanted(2, 2, 64)
    (128, 8192)
    """
    return max(8 * heads * dim, 4 * counting_floor(1, tokens, dim))


def attempt(X: Array, Y: Array, theta: Array, *, heads: int, iterations: int) -> Attempt:
    """Return the layer found from `theta` (m, d, d) by L-BFGS, removal of needless heads, and Levenberg–Marquardt.

    X and Y are (n, k, d). Down to `heads` heads a removal is always tried; below, only if the other heads plainly fit
    as well. On two tokens the heads' signs are chosen too. Each search takes at most `iterations` steps.
    """
    theta, residual, evaluations = varpro.descend(X, Y, theta, iterations=iterations)
    descent = residual
    while len(theta) > 1 and residual < ROUGH:
        costs = removal_costs(X, Y, theta)
        if len(theta) <= heads and costs.min() > 0.05 * np.linalg.norm(Y):
            break  # every head does something: seen without a search
        without = np.delete(theta, int(np.argmin(costs)), axis=0)
        shorter, shorter_residual, more = varpro.descend(X, Y, without, iterations=iterations)
        evaluations += more
        if shorter_residual >= ROUGH:
            break  # this head is needed
        theta, residual = shorter, shorter_residual
    theta = varpro.settle_signs(X, Y, theta)
    if theta.size > DENSE and residual < NEAR:
        theta, residual, more = varpro.descend(X, Y, theta, until=1e-10, iterations=iterations)
        evaluations += more
    # Far from a solution a Levenberg–Marquardt step is expensive and leads into the same local minimum.
    steps = iterations if residual < NEAR and theta.size <= DENSE else 0
    end, history = varpro.fit(X, Y, theta, iterations=steps)
    exhausted = evaluations >= iterations or (steps > 0 and len(history) > steps)
    return Attempt(end.theta, end.w, descent, end.residual, evaluations + len(history), exhausted)


def removal_costs(X: Array, Y: Array, theta: Array) -> Array:
    """Return for each of m heads the norm of Y's residual without it, (m,), the W of the others fitted anew."""
    m, d = len(theta), X.shape[2]
    features = varpro.anchored(X, varpro.attend(X, theta)[1])
    head = np.arange(features.shape[1]) // d
    left = [varpro.project(features[:, head != i], Y.reshape(-1, d))[1] for i in range(m)]
    return np.array([np.linalg.norm(R) for R in left])


def relative_residual(X: Array, Y: Array, theta: Array, w: Array) -> float:
    """Return |Y − F|/|Y|, F the outputs of the layer (Θ, W), both (m, d, d), on examples X and Y (n, k, d)."""
    Z = varpro.attend(X, theta)[1]
    error = np.linalg.norm(Y.reshape(len(Z), -1) - Z @ w.reshape(Z.shape[1], -1))
    return float(error / (np.linalg.norm(Y) or 1.0))
