"""The non-degeneracy conditions of Chen & Li's learner, measured on any layer (learner 0b).

The theorem asks for each up to polynomial factors whose constants are not known to us: so values and directions are
given, never a pass mark.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Condition:
    """One condition: the worst `value` over heads (None where a layer has too few heads, or a zero matrix, to have
    one), the value `best` possible, what the paper `needs` of it asymptotically, and which phase uses it."""

    name: str
    value: float | None
    best: str
    needs: str
    phase: str


def conditions(layer: MultiHeadAttention, tokens: int) -> list[Condition]:
    """All non-degeneracy conditions of a layer on sequences of `tokens` tokens.

    >>> rng = np.random.default_rng(0)
    >>> nice = MultiHeadAttention(rng.normal(size=(2, 16, 16)), rng.normal(size=(2, 16, 16)))
    >>> table = {c.name: c.value for c in conditions(nice, tokens=2)}
    >>> round(table["incoherence of theta"], 2), round(table["sum of w"], 2)
    (0.04, 0.98)
    """
    return [*_of_size(layer, tokens), *_of_theta(layer.theta), *_of_w(layer.w)]


def _of_size(layer: MultiHeadAttention, tokens: int) -> list[Condition]:
    m, d = layer.heads, layer.dim
    spent = m / float(np.log(d * tokens))
    return [
        Condition("heads over log(dim·tokens)", spent, "small", "m at most logarithmic", "net"),
        Condition("tokens over dim", tokens / d, "small", "at most 1", "sculpt"),
    ]


def _of_theta(theta: Array) -> list[Condition]:
    m, d, _ = theta.shape
    spread = np.sqrt(2) * np.linalg.norm(theta.reshape(m, -1), axis=1)  # sd of x Θ (x' − x'') over uniform tokens
    alone = _most(_ratio(np.trace(theta, axis1=1, axis2=2) ** 2, _power(theta)))
    column = _most(_ratio((theta**2).sum(axis=1).max(axis=1), _power(theta)))
    norms = _least(_ratio(spread.min(keepdims=True), spread.max(keepdims=True)))
    rank = _least(_stable_rank(theta))
    rows: list[tuple[str, float | None, str, str, str]] = [
        ("incoherence of theta", _incoherence(theta), "0", "at most 1/poly(m, log d)",
         "sculpt: heads must agree rarely"),
        ("stable rank of theta", rank, f"{d}", "at least poly(m, k, log d)", "crude, sculpt"),
        ("diagonal of theta", alone, "0",
         "trace² small against |theta|²: a token must not attend to itself in a way of its own", "crude"),
        ("heaviest column of theta", column, f"{1 / d:.3g}", "a vanishing share of |theta|²",
         "sculpt: a central limit theorem"),
        ("distance of theta to a lattice", _least(_off_lattice(theta)), "0.25", "bounded away from 0 for every lattice",
         "sculpt: Boolean sums must not concentrate on a grid"),
        ("ratio of norms of theta", norms, "1", "at least 1/poly(log)", "sculpt, net"),
        ("score spread tau", float(spread.max()), "about 1", "at most polylog", "refine: margins; sculpt"),
    ]  # fmt: skip
    return [Condition(*row) for row in rows]


def _of_w(w: Array) -> list[Condition]:
    m, d, _ = w.shape
    weight = np.linalg.norm(w.reshape(m, -1), axis=1)
    total, quadrature = float(np.linalg.norm(w.sum(axis=0))), float(np.sqrt(np.sum(weight**2)))
    norms = _least(_ratio(weight.min(keepdims=True), weight.max(keepdims=True)))
    return [
        Condition("incoherence of w", _incoherence(w), "0", "at most 1 - small", "net: least squares for w"),
        Condition(
            "stable rank of w", _least(_stable_rank(w)), f"{d}", "at least poly(m, k, log d)", "sculpt: rank test"
        ),
        Condition("ratio of norms of w", norms, "1", "not too small", "net"),
        Condition("sum of w", total / quadrature if quadrature else None, "about 1",
                  "not vanishing (implicit in phases 1-4)", "crude: there is nothing else to start from"),
    ]  # fmt: skip


def _power(matrices: Array) -> Array:
    return np.asarray((matrices**2).sum(axis=(1, 2)))


def _ratio(above: Array, below: Array) -> Array:
    """above / below, nan where below vanishes."""
    out: Array = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out


def _least(values: Array) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmin(values))


def _most(values: Array) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmax(values))


def _incoherence(matrices: Array) -> float | None:
    """Largest |<A_i, A_j>| / (|A_i| |A_j|) over pairs of heads."""
    flat = matrices.reshape(len(matrices), -1)
    norms = np.linalg.norm(flat, axis=1)
    flat = flat[norms > 0] / norms[norms > 0, None]
    if len(flat) < 2:
        return None
    cosines = np.abs(flat @ flat.T)
    return float(cosines[np.triu_indices(len(flat), 1)].max())


def _stable_rank(matrices: Array) -> Array:
    return _ratio(_power(matrices), np.linalg.norm(matrices, 2, axis=(1, 2)) ** 2)


def _off_lattice(theta: Array) -> Array:
    """Per head, the least over lattices λZ of the mean distance of its entries to λZ, in units of λ.

    A continuous law gives 0.25 at most λ, equal or all-integer entries 0. λ runs from |θ|_max/8 to |θ|_max and over
    |θ|_max/1 … |θ|_max/16: finer lattices are near everything. Zeros lie on every lattice and are left out; of more
    than 4096 entries every so-many-th is taken.
    """
    found, scales = [], np.concatenate([np.geomspace(1 / 8, 1, 256), 1 / np.arange(1, 17)])
    for matrix in theta:
        entries = np.abs(matrix[matrix != 0])
        entries = entries[:: max(1, len(entries) // 4096)]
        if not len(entries):
            found.append(np.nan)
            continue
        # In units of the largest: an eighth of the least number there is would be 0.
        parts = (entries / entries.max())[None] / scales[:, None]
        found.append(float(np.abs(parts - np.round(parts)).mean(axis=1).min()))
    return np.array(found)
