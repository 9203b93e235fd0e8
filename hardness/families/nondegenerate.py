"""Random layers inside the learner's promise: what the provable learner is meant for (docs/learner.md)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.base import Family, Secret, described, expect
from hardness.io.fields import number, whole
from hardness.layer import MultiHeadAttention

Array = NDArray[np.float64]


def _knob(text: str) -> Any:
    """Return a field with help `text`, None by default, that changes the layer and not the secret; files omit None."""
    return described(text, None, switch=True, same_secret=True)


@dataclass(frozen=True)
class Nondegenerate(Family):
    """Random layers whose Θ_i have entries N(0, τ²/(2 d²)) and whose W_i have entries N(0, 1/d).

    `scale` τ > 0 is the standard deviation of a score difference x_a Θ (x_b - x_c), so that the softmax is neither flat
    nor saturated at any size. Each parameter from `stable_rank` to `sum_w` changes the matrices so that one condition
    of the provable learner has this value, as `hardness.gadgets.conditions` measures it. These changes are made in the
    order of the fields; None leaves the matrices as they were drawn.
    """

    dim: int = described("Features of a token, d.")
    tokens: int = described("k, from 2 to d.")
    heads: int = described("m.")
    scale: float = described("tau: standard deviation of a score difference.", 2.0)
    stable_rank: float | None = _knob("Stable rank |A|²/‖A‖² of every theta, from 1 to dim.")
    diagonal: float | None = _knob("tr(A)²/|A|² of every theta, in [0, dim).")
    column: float | None = _knob("Share of |A|² in the heaviest column of every theta, in (0, 1).")
    lattice: float | None = _knob("Mean distance of theta's entries to a lattice, in steps, in [0, .25].")
    coherence: float | None = _knob("Cosine of any two theta, in [0, 1).")
    coherence_w: float | None = _knob("Cosine of any two w, in [0, 1).")
    norm_ratio: float | None = _knob("Norm of the smallest theta over that of the largest, in (0, 1].")
    sum_w: float | None = _knob(
        "|sum of w| over sqrt(sum of |w|²), in [0, sqrt(heads)); independent w have 1."
    )
    inputs: Literal["sign", "gaussian"] = described(
        "Law of the features of a token; examples of Gaussian ones have no file.",
        "sign",
        switch=True,
        same_secret=True,
    )

    name: ClassVar[str] = "nondegenerate"
    summary: ClassVar[str] = "random layer inside the learner's promise"
    example: ClassVar[str] = "--dim 8 --tokens 2 --heads 2"
    hypothesis: ClassVar[str] = (
        "None: meant to be learnable. Under non-degeneracy conditions a learner takes time (dk)^O(m^3) (Chen "
        "and Li, STOC 2025); on random layers local search works too."
    )
    heads_meaning: ClassVar[str] = "number of independent random heads"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("dim", self.dim, 2)
        whole("tokens", self.tokens, 2, self.dim, f"dim is {self.dim}")
        whole("heads", self.heads, 1)
        number("scale", self.scale, "(0, inf)")
        for name, (_, _, interval) in KNOBS.items():
            if getattr(self, name) is not None:
                number(name, getattr(self, name), interval.format(d=self.dim, root=f"{self.heads**0.5:.6g}"))
        if self.heads == 1 and self.sum_w is not None:
            raise InputError("sum_w needs at least 2 heads: that of one head is 1")

    def certificate(self, teacher: MultiHeadAttention) -> dict[str, Any]:
        return {"method": "none: the layer is the secret"}

    def draw(self, rng: np.random.Generator) -> Secret:
        """Return the secret, a layer of random matrices before changes: {"theta": (m, d, d), "w": (m, d, d)}."""
        shape = (self.heads, self.dim, self.dim)
        return {
            "theta": rng.normal(0, self.scale / (2**0.5 * self.dim), shape),
            "w": rng.normal(0, self.dim**-0.5, shape),
        }

    def check(self, secret: Secret) -> None:
        expect(secret, dict.fromkeys(("theta", "w"), ("<f8", (self.heads, self.dim, self.dim))))

    def realize(self, secret: Secret) -> MultiHeadAttention:
        """Return the layer of a secret's theta and w, changed as the parameters that are set (not None) demand."""
        layer = dict(secret)
        for name, (part, change, _) in KNOBS.items():
            if (value := getattr(self, name)) is not None:
                layer[part] = change(layer[part], value)
        return MultiHeadAttention(layer["theta"], layer["w"])


# Matrices M (m, d, d) of a layer, each of the norm that it had, which violate one condition


def with_coherence(M: Array, coherence: float) -> Array:
    """Return combinations of M (m, d, d), Frobenius norms as before, any two at the cosine `coherence`, in [0, 1)."""
    m = len(M)
    norms = np.linalg.norm(M, axis=(1, 2))
    U, _, Vt = np.linalg.svd(M.reshape(m, -1), full_matrices=False)
    values, vectors = np.linalg.eigh((1 - coherence) * np.eye(m) + coherence)
    root = (vectors * np.sqrt(values)) @ vectors.T
    return np.asarray((root @ U @ Vt).reshape(M.shape) * norms[:, None, None])


def with_stable_rank(M: Array, rank: float) -> Array:
    """Return M (m, d, d) with new singular values, Frobenius norms |A| as before: stable rank |A|²/‖A‖² = `rank`."""
    d = M.shape[1]
    U, _, Vt = np.linalg.svd(M)
    values = np.full(d, ((rank - 1) / max(d - 1, 1)) ** 0.5)
    values[0] = 1.0
    return _of_norms((U * values) @ Vt, M)


def with_diagonal(M: Array, weight: float) -> Array:
    """Return M (m, d, d) with shifted diagonals, Frobenius norms |A| as before: tr(A)²/|A|² = `weight`, in [0, d)."""
    d = M.shape[1]
    rest = M - np.trace(M, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    unit = rest / np.linalg.norm(rest, axis=(1, 2), keepdims=True)
    return _of_norms((1 - weight / d) ** 0.5 * unit + weight**0.5 / d * np.eye(d), M)


def with_column(M: Array, share: float) -> Array:
    """Return M (m, d, d) with columns rescaled, Frobenius norms |A| as before: the largest has `share` < 1 of |A|²."""
    power = (M**2).sum(axis=1)
    largest, total = power.max(axis=1, keepdims=True), power.sum(axis=1, keepdims=True)
    scale = np.where(power == largest, share * total / largest, (1 - share) * total / (total - largest))
    return np.asarray(M * np.sqrt(scale)[:, None, :])


def near_lattice(M: Array, distance: float) -> Array:
    """Return M (m, d, d), entries moved towards multiples of their matrix's rms, to a mean `distance` of that rms."""
    step = np.sqrt((M**2).mean(axis=(1, 2), keepdims=True))
    nearest = np.round(M / step)
    return np.asarray(step * (nearest + 4 * distance * (M / step - nearest)))


def with_norm_ratio(M: Array, ratio: float) -> Array:
    """Return M (m, d, d) scaled so that Frobenius norms fall geometrically from the largest to `ratio` times that."""
    m = len(M)
    norms = np.linalg.norm(M, axis=(1, 2))
    wanted = norms.max() * ratio ** (np.arange(m) / max(m - 1, 1))
    return np.asarray(M * (wanted / norms)[:, None, None])


def with_sum(M: Array, size: float) -> Array:
    """Return M (m, d, d) with its mean rescaled, total Frobenius norm as before: |Σ A| = `size` · √Σ|A|²."""
    m = len(M)
    mean = M.mean(axis=0)
    apart = M - mean
    weight = size * np.linalg.norm(apart) / (np.linalg.norm(mean) * (m * (m - size**2)) ** 0.5)
    shifted = apart + weight * mean
    return np.asarray(shifted * (np.linalg.norm(M) / np.linalg.norm(shifted)))


def _of_norms(A: Array, M: Array) -> Array:
    """Return the matrices A (m, d, d), each scaled to the Frobenius norm of the matrix at its place in M."""
    return np.asarray(A * (np.linalg.norm(M, axis=(1, 2)) / np.linalg.norm(A, axis=(1, 2)))[:, None, None])


# By parameter, in the order in which they are applied: which matrices, how, and the values that it may have
KNOBS: dict[str, tuple[str, Callable[[Array, float], Array], str]] = {
    "stable_rank": ("theta", with_stable_rank, "[1, {d}]"),
    "diagonal": ("theta", with_diagonal, "[0, {d})"),
    "column": ("theta", with_column, "(0, 1)"),
    "lattice": ("theta", near_lattice, "[0, 0.25]"),
    "coherence": ("theta", with_coherence, "[0, 1)"),
    "norm_ratio": ("theta", with_norm_ratio, "(0, 1]"),
    "coherence_w": ("w", with_coherence, "[0, 1)"),
    "sum_w": ("w", with_sum, "[0, {root})"),
}
