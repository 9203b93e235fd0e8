"""The non-degeneracy conditions of Chen & Li's learner, measured on any layer (learner 0b).

The theorem's constants are not known to us: values and directions are given, never a pass mark.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention

Array = NDArray[np.float64]


class Condition(NamedTuple):
    """One condition: the worst `value` over heads (None where there is none), the value `best` possible, what the
    paper `needs` of it asymptotically, and which phase uses it.
    """

    name: str
    value: float | None
    best: str
    needs: str
    phase: str


def conditions(layer: MultiHeadAttention, tokens: int) -> list[Condition]:
    """All non-degeneracy conditions of a layer on sequences of `tokens` tokens."""
    m, d = layer.heads, layer.dim
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # nan where a layer has too few heads, or a zero matrix
        values = [m / np.log(d * tokens), tokens / d, *_of_theta(layer.theta), *_of_w(layer.w)]
    return [
        row._replace(value=float(value) if np.isfinite(value) else None)
        for row, value in zip(unmeasured(d), values, strict=True)
    ]


def unmeasured(dim: int) -> list[Condition]:
    """The conditions of layers of dimension `dim`, their values left out."""
    rows = [
        ("heads over log(dim·tokens)", "small", "m at most logarithmic", "net"),
        ("tokens over dim", "small", "at most 1", "sculpt"),
        ("incoherence of theta", "0", "at most 1/poly(m, log d)", "sculpt: heads must agree rarely"),
        ("stable rank of theta", f"{dim}", "at least poly(m, k, log d)", "crude, sculpt"),
        (
            "diagonal of theta",
            "0",
            "trace² small against |theta|²: a token must not attend to itself in a way of its own",
            "crude",
        ),
        (
            "heaviest column of theta",
            f"{1 / dim:.3g}",
            "a vanishing share of |theta|²",
            "sculpt: a central limit theorem",
        ),
        (
            "distance of theta to a lattice",
            "0.25",
            "bounded away from 0 for every lattice",
            "sculpt: Boolean sums must not concentrate on a grid",
        ),
        ("ratio of norms of theta", "1", "at least 1/poly(log)", "sculpt, net"),
        ("score spread tau", "about 1", "at most polylog", "refine: margins; sculpt"),
        ("incoherence of w", "0", "at most 1 - small", "net: least squares for w"),
        ("stable rank of w", f"{dim}", "at least poly(m, k, log d)", "sculpt: rank test"),
        ("ratio of norms of w", "1", "not too small", "net"),
        (
            "sum of w",
            "about 1",
            "not vanishing (implicit in phases 1-4)",
            "crude: there is nothing else to start from",
        ),
    ]
    return [Condition(name, None, *rest) for name, *rest in rows]


def _of_theta(theta: Array) -> list[Any]:
    power = _power(theta)
    spread = np.sqrt(2 * power)  # sd of x Θ (x' − x'') over uniform tokens
    alone = np.fmax.reduce(np.trace(theta, axis1=1, axis2=2) ** 2 / power)
    column = np.fmax.reduce((theta**2).sum(axis=1).max(axis=1) / power)
    ratio = spread.min() / spread.max()
    return [_incoherence(theta), _stable_rank(theta), alone, column, _off_lattice(theta), ratio, spread.max()]


def _of_w(w: Array) -> list[Any]:
    weight, total = np.sqrt(_power(w)), np.linalg.norm(w.sum(axis=0))
    return [_incoherence(w), _stable_rank(w), weight.min() / weight.max(), total / np.linalg.norm(weight)]


def _power(matrices: Array) -> Array:
    return np.asarray((matrices**2).sum(axis=(1, 2)))


def _stable_rank(matrices: Array) -> float:
    """The least |A|²/‖A‖² over heads."""
    return float(np.fmin.reduce(_power(matrices) / np.linalg.norm(matrices, 2, axis=(1, 2)) ** 2))


def _incoherence(matrices: Array) -> float:
    """Largest |<A_i, A_j>| / (|A_i| |A_j|) over pairs of heads."""
    flat = matrices.reshape(len(matrices), -1)
    norms = np.linalg.norm(flat, axis=1)
    flat = flat[norms > 0] / norms[norms > 0, None]
    cosines = np.abs(flat @ flat.T)
    return float(cosines[np.triu_indices(len(flat), 1)].max()) if len(flat) > 1 else np.nan


def _off_lattice(theta: Array) -> float:
    """Return the least over heads and lattices λZ of the mean distance of a head's entries to λZ, in units of λ.

    A continuous law gives 0.25 at most λ, equal or all-integer entries 0. λ runs from |θ|_max/8 to |θ|_max and over
    |θ|_max/1 … |θ|_max/16. Zeros lie on every lattice and are left out.
    """
    distances, scales = [], np.concatenate([np.geomspace(1 / 8, 1, 256), 1 / np.arange(1, 17)])
    for matrix in theta:
        entries = np.abs(matrix[matrix != 0])
        entries = entries[:: max(1, len(entries) // 4096)]
        if not len(entries):
            continue
        # In units of the largest: an eighth of the least number there is would be 0.
        parts = (entries / entries.max())[None] / scales[:, None]
        distances.append(float(np.abs(parts - np.round(parts)).mean(axis=1).min()))
    return min(distances, default=np.nan)
