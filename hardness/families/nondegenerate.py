"""Random layers inside the learner's promise: what the provable learner is meant for (docs/learner.md)."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from hardness.errors import InputError
from hardness.families import conditioned
from hardness.families.base import Family, Secret, expect
from hardness.io.fields import number, whole
from hardness.layer import MultiHeadAttention


def _knob(text: str) -> Any:
    """Return a field that changes a layer and not its secret; a file names it only where it is not None."""
    return field(default=None, metadata={"help": text, "switch": True, "same_secret": True})


@dataclass(frozen=True)
class Nondegenerate(Family):
    """A layer with Θ_i entries N(0, τ²/(2 d²)) and W_i entries N(0, 1/d).

    `dim` d, `tokens` k from 2 to d, `heads` m >= 1; `scale` τ > 0 is the standard deviation of a score difference
    x_a Θ (x_b - x_c), so that the softmax is neither flat nor saturated at any size. Raises `InputError` otherwise.

    Every other parameter sets one condition of the learner with the theorem to a value, as
    `hardness.gadgets.conditions` measures it, and leaves the norms as they are (`hardness.families.conditioned`). They
    are applied in the order of the fields; None leaves the layer as it was drawn.

    >>> Nondegenerate(dim=8, tokens=2, heads=2).draw(np.random.default_rng(0))["theta"].shape
    (2, 8, 8)
    """

    dim: int = field(metadata={"help": "Features of a token, d."})
    tokens: int = field(metadata={"help": "k, from 2 to d."})
    heads: int = field(metadata={"help": "m."})
    scale: float = field(default=2.0, metadata={"help": "tau: standard deviation of a score difference."})
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
    inputs: Literal["sign", "gaussian"] = field(
        default="sign",
        metadata={
            "help": "Law of the features of a token; examples of Gaussian ones have no file.",
            "switch": True,
            "same_secret": True,
        },
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
        ranges = {
            "stable_rank": f"[1, {self.dim}]",
            "diagonal": f"[0, {self.dim})",
            "column": "(0, 1)",
            "lattice": "[0, 0.25]",
            "coherence": "[0, 1)",
            "coherence_w": "[0, 1)",
            "norm_ratio": "(0, 1]",
            "sum_w": f"[0, {self.heads**0.5:.6g})",
        }
        for name, interval in ranges.items():
            if getattr(self, name) is not None:
                number(name, getattr(self, name), interval)
        if self.heads == 1 and self.sum_w is not None:
            raise InputError("sum_w needs at least 2 heads: that of one head is 1")

    def certificate(self, teacher: MultiHeadAttention) -> dict[str, Any]:
        """Return that nothing is proved; `hardness inspect` measures the non-degeneracy conditions."""
        return {"method": "none: the layer is the secret"}

    def draw(self, rng: np.random.Generator) -> Secret:
        """The layer itself: {"theta": (m, d, d), "w": (m, d, d)}."""
        shape = (self.heads, self.dim, self.dim)
        return {
            "theta": rng.normal(0, self.scale / (2**0.5 * self.dim), shape),
            "w": rng.normal(0, self.dim**-0.5, shape),
        }

    def check(self, secret: Secret) -> None:
        """Raise `InputError` for arrays that are no layer of this size."""
        expect(secret, dict.fromkeys(("theta", "w"), ("<f8", (self.heads, self.dim, self.dim))))

    def realize(self, secret: Secret) -> MultiHeadAttention:
        """The layer of the secret's own theta and w, with every condition that a parameter sets."""
        theta, w = secret["theta"], secret["w"]
        for change, value in (
            (conditioned.with_stable_rank, self.stable_rank),
            (conditioned.with_diagonal, self.diagonal),
            (conditioned.with_column, self.column),
            (conditioned.near_lattice, self.lattice),
            (conditioned.with_coherence, self.coherence),
            (conditioned.with_norm_ratio, self.norm_ratio),
        ):
            theta = theta if value is None else change(theta, value)
        w = w if self.coherence_w is None else conditioned.with_coherence(w, self.coherence_w)
        w = w if self.sum_w is None else conditioned.with_sum(w, self.sum_w)
        return MultiHeadAttention(theta, w)
