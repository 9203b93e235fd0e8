"""What LWE costs: primal uSVP, dual and coded BKW, for uniform public vectors (references B)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.estimates.costs import MODELS, delta
from hardness.gadgets.modular import preimages

LARGEST_BLOCK = 2000
MOST_STEPS = 60
# One grid for all instances: what is feasible for a harder one is then feasible for an easier one (monotonicity).
DIMENSIONS = np.unique(np.concatenate((np.arange(2, 2001), np.geomspace(2000, 40000, 200).round()))).astype(np.float64)


@dataclass(frozen=True)
class LWE:
    """Dimension n, modulus q, standard deviations of error and secret, number of samples given.

    A uniform secret counts as one of the error's size: n samples turn it into one that is distributed like the error.
    """

    n: int
    q: float
    error: float
    secret: float
    samples: float = inf


@dataclass(frozen=True)
class Cost:
    """log2 of time, memory and samples; `beta` and `dimension` where a lattice is reduced."""

    time: float
    memory: float
    samples: float
    beta: int | None = None
    dimension: int | None = None


class EstimateFailed(ArithmeticError):
    """No parameters were found at which the attack works; says nothing about hardness."""


def lwr_to_lwe(n: int, q: int, p: int, noise: float = 0.0) -> LWE:
    """LWR(n, q, p) as LWE: error uniform on the residues of a level, centred.

    Its variance is (w² - 1)/12 at width w, w = q/p where p divides q and the level's own width otherwise, averaged over
    residues; label noise adds its variance (references B3).

    >>> round(lwr_to_lwe(512, 8192, 1024).error, 3)  # Saber: uniform on 8 residues
    2.291
    """
    width = preimages(q, p)[1].astype(np.float64)
    error = sqrt(float((width * (width**2 - 1)).sum()) / (12 * q) + noise**2)
    return LWE(n, q, error, error)


def primal(lwe: LWE, model: str) -> Cost:
    """Primal uSVP: √β σ <= δ^{2β-d-1} Vol^{1/d} in dimension d = m + n + 1, the secret scaled to the error (ADPS16).

    The cheapest (β, d) under the cost model. Raises `EstimateFailed` if none exists up to `LARGEST_BLOCK`.

    >>> cost = primal(LWE(512, 3329, sqrt(1.5), sqrt(1.5)), "ADPS16")  # Kyber512
    >>> cost.beta, cost.dimension, round(cost.time, 1)
    (406, 999, 118.6)
    """
    scale = log(max(lwe.error, 1e-9) / max(lwe.secret, 1e-9))
    log_error = log(max(lwe.error, 1e-9))
    return cheapest_usvp(lambda d: (d - lwe.n - 1) * log(lwe.q) + lwe.n * scale, lwe.n + 2, log_error, model)


def cheapest_usvp(
    log_volume: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    least: int,
    log_error: float,
    model: str,
    floor: Callable[[int], float] = lambda d: 0.0,
) -> Cost:
    """The cheapest (β, d), d >= least, at which log(√β σ) <= (2β-d-1) ln δ(β) + log_volume(d)/d.

    No cost lies below `floor`(d), the log2 of other work in that dimension, which must increase with d.
    """
    price = MODELS[model]
    d = DIMENSIONS[np.searchsorted(DIMENSIONS, least) :]
    volume = log_volume(d) / d
    best: Cost | None = None
    for beta in range(2, LARGEST_BLOCK + 1):
        margin = (2 * beta - d - 1) * log(delta(beta)) + volume - log_error - log(beta) / 2
        fits = np.flatnonzero((margin >= 0) & (d >= beta))
        if len(fits):
            smallest = int(d[fits[0]])
            time = max(float(price(beta, np.asarray(smallest))), floor(smallest))
            if best is None or time < best.time:
                best = Cost(time, 0.2075 * beta + log2(smallest), log2(smallest - least + 2), beta, smallest)
        # Cost grows with β at a given d, and no dimension is below β: nothing cheaper can follow.
        if best is not None and price(beta, np.asarray(max(beta, least))) > best.time:
            break
    if best is None:
        raise EstimateFailed(f"no block size up to {LARGEST_BLOCK} separates the error")
    return best


def dual(lwe: LWE, model: str) -> Cost:
    """Dual distinguishing: vectors of length δᵈ q^{n/d} leave bias exp(-2π²(ℓσ/q)²), seen in bias⁻² of them.

    One sieve call yields 2^{.2075 β} vectors, √(4/3) longer than its shortest; d = m + n, secret scaled to the error.
    """
    scale = log(max(lwe.error, 1e-9) / max(lwe.secret, 1e-9))
    best: Cost | None = None
    for beta in range(2, LARGEST_BLOCK + 1):
        log_delta = log(delta(beta))
        d = max(round(sqrt(lwe.n * max(log(lwe.q) - scale, 0.0) / log_delta)), lwe.n + 1, beta)  # the shortest vectors
        length = d * log_delta + lwe.n * (log(lwe.q) - scale) / d + log(4 / 3) / 2
        exponent = 2 * pi**2 * exp(min(2 * (length + log(max(lwe.error, 1e-9) / lwe.q)), 60)) / log(2)
        call = float(MODELS[model](beta, np.asarray(d)))
        time = call + max(2 * exponent - 0.2075 * beta, 0.0)
        if best is None or time < best.time:
            best = Cost(time, 0.2075 * beta + log2(d), log2(d - lwe.n), beta, d)
        if MODELS[model](beta, np.asarray(max(beta, lwe.n + 1))) > best.time:  # no call with larger β is cheaper
            break
    if best is None or best.time > 1e4:
        raise EstimateFailed("no block size leaves a bias")
    return best


def coded_bkw(lwe: LWE) -> Cost:
    """Coded BKW: every step cancels a block by a [N_i, b] lattice code over Z_q, a test finds the last coordinates.

    Step i from the end may leave error σ_set²/2^i a coordinate and so reaches N_i = b/(1 - log_q(12 σ_set²/2^i)/2),
    at least b. Costs are q^b/2 samples a step, n operations on each, and a transform of q^{ℓ+1} values. Where
    samples are limited, sums of few of them serve as samples. Code lengths are real: the estimate is monotone.
    """
    n, q = lwe.n, lwe.q
    ntest = np.arange(1, n + 1, dtype=np.float64)
    count = np.arange(MOST_STEPS + 1, dtype=np.float64)[:, None]
    best = Cost(inf, inf, inf)
    for b in range(1, min(n, int(400 / log2(q)) + 1) + 1):
        if b * log2(q) > best.time:
            break
        error = lwe.error**2 * sums_needed(lwe.samples, b * log2(q) + log2(MOST_STEPS))
        for ell in range(max(b - 1, 1), b + 2):
            # In the end every coded coordinate leaves as much error as the test code does: log_q (12 σ_set²).
            log_set = 2 * np.maximum(1 - ell / ntest, 0)
            reach = b / np.clip(1 - (log_set - count[1:] * log(2, q)) / 2, 1e-9, 1)
            covered = np.vstack((np.zeros(n), np.cumsum(reach, axis=0))) + ntest
            code = lwe.secret**2 * np.where(log_set > 0, np.exp(log_set * log(q)), 0) / 12 * n
            exponent = 4 * pi**2 * (2.0**count * error + code) / q**2 / log(2)
            test = np.log2(8 * (ell + 1) * log(q)) + np.minimum(exponent, 1e5)
            steps = np.log2(np.maximum(count, 0.5))
            made = np.where(count > 0, b * log2(q) - 1 + steps, -1e5)
            work = np.logaddexp2(test + np.maximum(steps, 0), made + steps - 1) + log2(n + 1)
            time = np.logaddexp2(work, (ell + 1) * log2(q) + log2((ell + 1) * log2(q)))
            time = np.where(covered >= n, time, inf)
            i = int(np.argmin(time))
            if time.flat[i] < best.time:
                samples = float(np.logaddexp2(made, test).flat[i])
                best = Cost(float(time.flat[i]), samples + log2(n), samples)
    if not best.time < 1e4:
        raise EstimateFailed(f"no block leaves a bias within {MOST_STEPS} steps of at most 400 bits")
    return best


def sums_needed(samples: float, wanted: float) -> int:
    """The least k such that signed sums of k of the samples number at least 2^wanted."""
    total = 0.0
    for k in range(1, 10_000):
        if samples == inf or total >= wanted or k > samples:
            return max(k - 1, 1)
        total += log2(2 * (samples - k + 1) / k)
    return 10_000
