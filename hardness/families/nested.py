"""Nested parities: a hidden parity whose intermediate values are shown too, a block at a time (theory 2.9)."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.base import Checks, Family, Secret, expect
from hardness.families.parity import Parity, levels
from hardness.gadgets import coefficients as gadget
from hardness.gadgets.coefficients import Gadget, Kind, NestedGadget
from hardness.gadgets.levels import blocks_of
from hardness.io.fields import whole


@dataclass(frozen=True)
class Nested(Family):
    """Labels χ_S of a hidden set S of `size` s in column 0, and χ_{S_i} in column i of the chain S_1 ⊂ S_2 ⊂ … ⊂ S.

    The chain grows by `block` g coordinates at a time, the last one by what is left; g = s shows the parity alone,
    and then labels are those of `parity` bit for bit. All on one gate, from one layer. `gadget` and `sharpness` as of
    `parity`. No `concepts`: games on chains are played block by block (study `switches`). Raises `InputError` on
    anything else.

    >>> Nested(dim=17, size=6, block=2).blocks
    (2, 2, 2)
    """

    dim: int = field(metadata={"help": "Features of a token, d; coordinate 0 is the gate."})
    size: int = field(metadata={"help": "s: coordinates of the hidden set."})
    block: int = field(metadata={"help": "g: by how many coordinates the chain of shown parities grows."})
    gadget: Kind = field(default="diag", metadata={"help": "diag or dot."})
    sharpness: int = field(default=8, metadata={"help": "r >= 2; beta = 2 ln r."})

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
        whole("dim", self.dim, 3)
        whole("size", self.size, 2, self.dim - 1, f"dim is {self.dim}")
        whole("block", self.block, 1, self.size, f"size is {self.size}")
        self._task()  # what is left is checked as of a parity

    def _task(self) -> Parity:
        heads = self.size * (2 if self.gadget == "dot" else 1)
        return Parity(self.dim, heads, self.gadget, self.sharpness)

    @property
    def blocks(self) -> tuple[int, ...]:
        """|B_1|, …, |B_L|: by how many coordinates each shown parity exceeds the one before."""
        return blocks_of(self.size, self.block)

    def draw(self, rng: np.random.Generator) -> Secret:
        """A uniform hidden set as of `parity`, "support" (s,) ascending, and "order" (s,), the chain's coordinates."""
        support = self._task().draw(rng)["support"]
        return {"support": support, "order": rng.permutation(support)}

    def check(self, secret: Secret) -> None:
        """Raise `InputError` for arrays that are no chain: `support` and `order`, both (s,), the same coordinates."""
        expect(secret, {"support": ("<i8", (self.size,)), "order": ("<i8", (self.size,))})
        support = secret["support"].tolist()
        if (
            min(support) < 1
            or max(support) >= self.dim
            or sorted(secret["order"].tolist()) != sorted(support)
        ):
            raise InputError(f"the chain must order the secret's support in 1..{self.dim - 1}")

    def model_secret(self) -> Secret:
        """Return the first s coordinates in their order: another chain permutes them."""
        first = np.arange(1, self.size + 1)
        return {"support": first, "order": first}

    def realize(self, secret: Secret) -> NestedGadget:
        """The heads of every shown parity, by theorem 1.2."""
        return self.from_gadget(self._parity(secret["support"]), secret)

    def from_gadget(self, gadget: Gadget, secret: Secret) -> NestedGadget:
        """The task's gadget over those of the chain: what a file holds is the task's."""
        ends = np.cumsum(self.blocks)[:-1]
        return NestedGadget(**vars(gadget), blocks=tuple(self._parity(secret["order"][:end]) for end in ends))

    def _parity(self, support: NDArray[np.int64]) -> Gadget:
        weights = np.isin(np.arange(self.dim), support).astype(int).tolist()
        return gadget.exact(self.gadget, weights, *levels(self.gadget, len(support)), self.sharpness)

    def certificate(self, teacher: NestedGadget) -> dict[str, Any]:
        """Return what is proved: every shown label is exactly A ± 1 by theorem 1.2, A_i and C_i in column i."""
        parities = (teacher, *teacher.blocks)
        offsets = {f"A_{i}": block.offset for i, block in enumerate(teacher.blocks, 1)}
        gates = {f"C_{i}": block.gate for i, block in enumerate(teacher.blocks, 1)}
        return {
            "method": "theorem 1.2, exact over Q, for every shown parity",
            "blocks": " + ".join(map(str, self.blocks)),
            "beta": teacher.beta,
            "A": teacher.offset,
            "C": teacher.gate,
            **offsets,
            **gates,
            "max_abs_coefficient": max(float(np.abs(one.coefficients).max()) for one in parities),
            "error_mass": 0.0,
        }

    def verify(self, teacher: NestedGadget, secret: Secret) -> Checks:
        """Check again: secret in range, chain nested, and theorem 1.2 at every level of every parity."""
        support, order = secret["support"], secret["order"]
        chain = [set(np.flatnonzero(one.weights).tolist()) for one in (*teacher.blocks, teacher)]
        grown = [len(chain[0]), *(len(b - a) for a, b in pairwise(chain))]
        nested = all(a < b for a, b in pairwise(chain)) and grown == list(self.blocks)
        inside = set(order.tolist()) == set(support.tolist()) == chain[-1] and min(support) >= 1
        sizes = np.cumsum(self.blocks).tolist()
        rests = [gadget.residual(*levels(self.gadget, size), self.sharpness) for size in sizes]
        return [
            ("secret", bool(inside), f"{self.size} distinct coordinates in 1..{self.dim - 1}"),
            ("chain", nested, f"nested sets that grow by {', '.join(map(str, self.blocks))}"),
            ("certificate", not any(rests), f"theorem 1.2 for {len(sizes)} parities, residual {max(rests)}"),
        ]
