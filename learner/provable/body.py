"""The paper's convex body K = {Θ : |A vec Θ − b| <= η}: width queries by HiGHS, and its point of least norm."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from learner.provable.sculpt import Constraints, Hull

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Body:
    """K = {t : |A t − b| <= radius}, the tolerances widened by `inflation` so that it is not empty.

    Tolerances are estimates and some certificates are false, so the least inflation s for which K has a point is
    found by a linear program, and K is taken at max(1, 2s).
    """

    A: Array
    b: Array
    radius: Array
    inflation: float

    @classmethod
    def of(cls, system: Constraints) -> "Body":
        """K of the constraints. Raises `InputError` if the program cannot be solved."""
        # A tolerance of 0 would stay 0 at any inflation, and one false certificate of that kind would empty K.
        eta = np.maximum(system.eta, 1e-12)
        A = np.block([[system.A, -eta[:, None]], [system.A, eta[:, None]]])
        lower = np.concatenate([np.full(len(eta), -np.inf), system.b])
        upper = np.concatenate([system.b, np.full(len(eta), np.inf)])
        value, _ = _program(np.eye(A.shape[1])[-1], A, lower, upper)
        inflation = max(1.0, 2 * value)
        return cls(system.A, system.b, inflation * eta, inflation)

    def extremes(self, u: Array) -> tuple[Array, Array]:
        """Points of K that are lowest and highest along u (d²,). Raises `InputError` if K is unbounded there."""
        lower, upper = self.b - self.radius, self.b + self.radius
        return _program(u, self.A, lower, upper)[1], _program(-u, self.A, lower, upper)[1]

    def least_norm(self) -> Array:
        """The point of K of least Euclidean norm (d²,), by non-negative least squares on its dual (Lawson & Hanson)."""
        from scipy.optimize import nnls

        G = np.concatenate([self.A, -self.A])
        h = np.concatenate([self.b - self.radius, -self.b - self.radius])
        scale = float(np.abs(h).max()) or 1.0
        # Least distance programming: min |t| with G t ≥ h is min |E u − e_last| over u ≥ 0; its residual shows t.
        E = np.concatenate([G.T, h[None] / scale])
        f = np.zeros(len(E))
        f[-1] = 1.0
        dual, _ = nnls(E, f, maxiter=20 * len(h))
        r = E @ dual - f
        point: Array = -scale * r[:-1] / r[-1]
        return point


def width_span(
    body: Body, heads: int, rng: np.random.Generator, sweeps: int = 3
) -> tuple[Array, list[float]]:
    """The m − 1 widest directions of K (m−1, d²), one after the other, and the widths, one direction further.

    Each is found from a random direction by asking for the two extremes and turning towards their difference.
    """
    dim = body.A.shape[1]
    basis = np.zeros((0, dim))
    widths: list[float] = []
    for _ in range(heads):
        u = rng.standard_normal(size=(dim,))
        for _ in range(sweeps):
            u = u - basis.T @ (basis @ u)
            low, high = body.extremes(u / np.linalg.norm(u))
            u = high - low
        u = u - basis.T @ (basis @ u)
        widths.append(float(np.linalg.norm(u)))
        basis = np.concatenate([basis, u[None] / (widths[-1] or 1.0)])
    return basis[: heads - 1], widths


def body_hull(body: Body, reference: Hull, rng: np.random.Generator) -> tuple[Hull, dict[str, Any]]:
    """The hull as the body shows it, in the place of `reference` (the one by eigenvectors), and its numbers."""
    d, heads = len(reference.theta), reference.heads
    point = body.least_norm()
    span, widths = width_span(body, heads, rng)
    gap = widths[-2] / max(widths[-1], 1e-12) if heads > 1 else None
    theta = (point - span.T @ (span @ point)).reshape(d, d)
    hull = replace(reference, theta=theta, directions=span.reshape(-1, d, d), gap=gap)
    return hull, {"inflation": body.inflation, "widths": widths}


def _program(cost: Array, A: Array, lower: Array, upper: Array) -> tuple[float, Array]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    free = Bounds(np.full(A.shape[1], -np.inf), np.full(A.shape[1], np.inf))
    optimum: Any = milp(cost, constraints=LinearConstraint(A, lower, upper), bounds=free)
    if optimum.x is None:
        raise InputError(f"the certificates do not bound the body ({optimum.message}); give more examples")
    return float(optimum.fun), optimum.x
