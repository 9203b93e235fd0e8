"""Phase 6: the Θᵢ inside the affine hull, Θᵢ = Θ̂ + |Θ̂| Σ_q c_iq D_q, and W by least squares for each guess."""

import numpy as np

from hardness.layer import MultiHeadAttention, softmax
from learner.base import Array
from learner.provable.sculpt import Hull
from learner.varpro import Point, levenberg_marquardt, project

STARTS, ITERATIONS = 6, 25


def multi_start(
    X: Array, Y: Array, hull: Hull, heads: int, rng: np.random.Generator
) -> tuple[MultiHeadAttention, list[float]]:
    """Return the best layer of up to 6 searches from random Θᵢ in `hull`, and the ends' relative residuals, ascending.

    `hull` is an affine space that should hold all Θᵢ. Searches end once three of them reach about the least residual.
    """
    problem = _Coordinates(X, Y, hull)
    q = len(hull.directions)
    ends: list[tuple[float, Array]] = []
    for _ in range(STARTS if q else 1):
        ends.append(problem.search(rng.normal(size=(heads, q))))
        best = min(r for r, _ in ends)
        if sum(r < 1.01 * best + 1e-12 for r, _ in ends) == 3:
            break
    ends.sort(key=lambda end: end[0])
    return problem.layer(ends[0][1]), [residual for residual, _ in ends]


class _Coordinates:
    """Fits layers whose Θᵢ lie in `hull`, by coordinates c (m, q) along its q directions, and W by least squares."""

    def __init__(self, X: Array, Y: Array, hull: Hull) -> None:
        n, k, d = X.shape
        self.X, self.Y, self.hull = X, Y.reshape(-1, d), hull
        self.size = float(np.linalg.norm(hull.theta))
        basis = np.concatenate([hull.theta[None], self.size * hull.directions])
        left = (X.reshape(-1, d) @ basis.transpose(1, 0, 2).reshape(d, -1)).reshape(n, k, len(basis), d)
        self.scores = left.transpose(0, 2, 1, 3) @ X.transpose(0, 2, 1)[:, None]  # (n, 1 + q, k, k)
        self.power = float(np.linalg.norm(self.Y)) or 1.0

    def evaluate(self, c: Array) -> Point:
        """Return the least-squares fit of W for Θᵢ with coordinates c (m, q) along their affine hull's q directions."""
        full = np.concatenate([np.ones((len(c), 1)), c], axis=1)
        P = softmax(np.einsum("iq,nqab->niab", full, self.scores, optimize=True))
        Z = (P @ self.X[:, None]).transpose(0, 2, 1, 3).reshape(len(self.Y), -1)
        W, R, L = project(Z, self.Y)
        return Point(c, P, Z, W, R, L, float(np.linalg.norm(R)) / self.power)

    def search(self, c: Array) -> tuple[float, Array]:
        """Return the relative residual and the Θᵢ's coordinates (m, q) in their hull at which a search from c ends."""
        steps = ITERATIONS if c.size else 0
        end, _ = levenberg_marquardt(self.evaluate(c), self.evaluate, self.system, steps, 1e-5, tries=8)
        return end.residual, end.theta

    def system(self, here: Point) -> tuple[Array, Array]:
        J = self.jacobian(here)
        return J.T @ J, J.T @ here.R.ravel()

    def jacobian(self, here: Point) -> Array:
        from scipy.linalg import cho_solve

        n, k, d = self.X.shape
        m, q = here.theta.shape
        P = here.P[:, :, None]  # (n, m, 1, k, k)
        S = self.scores[:, None, 1:]
        dP = P * (S - (P * S).sum(axis=-1, keepdims=True))
        dZ = (dP @ self.X[:, None, None]).transpose(0, 3, 1, 2, 4).reshape(n * k, m, q, d)
        J: Array = np.einsum("rmqa,mab->rbmq", dZ, here.w.reshape(m, d, d), optimize=True).reshape(n * k, -1)
        # Kaufman's form: what is left out is of the size of the residual, which vanishes at the layer itself.
        J -= here.Z @ cho_solve((here.L, True), here.Z.T @ J, check_finite=False)
        return J.reshape(n * k * d, -1)

    def layer(self, c: Array) -> MultiHeadAttention:
        theta = self.hull.theta + self.size * np.einsum("iq,qab->iab", c, self.hull.directions)
        return MultiHeadAttention(theta, self.evaluate(c).w.reshape(theta.shape))
