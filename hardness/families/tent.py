"""A hidden parity's heads with other signs: the control that differs from it in nothing else."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.families.base import Family, Secret
from hardness.families.parity import Parity
from hardness.gadgets.coefficients import Gadget
from hardness.io.fields import whole
from hardness.tokens import Words


@dataclass(frozen=True)
class Tent(Family):
    """The heads of `parity` with gadget diag: the same Θ, hidden set of m coordinates and |c_i|, but other signs.

    The coefficients of the first ceil(m/2) thresholds are positive and those of the others negative, so that the label
    G(t) = Σ_i c_i tanh(β (t - b_i)/2) of the level t = Σ_(j in S) u_j rises to the middle and falls: for even m it is
    symmetric, G(m - t) = G(t). `dim` d, `heads` m from 3 to d - 1, `sharpness` as in `Parity`. Raises `InputError`
    on anything else.

    >>> tent = Tent(dim=8, heads=4)
    >>> tent.realize({"support": np.array([1, 2, 3, 4])}).values.round(2).tolist()
    [0.35, 3.09, 5.75, 3.09, 0.35]
    """

    dim: int = field(metadata={"help": "Features of a token, d; coordinate 0 is the gate."})
    heads: int = field(metadata={"help": "m: the hidden set has size m."})
    sharpness: int = field(default=8, metadata={"help": "r >= 2; beta = 2 ln r."})

    name: ClassVar[str] = "tent"
    summary: ClassVar[str] = "a parity's heads with other signs, the control"
    example: ClassVar[str] = "--dim 16 --heads 4"
    hypothesis: ClassVar[str] = (
        "None: meant to be learnable. Theta, S and sizes of coefficients are a hidden parity's; other signs "
        "make a tent of low degree."
    )
    heads_meaning: ClassVar[str] = "size of the hidden set"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("heads", self.heads, 3, why="two are a parity's up to sign")
        _ = self._parity  # its own checks

    @property
    def _parity(self) -> Parity:
        return Parity(self.dim, self.heads, "diag", self.sharpness)

    def draw(self, rng: np.random.Generator) -> Secret:
        """A uniform hidden set: {"support": ascending coordinates in 1..d-1}."""
        return self._parity.draw(rng)

    def check(self, secret: Secret) -> None:
        """Raise `InputError` for arrays that are no hidden set."""
        self._parity.check(secret)

    def gadget_size(self) -> tuple[int | None, int]:
        """Heads and bits that a file must hold."""
        return self.heads, 0

    def realize(self, secret: Secret) -> Gadget:
        """The heads of the parity, their coefficients with these signs."""
        parity = self._parity.realize(secret)
        rising = np.arange(self.heads) < -(-self.heads // 2)
        c = np.where(rising, 1, -1) * np.abs(parity.coefficients)
        levels = np.arange(self.heads + 1)[:, None]
        values = np.tanh(parity.beta * (levels - parity.thresholds) / 2) @ c
        if self.heads % 2 == 0:  # symmetric to the last bit, so that levels t and m - t have one label
            values = (values + values[::-1]) / 2
        return replace(parity, coefficients=c, values=values, offset=0.0, gate=float(c.sum()))

    def column_values(self, teacher: Gadget, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G of the level, (n,)."""
        return teacher.value(teacher.levels(words))
