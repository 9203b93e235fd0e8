"""Means, shares and exponents with their intervals."""

import numpy as np
import pytest
from scipy import stats

from hardness.statistics import Mean, mean, slope


def test_intervals_are_those_of_student() -> None:
    values = list(np.random.default_rng(0).normal(1, 0.3, size=7))
    low, high = stats.t.interval(0.95, 6, np.mean(values), stats.sem(values))
    interval = mean(values)
    assert (interval.low, interval.high, interval.runs) == (pytest.approx(low), pytest.approx(high), 7)
    logs = mean(list(np.exp(values)), logarithmic=True)
    assert (logs.low, logs.high) == (pytest.approx(np.exp(low)), pytest.approx(np.exp(high)))
    assert mean([0.5]).low is None
    assert [Mean(1.0, 0.5, 1.5, 3).side(x) for x in (0.4, 0.5, 1.5, 1.6)] == [1, 0, 0, -1]


def test_intervals_hold_the_exponent() -> None:
    """Fixed seed, 400 data sets: 95 % intervals of normal errors miss in 3 to 8 % (a false alarm in 10^-2 of seeds)."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(400):
        fitted = slope([(d, d**2 * np.exp(rng.normal(0, 0.3))) for d in (8, 12, 16, 24) for _ in range(4)])
        assert fitted is not None
        missed += fitted.side(2) != 0
    assert 8 <= missed <= 34
    assert slope([(8, 1.0), (8, 2.0)]) is None
