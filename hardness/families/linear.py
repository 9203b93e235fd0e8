"""Hidden linear equations: how labels show ⟨w, a⟩ mod q, stated by the families whose secret is such a w."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.gadgets.levels import bits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Public = Mapping[str, Any]


class LinearLabels(Protocol):
    """How labels show the level ⌊p t/q⌋ of t = ⟨w, a⟩ mod q, and how files write w: what attacks ask of a family.

    `public` is what stands beside examples; `requires` names what of it must be there.
    """

    @property
    def requires(self) -> tuple[str, ...]:
        """Public parameters without which nothing follows from labels."""

    def sizes(self, public: Public) -> tuple[int, int]:
        """q and p."""

    def weight(self, public: Public) -> int | None:
        """How many coordinates of w are not 0, where that is public."""

    def heads(self, public: Public) -> int | None:
        """The number of heads, where labels stop being right beyond what so many reach; None where all are right."""

    def levels(self, values: Floats) -> Floats:
        """The levels of informative labels (N,) less their offset A; no integers from 0 to p - 1 where it is none."""

    def values(self, levels: Integers) -> NDArray[Any]:
        """The same back: labels less A, without noise."""

    def write(self, w: Integers) -> dict[str, list[int]]:
        """w (n,), centred in (-q/2, q/2], as files write this family's secrets."""

    def read(self, secret: Mapping[str, Any], n: int) -> Integers:
        """w (n,) of such a secret. Raises `LookupError`, `TypeError` or `ValueError` for what is none."""


@dataclass(frozen=True)
class Signs:
    """Labels A + (-1)^t of a sum t of bits: q = p = 2, and the secret is the support of w in coordinates 1..n.

    >>> SIGNS.levels(np.array([1.0, -1.0])).tolist(), SIGNS.write(np.array([0, 1, 1]))
    ([0.0, 1.0], {'support': [2, 3]})
    """

    requires: tuple[str, ...] = ("heads",)

    def sizes(self, public: Public) -> tuple[int, int]:
        """2 and 2."""
        return 2, 2

    def weight(self, public: Public) -> int:
        """s, as the heads hide it where it is not stated; with `balance` one head makes C = 0 and hides no bits."""
        heads, balance = int(public["heads"]), bool(public.get("balance"))
        return int(public.get("bits") or bits(public["gadget"], heads, balance))

    def heads(self, public: Public) -> None:
        """Every label is right."""

    def levels(self, values: Floats) -> Floats:
        """t of (-1)^t."""
        return (1 - values) / 2

    def values(self, levels: Integers) -> Integers:
        """(-1)^t."""
        return 1 - 2 * levels

    def write(self, w: Integers) -> dict[str, list[int]]:
        """The support, ascending from 1."""
        return {"support": [int(j) + 1 for j in np.flatnonzero(w)]}

    def read(self, secret: Mapping[str, Any], n: int) -> Integers:
        """The indicator of the support."""
        w = np.zeros(n, dtype=np.int64)
        w[np.array(secret["support"], dtype=np.int64) - 1] = 1
        return w


@dataclass(frozen=True)
class Levels:
    """Labels A + ⌊p t/q⌋ of t mod q; the secret is w, centred in (-q/2, q/2].

    >>> LEVELS.read({"w": [0, -3, 3]}, 3).tolist()
    [0, -3, 3]
    """

    requires: tuple[str, ...] = ("modulus", "levels")

    def sizes(self, public: Public) -> tuple[int, int]:
        """q and p as they are stated."""
        return int(public["modulus"]), int(public["levels"])

    def weight(self, public: Public) -> int | None:
        """That of a sparse secret."""
        return None if public.get("weight") is None else int(public["weight"])

    def heads(self, public: Public) -> int | None:
        """As stated, but for exact instances, which have a head between every two levels."""
        return None if public.get("exact") else public.get("heads")

    def levels(self, values: Floats) -> Floats:
        """The labels themselves."""
        return values

    def values(self, levels: Integers) -> Integers:
        """The levels themselves."""
        return levels

    def write(self, w: Integers) -> dict[str, list[int]]:
        """w itself."""
        return {"w": w.tolist()}

    def read(self, secret: Mapping[str, Any], n: int) -> Integers:
        """w itself."""
        w = np.zeros(n, dtype=np.int64)
        w[:] = secret["w"]
        return w


SIGNS, LEVELS = Signs(), Levels()
