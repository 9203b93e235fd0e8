"""What the verdict is made of: medians under censoring, the censored fit, degrees, exponents along rays."""

from math import log

import numpy as np
import pytest
from growth_examples import FULL, measured
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

from hardness.errors import InputError
from hardness.statistics import models
from hardness.statistics.cells import Cell, median_error
from hardness.statistics.fit import degree, least_degree, mean_half_width
from hardness.statistics.verdict import FITS, GROWS, growth


def test_fewer_than_half_solved_is_censored() -> None:
    cost = np.array([100.0, 200.0, 300.0, 900.0, 900.0, 900.0])
    half = Cell(16, 2, cost, cost < 900, 900)
    assert (half.censored, half.median) == (False, pytest.approx((300 * 900) ** 0.5))
    fewer = Cell(16, 2, cost, cost < 300, 900)
    assert (fewer.censored, fewer.limits[1]) == (True, np.inf)
    assert fewer.median == 300
    with pytest.raises(InputError, match="finite and positive"):
        Cell(16, 2, np.array([np.nan]), np.array([True]))
    with pytest.raises(InputError, match="one cost and one flag"):
        Cell(16, 2, cost, np.array([True]))


@pytest.mark.parametrize("runs", [6, 10, 20])
def test_the_limits_of_a_median_hold_it(runs: int) -> None:
    """Whatever the law, here within 4 sd of 2,000 cells; and `median_error` is what it says for a normal one."""
    rng = np.random.default_rng(11)
    whole = np.ones(runs, dtype=bool)
    held = [
        low <= log(2) <= high for low, high in (Cell(9, 2, rng.exponential(1, runs), whole).limits for _ in range(2000))
    ]
    assert np.mean(held) >= 0.95 - 4 * (0.05 * 0.95 / 2000) ** 0.5
    errors = np.median(rng.standard_normal((20_000, runs)), axis=1).std()
    assert median_error(runs) == pytest.approx(errors, rel=0.05)


@settings(max_examples=40)
@given(
    st.lists(st.floats(0, 1e3), min_size=1, max_size=6).filter(lambda c: sum(c) > 1e-3),
    st.integers(0, 2**32),
)
def test_no_polynomial_is_given_more_than_its_degree(coefficients: list[float], seed: int) -> None:
    """Exact costs with runs 0.1 % apart: the lower limit stays below the degree."""
    cells = measured(
        lambda d, m: sum(c * float(d) ** i for i, c in enumerate(coefficients)),
        np.random.default_rng(seed), sigma=1e-6, omega=0.0, cap=np.inf,
    )  # fmt: skip
    step = degree(cells)
    assert step is None or step.exponent.low < len(coefficients) - 1 + 1e-4


def test_the_degree_is_found_and_rarely_exceeded() -> None:
    exact = degree(measured(lambda d, m: float(d) ** m, np.random.default_rng(13), sigma=0.01, omega=0.0, cap=np.inf))
    assert exact is not None
    assert least_degree(exact) == 6
    rng, over = np.random.default_rng(14), 0
    for _ in range(200):
        step = degree(measured(lambda d, m: float(d) ** 2, rng, omega=0.0))
        over += step is not None and step.exponent.low > 2
    assert over <= 20  # 5 % of 200 at most: P(more than 20) = 0.1 %


def test_the_local_exponent_along_a_ray() -> None:
    grid = [*FULL, (8, 2), (20, 5)]
    found = growth(measured(lambda d, m: 1e3 * 2.0**m, np.random.default_rng(15), grid, sigma=0.05, omega=0.0))
    steps = found.rays[4]  # d = 4 m
    assert [(step.start.size, step.stop.size) for step in steps] == [(2, 3), (3, 4), (4, 5)]
    assert all(step.exponent.low < log(2) < step.exponent.high for step in steps)
    assert found.word != GROWS  # exponential in m at fixed d, but with the same exponent of d at every m
    assert found.word != FITS


def test_the_censored_fit_is_the_maximum_of_its_likelihood() -> None:
    """EM against a general optimiser of the likelihood, written down here."""
    rng = np.random.default_rng(17)
    x = np.linspace(0, 1, 60)
    X, y = np.column_stack([np.ones_like(x), x]), 2 + 3 * x + 0.5 * rng.standard_normal(x.size)
    lost = y > 4
    y = np.minimum(y, 4.0)

    def minus(p: np.ndarray) -> float:
        z = (y - X @ p[:2]) / np.exp(p[2])
        return -float(np.where(lost, norm.logsf(z), norm.logpdf(z) - p[2]).sum())

    best = minimize(minus, [2, 3, -1], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000})
    found = models.fit(X, y[None], lost[None])
    assert found.beta[0] == pytest.approx(best.x[:2], abs=2e-3)
    assert found.sigma[0] == pytest.approx(np.exp(best.x[2]), rel=2e-3)
    assert found.likelihood[0] == pytest.approx(-best.fun, abs=1e-3)


@pytest.mark.parametrize("runs", [5, 10, 20])
@pytest.mark.parametrize("magnitude", [1e2, 1e5, 1e9])
@pytest.mark.parametrize("law", ["uniform", "log-normal"])
def test_the_bar_of_a_mean_covers(law: str, magnitude: float, runs: int) -> None:
    """What the docstring says of the bars in the figures: 92 to 95 % at these laws, here within 4 sd of 20,000 sets."""
    rng = np.random.default_rng(14)
    draw = {"uniform": rng.uniform(0, 2, (20_000, runs)), "log-normal": rng.lognormal(-1 / 8, 0.5, (20_000, runs))}[law]
    cost = magnitude * draw  # of mean `magnitude`
    held = np.abs(cost.mean(axis=1) - magnitude) <= mean_half_width(cost)
    assert 0.92 - 0.008 <= held.mean() <= 0.95 + 0.008
