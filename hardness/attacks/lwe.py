"""Attacks on LWE samples b = A s + e mod q of others, with uniform A: bounded-distance decoding, meet in the middle.

Decoding is the primal attack: the q-ary lattice of (s, A s) has a point near (0, b). It is searched in a reduced basis
of its dual, as the lab searches the orthogonal lattice of short vectors (`hardness.attacks.reduction`). A secret
that is not small is first made of errors: the normal form.
"""

from dataclasses import replace
from math import ceil, comb, e, log, pi, sqrt
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Answer, Progress, Recovery
from hardness.attacks.bridges import LWE, independent
from hardness.attacks.equations import quiet
from hardness.errors import InputError
from hardness.gadgets.modular import centred, is_prime

Integers = NDArray[np.int64]

RANKS = range(20, 170, 10)
BETA = 40  # block size whose profile says what is out of reach
FREE = 18.0  # log2 of nodes that cost less than a reduction: among such ranks the least is best
DEVIATIONS = 5.0  # of an error, or of a mean square, that are allowed for
SURE = 20.0  # nats: samples that fit a wrong secret with probability at most e^-20 tell the right one


def attack(
    lwe: LWE, name: str, budget: int | None = None, seed: int = 0, progress: Progress = quiet
) -> Recovery:
    """`lattice` or `search` on samples of others. Raises `InputError` for another attack.

    `refused` says in one line what is out of reach; a secret is named only if it explains the samples better than
    any of all secrets explains random ones.

    >>> rng = np.random.default_rng(0)
    >>> A, s = rng.integers(0, 97, (60, 12)), rng.integers(-1, 2, 12)
    >>> lwe = LWE(A, (A @ s + rng.integers(-1, 2, 60)) % 97, 97, (-1, 1), (-1, 1))
    >>> [attack(lwe, name).secret == {"s": s.tolist()} for name in ("lattice", "search")]
    [True, True]
    """
    solve = {"lattice": _decoded, "search": _met}.get(name)
    if solve is None:
        raise InputError(f"attack {name} knows no LWE samples; lattice and search do")
    began, rng = perf_counter(), np.random.default_rng(seed)
    if determined(lwe):
        s, detail = solve(lwe, budget, rng, progress)
    else:
        s, detail = (
            None,
            {"reason": f"{len(lwe.b)} samples do not tell one secret from all others; more are needed"},
        )
    if s is None:
        return Recovery(
            "refused" if "reason" in detail else "budget", None, 0, perf_counter() - began, detail
        )
    secret = {"s": centred(s % lwe.q, lwe.q).tolist()}
    return Recovery("solved", secret, len(lwe.b), perf_counter() - began, detail)


def _values(lwe: LWE) -> Integers:
    """What an entry of the secret may be."""
    low, high = lwe.secret or (0, lwe.q - 1)
    return np.arange(low, high + 1)


def determined(lwe: LWE) -> bool:
    """Whether the samples tell the secret: of m residues that have nothing to do with it, the mean square is at
    most t with probability at most (E exp(λ(t - r²)))^m for every λ > 0 (Chernoff); times all secrets (union)."""
    n, k = lwe.A.shape[1], len(_values(lwe))
    secrets = n * log(k) if lwe.weight is None else log(comb(n, lwe.weight)) + lwe.weight * log(max(k - 1, 1))
    r = centred(np.arange(lwe.q), lwe.q).astype(float)
    rate = max(-log(float(np.mean(np.exp(x * (1 - r**2 / _most(lwe)))))) for x in np.geomspace(0.05, 4, 12))
    return len(lwe.b) * rate >= secrets + SURE


def _most(lwe: LWE) -> float:
    """The mean square of errors under the right secret, `DEVIATIONS` standard errors above what is expected."""
    return lwe.sd**2 * (1 + DEVIATIONS * sqrt(2 / len(lwe.b)))


def _explains(lwe: LWE, s: Integers) -> bool:
    errors = (lwe.b - lwe.A @ s - sum(lwe.error) / 2 + lwe.q / 2) % lwe.q - lwe.q / 2
    return bool(np.mean(errors**2) <= _most(lwe))


def _met(lwe: LWE, budget: int | None, rng: np.random.Generator, tell: Progress) -> Answer:
    """The secret from two halves that meet in boxes of residues."""
    from hardness.attacks.boxes import meet_in_boxes
    from hardness.attacks.search import BUDGET, TEST_ROWS

    rows = rng.permutation(len(lwe.b))[: max(TEST_ROWS, 4 * lwe.A.shape[1])]
    reach = ceil(DEVIATIONS * lwe.noise)
    span = np.full(len(rows), min(lwe.error[1] - lwe.error[0] + 2 * reach + 1, lwe.q))
    low, work = lwe.b[rows] - lwe.error[1] - reach, BUDGET if budget is None else budget
    s, detail = meet_in_boxes(lwe.A[rows], low, span, lwe.q, _values(lwe), lwe.weight, work)
    return (s if s is not None and _explains(lwe, s) else None), detail


def _decoded(lwe: LWE, budget: int | None, rng: np.random.Generator, tell: Progress) -> Answer:
    """The secret from the nearest point of the lattice, on fresh samples in every trial."""
    from hardness.attacks.pruning import MOST_NODES

    n, q = lwe.A.shape[1], lwe.q
    size = sqrt(float(np.mean(_values(lwe).astype(float) ** 2)) * (lwe.weight or n) / n)
    if size > 2 * lwe.sd:
        return _in_normal_form(lwe, budget, rng, tell)
    # A small secret counts so often: all errors are of one size
    scale = max(1, round(lwe.sd / max(size, 0.5)))
    ranks = [rank for rank in RANKS if n < rank <= len(lwe.b) + n and _alone(n, rank, q, scale, lwe.sd)]
    if not ranks:
        return None, {
            "reason": f"no lattice of rank {RANKS[-1]} or less, made of {len(lwe.b)} samples, has one "
            "nearest point"
        }
    nodes, rank, chance = min(_predicted(n, rank, q, scale, lwe.sd) for rank in ranks)
    detail: dict[str, Any] = {"method": "bounded-distance decoding", "rank": rank, "trials": 0}
    tell(f"plan: rank {rank}, 2^{nodes:.1f} nodes a trial")
    if nodes > MOST_NODES:
        return None, {
            "reason": f"out of reach: 2^{nodes:.0f} nodes a trial in rank {rank}, more than 2^{MOST_NODES:g}"
        }
    for trial in range(ceil(5 / max(chance, 1e-4)) if budget is None else budget):
        detail["trials"] = trial + 1
        s = _trial(lwe, rng.permutation(len(lwe.b))[: rank - n], scale, detail)
        if s is not None and _explains(lwe, s):
            return s, detail
    return None, detail


def _in_normal_form(lwe: LWE, budget: int | None, rng: np.random.Generator, tell: Progress) -> Answer:
    """Of n independent samples the errors become the secret: s = A₀⁻¹(b₀ - e₀), and b - A A₀⁻¹ b₀ = -A A₀⁻¹ e₀ + e."""
    if not is_prime(lwe.q):
        return None, {"reason": f"the secret is wide and the modulus {lwe.q} not prime: no normal form"}
    first, back = independent(lwe.A, lwe.q)
    if len(first) < lwe.A.shape[1]:
        return None, {"reason": f"{len(lwe.b)} samples hold no {lwe.A.shape[1]} independent ones"}
    rest = np.setdiff1d(np.arange(len(lwe.b)), first)
    A, reach = lwe.A[rest] @ back % lwe.q, ceil(2 * lwe.noise)
    small = -lwe.error[1] - reach, -lwe.error[0] + reach
    made = replace(lwe, A=A, b=(lwe.b[rest] - A @ lwe.b[first]) % lwe.q, secret=small, weight=None)
    minus, detail = _decoded(made, budget, rng, tell)
    return None if minus is None else back @ (lwe.b[first] + minus) % lwe.q, detail


def _alone(n: int, rank: int, q: int, scale: int, sd: float) -> bool:
    """Whether a ball of a typical error's size holds no second point, by the Gaussian heuristic with e^-2 to spare."""
    return rank * log(2 * pi * e * sd**2) / 2 - (rank - n) * log(q) - n * log(scale) < -2


def _predicted(n: int, rank: int, q: int, scale: int, sd: float) -> tuple[float, int, float]:
    """log2 of the nodes of a search in this rank, the rank, and the chance; by the geometric-series profile."""
    from hardness.attacks.lattice_plan import hermite
    from hardness.attacks.pruning import log2_reduction_nodes, pruning

    mean = (n * log(q) + (rank - n) * log(scale)) / rank
    log_lengths = mean + 2 * log(hermite(BETA)) * np.linspace((rank - 1) / 2, (1 - rank) / 2, rank)
    search = pruning(log_lengths, sd / (scale * q), log2_reduction_nodes(BETA, rank))
    return max(search.log2_nodes, FREE), rank, search.chance


def _trial(lwe: LWE, rows: NDArray[np.intp], scale: int, detail: dict[str, Any]) -> Integers | None:
    """One search on these samples: s (n,), or None. The dual of the rows (I over A) has the basis (-A | I), (q | 0)."""
    from hardness.attacks.reduction import lll, nearest_integers

    n, k, q = lwe.A.shape[1], len(rows), lwe.q
    identity, zero = np.eye(k, dtype=np.int64), np.zeros((n, k), np.int64)
    B = np.block([[-lwe.A[rows], scale * identity], [q * np.eye(n, dtype=np.int64), zero]])
    target = np.append(np.full(n, scale * np.mean(_values(lwe))), lwe.b[rows] - sum(lwe.error) / 2)
    basis, m = nearest_integers(lll(B), target, scale * q, lwe.sd, detail)
    return (
        None if m is None else np.rint(q * np.linalg.solve(basis.astype(np.float64), m)[:n]).astype(np.int64)
    )
