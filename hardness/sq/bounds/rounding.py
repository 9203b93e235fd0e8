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
    """Return log2 V, V = 1/P(two public vectors give dependent labels): what replaces N in the bounds of theory 2.6.
    V = 2^n for diag and for even q; for dot and odd q z and -z determine each other, and P is at most 2 (3/8)^n."""
    if concepts.gadget == "diag" or concepts.q % 2 == 0:
        return float(concepts.n)
    return concepts.n * log2(8 / 3) - 1


def log2_window_bound(concepts: RoundingConcepts, tolerance: float) -> float:
    """Return log2 of 8 (tau - eps)^2 V (pi_1 - c q^-n) queries against the window (half of it: the null one).

    c = `alike` counts the secrets that a learner need not tell apart; a share pi_1 of the secrets has ideal labels but
    for a mass eps (`truncation`). -inf where nothing is proved. Any STAT(tau) query, w uniform in Z_q^n, label any
    function of <w, u> mod q; proved in theory 2.6 by lemma L and pairwise independence.

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
    """Return the largest number of secrets with equal labels at every public vector; 1 where it is not counted."""
    if (concepts.q == concepts.p and concepts.heads is None) or not _enumerable(concepts):
        return 1
    rows = np.ascontiguousarray(concepts.label_table)
    _, counts = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))), return_counts=True)
    return int(counts.max())


@cache
def error_masses(concepts: RoundingConcepts) -> NDArray[np.float64]:
    """Return, for every secret by rank (q^n,), the probability that M heads' label is not that of ideal rounding."""
    ideal = replace(concepts, heads=None).label_table
    return np.asarray((concepts.label_table != ideal) @ concepts.public()[1])


def spectrum(n: int, q: int, gadget: str, bins: int = 256) -> NDArray[np.float64]:
    """Return the probabilities of -log2 |phi(v)|, `bins` to a bit, for v uniform in Z_q^n.

    phi(v) is prod |cos(pi v_j/q)|, squared for dot (theory 2.1). Logarithms are rounded down, so that |phi| is bounded
    above. The sums are by additions, as a transform's rounding noise would fake large dimensions.
    """
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
    """Return log2 of the largest Q such that the top 1/Q of all |phi| average less than `average`; None if even all do
    not. `law` holds the probabilities of -log2 |phi|, `bins` to a bit (`spectrum`)."""
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
    """Return log2 SDA(g), g = `average`, of the ideal p-level labels, from the spectrum of cosines (theory 2.4).
    SDA is the statistical dimension. None for composite q, where the argument fails, and where it says nothing."""
    q = concepts.q
    if any(q % k == 0 for k in range(2, floor(sqrt(q)) + 1)):
        return None
    shares = modular.shares(q, concepts.p)
    h = (modular.level(np.arange(q), q, concepts.p) == np.arange(concepts.p)[:, None]) / shares[:, None] - 1
    factor = float(shares @ np.abs(np.fft.fft(h)[:, 1:] / q).sum(axis=1) ** 2)
    return log2_sda(spectrum(concepts.n, q, concepts.gadget, bins), bins, 2 * average / factor)


def rounding_bounds(concepts: RoundingConcepts, tolerance: float) -> dict[str, float | str | None]:
    """Return every bound that applies at STAT(tolerance), by name; `sda` is absent where it does not apply.

    With `heads` the labels are ideal but for a mass eps = `error_mass`, on a share pi_1 = `share` of the secrets; the
    bounds have tau - eps and pi_1 (theory 2.6). Where no such pair is proved all four are None, and `reason` says why.

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
    """Return lower bounds on queries against `window` and `null`, for ideal labels or M heads; empty if none."""
    window = 2 ** log2_window_bound(concepts, tolerance)
    return {"window": window, "null": window / 2} if window > 0 else {}


def right_labels(concepts: RoundingConcepts) -> tuple[float, float] | None:
    """Return (pi_1, eps): on a share pi_1 of the secrets all labels but a mass of at most eps are ideal. None if none
    is proved. The pair is the best one at tolerance 1/2, and depends on public parameters alone."""
    share, mass = truncation(concepts, 0.5)
    return (share, mass) if mass < 0.5 and share > float(concepts.q) ** -concepts.n else None


@cache
def truncation(concepts: RoundingConcepts, tolerance: float) -> tuple[float, float]:
    """Return (share, eps): on a share of the secrets labels of M heads are ideal but for mass eps; (1, 0) if all are.

    The pair has the largest 8 (tau - eps)^2 share. It is exact in a small class. In others it is by Hoeffding, for the
    sum t that the heads round: P(|t - mean| >= T) <= 2 exp(-2 T^2/W), T = (M - p - 1) q/(2p), W = sum w^2 (diag; 4 W
    for dot), and the share with W <= B (any B) from its exact distribution, w^2 rounded up to a grid.
    """
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
    """Return the probabilities of the sum of n independent `steps`, each with probabilities `odds`, by transforms.
    Their rounding noise, below 1e-9 in any share, is taken off at the lower end, so that shares stay bounds."""
    from scipy.fft import irfft, next_fast_len, rfft

    length = int(steps.max()) * n + 1
    step_law = np.zeros(int(steps.max()) + 1)
    step_law[steps] = odds
    size = next_fast_len(length, real=True)
    law = irfft(rfft(step_law, size) ** n, size)[:length]
    law[0] -= 1e-9
    return np.asarray(law)
