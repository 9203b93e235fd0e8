"""Random layers inside the learner's promise: what the provable learner is meant for (docs/learner.md)."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hardness.families.base import Family, Secret, expect
from hardness.io.fields import number, whole
from hardness.layer import MultiHeadAttention


@dataclass(frozen=True)
class Nondegenerate(Family):
    """A layer with Θ_i entries N(0, τ²/(2 d²)) and W_i entries N(0, 1/d).

    `dim` d, `tokens` k from 2 to d, `heads` m >= 1; `scale` τ > 0 is the standard deviation of a score difference
    x_a Θ (x_b - x_c), so that the softmax is neither flat nor saturated at any size. Raises `InputError` otherwise.

    >>> Nondegenerate(dim=8, tokens=2, heads=2).draw(np.random.default_rng(0))["theta"].shape
    (2, 8, 8)
    """

    dim: int = field(metadata={"help": "Features of a token, d."})
    tokens: int = field(metadata={"help": "k, from 2 to d."})
    heads: int = field(metadata={"help": "m."})
    scale: float = field(default=2.0, metadata={"help": "tau: standard deviation of a score difference."})

    name: ClassVar[str] = "nondegenerate"
    summary: ClassVar[str] = "random layer inside the learner's promise"
    example: ClassVar[str] = "--dim 8 --tokens 2 --heads 2"
    hypothesis: ClassVar[str] = (
        "None: these layers are meant to be learnable. A (dk)^O(m^3)-time learner exists for layers that meet the "
        "non-degeneracy conditions (Chen & Li, STOC 2025, abstract); on random layers local search also works."
    )
    heads_meaning: ClassVar[str] = "number of independent random heads"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("dim", self.dim, 2)
        whole("tokens", self.tokens, 2, self.dim, f"dim is {self.dim}")
        whole("heads", self.heads, 1)
        number("scale", self.scale, "(0, inf)")

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
        """The layer of the secret's own theta and w."""
        return MultiHeadAttention(secret["theta"], secret["w"])
