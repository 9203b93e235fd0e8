"""Hidden parity: the family every statistical-query algorithm needs many queries for (theory 1.1-1.3, 1.5, 2.5)."""

from dataclasses import dataclass
from math import log2
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.base import Checks, Family, Secret, described, expect
from hardness.families.concepts import ParityConcepts
from hardness.families.linear import HiddenSet
from hardness.gadgets import coefficients as gadget
from hardness.gadgets import sharp, wide
from hardness.gadgets.coefficients import Gadget, ParityKind, bits
from hardness.io.fields import number, whole
from hardness.tokens import Words

MOST_DIM = 2**24  # a file of a few bytes may ask for it
SEVERAL = {"sharp": sharp, "wide": wide}  # gadgets whose heads have a sharpness each


def levels(kind: ParityKind, size: int) -> tuple[list[int], list[int]]:
    """Return the values t of a sum over `size` = s coordinates, 0..s (-s..s for `kind` dot), and (-1)^t of each."""
    reached = list(range(-size if kind == "dot" else 0, size + 1))
    return reached, [1 - 2 * (t % 2) for t in reached]


@dataclass(frozen=True)
class Parity(Family):
    """Layers whose labels show exactly the parity of the coordinates in a hidden set S in which the two tokens differ.

    S has `size` s and lies in coordinates 1..d-1. `heads` is m = s for the gadget diag, 2s for dot; m heads of several
    sharpnesses (sharp, wide) hide s = `bits`, by default and at most 2m - 1. With `balance` one of these makes C, the
    label where tokens agree in coordinate 0, vanish. `sharpness` r sets β = 2 ln r for diag and dot. `flip` is the
    probability of a wrong parity in a label, `bias` the mean of x_1j x_2j in examples to learn from (theory 2.9).

    >>> Parity(dim=17, heads=4).size, Parity(17, 4, "sharp").size, Parity(17, 4, "wide", bits=5).size
    (4, 7, 5)
    """

    dim: int = described("Features of a token, d; coordinate 0 is the gate.")
    heads: int = described("m: the hidden set has size m (diag), m/2 (dot) or 2m - 1 (sharp, wide).")
    gadget: ParityKind = described("diag, dot, sharp or wide.", "diag")
    sharpness: int = described("r >= 2; beta = 2 ln r (diag, dot).", 8)
    flip: float = described("Probability of a flipped label.", 0.0, same_secret=True)
    bias: float = described("Mean of the products of examples, mu.", 0.0, switch=True, same_secret=True)
    bits: int | None = described("Size of the hidden set (sharp, wide); 2m - 1 if absent.", None, switch=True)
    balance: bool = described("One head makes C = 0 (sharp, wide); 2m - 3 bits.", False, switch=True)

    name: ClassVar[str] = "parity"
    summary: ClassVar[str] = "hidden parity, hard for statistical queries"
    example: ClassVar[str] = "--dim 64 --heads 12"
    hypothesis: ClassVar[str] = (
        "Unconditional for statistical queries: identifying S among N = C(d-1, s) takes at least 8 tau^2 "
        "(N-1) of them (theory 2.5). Easy for Gaussian elimination (4.1)."
    )
    heads_meaning: ClassVar[str] = (
        "size of the hidden set: s = m (diag), m/2 (dot) or at most 2m - 1 (sharp, wide)"
    )
    linear: ClassVar[type[HiddenSet]] = HiddenSet

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("heads", self.heads, 2, why="one head hides one of the dim - 1 coordinates")
        hidden = bits(self.gadget, self.heads, self.balance)
        several = self.gadget in SEVERAL
        if self.bits is not None and not (several and 1 <= self.bits <= hidden):
            fits = f"from 1 to {hidden}" if several else f"absent for {self.gadget}, which hides {hidden}"
            raise InputError(f"bits must be {fits}, got {self.bits}")
        if self.size > self.dim - 1:
            raise InputError(f"no room for a set of {self.size} in dim - 1 coordinates at dim {self.dim}")
        whole("dim", self.dim, 2, MOST_DIM)
        whole("sharpness", self.sharpness, 2, 2**20)
        if several and self.sharpness != 8:
            raise InputError(f"{self.gadget} heads have sharpnesses of their own; drop sharpness")
        number("flip", self.flip, "[0, 1/2)")
        number("bias", self.bias, "[0, 1)")

    @property
    def size(self) -> int:
        """Return the size s of the hidden set."""
        return self.bits or bits(self.gadget, self.heads, self.balance)

    @property
    def sets(self) -> ParityConcepts:
        return ParityConcepts(self.dim - 1, self.size)

    def concepts(self) -> ParityConcepts | None:
        return None if self.bias else self.sets

    def log2_secrets(self) -> float:
        return log2(self.sets.size)

    def model_secret(self) -> Secret:
        """Return the set of the first s coordinates: the layers of all other secrets only have coordinates permuted."""
        return {"support": np.arange(1, self.size + 1)}

    def draw(self, rng: np.random.Generator) -> Secret:
        """Return a uniform hidden set, {"support": s ascending coordinates in 1..d-1}."""
        return {"support": np.sort(1 + rng.choice(self.dim - 1, self.size, replace=False)).astype(np.int64)}

    def check(self, secret: Secret) -> None:
        expect(secret, {"support": ("<i8", (self.size,))})
        if secret["support"].min() < 1 or secret["support"].max() >= self.dim:
            raise InputError(f"the secret's support must lie in 1..{self.dim - 1}")

    def realize(self, secret: Secret) -> Gadget:
        """Return heads that give the parity of the hidden set's coordinates where tokens differ (theorems 1.2, 1.5)."""
        weights = np.isin(np.arange(self.dim), secret["support"]).astype(int).tolist()
        if several := SEVERAL.get(self.gadget):
            made: Gadget = several.exact(weights, self.heads, self.balance)
            return made
        return gadget.exact(self.gadget, weights, *levels(self.gadget, self.size), self.sharpness)

    def column_values(self, teacher: Gadget, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each token pair a constant plus its parity ±1, flipped where uniform `noise` (n,) < `flip`."""
        value = teacher.value(teacher.levels(words))
        if not self.flip:
            return value
        # The very floats of the table: 2A - value would tell flipped labels by their last bit.
        even, odd = teacher.values[:2]
        return np.where(noise < self.flip, np.where(value == even, odd, even), value)

    def certificate(self, teacher: Gadget) -> dict[str, Any]:
        """Return what is proved of the layer: labels are exactly ±1 plus a constant A, by theorem 1.2 or 1.5."""
        several = SEVERAL.get(self.gadget)
        sizes = np.abs(teacher.coefficients)
        total = {"sum_abs_coefficients": float(sizes.sum())} if several else {}
        return {
            "method": several.METHOD if several else "theorem 1.2, exact over Q",
            "beta": teacher.beta,
            "A": teacher.offset,
            "C": teacher.gate,
            "max_abs_coefficient": float(sizes.max()),
            **total,
            "error_mass": 0.0,
            "log2_concepts": self.log2_secrets(),
        }

    def verify(self, teacher: Gadget, secret: Secret) -> Checks:
        """Return [(name, passed, detail)] of checking theorem 1.2 or 1.5 anew at every sum of the hidden set's bits."""
        if several := SEVERAL.get(self.gadget):
            return [("certificate", *several.proved(self.heads, self.size, self.balance))]
        _, targets = levels(self.gadget, self.size)
        rest = gadget.residual(targets, self.sharpness)
        numbers = "Q" if self.heads <= gadget.EXACT_HEADS else f"the field of {gadget.SAFE_PRIME} elements"
        detail = f"theorem 1.2 at {len(targets)} levels, residual {rest} over {numbers}"
        return [("certificate", rest == 0, detail)]
