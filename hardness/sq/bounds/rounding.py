"""Lower bounds for the rounding family (theory 2.4, 2.6), each with its statement and source."""

from dataclasses import replace
from functools import cache
from math import floor, inf, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.families.concepts import RoundingConcepts
from hardness.gadgets import modular
from hardness.sq.bounds.floors import check_tolerance

ENUMERABLE = 2**24  # labels of a class whose every secret is looked at
GRID = 2_000_000  # places of the law of W
FEW_HEADS = (
    "with so few heads no error mass below the tolerance is proved from the public parameters (theory 2.6)"
)


def log2_distinct(concepts: RoundingConcepts) -> float:
    """Return log2 of V, which takes the place of the number of parities in the bounds on rounding (theory 2.6).
    V = 2^n, or (8/3)^n/2 for the gadget "dot" with an odd modulus. It is at most the inverse of the probability that
    the labels at two random public vectors are dependent."""
    if concepts.gadget == "diag" or concepts.q % 2 == 0:
        return float(concepts.n)
    return concepts.n * log2(8 / 3) - 1


def log2_window_bound(concepts: RoundingConcepts, tolerance: float) -> float:
    """Return log2 of a lower bound on queries that find a rounding secret against the oracle `window` (theory 2.6).

    The bound is 8 (tau - eps)^2 V (share - c q^-n), at tolerance tau; half of it holds against the oracle `null`. On
    that share of the secrets labels are ideal but with probability eps (`truncation`); log2 V is `log2_distinct`, and c
    (`alike`) counts secrets that need not be told apart. -inf where nothing is proved. Proof: lemma L and pairwise
    independence.

    >>> round(2 ** log2_window_bound(RoundingConcepts(8, 5, 2), 0.1), 2)
    20.48
    """
    share, mass = truncation(concepts, tolerance)
    share -= alike(concepts) * float(concepts.q) ** -concepts.n
    if mass >= tolerance or share <= 0:
        return -inf
    return log2(8 * (tolerance - mass) ** 2 * share) + log2_distinct(concepts)


def _enumerable(concepts: RoundingConcepts) -> bool:
    return bool(concepts.size * (2 if concepts.gadget == "diag" else 3) ** concepts.n <= ENUMERABLE)


@cache
def alike(concepts: RoundingConcepts) -> int:
    """Return the largest number of secrets with equal labels at every public vector; 1 if too many to count."""
    if (concepts.q == concepts.p and concepts.heads is None) or not _enumerable(concepts):
        return 1
    rows = np.ascontiguousarray(concepts.label_table)
    _, counts = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))), return_counts=True)
    return int(counts.max())


@cache
def error_masses(concepts: RoundingConcepts) -> NDArray[np.float64]:
    """Return, for each of the q^n secrets, the probability that the label of M heads is not the ideally rounded one."""
    ideal = replace(concepts, heads=None).label_table
    return np.asarray((concepts.label_table != ideal) @ concepts.public()[1])


def spectrum(n: int, q: int, gadget: str, bins: int = 256) -> NDArray[np.float64]:
    """Return the distribution of -log2 |phi(v)| for v uniform in Z_q^n, as probabilities of bins, `bins` to a bit.
    phi(v) is the mean of exp(2 pi i <v, u>/q) over public vectors u. In size it is prod |cos(pi v_j/q)|, squared for
    `gadget` "dot" (theory 2.1). Logarithms are rounded down; the last bin holds all that are larger."""
    power = 1 if gadget == "diag" else 2
    # Beyond three times the typical size (and 64 bits) only "small" matters; the last bin says so from above.
    size = max(3 * power * n, 64) * bins
    sizes = np.maximum(np.abs(np.cos(pi * np.arange(q) / q)), 1e-300)
    steps, counts = np.unique(
        np.minimum(size - 1, -power * np.log2(sizes) * bins).astype(int), return_counts=True
    )
    mass = np.zeros(size)
    mass[0] = 1.0
    for _ in range(n):
        after = np.zeros(size)
        for step, share in zip(steps, counts / q, strict=True):
            after[step:] += mass[: size - step] * share
            after[-1] += mass[size - step :].sum() * share
        mass = after
    return mass


def log2_sda(law: NDArray[np.float64], bins: int, average: float) -> float | None:
    """Return log2 of the largest Q such that the top 1/Q of all correlations |phi| average less than `average`.
    None if even all of them average more. `law`, from `spectrum`, gives the probabilities of -log2 |phi|, `bins` to a
    bit."""
    before, sizes = np.concatenate(([0.0], np.cumsum(law)[:-1])), 2.0 ** (-np.arange(len(law)) / bins)

    def top_mean(fraction: float) -> float:
        return float(np.clip(fraction - before, 0, law) @ sizes / fraction)

    if top_mean(1.0) >= average:
        return None
    low, high = 0.0, 1000.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if top_mean(2.0**-middle) < average else (low, middle)
    return low


def label_log2_sda(concepts: RoundingConcepts, average: float, bins: int = 256) -> float | None:
    """Return log2 of the statistical dimension SDA(g), g = `average`, of ideally rounded labels (theory 2.4).
    It is computed from a `spectrum` with `bins` to a bit. None for composite q, where the proof fails, and where it
    says nothing."""
    q = concepts.q
    if any(q % k == 0 for k in range(2, floor(sqrt(q)) + 1)):
        return None
    shares = modular.shares(q, concepts.p)
    h = (modular.level(np.arange(q), q, concepts.p) == np.arange(concepts.p)[:, None]) / shares[:, None] - 1
    factor = float(shares @ np.abs(np.fft.fft(h)[:, 1:] / q).sum(axis=1) ** 2)
    return log2_sda(spectrum(concepts.n, q, concepts.gadget, bins), bins, 2 * average / factor)


def rounding_bounds(concepts: RoundingConcepts, tolerance: float) -> dict[str, float | str | None]:
    """Return every lower bound on queries that applies to a rounding class at STAT(tolerance), by name.

    `window` and `null` hold against these oracles; `sda`, the statistical dimension, is absent where it does not apply.
    If labels come from a number of heads, they are ideal but with probability `error_mass`, on a share `share` of the
    secrets; both are returned too (theory 2.6). Where they are not proved, `window`, `null`, `share` and `error_mass`
    are None, and `reason` says why.

    >>> {name: round(bound) for name, bound in rounding_bounds(RoundingConcepts(24, 97, 2), 0.1).items()}
    {'window': 1342177, 'null': 671089, 'sda': 25}
    >>> rounding_bounds(RoundingConcepts(32, 97, 2, heads=2), 0.1)["window"] is None
    True
    """
    bounds: dict[str, float | str | None] = {**truncated_bounds(concepts, check_tolerance(tolerance))}
    if concepts.heads is not None:
        if not bounds:
            return {**dict.fromkeys(("window", "null", "share", "error_mass")), "reason": FEW_HEADS}
        share, mass = truncation(concepts, tolerance)
        return {**bounds, "share": share, "error_mass": mass}
    bits = label_log2_sda(concepts, tolerance**2 / 3) if tolerance <= 0.5 else None
    if bits:
        bounds["sda"] = floor(2.0**bits) if bits < 50 else 2.0**bits
    return bounds


def truncated_bounds(concepts: RoundingConcepts, tolerance: float) -> dict[str, float]:
    """Return lower bounds on queries against the oracles `window` and `null`, by name; none that is not positive."""
    window = 2 ** log2_window_bound(concepts, tolerance)
    return {"window": window, "null": window / 2} if window > 0 else {}


def right_labels(concepts: RoundingConcepts) -> tuple[float, float] | None:
    """Return (share, eps): on that share of the secrets all but a part eps of the heads' labels are rounded ideally.
    None if no such pair is proved. It is the pair best for tolerance 1/2, and depends on public parameters alone."""
    share, mass = truncation(concepts, 0.5)
    return (share, mass) if mass < 0.5 and share > float(concepts.q) ** -concepts.n else None


@cache
def truncation(concepts: RoundingConcepts, tolerance: float) -> tuple[float, float]:
    """Return (share, eps): on that share of the secrets all but a part eps of M heads' labels are rounded ideally.
    Of such pairs it is the one with the largest 8 (tolerance - eps)^2 share; (1, 0) without heads. It is exact in a
    small class. In others eps is Hoeffding's bound 2 exp(-2 T^2/W). T = (M - p - 1) q/(2p) is how far the heads reach,
    for p levels mod q; W is the sum of the secret's squared entries (four times that for "dot"). The share is P(W <=
    B), for the best B."""
    if concepts.heads is None:
        return 1.0, 0.0
    if _enumerable(concepts):
        masses = np.sort(error_masses(concepts))
        shares = np.searchsorted(masses, masses, side="right") / len(masses)
        return _best(shares, masses, tolerance)
    q, n = concepts.q, concepts.n
    reach = max(0.0, (concepts.heads - concepts.p - 1) * q / (2 * concepts.p))
    spread = 1 if concepts.gadget == "diag" else 4
    squares = modular.centred(np.arange(q), q) ** 2
    unit = max(1, int(squares.max()) * n // GRID)
    steps, counts = np.unique(-(-squares // unit), return_counts=True)
    shares = np.cumsum(_sums(steps, counts / q, n))
    budgets = unit * spread * np.maximum(np.arange(len(shares)), 1)
    eps = np.minimum(1.0, 2 * np.exp(-2 * reach**2 / budgets))
    return _best(shares, eps, tolerance)


def _best(shares: NDArray[np.float64], eps: NDArray[np.float64], tolerance: float) -> tuple[float, float]:
    gain = np.where(eps < tolerance, (tolerance - eps) ** 2 * shares, 0.0)
    best = int(np.argmax(gain))
    return float(min(1.0, shares[best])), float(eps[best])


def _sums(steps: NDArray[np.int64], odds: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1, 2, ... for a sum of n independent draws from `steps`, of probabilities `odds`.
    They are computed by FFT; P(0) is lowered by 1e-9, above the rounding noise, so that partial sums are lower bounds.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    length = int(steps.max()) * n + 1
    step_law = np.zeros(int(steps.max()) + 1)
    step_law[steps] = odds
    size = next_fast_len(length, real=True)
    law = irfft(rfft(step_law, size) ** n, size)[:length]
    law[0] -= 1e-9
    return np.asarray(law)
