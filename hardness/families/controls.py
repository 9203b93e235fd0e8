"""Control families: layers that differ from a hidden parity's in one thing, and are easier to learn.

Nested parities show their intermediate values; a tent has other signs; random diagonal layers other numbers.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.base import Checks, Family, Secret, described, expect
from hardness.families.parity import Parity, levels
from hardness.gadgets import coefficients as gadget
from hardness.gadgets.coefficients import Gadget, Kind
from hardness.io.fields import number, whole
from hardness.layer import MultiHeadAttention
from hardness.tokens import TokenStream, Words, gated, unpack_bits

Floats = NDArray[np.float64]
SAMPLE = 1 << 14  # rows over which the variance of a random layer's labels is normalised, to about 1 %


@dataclass(frozen=True, repr=False)
class NestedGadget(Gadget):
    """A gadget with its label in column 0, and others (`blocks`) whose labels stand in columns 1, 2, ….

    The layer has the heads of all of them; a head of block i, counted from 1, writes to column i.
    """

    blocks: tuple[Gadget, ...] = ()

    @property
    def heads(self) -> int:
        return len(self.thresholds) + sum(block.heads for block in self.blocks)

    def labels(self, words: Words) -> Floats:
        Y = super().labels(words)
        for i, block in enumerate(self.blocks, 1):
            Y[:, :, i] = block.labels(words)[:, :, 0]
        return Y

    def layer(self) -> MultiHeadAttention:
        parts = [super().layer(), *(block.layer() for block in self.blocks)]
        w = np.concatenate([np.roll(part.w, i, axis=2) for i, part in enumerate(parts)])
        return MultiHeadAttention(np.concatenate([part.theta for part in parts]), w)


def blocks_of(s: int, g: int) -> tuple[int, ...]:
    """Return s as a sum of blocks of g, the last one being what is left: (2, 2, 1) for s = 5, g = 2."""
    return (g,) * (s // g) + ((s % g,) if s % g else ())


@dataclass(frozen=True)
class Nested(Family):
    """Layers that show the parity of a hidden set S in column 0, and of S_i in column i, for a chain S_1 ⊂ S_2 ⊂ … ⊂ S.

    S has `size` s, and the chain grows by `block` g coordinates at a time; g = s shows one parity, bit for bit that of
    `parity`. All show theirs where tokens differ in coordinate 0. Games are played block by block (theory 2.9).
    """

    dim: int = described("Features of a token, d; coordinate 0 is the gate.")
    size: int = described("s: coordinates of the hidden set.")
    block: int = described("g: by how many coordinates the chain of shown parities grows.")
    gadget: Kind = described("diag or dot.", "diag")
    sharpness: int = described("r >= 2; beta = 2 ln r.", 8)

    name: ClassVar[str] = "nested"
    summary: ClassVar[str] = "hidden parity with intermediate values shown"
    example: ClassVar[str] = "--dim 64 --size 6 --block 2"
    hypothesis: ClassVar[str] = (
        "Unconditional for statistical queries, and easier than parity: queries grow with the largest block, "
        "not with s (theory 2.9). Intermediate values are shown."
    )
    heads_meaning: ClassVar[str] = (
        "heads of all shown parities together: |S_i| each (diag) or twice that (dot)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._task()  # checked as of a parity
        whole("block", self.block, 1, self.size, f"size is {self.size}")

    def _task(self) -> Parity:
        heads = self.size * (2 if self.gadget == "dot" else 1)
        return Parity(self.dim, heads, self.gadget, self.sharpness)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return by how many coordinates each set of the chain S_1 ⊂ S_2 ⊂ … of parities exceeds the one before."""
        return blocks_of(self.size, self.block)

    def draw(self, rng: np.random.Generator) -> Secret:
        """Return a uniform hidden set: "support" (s,) ascending, and "order" (s,), in which nested sets take it up."""
        support = self._task().draw(rng)["support"]
        return {"support": support, "order": rng.permutation(support)}

    def check(self, secret: Secret) -> None:
        expect(secret, dict.fromkeys(("support", "order"), ("<i8", (self.size,))))
        self._task().check({"support": secret["support"]})
        if sorted(secret["order"]) != sorted(secret["support"]):
            raise InputError("the chain must order the secret's support")

    def realize(self, secret: Secret) -> NestedGadget:
        ends = np.cumsum(self.blocks)
        *blocks, task = (self._parity(secret["order"][:end]) for end in ends)
        return NestedGadget(**vars(task), blocks=tuple(blocks))

    def labels(self, teacher: NestedGadget, words: Words, noise: Floats) -> Floats:
        return teacher.labels(words)

    def _parity(self, support: NDArray[np.int64]) -> Gadget:
        weights = np.isin(np.arange(self.dim), support).astype(int).tolist()
        return gadget.exact(self.gadget, weights, *levels(self.gadget, len(support)), self.sharpness)

    def certificate(self, teacher: NestedGadget) -> dict[str, Any]:
        """Return what theorem 1.2 proves: label entry (a, i) is x_a[0] (A_i ± 1), or x_a[0] C_i if x_1[0] = x_2[0]."""
        parities = (teacher, *teacher.blocks)
        return {
            "method": "theorem 1.2, exact over Q, for every shown parity",
            "blocks": " + ".join(map(str, self.blocks)),
            "beta": teacher.beta,
            "A": teacher.offset,
            "C": teacher.gate,
            **{f"A_{i}": block.offset for i, block in enumerate(teacher.blocks, 1)},
            **{f"C_{i}": block.gate for i, block in enumerate(teacher.blocks, 1)},
            "max_abs_coefficient": max(float(np.abs(one.coefficients).max()) for one in parities),
            "error_mass": 0.0,
        }

    def verify(self, teacher: NestedGadget, secret: Secret) -> Checks:
        """Return [(name, passed, detail)] of checking theorem 1.2 anew at each sum of each shown parity's bits."""
        sizes = np.cumsum(self.blocks).tolist()
        rests = [gadget.residual(levels(self.gadget, size)[1], self.sharpness) for size in sizes]
        detail = f"theorem 1.2 for {len(sizes)} parities, residual {max(rests)}"
        return [("certificate", not any(rests), detail)]


@dataclass(frozen=True)
class Tent(Family):
    """The m heads of `parity` with gadget diag: the same Θ, hidden set and |coefficients|, but other signs of these.

    The coefficients of the first ceil(m/2) thresholds are positive and the others negative, so that the label rises up
    to the middle level and then falls. For even m it is symmetric.

    >>> tent = Tent(dim=8, heads=4)
    >>> tent.realize({"support": np.array([1, 2, 3, 4])}).values.round(2).tolist()
    [0.35, 3.09, 5.75, 3.09, 0.35]
    """

    dim: int = described("Features of a token, d; coordinate 0 is the gate.")
    heads: int = described("m: the hidden set has size m.")
    sharpness: int = described("r >= 2; beta = 2 ln r.", 8)

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
        return self._parity.draw(rng)

    def check(self, secret: Secret) -> None:
        self._parity.check(secret)

    def realize(self, secret: Secret) -> Gadget:
        """Return the heads of the hidden set's parity, with signs changed so that the label rises and then falls."""
        parity = self._parity.realize(secret)
        rising = np.arange(self.heads) < -(-self.heads // 2)
        c = np.where(rising, 1, -1) * np.abs(parity.coefficients)
        levels = np.arange(self.heads + 1)[:, None]
        values = np.tanh(parity.beta * (levels - parity.thresholds) / 2) @ c
        if self.heads % 2 == 0:  # symmetric to the last bit, so that levels t and m - t have one label
            values = (values + values[::-1]) / 2
        return replace(parity, coefficients=c, values=values, offset=0.0, gate=float(c.sum()))


@dataclass(frozen=True)
class RandomDiagonal(Family):
    """Random heads with Θ_i = diag(θ_i), θ_ij ~ N(0, r²/d), and W_i = c_i E_00, c_i normal, scaled to label variance 1.

    If tokens differ in coordinate 0, row a has x_a[0] Σ_i c_i tanh(Σ_j θ_ij u_j) in column 0, u_j = 1 iff they do in j.
    """

    dim: int = described("Features of a token, d; coordinate 0 is the gate.")
    heads: int = described("m.")
    scale: float = described("r: entries of Theta are N(0, r^2/d).", 2.0)

    name: ClassVar[str] = "random-diagonal"
    summary: ClassVar[str] = "random heads of the diag gadget's form, the control"
    example: ClassVar[str] = "--dim 16 --heads 4"
    hypothesis: ClassVar[str] = (
        "None: meant to be learnable. The form is that of a hidden parity's heads, diagonal Theta and W = c "
        "E_00, with random numbers in it."
    )
    heads_meaning: ClassVar[str] = "number of independent random heads"
    open_variance: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("dim", self.dim, 2)
        whole("heads", self.heads, 1)
        number("scale", self.scale, "(0, inf)")

    def draw(self, rng: np.random.Generator) -> Secret:
        """Return {"theta": (m, d), "c": (m,)}, c scaled so that labels have variance 1 on a fixed sample of inputs."""
        theta = rng.normal(0, self.scale / self.dim**0.5, (self.heads, self.dim))
        c = rng.normal(size=self.heads)
        words = TokenStream(0, 1, self.dim).packed(0, SAMPLE)[:, 0]
        words[:, 0] |= np.uint64(1)  # the gate's bit
        return {"theta": theta, "c": c / _values(theta, c, words).std()}

    def check(self, secret: Secret) -> None:
        expect(secret, {"theta": ("<f8", (self.heads, self.dim)), "c": ("<f8", (self.heads,))})

    def realize(self, secret: Secret) -> MultiHeadAttention:
        theta, w = np.zeros((2, self.heads, self.dim, self.dim))
        theta[:, range(self.dim), range(self.dim)] = secret["theta"]
        w[:, 0, 0] = secret["c"]
        return MultiHeadAttention(theta, w)

    def labels(self, teacher: MultiHeadAttention, words: Words, noise: Floats) -> Floats:
        Y = np.zeros((len(words), 2, self.dim))
        Y[:, :, 0] = gated(words, self.column_values(teacher, words, noise), self.closed_value(teacher))
        return Y

    def column_values(self, teacher: MultiHeadAttention, words: Words, noise: Floats) -> Floats:
        theta = np.diagonal(teacher.theta, axis1=1, axis2=2)
        return _values(theta, teacher.w[:, 0, 0], words[:, 0] ^ words[:, 1])


def _values(theta: Floats, c: Floats, words: Words) -> Floats:
    """Return Σ_i c_i tanh(⟨θ_i, u⟩) (n,) for bits u packed in `words`; a row's float is the same in any batch."""
    levels = np.zeros((len(words), len(c)))
    bits = unpack_bits(words, theta.shape[1])
    for j in range(theta.shape[1]):
        levels += bits[:, j, None] * theta[:, j]
    return np.asarray(np.sum(np.tanh(levels) * c, axis=1))
