"""Hidden linear equations: what level of ⟨w, a⟩ mod q each informative example shows (theory 1.4).

A family whose secret is such a w names a `Hidden` as its `linear`, which parses its public parameters once.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.gadgets import modular
from hardness.gadgets.coefficients import bits, informative, level_range, public_vectors

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Public = Mapping[str, Any]


@dataclass(frozen=True)
class Hidden(ABC):
    """A hidden equation as public parameters state it: labels show the level ⌊p t/q⌋ of t = ⟨w, a⟩ mod q.

    a (n,) is u in {0,1}ⁿ for diag, z₀·z in {-1,0,1}ⁿ for dot. Where z₀ ≠ 0 row i of a label is x_i[0] (A + what shows
    the level), elsewhere x_i[0] C, in column 0. `sparsity` is the public number of non-zeros of w, `flip` the
    probability that a parity's sign is wrong, `noise` the standard deviation of the noise on t, and `heads` the number
    of heads where their levels may stop short of the range (`span`). A, C and `dim` are None where they are not known.
    """

    q: int
    p: int
    gadget: Any  # diag, dot, sharp or wide
    sparsity: int | None
    heads: int | None
    flip: float
    noise: float
    A: float | None
    C: float | None
    dim: int | None

    requires: ClassVar[tuple[str, ...]] = ()  # public parameters without which nothing follows from labels
    first: ClassVar[int] = 0  # the label of level y is A + first + step y
    step: ClassVar[int] = 1

    @classmethod
    def of(cls, public: Public) -> Self:
        """Parse public parameters. Raises `InputError` where some are lacking."""
        for name in ("gadget", *cls.requires):
            _needed(public, name)
        flip, noise = (float(public.get(name) or 0.0) for name in ("flip", "noise"))
        A, C = (None if public.get(name) is None else float(public[name]) for name in ("A", "C"))
        return cls(*cls._parse(public), flip, noise, A, C, public.get("dim"))

    @staticmethod
    @abstractmethod
    def _parse(public: Public) -> tuple[int, int, Any, int | None, int | None]:
        """Return q, p, gadget, sparsity and heads."""

    @staticmethod
    @abstractmethod
    def write(w: Integers) -> dict[str, list[int]]:
        """Return w (n,), centred in (-q/2, q/2], as files write this family's secrets."""

    @staticmethod
    @abstractmethod
    def read(secret: Mapping[str, Any], n: int) -> Integers:
        """Return w (n,) of such a secret. Raises `LookupError`, `TypeError` or `ValueError` for what is none."""

    def vectors(self, X: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the public vectors a (N, n) int8 of inputs X (N, 2, d) with z₀ ≠ 0."""
        return np.ascontiguousarray(public_vectors(X, self.gadget), dtype=np.int8)

    def levels(self, values: Floats) -> Floats:
        """Return the levels of informative labels (N,) less A; no integers from 0 to p - 1 where it is none."""
        return (values - self.first) / self.step

    @property
    def offset(self) -> float:
        """A. Raises `InputError` where it is not public."""
        return float(_needed(vars(self), "A"))

    def equations(self, X: NDArray[np.int8], Y: Floats) -> "Equations":
        """Return the equations in examples X, Y (N, 2, d). Raises `InputError` where they do not fit."""
        if X.ndim != 3 or X.shape[1] != 2 or X.shape != Y.shape or self.dim not in (None, X.shape[2]):
            raise InputError(f"X and Y must both have shape (N, 2, {self.dim}), got {X.shape} and {Y.shape}")
        rows, A = informative(X), self.offset
        shown = self.levels(X[rows, 0, 0] * Y[rows, 0, 0] - A)
        with np.errstate(invalid="ignore"):  # of numbers that no integer holds, which are refused
            level = np.rint(shown).astype(np.int64)
        if not ((np.abs(shown - level) < 1e-6) & (level >= 0) & (level < self.p)).all():
            raise InputError(f"labels do not fit the offset A = {A} in `public`: were X and Y changed?")
        return self.rows(self.vectors(X[rows]), level)

    def rows(self, a: NDArray[np.int8], level: Integers) -> "Equations":
        """Return vectors a (N, n) and levels (N,) with what is public beside them."""
        if self.sparsity is not None and self.sparsity > a.shape[1]:
            raise InputError(f"`public` states a secret of {self.sparsity} of {a.shape[1]} coordinates")
        kind = type(self)
        return Equations(a, level, self.q, self.p, kind, self.sparsity, self.flip, self.noise, self.heads)

    def predict(self, secret: Mapping[str, Any], X: NDArray[np.int8]) -> Floats:
        """Return the noiseless labels (N, 2, d) of X (N, 2, d) under a secret as files write it."""
        w, rows = self.read(secret, X.shape[2] - 1), informative(X)
        t = self.vectors(X[rows]).astype(np.int64) @ w
        ends = span(w, self.q, self.p, self.heads, self.gadget == "dot")
        if ends is not None:  # beyond the last change that a head makes, its level goes on
            t = t.clip(ends[0], ends[1] - 1)
        value = np.full(len(X), _needed(vars(self), "C"))
        value[rows] = self.offset + (self.first + self.step * modular.level(t, self.q, self.p))
        Y = np.zeros(X.shape)
        Y[:, :, 0] = X[:, :, 0] * value[:, None]
        return Y


class HiddenSet(Hidden):
    """Labels A + (-1)^t of a sum t of bits: q = p = 2, and the secret is the support of w in coordinates 1..n."""

    requires, first, step = ("heads",), 1, -2

    @staticmethod
    def _parse(public: Public) -> tuple[int, int, Any, int | None, int | None]:
        # All labels are right; s is `bits`, or what the heads hide (theory 1.1, 1.5).
        gadget = public["gadget"]
        hidden = bits(gadget, int(public["heads"]), bool(public.get("balance")))
        return 2, 2, gadget, int(public.get("bits") or hidden), None

    @staticmethod
    def write(w: Integers) -> dict[str, list[int]]:
        return {"support": (np.flatnonzero(w) + 1).tolist()}

    @staticmethod
    def read(secret: Mapping[str, Any], n: int) -> Integers:
        w = np.zeros(n, dtype=np.int64)
        w[np.array(secret["support"], dtype=np.int64) - 1] = 1
        return w


class HiddenVector(Hidden):
    """Labels A + ⌊p t/q⌋ of t mod q; the secret is w, centred in (-q/2, q/2]."""

    requires = ("modulus", "levels")

    @staticmethod
    def _parse(public: Public) -> tuple[int, int, Any, int | None, int | None]:
        # Exact instances have a head between every two levels, so none is short.
        weight, heads = public.get("weight"), None if public.get("exact") else public.get("heads")
        sparsity = None if weight is None else int(weight)
        return int(public["modulus"]), int(public["levels"]), public["gadget"], sparsity, heads

    @staticmethod
    def write(w: Integers) -> dict[str, list[int]]:
        return {"w": w.tolist()}

    @staticmethod
    def read(secret: Mapping[str, Any], n: int) -> Integers:
        w = np.zeros(n, dtype=np.int64)
        w[:] = secret["w"]
        return w


@dataclass(frozen=True)
class Equations:
    """Rows a (N, n) int8 with levels (N,) int64: level = ⌊p·(⟨w, a⟩ mod q)/q⌋ up to noise (theory 1.4).

    Parity is the case q = p = 2. `kind` says how the family writes w; all else as of `Hidden`.
    """

    a: NDArray[np.int8]
    level: Integers
    q: int
    p: int
    kind: type[Hidden] = HiddenVector
    sparsity: int | None = None
    flip: float = 0.0
    noise: float = 0.0
    heads: int | None = None

    def __len__(self) -> int:
        return len(self.level)

    @property
    def n(self) -> int:
        return int(self.a.shape[1])

    @property
    def are_parities(self) -> bool:
        """Whether they are the parities of a set whose size is public: right, or wrong with probability `flip`."""
        return self.q == 2 and self.sparsity is not None and not self.noise

    def rows(self, index: Integers | NDArray[np.bool_] | slice) -> "Equations":
        """Return some of the rows."""
        return replace(self, a=self.a[index], level=self.level[index])

    def agreement(self, w: Integers) -> float:
        """Return the fraction of rows whose level w reproduces."""
        t = self.a.astype(np.int64) @ np.asarray(w, dtype=np.int64)
        return float(np.mean(modular.level(t, self.q, self.p) == self.level)) if len(self) else 0.0

    def secret(self, w: Integers) -> dict[str, list[int]]:
        """Return w (n,) as `generate` writes secrets of the family: for rounding centred in (-q/2, q/2]."""
        return self.kind.write(modular.centred(np.asarray(w, dtype=np.int64) % self.q, self.q))


def _needed(public: Public, name: str) -> Any:
    if public.get(name) is None:
        raise InputError(f"the public parameters lack {name}; sample the examples anew")
    return public[name]


def span(w: Integers, q: int, p: int, heads: int | None, dot: bool) -> tuple[int, int] | None:
    """Return the integers low..high-1 at which `heads` heads show the level of the secret w (n,), centred.

    None where they show it everywhere.
    """
    low, high = level_range("dot" if dot else "diag", w.tolist())
    cell = modular.cell(low, q, p)
    if heads is None or heads > modular.cell(high, q, p) - (cell + 1 - cell % p):
        return None
    first = modular.nearest_changes((low + high) / 2, heads, q, p)
    return modular.change(first - 1, q, p), modular.change(first + heads, q, p)
