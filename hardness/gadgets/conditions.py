"""The non-degeneracy conditions of Chen & Li's learner, measured on any layer (learner 0b).

The theorem's constants are not known to us: values and directions are given, never a pass mark.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention

Array = NDArray[np.float64]


class Condition(NamedTuple):
    """One condition: its `name`, its `best` possible value, what the learner's theorem `needs` of it asymptotically,
    the `phase` of the learner that uses it, and the worst `value` over heads, None if it is undefined.
    """

    name: str
    best: str
    needs: str
    phase: str
    value: float | None = None


CONDITIONS = [
    Condition("heads over log(dim·tokens)", "small", "m at most logarithmic", "net"),
    Condition("tokens over dim", "small", "at most 1", "sculpt"),
    Condition("incoherence of theta", "0", "at most 1/poly(m, log d)", "sculpt: heads must agree rarely"),
    Condition("stable rank of theta", "dim", "at least poly(m, k, log d)", "crude, sculpt"),
    Condition("diagonal of theta", "0", "trace² small against |theta|²", "crude: no token attends to itself"),
    Condition(
        "heaviest column of theta", "1/dim", "a vanishing share of |theta|²", "sculpt: a limit theorem"
    ),
    Condition("distance of theta to a lattice", "0.25", "bounded away from 0", "sculpt: sums on no grid"),
    Condition("ratio of norms of theta", "1", "at least 1/poly(log)", "sculpt, net"),
    Condition("score spread tau", "about 1", "at most polylog", "refine: margins; sculpt"),
    Condition("incoherence of w", "0", "at most 1 - small", "net: least squares for w"),
    Condition("stable rank of w", "dim", "at least poly(m, k, log d)", "sculpt: rank test"),
    Condition("ratio of norms of w", "1", "not too small", "net"),
    Condition("sum of w", "about 1", "not vanishing (implicit)", "crude: it starts from this alone"),
]


def conditions(layer: MultiHeadAttention, tokens: int) -> list[Condition]:
    """Return the non-degeneracy conditions of Chen & Li's learner, with their values for a layer on `tokens` tokens."""
    m, d, theta, w = layer.heads, layer.dim, layer.theta, layer.w
    with np.errstate(divide="ignore", invalid="ignore"):  # nan of too few heads, or of a zero matrix
        power, weight = _power(theta), np.sqrt(_power(w))
        spread = np.sqrt(2 * power)  # sd of x Θ (x' − x'') over uniform tokens
        values = [
            m / np.log(d * tokens),
            tokens / d,
            _incoherence(theta),
            _stable_rank(theta),
            np.fmax.reduce(np.trace(theta, axis1=1, axis2=2) ** 2 / power),
            np.fmax.reduce((theta**2).sum(axis=1).max(axis=1) / power),
            _off_lattice(theta),
            spread.min() / spread.max(),
            spread.max(),
            _incoherence(w),
            _stable_rank(w),
            weight.min() / weight.max(),
            np.linalg.norm(w.sum(axis=0)) / np.linalg.norm(weight),
        ]
    return [
        row._replace(value=float(value) if np.isfinite(value) else None)
        for row, value in zip(CONDITIONS, values, strict=True)
    ]


def _power(matrices: Array) -> Array:
    return np.asarray((matrices**2).sum(axis=(1, 2)))


def _stable_rank(matrices: Array) -> float:
    """Return the least stable rank over heads: squared Frobenius norm over squared spectral norm."""
    return float(np.fmin.reduce(_power(matrices) / np.linalg.norm(matrices, 2, axis=(1, 2)) ** 2))


def _incoherence(matrices: Array) -> float:
    """Return the largest |cosine| between two heads' matrices, zero matrices left out; nan of fewer than two."""
    flat = matrices.reshape(len(matrices), -1)
    norms = np.linalg.norm(flat, axis=1)
    flat = flat[norms > 0] / norms[norms > 0, None]
    cosines = np.abs(flat @ flat.T)
    return float(cosines[np.triu_indices(len(flat), 1)].max()) if len(flat) > 1 else np.nan


def _off_lattice(theta: Array) -> float:
    """Return the least mean distance of a head's entries to a lattice λZ, in units of λ, over heads and steps λ.
    Entries of a continuous law give 0.25 for most λ, equal or all-integer entries 0. With M the head's largest |entry|,
    λ runs from M/8 to M and over M/1 … M/16. Zeros lie on every lattice and are left out; nan if nothing else is there.
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
