"""Concept classes: what statistical-query theory needs of a family: size, enumeration, labels.

Each has a `kind`, which says what bounds and strategies there are for it, a `size` N, its `elements` as
games number them, and `is_identified` (whether those left all give the same labels).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.gadgets import modular
from hardness.gadgets.coefficients import Kind
from hardness.io.fields import whole

ENUMERATED = 2**28  # labels of a class on every input: bytes
LISTED = 2**11  # concepts whose Gram matrix is decomposed: seconds
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class ParityConcepts:
    """The class of parities of sets S of s out of n bits, in order of their masks, colex (theory 2.5).

    The mask of S has bit j set iff coordinate j is in S (bit 0 is the layer's coordinate 1). It is a Python integer for
    any n, and uint64 in arrays, for n <= 64. Raises `InputError` unless 1 <= s <= n.

    >>> class_ = ParityConcepts(5, 2)
    >>> class_.size, class_.masks(0, 4).tolist(), class_.unrank(9) == 0b11000
    (10, [3, 5, 6, 9], True)
    """

    kind: ClassVar[str] = "parity"
    n: int
    s: int

    def __post_init__(self) -> None:
        if not 1 <= self.s <= self.n:
            raise InputError(f"a parity of {self.s} out of {self.n} bits does not exist; need 1 <= s <= n")

    @cached_property
    def size(self) -> int:
        return comb(self.n, self.s)

    @property
    def label(self) -> str:
        return f"parity of {self.s} out of {self.n} bits"

    def unrank(self, rank: int) -> int:
        """Return the bit mask of the set at place `rank`, from 0, in colex order of all sets of s out of n bits."""
        mask, position = 0, self.n
        for order in range(self.s, 0, -1):
            position -= 1
            while comb(position, order) > rank:
                position -= 1
            mask |= 1 << position
            rank -= comb(position, order)
        return mask

    def masks(self, start: int = 0, count: int | None = None) -> NDArray[np.uint64]:
        """Return sets of colex ranks start..start+count-1 (or to the end), uint64 masks; `InputError` if n > 64."""
        from hardness.kernels import bits as kernels

        if self.n > 64:
            raise InputError(f"arrays of sets need n <= 64, got n={self.n}")
        count = self.size - start if count is None else count
        out = np.empty(count, np.uint64)
        if count:
            kernels.enumerate_masks(np.uint64(self.unrank(start)), out)
        return out

    def elements(self) -> NDArray[np.uint64]:
        return self.masks()

    def is_identified(self, live: NDArray[np.uint64]) -> bool:
        return len(live) == 1


@dataclass(frozen=True)
class RoundingConcepts:
    """The class of labels floor(p (<w, u> mod q)/q) of vectors u, one for each secret w in Z_q^n (theory 2.6).

    For diag u is uniform in {0,1}^n, for dot entries are -1, 0, 1 of probability 1/4, 1/2, 1/4. Elements are rows w of
    residues, int16, in order of rank, the first entry changing fastest. With `heads` the labels are what that many
    heads compute (theory 1.4). Raises `InputError` unless n >= 1, q >= 2, 2 <= p <= q and heads >= 2.

    >>> concepts = RoundingConcepts(2, 3, 2)
    >>> concepts.size, concepts.elements()[:4].tolist(), concepts.labels(concepts.elements()[[5]]).tolist()
    (9, [[0, 0], [1, 0], [2, 0], [0, 1]], [[0, 1, 0, 0]])
    """

    kind: ClassVar[str] = "rounding"
    n: int
    q: int
    p: int
    gadget: Kind = "diag"
    heads: int | None = None

    def __post_init__(self) -> None:
        whole("n", self.n, 1, why="n = dim - 1")
        modular.check(self.q, self.p, self.heads)

    @property
    def size(self) -> int:
        return int(self.q**self.n)

    def elements(self) -> NDArray[np.int16]:
        """Return all secrets w, int16 (q^n, n). Raises `InputError` if a table of all labels would exceed 1 GiB."""
        table = self.size * (2 if self.gadget == "diag" else 3) ** self.n
        if table > 2**30 or self.q > 2**15:
            raise InputError(
                f"a game on {self.size:.1e} secrets needs more than 1 GiB of labels; lower --dim"
            )
        return (np.arange(self.size)[:, None] // self.powers % self.q).astype(np.int16)

    @property
    def powers(self) -> NDArray[np.int64]:
        """Return 1, q, …, q^(n-1): a secret's inner product with these is its rank, its row in `elements`."""
        return np.asarray(self.q ** np.arange(self.n))

    def public(self) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Return all U input vectors u of bits or -1, 0, 1, int8 (U, n), and their probabilities (U,)."""
        base, low = (2, 0) if self.gadget == "diag" else (3, -1)
        vectors = (np.arange(base**self.n)[:, None] // base ** np.arange(self.n) % base + low).astype(np.int8)
        odds = np.where(vectors == 0, 0.5, 0.5 if base == 2 else 0.25)
        return vectors, np.asarray(odds.prod(axis=1))

    def labels(self, elements: NDArray[np.int16]) -> NDArray[np.uint8]:
        """Return the label 0..p-1 of each of the U inputs under each of the secrets (count, n), uint8 (count, U)."""
        centred = modular.centred(elements.astype(np.int64), self.q)
        # Inner products stay far below 2^24, so the fast product in float32 is exact.
        t = (centred.astype(np.float32) @ self.public()[0].T.astype(np.float32)).astype(np.int64)
        return self.level(t, centred).astype(np.uint8)

    def level(self, t: NDArray[np.int64], centred: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the labels 0..p-1 at inner products t (count, …) of secrets `centred` (count, n) in (-q/2, q/2]."""
        cells = modular.cell(t, self.q, self.p)
        if self.heads is not None:
            means = centred.sum(axis=1) / 2 if self.gadget == "diag" else np.zeros(len(centred))
            distinct, which = np.unique(means, return_inverse=True)
            first = [modular.nearest_changes(mean, self.heads, self.q, self.p) for mean in distinct.tolist()]
            cells = np.clip(cells - np.array(first)[which, None] + 1, 0, self.heads)
        return np.asarray(cells % self.p)

    def is_identified(self, live: NDArray[np.int16]) -> bool:
        rows, table = live @ self.powers, self.label_table
        first = table[rows[0]]
        return bool((table[rows[-1]] == first).all() and (table[rows] == first).all())

    @cached_property
    def label_table(self) -> NDArray[np.uint8]:
        """Return the labels of each of the U inputs under all secrets in order of rank, uint8 (q^n, U)."""
        elements = self.elements()
        return np.concatenate([self.labels(elements[i : i + 4096]) for i in range(0, len(elements), 4096)])


class ListedConcepts(ABC):
    """A class of functions from n fair signs v to labels ±1, one for each listed secret, for bounds (2.8) and games.

    Derive from it with the number `n` of signs, the list of `secrets` (mappings of arrays, as a family's `draw` makes
    them) and the `values` of each on sign vectors. On the layer's tokens v_j is x_1j x_2j, j from 1, and the labels are
    those of pairs whose tokens differ in coordinate 0. Secrets with equal labels are one concept.

    >>> class Dictators(ListedConcepts):
    ...     n = 3
    ...     def secrets(self):
    ...         return [{"place": np.array(j)} for j in range(3)]
    ...     def values(self, secret, v):
    ...         return v[:, secret["place"]]
    >>> Dictators().size, Dictators().table.shape
    (3, (3, 8))
    """

    kind: ClassVar[str] = "listed"
    n: int

    @abstractmethod
    def secrets(self) -> Sequence[Arrays]:
        """Return a list of all secrets, each a mapping of arrays by name."""

    @abstractmethod
    def values(self, secret: Arrays, v: NDArray[np.int8]) -> NDArray[Any]:
        """Return the labels ±1 (inputs,) that a secret gives to sign vectors v (inputs, n)."""

    @cached_property
    def inputs(self) -> NDArray[np.int8]:
        """Return all sign vectors v, int8 (2^n, n)."""
        return (1 - 2 * (np.arange(2**self.n)[:, None] >> np.arange(self.n) & 1)).astype(np.int8)

    @cached_property
    def table(self) -> NDArray[np.int8]:
        """Return the N distinct rows of labels ±1, int8 (N, 2^n). Raises `InputError` for other labels or over 2^28."""
        secrets = self.secrets()
        if not 0 < len(secrets) * 2**self.n <= ENUMERATED:
            raise InputError(f"{len(secrets)} concepts cannot be listed on 2^{self.n} inputs")
        rows = np.array([self.values(secret, self.inputs) for secret in secrets])
        if rows.shape != (len(secrets), 2**self.n) or not (np.abs(rows) == 1).all():
            raise InputError(f"{type(self).__name__}.values must be +1 or -1, one an input (theory 2.8)")
        return np.unique(rows.astype(np.int8), axis=0)

    @property
    def size(self) -> int:
        return len(self.table)

    def elements(self) -> NDArray[np.int64]:
        return np.arange(self.size)

    def is_identified(self, live: NDArray[np.int64]) -> bool:
        return len(live) == 1


Concepts = ParityConcepts | RoundingConcepts | ListedConcepts
