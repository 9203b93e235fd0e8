"""Hidden parity: the family every statistical-query algorithm needs many queries for (theory 1.1-1.3, 2.5)."""

from dataclasses import dataclass, field
from math import log2
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families import Secret, check_types, expect
from hardness.families.concepts import ParityConcepts
from hardness.gadgets import coefficients as gadget
from hardness.gadgets.coefficients import Gadget, Kind
from hardness.tokens import Words

MOST_DIM = 2**31


@dataclass(frozen=True)
class Parity:
    """Labels that are exactly the parity χ_S of the coordinates in which the two tokens differ.

    `dim` d, the hidden set S of `size` s lies in coordinates 1..d-1; `heads` m = s (gadget `diag`) or 2s (`dot`),
    m >= 2; `sharpness` r >= 2 sets β = 2 ln r; `flip` in [0, 1/2) is the probability that the sign of the parity
    part of an informative label is flipped; `bias` μ in [0, 1) is the mean of the products v_j of the examples that are
    learned from (theory 2.9; judged on are fair ones). Raises `InputError` on anything else.

    >>> Parity(dim=17, heads=4).size
    4
    """

    dim: int = field(metadata={"help": "Features of a token, d; coordinate 0 is the gate."})
    heads: int = field(metadata={"help": "m: the hidden set has size m (diag) or m/2 (dot)."})
    gadget: Kind = field(default="diag", metadata={"help": "diag or dot."})
    sharpness: int = field(default=8, metadata={"help": "r >= 2; beta = 2 ln r."})
    flip: float = field(default=0.0, metadata={"help": "Probability of a flipped label."})
    bias: float = field(default=0.0, metadata={"help": "Mean of the products of examples, mu.", "switch": True})

    name: ClassVar[str] = "parity"
    summary: ClassVar[str] = "hidden parity, hard for statistical queries"
    hypothesis: ClassVar[str] = (
        "None: unconditional against statistical queries. Identifying S among N = C(d-1, s) sets takes at least "
        "8 tau^2 (N - 1) queries of tolerance tau (Parseval bound, well known since Kearns and Blum et al. 1994, "
        "with this lab's constants). It is not hard otherwise: without label noise, Gaussian elimination finds S "
        "from about 2(d + 10) examples; with label noise that attack slows like learning parity with noise."
    )
    heads_meaning: ClassVar[str] = "size of the hidden set: s = m (diag) or m/2 (dot)"
    example: ClassVar[str] = "--dim 64 --heads 12"

    def __post_init__(self) -> None:
        check_types(self)
        if self.heads < 2:
            raise InputError(f"heads must be at least 2, got {self.heads}")
        if self.dim < 2 or self.size > self.dim - 1:
            raise InputError(
                f"heads must leave room for a hidden set of size {self.size} in the dim - 1 = {self.dim - 1} "
                f"secret coordinates, got heads {self.heads} at dim {self.dim}; raise dim or lower heads"
            )
        if self.dim > MOST_DIM:
            raise InputError(f"dim must be at most 2^31, got {self.dim}")
        if not 2 <= self.sharpness <= 2**20:
            raise InputError(f"sharpness must be an integer from 2 to 2^20, got {self.sharpness}")
        if not 0 <= self.flip < 0.5:
            raise InputError(f"flip must be a probability in [0, 1/2), got {self.flip}")
        if not 0 <= self.bias < 1:
            raise InputError(f"bias must be in [0, 1), got {self.bias}")

    @property
    def size(self) -> int:
        """s = |S|."""
        return gadget.size_of(self.heads, self.gadget)

    @property
    def tokens(self) -> int:
        return 2

    def cost(self) -> dict[str, float]:
        """Predicted seconds and bytes of `realize`: O(m^2) operations on numbers of O(m^2 log r) bits."""
        exact = self.heads <= gadget.EXACT_HEADS
        seconds = 4e-8 * self.heads**4 if exact else 4e-5 * self.heads**2
        return {"seconds": seconds, "bytes": 2000.0 * self.heads**2}

    def concepts(self) -> ParityConcepts:
        """The parities of s out of d - 1 bits."""
        return ParityConcepts(self.dim - 1, self.size)

    def draw(self, rng: np.random.Generator) -> Secret:
        """A uniform hidden set: {"support": ascending coordinates in 1..d-1}."""
        return {"support": np.sort(1 + rng.choice(self.dim - 1, self.size, replace=False)).astype(np.int64)}

    def check(self, secret: Secret) -> None:
        """Raise `InputError` for arrays that are no hidden set: {"support": (s,) coordinates 1..d-1}."""
        expect(secret, {"support": ("<i8", (self.size,))})
        if secret["support"].min() < 1 or secret["support"].max() >= self.dim:
            raise InputError(f"the secret's support must lie in 1..{self.dim - 1}")

    def _levels(self) -> tuple[list[int], list[int]]:
        low = 0 if self.gadget == "diag" else -self.size
        levels = list(range(low, self.size + 1))
        return levels, [1 - 2 * (t % 2) for t in levels]

    def realize(self, secret: Secret) -> Gadget:
        """The heads whose level counts the differing coordinates in S, mod 2 (theorem 1.2)."""
        weights = np.zeros(self.dim, dtype=np.int64)
        weights[secret["support"]] = 1
        return gadget.exact(self.gadget, weights.tolist(), *self._levels(), self.sharpness)

    def labels(self, teacher: Gadget, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Labels (n, 2, d): x_a[0] (A + χ_S) where z_0 != 0, the sign of χ_S flipped where noise < flip."""
        value = teacher.value(teacher.levels(words))
        # The very floats of the table: 2A - value would tell flipped labels by their last bit.
        even, odd = teacher.values[:2]
        return teacher.place(words, np.where(noise < self.flip, np.where(value == even, odd, even), value))

    def certificate(self, teacher: Gadget) -> dict[str, Any]:
        """What is proved of the teacher: labels exactly A ± 1 by theorem 1.2."""
        return {
            "method": "theorem 1.2, exact over Q",
            "beta": teacher.beta,
            "A": teacher.offset,
            "C": teacher.gate,
            "max_abs_coefficient": float(np.abs(teacher.coefficients).max()),
            "error_mass": 0.0,
            "log2_concepts": _log2_binomial(self.dim - 1, self.size),
        }

    def verify(self, teacher: Gadget, secret: Secret) -> list[tuple[str, bool, str]]:
        """Re-check the certificate: secret in range, and theorem 1.2 at every level."""
        support = secret["support"]
        inside = len(set(support.tolist())) == self.size and support.min() >= 1 and support.max() < self.dim
        rest = gadget.residual(*self._levels(), self.sharpness)
        field = "Q" if self.heads <= gadget.EXACT_HEADS else f"the field of {gadget.SAFE_PRIME} elements"
        return [
            ("secret", bool(inside), f"{self.size} distinct coordinates in 1..{self.dim - 1}"),
            (
                "certificate",
                rest == 0,
                f"theorem 1.2 at {self.heads + 1} levels, residual {rest} over {field}",
            ),
        ]


def _log2_binomial(n: int, k: int) -> float:
    from math import comb

    return log2(comb(n, k))
