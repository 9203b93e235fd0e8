"""A rounded modular inner product: learning with rounding as an attention layer (theory 1.4, 2.6)."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb, log2
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.base import Checks, Family, Secret, described, expect
from hardness.families.concepts import RoundingConcepts
from hardness.families.linear import HiddenVector
from hardness.gadgets import coefficients as gadget
from hardness.gadgets import modular
from hardness.gadgets.coefficients import Gadget, Kind
from hardness.io.fields import number, whole
from hardness.tokens import Words

MAX_EXACT_HEADS = 512
MAX_CERTIFICATE_BYTES, MAX_COUNTED_BYTES = 2**30, 2**25  # of level counts; where few heads ask for these


@dataclass(frozen=True)
class Rounding(Family):
    """Layers whose labels show the rounded residue floor(p (t mod q)/q) of t = <w, a>, w being secret in Z_q^(d-1).

    With z half the difference of two tokens, a is |z| for the gadget diag and z_0 z for dot. `modulus` is q, from 2 to
    2^20, and `levels` p, from 2 to q; `weight` is the number of non-zeros of a sparse secret. Each head makes one
    change of the label as t grows: `heads` consecutive ones nearest the mean of t, from label 0 on; None takes the
    least multiple of p for which every label is right. `noise` is the standard deviation of the rounded Gaussian added
    to t. `exact` gives theorem 1.2's heads, one between every two values of t that any secret can reach.
    """

    dim: int = described("Features of a token, d; coordinate 0 is the gate.", 17)
    modulus: int = described("q, 2 or more.", 97)
    levels: int = described("p, from 2 to q.", 2)
    weight: int | None = described("Non-zeros of a sparse secret; dense if absent.", None)
    gadget: Kind = described("diag or dot.", "diag")
    heads: int | None = described(
        "m; the fewest without error if absent, in turns of p. m does not drive the hardness, d does; "
        "few heads label some inputs wrongly.",
        None,
    )
    noise: float = described("Standard deviation of the rounded noise on the level.", 0.0, same_secret=True)
    exact: bool = described("Exact over Q: one head a level, small sizes.", False)

    name: ClassVar[str] = "rounding"
    summary: ClassVar[str] = "rounded modular inner product (LWR-based)"
    example: ClassVar[str] = "--dim 513 --modulus 257 --levels 2 --heads 90"
    hypothesis: ClassVar[str] = (
        "Unconditional for statistical queries and dense secrets (theory 2.6). For all algorithms: learning "
        "with rounding; at lab sizes lattices and BKW win (theory 4.2, 4.3)."
    )
    heads_meaning: ClassVar[str] = (
        "level changes kept: dense dimension n up to about 12 (m/(lambda p))^2 fits m heads"
    )
    linear: ClassVar[type[HiddenVector]] = HiddenVector

    def __post_init__(self) -> None:
        super().__post_init__()
        modular.check(self.modulus, self.levels, self.heads)
        whole("dim", self.dim, 2)
        if self.weight is not None:
            whole("weight", self.weight, 1, self.dim - 1, "the secret has dim - 1 coordinates")
        if self.exact and self.heads is not None:
            raise InputError("heads follow from dim and modulus in exact mode; drop heads or exact")
        number("noise", self.noise, "[0, inf)")
        if self.exact and 2 * self._farthest > MAX_EXACT_HEADS:
            raise InputError(f"exact mode takes at most {MAX_EXACT_HEADS} heads, here {2 * self._farthest}")
        # Bytes of `level_counts`, typically
        counted = 3 * self._reach * self.modulus / 4 * (self._reach / 8 + 1)
        if counted > (MAX_CERTIFICATE_BYTES if self.heads is None else MAX_COUNTED_BYTES):
            raise InputError(f"counts of levels need {counted / 2**30:.1f} GiB; lower dim, modulus or weight")

    @property
    def _reach(self) -> int:
        """Return the largest less the smallest t = ⟨w, a⟩ over public vectors a, for a w whose non-zeros are all ±1."""
        return (self.weight or self.dim - 1) * (2 if self.gadget == "dot" else 1)

    @property
    def _farthest(self) -> int:
        """Return the largest |t|, t = ⟨w, a⟩ before it is rounded, over all secrets w and public vectors a."""
        return (self.weight or self.dim - 1) * (self.modulus // 2)

    def log2_secrets(self) -> float:
        n, h, q = self.dim - 1, self.weight, self.modulus
        return n * log2(q) if h is None else log2(comb(n, h)) + h * log2(q - 1)

    @property
    def heads_follow(self) -> bool:
        return self.heads is None and not self.exact

    def heads_shown(self, teacher: Gadget) -> int:
        """Return the number of heads; where it depends on the secret, a number that suffices for any secret."""
        if not self.heads_follow:
            return int(teacher.heads)
        cells = self._reach * (self.modulus // 2) * self.levels // self.modulus + self.levels
        return self.levels * -(-cells // self.levels)

    def certificate_shown(self, certificate: dict[str, Any]) -> dict[str, Any]:
        """Return a certificate to publish: if `heads` is set, without the chance of a wrong label, which tells of w."""
        return certificate if self.heads is None else {**certificate, "error_mass": None}

    def concepts(self) -> RoundingConcepts | None:
        """Return the class of dense secrets (theory 2.6), with labels of `heads` heads if set; None if sparse."""
        if self.weight is not None:
            return None
        return RoundingConcepts(self.dim - 1, self.modulus, self.levels, self.gadget, self.heads)

    def draw(self, rng: np.random.Generator) -> Secret:
        """Return a secret {"w": (d-1,) residues centred about 0}, uniform, or with `weight` non-zeros if set."""
        n = self.dim - 1
        if self.weight is None:
            return {"w": modular.centred(modular.draw(self.modulus, n, rng), self.modulus)}
        w = np.zeros(n, dtype=np.int64)
        places = rng.choice(n, self.weight, replace=False)
        w[places] = modular.centred(modular.draw(self.modulus, self.weight, rng, low=1), self.modulus)
        return {"w": w}

    def check(self, secret: Secret) -> None:
        expect(secret, {"w": ("<i8", (self.dim - 1,))})
        if np.abs(secret["w"]).max() >= self.modulus:
            raise InputError(f"the secret's w must hold residues mod {self.modulus}")

    def realize(self, secret: Secret) -> Gadget:
        """Return heads that give the rounded residue: steep ones (β = 80), or exact ones of theorem 1.2 if `exact`."""
        weights = [0, *secret["w"].tolist()]
        if self.exact:
            levels = self._levels()
            return gadget.exact(self.gadget, weights, levels, self._ideal(levels).tolist(), sharpness=8)
        low, high = gadget.level_range(self.gadget, weights)
        q, p, heads = self.modulus, self.levels, self.heads
        if heads is not None:
            first = modular.nearest_changes((low + high) / 2, heads, q, p)
        else:
            # From the change next above low or one below it, so that the cell of every level has its label. Whole turns
            # of the levels, so that A = C = 0: other numbers would tell how many heads the secret takes.
            cell = modular.cell(low, q, p)
            first = cell + 1 - cell % p
            heads = p * max(1, -(-(modular.cell(high, q, p) - first + 1) // p))
        changes = modular.change(first + np.arange(heads), q, p)
        return gadget.saturated(self.gadget, weights, changes - 0.5, np.arange(heads + 1) % p)

    def _levels(self) -> list[int]:
        """Return every t = ⟨w, a⟩ that any secret w reaches: heads made for all of them betray no w (theory 1.4)."""
        return list(range(-self._farthest, self._farthest + 1))

    def _ideal(self, t: Any) -> NDArray[np.int64]:
        return np.asarray(modular.level(np.asarray(t), self.modulus, self.levels))

    def open_values(self, teacher: Gadget, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers (n,) that fix labels of packed token pairs (gadget diag); raise `InputError` for dot."""
        if self.gadget == "dot":
            raise InputError(f"labels of {self.name} are no function of the bits in which two tokens differ")
        return self.column_values(teacher, words, noise)

    def column_values(self, teacher: Gadget, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each token pair's label value (n,) at ⟨w, a⟩ + e, e rounded N(0, self.noise²) by uniform `noise`."""
        t = teacher.levels(words)
        if self.noise:
            from scipy.special import ndtri

            t = t + np.rint(self.noise * ndtri(noise)).astype(np.int64)
        return teacher.value(t)

    def certificate(self, teacher: Gadget) -> dict[str, Any]:
        """Return what is proved of the layer: its outputs' distance to exact labels, and how likely one is wrong."""
        # Without `heads` they cover all levels, and each cell has its label (`realize`).
        mass = 0 if self.exact or self.heads is None else self._error_mass(teacher)
        steps = "saturated steps (theory 1.4), exact level counts"
        return {
            "method": "theorem 1.2, exact over Q" if self.exact else steps,
            "beta": teacher.beta,
            "A": teacher.offset,
            "C": teacher.gate,
            "label_error": 0.0 if self.exact else gadget.saturation_error(teacher),
            "error_mass": float(mass),
            "log2_concepts": self.log2_secrets(),
        }

    def _error_mass(self, teacher: Gadget) -> Fraction:
        """Return the exact probability that the layer's label is wrong, given that tokens differ in coordinate 0."""
        low, counts, bits = gadget.level_counts(self.gadget, teacher.weights.tolist())
        t = np.arange(low, low + len(counts))
        wrong = np.flatnonzero(teacher.value(t) != teacher.offset + self._ideal(t))
        return Fraction(sum(counts[i] for i in wrong), 2**bits)

    def verify(self, teacher: Gadget, secret: Secret) -> Checks:
        """Return [(name, passed, detail)]: theorem 1.2 at every t = ⟨w, a⟩ if `exact`, else the label error is tiny."""
        if self.exact:
            targets = self._ideal(self._levels()).tolist()
            rest = gadget.residual(targets, sharpness=8)
            return [("certificate", rest == 0, f"theorem 1.2 at {len(targets)} levels, residual {rest}")]
        error = gadget.saturation_error(teacher)
        detail = f"labels within {error:.1e} of their cells' values"
        return [("certificate", error <= 1e-15 * self.levels, detail)]
