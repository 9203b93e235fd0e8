"""The power of the verdict's rule: which growth it would find on a grid, by simulation."""

import numpy as np

from hardness.study.growth.fit import DECISIVE, SEED
from hardness.study.growth.models import (
    GROWING,
    POLYNOMIAL,
    Floats,
    Integers,
    criteria,
    exponent_design,
    fit,
    half_width,
    log2_binomial,
)


def detectable(d: Integers, s: Integers, noise: float) -> float | None:
    """Smallest d alpha/ds that the verdict's rule finds on this grid with probability 0.8, by simulation.

    The truth is log2 cost = k log2 C(d-1, s) + N(0, noise^2) for falling k; None if even k = 2 is not found.
    """
    sizes = sorted(int(size) for size in set(s) if np.sum(s == size) >= 3)
    use = np.isin(s, sizes)
    X, readout = exponent_design(d[use], s[use], sizes)
    shape = log2_binomial(d, s)
    rng = np.random.default_rng(SEED)
    whole, found = np.zeros((200, len(d)), dtype=bool), None
    for k in 2.0 * 0.85 ** np.arange(32):
        Y = k * shape + noise * rng.standard_normal(whole.shape)
        beta, sigma, _ = fit(X, Y[:, use], whole[:, use])
        above = beta @ readout[-1] > half_width(X, readout[-1:], sigma)[:, 0]

        def judged(name: str, Y: Floats = Y) -> tuple[Floats, Floats]:
            beta, _, likelihood, miss = criteria(name, d, s, Y, whole, sizes[-1])
            return (beta.shape[1] + 1) * np.log(len(d)) - 2 * likelihood, miss

        growing = [judged(name) for name in GROWING]
        bic, miss = (np.choose(growing[0][0] > growing[1][0], pair) for pair in zip(*growing, strict=True))
        poly_bic, poly_miss = judged(POLYNOMIAL)
        if np.mean(above & (poly_bic - bic > DECISIVE) & (miss < poly_miss)) < 0.8:
            break
        found = float(k * readout[-1] @ np.linalg.lstsq(X, shape[use], rcond=None)[0])
    return found
