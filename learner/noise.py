"""What is left of the labels after a fit: noise, or structure that was missed?

No test can tell every structure from noise (that is what hardness for statistical queries says), so the words are
narrow: nothing that attention at random directions can see, one size in every output, and a fit that explains
something.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner import varpro

Array = NDArray[np.float64]
SURE = 5.0  # standard deviations; a normal variable is beyond with chance 6e-7
PROBES, ROWS = 8, 20_000  # random heads that look at the residual, and the examples on which they do


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
    fit = np.linalg.solve(gram + 1e-6 * gram.trace() / len(gram) * np.eye(len(gram)), Z[:half].T @ rows[:half])
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
