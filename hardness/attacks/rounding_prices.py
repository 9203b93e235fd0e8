"""Prices of attacks on rounded inner products: equations mod q of which a label shows one of p levels."""

from dataclasses import replace
from functools import cached_property
from math import comb, erfc, exp, inf, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Public, bkw_cost, lattice_cost, parity_prices
from hardness.attacks.cost import (
    UNREACHED,
    Line,
    Log2Cost,
    NotPriced,
    log2_rows_to_test,
    rows_a_candidate,
)
from hardness.families.concepts import RoundingConcepts
from hardness.families.linear import HiddenVector
from hardness.gadgets.modular import preimages
from hardness.sq.bounds.rounding import FEW_HEADS, log2_window_bound

WHOLE = 1e-3  # error mass of few heads up to which what needs whole labels is priced
NO_HEADS = 2.0**-60  # error mass below which heads are no fewer than labels want
SECRETS = 101  # sparse ones drawn, of which the median counts
HARMONICS = 64  # of a label that are looked at
AT_ONCE = 64  # coordinates, at most
TINY = 1e-300  # what stands for 0 in a logarithm
LEVELS = 4  # of a label that choices of coordinates would be made by
OFFSETS = 16  # places of the secret's mean between two turns of the levels
MEASURED = "2^30 operations to a second of one core, held to measured seconds; examples cost their drawing"
JUNTA = (
    "the coordinates of a sparse secret, the first or first few at once, then a table of labels: median over secrets; "
    "no program here"
)


def lines(public: Public, tolerance: float) -> list[Line]:
    """Return (name, source, cost function) of each attack on rounding and of the bound on queries of `tolerance`."""
    it = _Rounded.of(public)
    bound = f"queries of tolerance {tolerance}, unconditional for dense secrets (theory 2.6)"
    cells = (
        "regression on the cells of the level: few heads are wrong on "
        f"{it.error_mass:.2g} of the informative inputs, typically; no program here"
    )
    boxes = "halves of the secret meet in boxes of residues; no program here"
    vanish = "polynomials that vanish on the level of fewest residues (Arora and Ge 2011); no program here"
    bits = "noisy parities, where q = 2: collisions, then a Walsh-Hadamard transform"
    return [
        ("sq bound", bound, lambda: _query_bound(it, tolerance)),
        ("exhaustive", "all secrets of the public kind", lambda: _exhaustive(it)),
        ("meet in the middle", boxes, lambda: _middle(it)),
        ("junta", JUNTA, lambda: _junta(it)),
        ("few heads", cells, lambda: _few_heads(it)),
        ("gaussian", "elimination over Z_q on levels of one residue; gaussian.py", lambda: _elimination(it)),
        ("linearization", vanish, lambda: _linearization(it)),
        ("bkw", f"integer BKW with a grid transform; {MEASURED}; bkw.py", lambda: _bkw(it)),
        ("lf2", bits, lambda: _parity(it)),
        (
            "lattice",
            f"orthogonal lattice, profile with its floor; {MEASURED}; lattice.py",
            lambda: _lattice(it),
        ),
    ]


class _Rounded(HiddenVector):
    """Inner products of n coordinates mod q, rounded to p levels, with the figures that costs depend on."""

    @property
    def n(self) -> int:
        return int(self.dim or 1) - 1

    @property
    def dot(self) -> bool:
        return bool(self.gadget == "dot")

    @cached_property
    def error(self) -> float:
        """Return the standard deviation of a label's error, in residues mod q."""
        return rounding_error(self.q, self.p, self.noise)

    @cached_property
    def deviation(self) -> float:
        """Return the standard deviation of ⟨w, u⟩ + noise over public vectors u, for a typical centred secret w."""
        support = self.n if self.sparsity is None else self.sparsity
        entry = (0.5 if self.dot else 0.25) * (self.q**2 - 1) / 12
        return sqrt(support * entry + self.noise**2)

    @cached_property
    def error_mass(self) -> float:
        """Return the typical share of wrong labels: those where ⟨w, u⟩ lies beyond the last change that heads make."""
        if self.heads is None:
            return 0.0
        reach = (self.heads + 1) * self.q / self.p / 2
        return erfc(reach / self.deviation / sqrt(2)) * (1 - 1 / self.p)

    @property
    def log2_secrets(self) -> float:
        return _log2_secrets(self.n, self.q, self.sparsity)

    @property
    def harmonic(self) -> float:
        """Return the mean of cos 2π e/q over the labels' errors e at the right secret; at a wrong one it is 0."""
        return exp(-min(2 * (pi * self.error / self.q) ** 2, 300.0)) * (1 - min(self.error_mass, 0.999))

    def needs_whole_labels(self) -> None:
        """Raise `NotPriced` if the heads are so few that more than a thousandth of the labels is wrong."""
        if self.error_mass > WHOLE:
            raise NotPriced(
                f"labels of so few heads are wrong on {self.error_mass:.2g} of the informative inputs"
            )

    @property
    def log2_test(self) -> float:
        """Return log2 of the number of labels that tell the right secret from all others."""
        return log2_rows_to_test(self.log2_secrets, self.harmonic)


def _query_bound(it: _Rounded, tolerance: float) -> Log2Cost | str:
    if it.sparsity is not None:
        return "the bound is for dense uniform secrets"
    concepts = RoundingConcepts(it.n, it.q, it.p, "dot" if it.dot else "diag", it.heads)
    log2_queries = log2_window_bound(concepts, tolerance)
    if log2_queries > 0:
        return Log2Cost(log2_queries, 0.0, 0.0)
    return FEW_HEADS if concepts.heads is not None else "the bound is below one query"


def _exhaustive(it: _Rounded) -> Log2Cost:
    # Without noise a row of p levels leaves 1/p of the candidates; a noisy one is a coin of the harmonic's bias.
    rows = rows_a_candidate(it.harmonic) if it.noise or it.error_mass else 2.0
    return Log2Cost(it.log2_secrets + log2(rows), log2(it.n), it.log2_test + 1)


def _middle(it: _Rounded) -> Log2Cost | str:
    if it.noise:
        return "label noise: a half secret cannot be told right from wrong"
    it.needs_whole_labels()
    # Dense halves have half the places each; of a sparse secret both may have any places.
    n, q, h = it.n, it.q, it.sparsity
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
    return parity_prices.elimination(it.n, exact)


def _junta(it: _Rounded) -> Log2Cost | str:
    """Return the cost of finding a sparse secret's h coordinates by correlations, and then a table of their labels.

    Labels are correlated with all C(n, k) products of k coordinates. The cost is the median over random secrets, each
    with its best k, since some show far more than others. The table has 2^h entries for diag and 3^h for dot.
    """
    h, n = it.sparsity, it.n
    if h is None:
        return "the secret is dense"
    log2_shown = _log2_shown(it, h)
    log2_products = np.array([log2(comb(n, k)) for k in range(1, log2_shown.shape[1] + 1)])
    rows = np.array([log2_rows_to_test(2 * products, 1.0) + 1 for products in log2_products]) - log2_shown
    log2_patterns = h * log2(3 if it.dot else 2)
    samples = np.maximum(rows, log2_patterns + 3)
    time = np.maximum(log2_products + rows, log2(n * h) + samples)
    secret = int(time.min(axis=1).argsort()[SECRETS // 2])
    best = int(time[secret].argmin())
    memory = max(float(log2_products[best]), log2_patterns)
    return Log2Cost(float(time[secret, best]), memory, float(samples[secret, best]) + 1)


def _log2_shown(it: _Rounded, h: int) -> NDArray[np.float64]:
    """Return log2 of the largest share of a label's variance that products of k of the h coordinates explain.

    There is a row for each of some random secrets w, a column for each k = 1, 2, …. The label's c-th Fourier harmonic
    has there the share Π r_j Π (1 - r_i) of its variance, i over the k coordinates and j over the others. r_j is cos²(π
    c w_j/q) for diag, its square for dot; the k coordinates with the least r are the best.
    """
    c = np.arange(1, min(HARMONICS, max(it.q // 2, 1)) + 1)
    p = min(it.p, LEVELS)
    # Of the variance of the indicator of one of p levels, with the noise's damping
    share = 2 * p**2 / (p - 1) * (np.sin(pi * c / p) / (pi * c)) ** 2
    share *= np.exp(-((2 * pi * c * it.noise / it.q) ** 2))
    w = np.random.default_rng(0).integers(1, it.q, (SECRETS, 1, h)) / it.q
    r = np.sort(np.cos(pi * c[:, None] * w) ** (4 if it.dot else 2), axis=2)
    among = np.log2(np.maximum(1 - r, TINY)).cumsum(axis=2)
    left = np.log2(np.maximum(r, TINY))
    beside = left.sum(axis=2, keepdims=True) - left.cumsum(axis=2)
    log2_shares = among + beside + np.log2(np.maximum(share, TINY))[:, None]
    return np.asarray(log2_shares.max(axis=1)[:, :AT_ONCE])


def _few_heads(it: _Rounded) -> Log2Cost | str:
    """Return the cost of means of labels times 1 or 2 coordinates, with a share ρ² of variance, on 16 n/ρ² rows."""
    if it.heads is None or it.error_mass < NO_HEADS:
        return "no label is wrong for want of heads"
    best = UNREACHED
    for k, share in enumerate(hermite_shares(it.q, it.p, it.heads, it.deviation), 1):
        rows, log2_means = log2(16 * it.n) - log2(share) if share > 0 else inf, k * log2(it.n)
        best = min(best, Log2Cost(rows + log2_means, log2_means, rows + 1))
    return best


def hermite_shares(q: int, p: int, heads: int, deviation: float) -> tuple[float, float]:
    """Return the shares ρ₁², ρ₂² of a label's variance that are linear and quadratic in ⟨w, u⟩ (theory 1.4).

    They are the largest for the indicator of one level, if labels change level `heads` times as ⟨w, u⟩ grows. ⟨w, u⟩ is
    normal with standard deviation `deviation`; the shares are averages over its mean, in one period of the p levels.

    >>> [round(share, 3) for share in hermite_shares(97, 2, 2, 200.0)]  # 0, 1, 0: nearly even in the level
    [0.002, 0.05]
    """
    from scipy.special import ndtr

    best = np.zeros((OFFSETS, 2))
    cells = np.arange(heads + 1) % p
    for row, offset in enumerate((np.arange(OFFSETS) + 0.5) / OFFSETS - 0.5):
        change = (np.arange(heads) - (heads - 1) / 2) / p + offset  # in turns of the levels, from the mean
        edge = np.concatenate(([-40.0], change * q / deviation, [40.0]))
        law = np.exp(-(edge**2) / 2) / sqrt(2 * pi)
        # Of the cells between edges: the mass, and the integrals of x and of (x² - 1)/√2.
        mass, linear, square = (
            np.bincount(cells, np.diff(integral), p) for integral in (ndtr(edge), -law, -edge * law / sqrt(2))
        )
        spread = np.maximum(mass * (1 - mass), 1e-300)
        best[row] = (linear**2 / spread).max(), (square**2 / spread).max()
    linear_share, square_share = best.mean(axis=0).tolist()
    return linear_share, square_share


def _linearization(it: _Rounded) -> Log2Cost | str:
    """Return the cost of solving Π_r (⟨w, u⟩ - r) = 0 as linear in products of u, r the least level's residues."""
    if it.noise:
        return "label noise: a level's polynomial does not vanish"
    it.needs_whole_labels()
    width = preimages(it.q, it.p)[1]
    c = int(width[width > 0].min())
    n = it.n
    unknowns = sum(comb(n * (2 if it.dot else 1), k) for k in range(1, min(c, n) + 1))
    size, share = log2(unknowns + 10), c / it.q
    return Log2Cost(3 * size, 2 * size, size - log2(share) + 1)


def _parity(it: _Rounded) -> Log2Cost | str:
    """Return the cost of LF2 (collisions) if q = 2: labels are then parities, flipped by noise or for want of heads."""
    if it.q != 2:
        return "labels are no parities: q > 2"
    # The mean of (-1)^e of a rounded normal e, by Poisson's sum: its first two terms, right within .03.
    kept = min(1.0, max(1e-12, 4 / pi * exp(-((pi * it.noise) ** 2) / 2)))
    flip = (1 - kept * (1 - it.error_mass)) / 2
    return parity_prices.collisions(it.n, it.n // 2 if it.sparsity is None else it.sparsity, flip)


def _bkw(it: _Rounded) -> Log2Cost:
    bias = bkw_cost.bias_of(it.q, it.p, it.noise) * (1 - it.error_mass)
    return bkw_cost.price(it.n, bias, int(it.dot))


def _lattice(it: _Rounded) -> Log2Cost:
    it.needs_whole_labels()
    error = max(it.error, 0.2)
    cost = lattice_cost.price(it.n, error / it.q, it.dot)
    # Where levels are wide, rounding to the secret takes more than decoding: measured; under noise, by least squares.
    rounded = 2 * (16 * error) ** 2 if it.noise else 4 * it.n * sqrt(12) * error
    return replace(cost, samples=max(cost.samples, log2(rounded)))


def rounding_error(q: int, p: int, noise: float = 0.0) -> float:
    """Return the standard deviation of a label's error, in residues mod q (references B3).

    It is uniform on a level's w residues, with variance (w² - 1)/12, averaged over all residues, plus Gaussian `noise`.

    >>> round(rounding_error(8192, 1024), 3)  # Saber: uniform on 8 residues
    2.291
    """
    width = preimages(q, p)[1].astype(np.float64)
    return sqrt(float((width * (width**2 - 1)).sum()) / (12 * q) + noise**2)


def _log2_secrets(n: int, q: int, h: int | None) -> float:
    return n * log2(q) if h is None else log2(comb(n, h)) + h * log2(q - 1)
