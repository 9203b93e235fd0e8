"""Matrices that violate one condition of the learner with the theorem, and keep their norms: a function for each.

All take the attention or projection matrices M (m, d, d) of a layer and return such matrices. What is asked for is
what `hardness.gadgets.conditions` then measures.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def with_coherence(M: Array, coherence: float) -> Array:
    """Return matrices of the same norms whose cosines are all `coherence`, in [0, 1).

    They are the combinations of the given ones, made orthonormal, that have this Gram matrix.

    >>> M = with_coherence(np.random.default_rng(0).normal(size=(3, 4, 4)), 0.5)
    >>> unit = M.reshape(3, -1) / np.linalg.norm(M, axis=(1, 2))[:, None]
    >>> (unit @ unit.T).round(9)
    array([[1. , 0.5, 0.5],
           [0.5, 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """
    m = len(M)
    norms = np.linalg.norm(M, axis=(1, 2))
    U, _, Vt = np.linalg.svd(M.reshape(m, -1), full_matrices=False)
    values, vectors = np.linalg.eigh((1 - coherence) * np.eye(m) + coherence)
    root = (vectors * np.sqrt(values)) @ vectors.T
    mixed: Array = (root @ U @ Vt).reshape(M.shape) * norms[:, None, None]
    return mixed


def with_stable_rank(M: Array, rank: float) -> Array:
    """Return matrices of the same norms and singular vectors, of stable rank |A|²/‖A‖² = `rank` in [1, d].

    >>> M = with_stable_rank(np.random.default_rng(0).normal(size=(1, 4, 4)), 2.0)
    >>> round(float(np.linalg.norm(M) ** 2 / np.linalg.norm(M[0], 2) ** 2), 9)
    2.0
    """
    d = M.shape[1]
    U, _, Vt = np.linalg.svd(M)
    values = np.full(d, ((rank - 1) / max(d - 1, 1)) ** 0.5)
    values[0] = 1.0
    return _of_norms((U * values) @ Vt, M)


def with_diagonal(M: Array, weight: float) -> Array:
    """Return matrices of the same norms with tr(A)²/|A|² = `weight`, in [0, d).

    >>> M = with_diagonal(np.random.default_rng(0).normal(size=(1, 4, 4)), 2.0)
    >>> round(float(np.trace(M[0]) ** 2 / np.sum(M**2)), 9)
    2.0
    """
    d = M.shape[1]
    rest = M - np.trace(M, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    unit = rest / np.linalg.norm(rest, axis=(1, 2), keepdims=True)
    return _of_norms((1 - weight / d) ** 0.5 * unit + weight**0.5 / d * np.eye(d), M)


def with_column(M: Array, share: float) -> Array:
    """Return matrices of the same norms whose heaviest column has this `share` of |A|², in (0, 1).

    >>> M = with_column(np.random.default_rng(0).normal(size=(1, 4, 4)), 0.9)
    >>> round(float((M**2).sum(axis=1).max() / np.sum(M**2)), 9)
    0.9
    """
    power = (M**2).sum(axis=1)
    heavy = power == power.max(axis=1, keepdims=True)
    total = power.sum(axis=1, keepdims=True)
    largest = power.max(axis=1, keepdims=True)
    scale = np.where(heavy, share * total / largest, (1 - share) * total / (total - largest))
    scaled: Array = M * np.sqrt(scale)[:, None, :]
    return scaled


def near_lattice(M: Array, distance: float) -> Array:
    """Return matrices whose entries lie `distance` from a lattice in the mean, in units of its step; .25 is far.

    The step is the root mean square of the entries of a matrix, and entries are moved towards its multiples.

    >>> M = near_lattice(np.random.default_rng(0).normal(size=(1, 4, 4)), 0.0)
    >>> np.unique(np.abs(M / np.abs(M[M != 0]).min()).round(9)).astype(int).tolist()
    [0, 1, 3]
    """
    step = np.sqrt((M**2).mean(axis=(1, 2), keepdims=True))
    nearest = np.round(M / step)
    moved: Array = step * (nearest + 4 * distance * (M / step - nearest))
    return moved


def with_norm_ratio(M: Array, ratio: float) -> Array:
    """Return matrices whose norms fall evenly on a logarithmic scale, from the largest to `ratio` times that.

    >>> M = with_norm_ratio(np.random.default_rng(0).normal(size=(3, 4, 4)), 0.25)
    >>> norms = np.linalg.norm(M, axis=(1, 2))
    >>> (norms / norms[0]).round(9).tolist()
    [1.0, 0.5, 0.25]
    """
    m = len(M)
    norms = np.linalg.norm(M, axis=(1, 2))
    wanted = norms.max() * ratio ** (np.arange(m) / max(m - 1, 1))
    scaled: Array = M * (wanted / norms)[:, None, None]
    return scaled


def with_sum(M: Array, size: float) -> Array:
    """Return matrices with |ΣA| = `size` times the root of Σ|A|², in [0, √m); that of independent ones is about 1.

    >>> M = with_sum(np.random.default_rng(0).normal(size=(3, 4, 4)), 0.5)
    >>> round(float(np.linalg.norm(M.sum(axis=0)) / np.linalg.norm(M)), 9)
    0.5
    """
    m = len(M)
    mean = M.mean(axis=0)
    apart = M - mean
    weight = size * np.linalg.norm(apart) / (np.linalg.norm(mean) * (m * (m - size**2)) ** 0.5)
    shifted: Array = apart + weight * mean
    return shifted * (np.linalg.norm(M) / np.linalg.norm(shifted))


def _of_norms(A: Array, M: Array) -> Array:
    """Return A (m, d, d) with the norms of M."""
    scaled: Array = A * (np.linalg.norm(M, axis=(1, 2)) / np.linalg.norm(A, axis=(1, 2)))[:, None, None]
    return scaled
