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
    """A hidden linear equation, from public parameters: labels show ⌊p t/q⌋ of t = ⟨w, a⟩ mod q, w (n,) being secret.

    Let z be half the difference of the two tokens x_1, x_2. The public vector a (n,) is |z| for diag, z_0 z for dot,
    without coordinate 0. In column 0, row i of a label is x_i[0] (A + first + step ⌊p t/q⌋) if z_0 ≠ 0, else x_i[0] C;
    first and step are 0 and 1, for parities 1 and -2. `sparsity` is the number of non-zeros of w if it is public,
    `flip` the probability that a parity's sign is wrong, `noise` the deviation of the noise on t, `heads` the number of
    heads if they may be too few for all t (see `span`), else None. A, C and `dim` are None if they are not known.
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
        """Return the hidden equation that public parameters state. Raises `InputError` if one of them is missing."""
        for name in ("gadget", *cls.requires):
            _needed(public, name)
        flip, noise = (float(public.get(name) or 0.0) for name in ("flip", "noise"))
        A, C = (None if public.get(name) is None else float(public[name]) for name in ("A", "C"))
        return cls(*cls._parse(public), flip, noise, A, C, public.get("dim"))

    @staticmethod
    @abstractmethod
    def _parse(public: Public) -> tuple[int, int, Any, int | None, int | None]:
        """Return (q, p, gadget, the secret's non-zeros or None, heads or None) from a family's public parameters."""

    @staticmethod
    @abstractmethod
    def write(w: Integers) -> dict[str, list[int]]:
        """Return the secret w (n,), centred in (-q/2, q/2], as files state it: {"support": […]} or {"w": […]}."""

    @staticmethod
    @abstractmethod
    def read(secret: Mapping[str, Any], n: int) -> Integers:
        """Return w (n,) of a secret from a file. One that numpy cannot turn into w raises what numpy does; no check."""

    def vectors(self, X: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return |z| (diag) or z_0 z (dot), int8 (N, n), of pairs X (N, 2, d): 2z = x_1 - x_2, entry z_0 dropped."""
        return np.ascontiguousarray(public_vectors(X, self.gadget), dtype=np.int8)

    def levels(self, values: Floats) -> Floats:
        """Return the rounded residues 0..p-1 (N,) that labels show, given `values` (N,), labels less the constant A."""
        return (values - self.first) / self.step

    @property
    def offset(self) -> float:
        """Return the constant A that every label contains. Raises `InputError` if it is not public."""
        return float(_needed(vars(self), "A"))

    def equations(self, X: NDArray[np.int8], Y: Floats) -> "Equations":
        """Return the equations that X, Y (N, 2, d) show. Raises `InputError` if shapes or labels do not fit."""
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
        """Return vectors a (N, n), levels (N,) as equations. Raises `InputError` if the secret has over n non-zeros."""
        if self.sparsity is not None and self.sparsity > a.shape[1]:
            raise InputError(f"`public` states a secret of {self.sparsity} of {a.shape[1]} coordinates")
        kind = type(self)
        return Equations(a, level, self.q, self.p, kind, self.sparsity, self.flip, self.noise, self.heads)

    def predict(self, secret: Mapping[str, Any], X: NDArray[np.int8]) -> Floats:
        """Return the labels (N, 2, d), without noise, of X (N, 2, d) under a secret as files state it."""
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
    """The parity case: labels A + (-1)^t, t a sum of bits, q = p = 2; the secret is the support of w in 1..n."""

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
    """The rounding case: labels A + ⌊p t/q⌋ of t = ⟨w, a⟩ mod q; the secret is w, centred in (-q/2, q/2]."""

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
    """N equations for a secret w (n,): each `level` (N,) int64 is ⌊p·(⟨w, a⟩ mod q)/q⌋ of its row a, up to noise (1.4).

    The rows are `a` (N, n) int8; parity is q = p = 2. `kind` is the class that writes w to files (see `Hidden`).
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
        """Say whether these are parities of a set of known size, each wrong with probability `flip`."""
        return self.q == 2 and self.sparsity is not None and not self.noise

    def rows(self, index: Integers | NDArray[np.bool_] | slice) -> "Equations":
        """Return the equations that `index` selects: indices, a mask or a slice."""
        return replace(self, a=self.a[index], level=self.level[index])

    def agreement(self, w: Integers) -> float:
        """Return the fraction of equations that w (n,) satisfies; 0 if there are none."""
        t = self.a.astype(np.int64) @ np.asarray(w, dtype=np.int64)
        return float(np.mean(modular.level(t, self.q, self.p) == self.level)) if len(self) else 0.0

    def secret(self, w: Integers) -> dict[str, list[int]]:
        """Return w (n,), residues mod q, as files state a secret: {"support": […]} for a parity, else {"w": […]}."""
        return self.kind.write(modular.centred(np.asarray(w, dtype=np.int64) % self.q, self.q))


def _needed(public: Public, name: str) -> Any:
    if public.get(name) is None:
        raise InputError(f"the public parameters lack {name}; sample the examples anew")
    return public[name]


def span(w: Integers, q: int, p: int, heads: int | None, dot: bool) -> tuple[int, int] | None:
    """Return (low, high): `heads` heads show the level ⌊p (t mod q)/q⌋ of t = ⟨w, a⟩ rightly only for low <= t < high.

    None if they do so at every t that occurs, or if `heads` is None. w (n,) holds residues mod q in (-q/2, q/2], and
    `dot` says that vectors a have entries -1, 0, 1 and not 0, 1.
    """
    low, high = level_range("dot" if dot else "diag", w.tolist())
    cell = modular.cell(low, q, p)
    if heads is None or heads > modular.cell(high, q, p) - (cell + 1 - cell % p):
        return None
    first = modular.nearest_changes((low + high) / 2, heads, q, p)
    return modular.change(first - 1, q, p), modular.change(first + heads, q, p)
