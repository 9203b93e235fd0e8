"""The path from a hard layer to a nice one: where does learning become hard?"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from hardness.families.base import Checks, Family, Secret
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.io.fields import number
from hardness.layer import MultiHeadAttention


@dataclass(frozen=True)
class Interpolation(Family):
    """Θ = (1 - ρ) Θ_hard + ρ Θ_nice and W likewise: a hidden parity at ρ = 0, a random layer at ρ = 1.

    `dim` d and `heads` m = |S| as in `Parity` (gadget `diag`); `rho` ρ in (0, 1]; `scale` τ of the random layer as
    in `Nondegenerate`, with k = 2 tokens. ρ = 0 is the family `parity`. Raises `InputError` on anything else.

    >>> sorted(Interpolation(dim=8, heads=2, rho=0.5).draw(np.random.default_rng(0)))
    ['support', 'theta', 'w']
    """

    dim: int = field(metadata={"help": "Features of a token, d; coordinate 0 is the gate at rho = 0."})
    heads: int = field(metadata={"help": "m, also the size of the hidden set at rho = 0."})
    rho: float = field(
        metadata={
            "help": "Place on the path, in (0, 1]: 0 would be parity, 1 is random.",
            "same_secret": True,
        }
    )
    scale: float = field(default=2.0, metadata={"help": "tau of the random end, as in nondegenerate."})

    name: ClassVar[str] = "interpolation"
    summary: ClassVar[str] = "on the path from a hidden parity to a random layer"
    example: ClassVar[str] = "--dim 8 --heads 2 --rho 0.5"
    hypothesis: ClassVar[str] = (
        "None proved for rho > 0 (theory 2.11). At rho = 1 it is a random layer, near rho = 0 a hidden "
        "parity's; the lab measures between."
    )
    heads_meaning: ClassVar[str] = "size of the hidden set at rho = 0, number of random heads at rho = 1"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._ends  # their own checks
        number("rho", self.rho, "(0, 1]", "rho = 0 is the family parity")

    @property
    def _ends(self) -> tuple[Parity, Nondegenerate]:
        return Parity(self.dim, self.heads), Nondegenerate(self.dim, 2, self.heads, self.scale)

    def draw(self, rng: np.random.Generator) -> Secret:
        """Both ends: {"support": as of `Parity`, "theta" and "w": as of `Nondegenerate`}."""
        hard, nice = self._ends
        return hard.draw(rng) | nice.draw(rng)

    def check(self, secret: Secret) -> None:
        """Raise `InputError` for arrays that are not both ends."""
        hard, nice = self._ends
        nice.check({name: secret[name] for name in secret if name != "support"})
        hard.check({name: secret[name] for name in secret if name == "support"})

    def realize(self, secret: Secret) -> MultiHeadAttention:
        """The layer at ρ between the dense parity layer and the random one."""
        parity, _ = self._ends
        hard = parity.realize(secret).layer()
        theta, w = (
            (1 - self.rho) * at_zero + self.rho * secret[name]
            for name, at_zero in (("theta", hard.theta), ("w", hard.w))
        )
        return MultiHeadAttention(theta, w)

    def verify(self, teacher: MultiHeadAttention, secret: Secret) -> Checks:
        """Check the hard end's certificate again; nothing is proved between the ends."""
        hard, _ = self._ends
        return [
            (f"{name} at rho = 0", ok, detail)
            for name, ok, detail in hard.verify(hard.realize(secret), secret)
        ]
