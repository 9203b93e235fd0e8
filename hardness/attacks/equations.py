"""From raw examples (X, Y) to equations: what level of ⟨w, a⟩ mod q each informative example shows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from math import log
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Attack, Progress, Public, Recovery
from hardness.errors import InputError
from hardness.gadgets import modular
from hardness.gadgets.coefficients import informative, public_vectors
from hardness.gadgets.levels import bits
from hardness.gadgets.modular import preimages

PAIR_ROWS = 4000


@dataclass(frozen=True)
class Equations:
    """Rows a (N, n) int8 with levels (N,) int64: level = ⌊p·(⟨w, a⟩ mod q)/q⌋ up to noise (theory 1.4).

    Parity is the case q = p = 2. `a` is the public vector of an example with z₀ ≠ 0: u in {0,1}ⁿ for diag,
    z₀·z in {-1,0,1}ⁿ for dot. `sparsity` is the public number of non-zero secret coordinates, if any. `flip`
    is the probability that a parity label is wrong, `noise` the standard deviation of the rounding family's
    label noise. `heads` is the public number of heads where their levels may stop short of the range (`span`).
    """

    a: NDArray[np.int8]
    level: NDArray[np.int64]
    q: int
    p: int
    parity: bool = False
    sparsity: int | None = None
    flip: float = 0.0
    noise: float = 0.0
    heads: int | None = None

    def __len__(self) -> int:
        return int(self.level.shape[0])

    @property
    def n(self) -> int:
        return int(self.a.shape[1])

    def rows(self, index: NDArray[np.int64] | NDArray[np.bool_] | slice) -> "Equations":
        return replace(self, a=self.a[index], level=self.level[index])

    def field(self) -> tuple[Any, Any]:
        """The rows a (N, n) and the levels (N,) as elements of Z_q, arrays of `galois`: of parities a w = level holds.

        Raises `InputError` unless q is a prime of at most 2^16.

        >>> rows = Equations(np.eye(2, dtype=np.int8), np.array([1, 0]), q=2, p=2, parity=True)
        >>> a, level = rows.field()
        >>> np.linalg.solve(a, level)
        GF([1, 0], order=2)
        """
        return modular.field(self.a, self.q), modular.field(self.level, self.q)

    def agreement(self, w: NDArray[np.int64]) -> float:
        """The fraction of rows whose level w reproduces."""
        t = self.a.astype(np.int64) @ np.asarray(w, dtype=np.int64)
        return float(np.mean(modular.level(t, self.q, self.p) == self.level)) if len(self) else 0.0


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
    family = public.get("family")
    if family not in ("parity", "rounding"):
        raise InputError(
            f"family '{family}' has no hidden linear equations; attacks need parity or rounding examples"
        )
    missing = {"gadget", "A", "heads" if family == "parity" else "modulus"} - public.keys()
    if missing:
        raise InputError(f"the public parameters lack {', '.join(sorted(missing))}; sample the examples anew")
    if X.ndim != 3 or X.shape[1] != 2 or X.shape != Y.shape or X.shape[2] != public.get("dim", X.shape[2]):
        raise InputError(
            f"X and Y must both have shape (N, 2, {public.get('dim')}), got {X.shape} and {Y.shape}"
        )
    told = informative(X)
    a = public_vectors(X[told], public["gadget"])
    value = X[told, 0, 0] * Y[told, 0, 0] - float(public["A"])
    level = np.rint(value).astype(np.int64)
    q, p = (2, 2) if family == "parity" else (int(public["modulus"]), int(public["levels"]))
    allowed = np.isin(level, (-1, 1)) if family == "parity" else (level >= 0) & (level < p)
    if not (np.abs(value - level) < 1e-6).all() or not allowed.all():
        raise InputError(f"labels do not fit the offset A = {public['A']} in `public`: were X and Y changed?")
    if family == "parity":
        level = (1 - level) // 2  # χ_S = (-1)^t, so t mod 2 is the level
    return Equations(
        a=np.ascontiguousarray(a, dtype=np.int8),
        level=level,
        q=q,
        p=p,
        parity=family == "parity",
        sparsity=sparsity(public),
        flip=float(public.get("flip") or 0.0),
        noise=float(public.get("noise") or 0.0),
        heads=None if family == "parity" or public.get("exact") else public.get("heads"),
    )


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
        found = solve(extract(X, Y, public), budget, seed, progress or quiet)
        return replace(found, seconds=perf_counter() - start)

    attack.__name__, attack.__qualname__ = solve.__name__, solve.__qualname__
    attack.__doc__, attack.__module__ = solve.__doc__, solve.__module__
    return attack


def labels(answer: dict[str, list[int]], public: Public, X: NDArray[np.int8]) -> NDArray[np.float64]:
    """The noiseless labels (N, 2, d) of X (N, 2, d) under the secret that an attack names, as `secret` writes it."""
    parity = public["family"] == "parity"
    q, p = (2, 2) if parity else (int(public["modulus"]), int(public["levels"]))
    w = np.zeros(X.shape[2] - 1, dtype=np.int64)
    if parity:
        w[np.array(answer["support"], dtype=np.int64) - 1] = 1
    else:
        w[:] = answer["w"]
    told = informative(X)
    t = public_vectors(X[told], public["gadget"]).astype(np.int64) @ w
    if not parity and not public.get("exact"):  # beyond the last change that a head makes, its level goes on
        ends = span(w, q, p, public.get("heads"), public["gadget"] == "dot")
        t = t if ends is None else t.clip(ends[0], ends[1] - 1)
    level = modular.level(t, q, p)
    value = np.full(len(X), float(public["C"]))
    value[told] = float(public["A"]) + (1 - 2 * level if parity else level)
    Y = np.zeros(X.shape)
    Y[:, :, 0] = X[:, :, 0] * value[:, None]
    return Y


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


def sparsity(public: Public) -> int | None:
    """How many secret coordinates are non-zero, if public: s of the parity family, the weight of rounding."""
    if public["family"] == "parity":
        return int(
            public.get("bits") or bits(public["gadget"], int(public["heads"]), bool(public.get("balance")))
        )
    weight = public.get("weight")
    return None if weight is None else int(weight)


def accepts(fresh: Equations, w: NDArray[np.int64], known: Equations | None = None) -> bool:
    """Does w (n,) pass on `fresh` rows, that had no part in finding it, and stand out among its neighbours on `known`?

    Either every label is reproduced; or, as labels may be noisy or head-limited (theory 1.4), the agreement lies
    above halfway between the right secret's and a guess's, and no change of one coordinate by ±1, or of two, fits
    better: a near-miss of a rounding secret reproduces most labels, so the bar alone would let it pass.
    """
    known = fresh if known is None else known
    agreement = fresh.agreement(w)
    if len(fresh) == 0 or agreement < (expected_agreement(fresh) + 1 / fresh.p) / 2:
        return False
    if fresh.q == 2 or (agreement == 1 and known.agreement(w) == 1):
        return True
    t = known.a.astype(np.int64) @ w
    here = _misfit(known, t)
    if any(_misfit(known, t + s * known.a[:, j]) <= here for j in range(known.n) for s in (1, -1)):
        return False
    if fresh.noise:  # least squares got here, and has one minimum
        return True
    few, t = known.rows(slice(0, PAIR_ROWS)), t[:PAIR_ROWS]
    pairs = ((i, j, r, s) for i, j in combinations(range(fresh.n), 2) for r in (1, -1) for s in (1, -1))
    here = _misfit(few, t)
    return all(_misfit(few, t + r * few.a[:, i] + s * few.a[:, j]) > here for i, j, r, s in pairs)


def stands_out(equations: Equations, w: NDArray[np.int64]) -> bool:
    """Whether w (n,) fits noisy rows better than any of q^n secrets fits labels that have nothing to do with it.

    One of them agrees with a share a > 1/p of R levels with probability at most e^{-R D}, D = a ln(a p) +
    (1-a) ln((1-a) p/(p-1)) (Chernoff), and any of q^n with at most q^n e^{-R D} (union bound): at most e^-20 here.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 2, (400, 20), dtype=np.int8)
    >>> noisy = Equations(a, (a[:, 0] + (rng.random(400) < 0.2)) % 2, 2, 2, parity=True, flip=0.2)
    >>> [stands_out(noisy.rows(slice(0, rows)), np.eye(20, dtype=np.int64)[0]) for rows in (400, 100)]
    [True, False]
    """
    from scipy.special import rel_entr

    a, p = equations.agreement(w), equations.p
    surprise = 0.0 if a <= 1 / p else float(rel_entr(a, 1 / p) + rel_entr(1 - a, 1 - 1 / p))
    return len(equations) * surprise >= equations.n * log(equations.q) + 20


def _misfit(equations: Equations, t: NDArray[np.int64]) -> float:
    """Share of wrong levels at ⟨w, a⟩ = t; under label noise, where that hardly changes near w, squared distance."""
    q, p = equations.q, equations.p
    if equations.noise == 0:
        return float(np.mean(modular.level(t, q, p) != equations.level))
    distance = (t - preimages(q, p)[0][equations.level] + q / 2) % q - q / 2
    return float(np.mean(distance**2))


def expected_agreement(equations: Equations) -> float:
    """P(level shown = level of the right secret) under the public noise, over uniform residues."""
    if equations.parity:
        return 1.0 - equations.flip
    if equations.noise == 0:
        return 1.0
    from scipy.stats import norm

    q, p = equations.q, equations.p
    reach = int(6 * equations.noise) + q
    e = np.arange(-reach, reach + 1)
    weight = norm.cdf((e + 0.5) / equations.noise) - norm.cdf((e - 0.5) / equations.noise)
    r = np.arange(q)
    same = modular.level(r[:, None], q, p) == modular.level(r[:, None] + e, q, p)
    return float((same * weight).sum() / q)


def secret(equations: Equations, w: NDArray[np.int64]) -> dict[str, list[int]]:
    """w (n,) as `generate` writes secrets: a support in coordinates 1..n, or w centred in (-q/2, q/2].

    >>> secret(Equations(np.zeros((0, 3), np.int8), np.zeros(0, np.int64), 7, 7), np.array([0, 4, 3]))
    {'w': [0, -3, 3]}
    """
    w = np.asarray(w, dtype=np.int64) % equations.q
    if equations.parity:
        return {"support": [int(j) + 1 for j in np.flatnonzero(w)]}
    return {"w": modular.centred(w, equations.q).tolist()}
