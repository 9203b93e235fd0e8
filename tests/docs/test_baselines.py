"""Statements of docs/baselines.md on models that no study runs, recomputed with numpy alone."""

import numpy as np
import pytest

Array = np.ndarray
EXAMPLES, DIM = 2000, 6


def kernel(X: Array, Z: Array, degree: int) -> Array:
    """K_p of B.2 of two tokens over √d, summed over both queries: ⟨x_q, z_q⟩^p Σ_ij ⟨x_i, z_j⟩^(p+1)."""
    products = X.swapaxes(0, 1)[:, None] @ Z.transpose(1, 2, 0)[None] / X.shape[2]
    powers = products**degree
    return (powers[0, 0] + powers[1, 1]) * (powers * products).sum(axis=(0, 1))


# C.1: degree 2 alone ends at .89 of the variance, since it cannot tell A from its tie; degree 1 beside it removes that.
@pytest.mark.parametrize(
    ("size", "degrees", "low", "high"), [(1, [2], 0.85, 0.92), (1, [1, 2], 0.999, 1), (2, [1, 2], 0.999, 1)]
)
def test_the_tie_of_the_keys(size: int, degrees: list[int], low: float, high: float) -> None:
    rng = np.random.default_rng(size)
    X = rng.choice([-1.0, 1.0], size=(EXAMPLES + 1000, 2, DIM))
    support = 1 + rng.permutation(DIM - 1)[:size]
    y = (X[:, 0, 0] - X[:, 1, 0]) / 2 * np.prod(X[:, 0, support] * X[:, 1, support], axis=1)
    gram = sum(kernel(X, X[:EXAMPLES], degree) for degree in degrees)
    ridge = 1e-7 * np.trace(gram) / EXAMPLES * np.eye(EXAMPLES)
    fitted = gram[EXAMPLES:] @ np.linalg.solve(gram[:EXAMPLES] + ridge, y[:EXAMPLES])
    explained = 1 - np.mean((fitted - y[EXAMPLES:]) ** 2) / np.var(y[EXAMPLES:])
    assert low <= explained <= high


def parameters(V: Array, Q: Array) -> Array:
    """p_(jk,l) of B.2 as a symmetric tensor (outputs, j, k, l)."""
    p = np.einsum("haj,hkl->ajkl", V, Q)
    return p + p.transpose(0, 2, 1, 3)


# B.5: one layer of few heads is found from p by alternating least squares, and none of fewer heads is it.
@pytest.mark.parametrize(("heads", "outputs", "dim"), [(1, 1, 4), (2, 4, 4)])
def test_few_heads_come_back_by_alternating_least_squares(heads: int, outputs: int, dim: int) -> None:
    rng = np.random.default_rng(heads)
    p = parameters(rng.normal(size=(heads, outputs, dim)), rng.normal(size=(heads, dim, dim)))
    errors = {few: min(_alternating(p, few, rng) for _ in range(5)) for few in range(1, heads + 1)}
    assert errors.pop(heads) < 1e-8
    assert all(error > 0.1 for error in errors.values())


def _alternating(p: Array, heads: int, rng: np.random.Generator) -> float:
    """Relative error of V, Q from a random start: for fixed Q the parameters are linear in V, and conversely."""
    outputs, dim = p.shape[:2]
    V, Q = np.eye(heads * outputs * dim).reshape(-1, heads, outputs, dim), rng.normal(size=(heads, dim, dim))
    units = np.eye(heads * dim * dim).reshape(-1, heads, dim, dim)
    for _ in range(100):
        by_v = np.stack([parameters(unit, Q).ravel() for unit in V], axis=1)
        v = np.linalg.lstsq(by_v, p.ravel(), rcond=1e-12)[0].reshape(heads, outputs, dim)
        by_q = np.stack([parameters(v, unit).ravel() for unit in units], axis=1)
        Q = np.linalg.lstsq(by_q, p.ravel(), rcond=1e-12)[0].reshape(heads, dim, dim)
    return float(np.linalg.norm(parameters(v, Q) - p) / np.linalg.norm(p))
