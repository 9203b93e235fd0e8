"""What attacks on rounded inner products cost: equations mod q of which a label shows one of p levels."""

from dataclasses import dataclass
from functools import cached_property
from math import comb, exp, log2, pi, sqrt

import numpy as np

from hardness.attacks import Public
from hardness.attacks.bkw_plan import bias_of
from hardness.attacks.bkw_plan import unbounded as unbounded_bkw
from hardness.attacks.cost import Line, Log2Cost
from hardness.attacks.estimates.candidates import log2_rows_to_test, rows_a_candidate
from hardness.attacks.lattice_plan import unbounded as unbounded_lattice
from hardness.families.concepts import RoundingConcepts
from hardness.families.linear import LEVELS
from hardness.gadgets.modular import preimages
from hardness.sq.bounds.rounding import FEW_HEADS, log2_window_bound

MEASURED = "2^30 operations to a second of one core, held to measured seconds; rows free"


def guarantee(public: Public) -> str:
    """What the cryptographic hypothesis guarantees for the short public vectors of an instance (theory 4.2).

    >>> guarantee({"dim": 65, "modulus": 97})[:59]
    'LWE with binary public vectors in dimension n is as hard as'
    """
    n, q = int(public["dim"]) - 1, int(public["modulus"])
    return (
        "LWE with binary public vectors in dimension n is as hard as ordinary LWE in dimension about n/log2 q only "
        "(Boneh, Lewi, Montgomery, Raghunathan 2013, in Peikert's survey 5.7.2; direct for q a power of 2): "
        f"n = {n}, q = {q} guarantees about {n / log2(q):.0f} dimensions"
    )


def lines(public: Public, tolerance: float) -> list[Line]:
    """(name, source, cost) of every attack; a text in place of a cost says why it does not apply."""
    it = _Rounded(public)
    return [
        (
            "sq bound",
            f"queries of tolerance {tolerance}, unconditional for dense secrets (theory 2.6)",
            lambda: _query_bound(it, tolerance),
        ),
        ("exhaustive", "all secrets of the public kind", lambda: _exhaustive(it)),
        (
            "meet in the middle",
            "halves of the secret meet in boxes of residues; search.py",
            lambda: _middle(it),
        ),
        ("gaussian", "elimination over Z_q on levels of one residue; gaussian.py", lambda: _elimination(it)),
        (
            "bkw",
            f"integer BKW with a grid transform; {MEASURED}; bkw.py",
            lambda: unbounded_bkw(it.n, bias_of(it.q, it.p, it.noise), int(it.dot)),
        ),
        (
            "lattice",
            f"orthogonal lattice, profile with its floor; {MEASURED}; lattice.py",
            lambda: unbounded_lattice(it.n, max(it.error, 0.2) / it.q, it.dot),
        ),
    ]


@dataclass(frozen=True)
class _Rounded:
    """The public parameters of a rounding instance, and what costs follow from."""

    public: Public

    @property
    def n(self) -> int:
        return int(self.public["dim"]) - 1

    @property
    def q(self) -> int:
        return int(self.public["modulus"])

    @property
    def p(self) -> int:
        return int(self.public["levels"])

    @property
    def weight(self) -> int | None:
        return LEVELS.weight(self.public)

    @property
    def noise(self) -> float:
        return float(self.public.get("noise") or 0.0)

    @property
    def dot(self) -> bool:
        return bool(self.public.get("gadget") == "dot")

    @cached_property
    def error(self) -> float:
        """Standard deviation of a label's error."""
        return rounding_error(self.q, self.p, self.noise)

    @property
    def log2_secrets(self) -> float:
        return _log2_secrets(self.n, self.q, self.weight)

    @property
    def harmonic(self) -> float:
        """The bias that the right secret's error leaves the first harmonic; a wrong one's residues are uniform."""
        return exp(-min(2 * (pi * self.error / self.q) ** 2, 300.0))

    @property
    def log2_test(self) -> float:
        """log2 of the informative rows on which the right secret stands out."""
        return log2_rows_to_test(self.log2_secrets, self.harmonic)


def _query_bound(it: _Rounded, tolerance: float) -> Log2Cost | str:
    if it.weight is not None:
        return "the bound is for dense uniform secrets"
    concepts = RoundingConcepts(it.n, it.q, it.p, "dot" if it.dot else "diag", LEVELS.heads(it.public))
    log2_queries = log2_window_bound(concepts, tolerance)
    if log2_queries > 0:
        return Log2Cost(log2_queries, 0.0, 0.0)
    return FEW_HEADS if concepts.heads is not None else "the bound is below one query"


def _exhaustive(it: _Rounded) -> Log2Cost:
    # Without noise a row of p levels leaves 1/p of the candidates; a noisy one is a coin of the harmonic's bias.
    rows = rows_a_candidate(it.harmonic) if it.noise else 2.0
    return Log2Cost(it.log2_secrets + log2(rows), log2(it.n), it.log2_test + 1)


def _middle(it: _Rounded) -> Log2Cost | str:
    if it.noise:
        return "label noise: a half secret cannot be told right from wrong"
    # Dense halves have half the places each; of a sparse secret both may have any places.
    n, q, h = it.n, it.q, it.weight
    half = (n - n // 2) * log2(q) if h is None else _log2_secrets(n, q, (h + 1) // 2)
    # Halves meet in boxes of residues: each of k rows doubles look-ups, and pairs shrink by p/2.
    pairs_shrink, doubles = max(log2(it.p) - 1, 0), it.p < it.q
    look_ups = min(max(2 * half - k * pairs_shrink, half + k * doubles) for k in range(200))
    return Log2Cost(max(look_ups, half) + 2, half, it.log2_test + 1)


def _elimination(it: _Rounded) -> Log2Cost | str:
    if it.noise:
        return "label noise: elimination has no error correction over Z_q"
    exact = float((preimages(it.q, it.p)[1] == 1).sum()) / it.q
    if not exact:
        return "every level holds several residues, so no label is a linear equation"
    n = it.n
    return Log2Cost(2 * log2(n) + log2(n + 10), 2 * log2(n + 1), log2(2 * (n + 10) / exact))


def rounding_error(q: int, p: int, noise: float = 0.0) -> float:
    """Standard deviation of the error of a label: uniform on the residues of its level, centred (references B3).

    The variance is (w² - 1)/12 at a level of w residues, averaged over residues; label noise adds its own.

    >>> round(rounding_error(8192, 1024), 3)  # Saber: uniform on 8 residues
    2.291
    """
    width = preimages(q, p)[1].astype(np.float64)
    return sqrt(float((width * (width**2 - 1)).sum()) / (12 * q) + noise**2)


def _log2_secrets(n: int, q: int, h: int | None) -> float:
    return n * log2(q) if h is None else log2(comb(n, h)) + h * log2(q - 1)
