"""Attacks on anybody's LWE samples b = A s + e mod q with uniform A: bounded-distance decoding, meet in the middle.

Decoding is the primal attack: the q-ary lattice of (s, A s) has a point near (0, b). It is searched in a reduced basis
of its dual, as the lab searches the orthogonal lattice of short vectors (`hardness.attacks.reduction`).
"""

from dataclasses import dataclass
from math import ceil, comb, e, log, pi, sqrt
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Outcome, Progress
from hardness.errors import InputError
from hardness.gadgets.modular import centred, is_prime

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

RANKS = range(20, 170, 10)
BETA = 40  # block size whose profile says what is out of reach
FREE = 18.0  # log2 of nodes that cost less than a reduction: among such ranks the least is best
DEVIATIONS = 5.0  # of an error, or of a mean square, that are allowed for
SURE = 20.0  # nats: samples that fit a wrong secret with probability at most e^-20 tell the right one


@dataclass(frozen=True)
class LWE:
    """Samples b = A s + e mod q: A (m, n), entries of e from `error[0]` to `error[1]`, plus a Gaussian of standard
    deviation `noise`; entries of s from `secret[0]` to `secret[1]`, all residues if None, `weight` of them not 0.

    >>> LWE(np.zeros((3, 2), np.int64), np.zeros(3, np.int64), 97, (-24, 24), (-24, 24)).estimator()
    "LWE.Parameters(n=2, q=97, Xs=ND.Uniform(-24, 24), Xe=ND.Uniform(-24, 24), m=3, tag='rounding in normal form')"
    """

    A: Integers
    b: Integers
    q: int
    secret: tuple[int, int] | None
    error: tuple[int, int]
    noise: float = 0.0
    weight: int | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """What is public of it, by name."""
        m, n = self.A.shape
        return {"n": n, "m": m, "q": self.q, "secret": self.secret, "error": self.error, "noise": self.noise,
                "weight": self.weight}  # fmt: skip

    @property
    def sd(self) -> float:
        """Standard deviation of an error."""
        return sqrt(((self.error[1] - self.error[0] + 1) ** 2 - 1) / 12 + self.noise**2)

    @property
    def values(self) -> Integers:
        """What an entry of the secret may be."""
        low, high = self.secret or (0, self.q - 1)
        return np.arange(low, high + 1)

    def estimator(self) -> str:
        """The line that describes it, in normal form, to the lattice estimator."""
        m, n = self.A.shape
        spread, error = (f"ND.Uniform({low}, {high})" for low, high in (self.secret or (0, 0), self.error))
        if self.noise:
            spread = error = f"ND.DiscreteGaussian({self.sd:.4g})"
        return f"LWE.Parameters(n={n}, q={self.q}, Xs={spread}, Xe={error}, m={m}, tag='rounding in normal form')"

    def challenge(self) -> str:
        """The text that solvers of LWE challenges read: n, m, q, α = standard deviation/q, b, and the rows of A."""
        rows = "\n".join(f"[{' '.join(map(str, row))}]" for row in self.A.tolist())
        m, n = self.A.shape
        return f"{n}\n{m}\n{self.q}\n{self.sd / self.q:.6f}\n[{' '.join(map(str, self.b.tolist()))}]\n[{rows}]\n"

    def errors(self, s: Integers) -> Floats:
        """b - A s (m,), between -q/2 and q/2, less the mean of an error."""
        middle = sum(self.error) / 2
        return (self.b - self.A @ s - middle + self.q / 2) % self.q - self.q / 2

    @property
    def most(self) -> float:
        """The mean square of the errors under the right secret, `DEVIATIONS` standard errors above what is expected."""
        return self.sd**2 * (1 + DEVIATIONS * sqrt(2 / len(self.b)))

    def log_secrets(self) -> float:
        """ln of the number of secrets."""
        n, k = self.A.shape[1], len(self.values)
        return n * log(k) if self.weight is None else log(comb(n, self.weight)) + self.weight * log(max(k - 1, 1))

    def determined(self) -> bool:
        """Whether the samples tell the secret: of m residues that have nothing to do with it, the mean square is at
        most t with probability at most (E exp(λ(t - r²)))^m for every λ > 0 (Chernoff); times all secrets (union)."""
        r = centred(np.arange(self.q), self.q).astype(float)
        rate = max(-log(float(np.mean(np.exp(x * (1 - r**2 / self.most))))) for x in np.geomspace(0.05, 4, 12))
        return len(self.b) * rate >= self.log_secrets() + SURE


def attack(lwe: LWE, name: str, budget: int | None = None, seed: int = 0, progress: Progress | None = None) -> Outcome:
    """`lattice` or `search` on samples of anybody's. Raises `InputError` for another attack.

    `refused` says in one line what is out of reach; a secret is named only if it explains the samples better than
    any of all secrets explains random ones.

    >>> rng = np.random.default_rng(0)
    >>> A, s = rng.integers(0, 97, (60, 12)), rng.integers(-1, 2, 12)
    >>> lwe = LWE(A, (A @ s + rng.integers(-1, 2, 60)) % 97, 97, (-1, 1), (-1, 1))
    >>> [attack(lwe, name).secret == {"s": s.tolist()} for name in ("lattice", "search")]
    [True, True]
    """
    if name not in ("lattice", "search"):
        raise InputError(f"attack {name} knows no LWE samples; lattice and search do")
    started, detail = perf_counter(), dict[str, Any]()
    if not lwe.determined():
        detail["reason"] = f"{len(lwe.b)} samples do not tell one secret from all others; more are needed"
    else:
        solve = _decoded if name == "lattice" else _met
        s = solve(lwe, budget, np.random.default_rng(seed), detail, progress or (lambda line: None))
        if s is not None:
            found = {"s": [int(x) for x in centred(s % lwe.q, lwe.q)]}
            return Outcome("solved", found, len(lwe.b), perf_counter() - started, detail)
    return Outcome("refused" if "reason" in detail else "budget", None, 0, perf_counter() - started, detail)


def _met(lwe: LWE, budget: int | None, rng: np.random.Generator, detail: dict[str, Any], tell: Progress) -> Any:
    """The secret from two halves that meet in boxes of residues."""
    from hardness.attacks.search import BUDGET, TEST_ROWS, meet_in_boxes

    rows = rng.permutation(len(lwe.b))[: max(TEST_ROWS, 4 * lwe.A.shape[1])]
    reach = ceil(DEVIATIONS * lwe.noise)
    span = np.full(len(rows), min(lwe.error[1] - lwe.error[0] + 2 * reach + 1, lwe.q))
    low = lwe.b[rows] - lwe.error[1] - reach
    work = BUDGET if budget is None else budget
    s, said = meet_in_boxes(lwe.A[rows], low, span, lwe.q, lwe.values, lwe.weight, work)
    detail |= said
    return s if s is not None and np.mean(lwe.errors(s) ** 2) <= lwe.most else None


def _decoded(lwe: LWE, budget: int | None, rng: np.random.Generator, detail: dict[str, Any], tell: Progress) -> Any:
    """The secret from the nearest point of the lattice, on fresh samples in every trial."""
    spread = float(np.sqrt(np.mean(lwe.values.astype(float) ** 2)))
    if lwe.weight is not None:
        spread *= sqrt(lwe.weight / lwe.A.shape[1])
    small = spread <= 2 * lwe.sd
    if not small and not is_prime(lwe.q):
        detail["reason"] = f"the secret is wide and the modulus {lwe.q} not prime: no normal form"
        return None
    scale = max(1, round(lwe.sd / max(spread, 0.5))) if small else 1
    n, most = lwe.A.shape[1], len(lwe.b) + (lwe.A.shape[1] if small else 0)
    ranks = [rank for rank in RANKS if n < rank <= most and _alone(n, rank, lwe.q, scale, lwe.sd)]
    if not ranks:
        detail["reason"] = (
            f"no lattice of rank {RANKS[-1]} or less, made of {len(lwe.b)} samples, has one nearest point"
        )
        return None
    nodes, rank, chance = min(_forecast(n, rank, lwe.q, scale, lwe.sd) for rank in ranks)
    detail |= {"method": "bounded-distance decoding", "rank": rank, "trials": 0}
    tell(f"plan: rank {rank}, 2^{nodes:.1f} nodes a trial")
    from hardness.attacks.reduction import MOST_NODES

    if nodes > MOST_NODES:
        detail["reason"] = f"out of reach: 2^{nodes:.0f} nodes a trial in rank {rank}, more than 2^{MOST_NODES:g}"
        return None
    for trial in range(ceil(5 / max(chance, 1e-4)) if budget is None else budget):
        detail["trials"] = trial + 1
        s = _trial(lwe, rank - n if small else rank, small, scale, rng, detail)
        if s is not None and np.mean(lwe.errors(s) ** 2) <= lwe.most:
            return s
    return None


def _alone(n: int, rank: int, q: int, scale: int, sd: float) -> bool:
    """Whether a ball of a typical error's size holds no second point, by the Gaussian heuristic with e^-2 to spare."""
    return rank * log(2 * pi * e * sd**2) / 2 - (rank - n) * log(q) - n * log(scale) < -2


def _forecast(n: int, rank: int, q: int, scale: int, sd: float) -> tuple[float, int, float]:
    """log2 of the nodes of a search in this rank, the rank, and the chance; by the geometric-series profile."""
    from hardness.attacks.lattice_model import HERMITE
    from hardness.attacks.reduction import pruning, reduction_nodes

    mean = (n * log(q) + (rank - n) * log(scale)) / rank
    profile = np.exp(mean + 2 * log(HERMITE[BETA]) * ((rank - 1) / 2 - np.arange(rank)))
    _, chance, nodes, _ = pruning(np.diag(profile), sd / (scale * q), reduction_nodes(BETA, rank))
    return max(nodes, FREE), rank, chance


def _trial(lwe: LWE, count: int, small: bool, scale: int, rng: np.random.Generator, detail: dict[str, Any]) -> Any:
    """One search on `count` samples: s (n,), or None.

    With rows (I over A) for a small secret, and of a wide one with n independent rows first, the dual lattice has the
    basis (-M | I), (q | 0). A small secret counts `scale` times, so that all errors are of one size.
    """
    from hardness.attacks.reduction import lll, nearest_integers

    n, q = lwe.A.shape[1], lwe.q
    rows = rng.permutation(len(lwe.b))[:count]
    U, y = lwe.A[rows], lwe.b[rows] - sum(lwe.error) / 2
    if small:
        back, M, first, rest = np.eye(n, dtype=np.int64), U, np.full(n, np.mean(lwe.values)), y
    else:
        chosen, back = independent(U, q)
        if len(chosen) < n:
            return None
        others = np.setdiff1d(np.arange(count), chosen)
        M, first, rest = U[others] @ back % q, y[chosen], y[others]
    k = len(rest)
    B = np.block([[-M, scale * np.eye(k, dtype=np.int64)], [q * np.eye(n, dtype=np.int64), np.zeros((n, k), np.int64)]])
    target = np.concatenate([scale * first, rest])
    found = nearest_integers(lll(B), target, scale * q, lwe.sd, detail)
    if found is None:
        return None
    basis, m = found
    near = scale * q * np.linalg.solve(basis.astype(np.float64), m)[:n] / scale
    return back @ np.rint(near).astype(np.int64) % q


def independent(U: Integers, q: int) -> tuple[Integers, Integers]:
    """The first rows of U (N, n) that are independent modulo a prime q, and, if they are n, the inverse of those."""
    from hardness.kernels.gf2 import rref_local

    n = U.shape[1]
    first = rref_local(U.T.copy(), q, q, len(U))
    system = np.hstack([U[first], np.eye(len(first), dtype=np.int64)])
    rref_local(system, q, q, n)
    return first, system[:, n:]
