"""From raw examples (X, Y) to equations: what level of ⟨w, a⟩ mod q each informative example shows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import families, registry
from hardness.attacks import Attack, Progress, Public, Recovery
from hardness.errors import InputError
from hardness.families.linear import LEVELS, LinearLabels
from hardness.gadgets import modular
from hardness.gadgets.coefficients import informative, public_vectors

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Equations:
    """Rows a (N, n) int8 with levels (N,) int64: level = ⌊p·(⟨w, a⟩ mod q)/q⌋ up to noise (theory 1.4).

    Parity is the case q = p = 2. `a` is the public vector of an example with z₀ ≠ 0: u in {0,1}ⁿ for diag,
    z₀·z in {-1,0,1}ⁿ for dot. `sparsity` is the public number of non-zero secret coordinates, if any. `flip`
    is the probability that a parity label is wrong, `noise` the standard deviation of the rounding family's
    label noise. `heads` is the public number of heads where their levels may stop short of the range (`span`).
    `coding` says how the family writes w.
    """

    a: NDArray[np.int8]
    level: Integers
    q: int
    p: int
    coding: LinearLabels = LEVELS
    sparsity: int | None = None
    flip: float = 0.0
    noise: float = 0.0
    heads: int | None = None

    def __len__(self) -> int:
        return int(self.level.shape[0])

    @property
    def n(self) -> int:
        return int(self.a.shape[1])

    @property
    def are_parities(self) -> bool:
        """Whether they are the parities of a set whose size is public: right, or wrong with probability `flip`."""
        return self.q == 2 and self.sparsity is not None and not self.noise

    def rows(self, index: Integers | NDArray[np.bool_] | slice) -> "Equations":
        return replace(self, a=self.a[index], level=self.level[index])

    def field(self) -> tuple[Any, Any]:
        """The rows a (N, n) and the levels (N,) as elements of Z_q, arrays of `galois`: of parities a w = level holds.

        Raises `InputError` unless q is a prime of at most 2^16.

        >>> rows = Equations(np.eye(2, dtype=np.int8), np.array([1, 0]), q=2, p=2)
        >>> a, level = rows.field()
        >>> np.linalg.solve(a, level)
        GF([1, 0], order=2)
        """
        return modular.field(self.a, self.q), modular.field(self.level, self.q)

    def agreement(self, w: Integers) -> float:
        """The fraction of rows whose level w reproduces."""
        t = self.a.astype(np.int64) @ np.asarray(w, dtype=np.int64)
        return float(np.mean(modular.level(t, self.q, self.p) == self.level)) if len(self) else 0.0

    def secret(self, w: Integers) -> dict[str, list[int]]:
        """w (n,) as `generate` writes secrets of the family: for rounding centred in (-q/2, q/2].

        >>> Equations(np.zeros((0, 3), np.int8), np.zeros(0, np.int64), 7, 7).secret(np.array([0, 4, 3]))
        {'w': [0, -3, 3]}
        """
        return self.coding.write(modular.centred(np.asarray(w, dtype=np.int64) % self.q, self.q))


def stated_labels(public: Mapping[str, Any]) -> LinearLabels | None:
    """How labels of the family that `public` names show linear equations, as the family states it; None if it does not.

    A class that a file names but nobody registered is not looked up: that would import what the file says.
    """
    name = public.get("family")
    registered = isinstance(name, str) and name in registry.points("family")
    return families.get(str(name)).linear if registered else None


def linear_labels(public: Mapping[str, Any]) -> LinearLabels:
    """The same. Raises `InputError` for a family that states none.

    >>> linear_labels({"family": "parity"}).write(np.array([0, 1, 1]))
    {'support': [2, 3]}
    """
    linear = stated_labels(public)
    if linear is None:
        raise InputError(
            f"family '{public.get('family')}' has no hidden linear equations; attacks need parity or rounding "
            "examples"
        )
    return linear


def extract(X: NDArray[np.int8], Y: NDArray[np.float64], public: Public) -> Equations:
    """The equations in examples X (N, 2, d), Y (N, 2, d) of a structured family.

    Raises `InputError` where `public` names a family without equations, or the labels do not fit its offset
    A.

    Only the first of these two has z₀ ≠ 0; its label -1 says that u₁ is in the parity:

    >>> X = np.array([[[1, -1, 1], [-1, 1, 1]], [[1, 1, 1], [1, -1, 1]]], dtype=np.int8)
    >>> Y = np.array([[[-1.0, 0, 0], [1.0, 0, 0]], [[0.5, 0, 0], [0.5, 0, 0]]])
    >>> equations = extract(X, Y, {"family": "parity", "gadget": "diag", "A": 0.0, "heads": 1, "flip": 0.0})
    >>> equations.a.tolist(), equations.level.tolist()
    ([[1, 0]], [1])
    """
    coding = linear_labels(public)
    missing = {"gadget", "A", *coding.requires} - public.keys()
    if missing:
        raise InputError(f"the public parameters lack {', '.join(sorted(missing))}; sample the examples anew")
    if X.ndim != 3 or X.shape[1] != 2 or X.shape != Y.shape or X.shape[2] != public.get("dim", X.shape[2]):
        raise InputError(
            f"X and Y must both have shape (N, 2, {public.get('dim')}), got {X.shape} and {Y.shape}"
        )
    rows = informative(X)
    a = public_vectors(X[rows], public["gadget"])
    return with_public(
        np.ascontiguousarray(a, dtype=np.int8), _levels(X[rows, 0, 0] * Y[rows, 0, 0], coding, public), public
    )


def _levels(label: NDArray[np.float64], coding: LinearLabels, public: Public) -> Integers:
    """The levels (N,) that labels (N,) show. Raises `InputError` where one shows none."""
    shown = coding.levels(label - float(public["A"]))
    with np.errstate(invalid="ignore"):  # of numbers that no integer holds, which are refused
        level = np.rint(shown).astype(np.int64)
    if not ((np.abs(shown - level) < 1e-6) & (level >= 0) & (level < coding.sizes(public)[1])).all():
        raise InputError(f"labels do not fit the offset A = {public['A']} in `public`: were X and Y changed?")
    return level


def with_public(a: NDArray[np.int8], level: Integers, public: Public) -> Equations:
    """Rows a (N, n) and levels (N,) with what is public beside them."""
    coding = linear_labels(public)
    q, p = coding.sizes(public)
    weight, n = coding.weight(public), a.shape[1]
    if weight is not None and weight > n:
        raise InputError(
            f"`public` states a secret of {weight} coordinates, and there are {n}: was it changed?"
        )
    flip, noise = (float(public.get(name) or 0.0) for name in ("flip", "noise"))
    return Equations(a, level, q, p, coding, weight, flip, noise, coding.heads(public))


Solve = Callable[[Equations, int | None, int, Progress], Recovery]


def quiet(line: str) -> None:
    """Progress that nobody wants to hear of."""


def on_equations(solve: Solve) -> Attack:
    """The attack that `solve(equations, budget, seed, progress)` is, with the seconds that it takes.

    Raises `InputError` as `extract` does, where the examples are not a structured family's.
    """

    def attack(
        X: NDArray[np.int8],
        Y: NDArray[np.float64],
        public: Public,
        *,
        budget: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Recovery:
        start = perf_counter()
        recovery = solve(extract(X, Y, public), budget, seed, progress or quiet)
        return replace(recovery, seconds=perf_counter() - start)

    attack.__name__, attack.__qualname__ = solve.__name__, solve.__qualname__
    attack.__doc__, attack.__module__ = solve.__doc__, solve.__module__
    return attack


def labels(secret: Mapping[str, Any], public: Public, X: NDArray[np.int8]) -> NDArray[np.float64]:
    """The noiseless labels (N, 2, d) of X (N, 2, d) under the secret that an attack names, as its family writes it."""
    coding = linear_labels(public)
    q, p = coding.sizes(public)
    w = coding.read(secret, X.shape[2] - 1)
    rows = informative(X)
    t = public_vectors(X[rows], public["gadget"]).astype(np.int64) @ w
    ends = span(w, q, p, coding.heads(public), public["gadget"] == "dot")
    if ends is not None:  # beyond the last change that a head makes, its level goes on
        t = t.clip(ends[0], ends[1] - 1)
    value = np.full(len(X), float(public["C"]))
    value[rows] = float(public["A"]) + coding.values(modular.level(t, q, p))
    Y = np.zeros(X.shape)
    Y[:, :, 0] = X[:, :, 0] * value[:, None]
    return Y


def predictions(recovery: Recovery, public: Public, X: NDArray[np.int8]) -> Iterator[NDArray[np.float64]]:
    """Yield outputs (N,) in row 0, column 0 of inputs X (N, 2, d) with z₀ ≠ 0 that a recovery's secret or rule gives.

    The likeliest come first.
    """
    if recovery.secret is not None:
        yield labels(recovery.secret, public, X)[:, 0, 0]
    elif recovery.rule is not None:
        coding = linear_labels(public)
        for level in recovery.rule(public_vectors(X, public["gadget"]).astype(np.int8)):
            yield X[:, 0, 0] * (float(public["A"]) + coding.values(level))


def span(w: NDArray[np.int64], q: int, p: int, heads: int | None, dot: bool) -> tuple[int, int] | None:
    """The integers low..high-1 at which `heads` heads show the level of the secret w (n,), centred; None if at all.

    >>> span(np.array([40, 40, 40, -30]), 97, 2, 2, False)
    (0, 146)
    """
    up, down = int(w[w > 0].sum()), int(w[w < 0].sum())
    low, high = (down - up, up - down) if dot else (down, up)
    cell = modular.cell(low, q, p)
    if heads is None or heads > modular.cell(high, q, p) - (cell + 1 - cell % p):
        return None
    first = modular.nearest_changes((low + high) / 2, heads, q, p)
    return modular.change(first - 1, q, p), modular.change(first + heads, q, p)
