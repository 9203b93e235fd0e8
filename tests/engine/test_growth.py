"""The verdict on costs of known growth: error and power, what it refuses, censoring, odd and even m."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from growth_examples import FULL, QUICK, measured, root, with_noise

from hardness.statistics.calibration import KINDS, Frequency, binomial, calibration, lines, simulated
from hardness.statistics.cells import Cell, draws, median_error, spread
from hardness.statistics.fit import degree, estimates
from hardness.statistics.verdict import FITS, GROWS, INCONCLUSIVE, NONE, WORDS, growth
from hardness.studies.wall import tasks as wall


def false_alarms(table: list[Frequency], kind: str) -> dict[str, float]:
    return {row.name: row.of(GROWS) for row in table if row.kind == kind}


def committed() -> list[Cell]:
    """Costs that grow as the root of N in the very cells of `wall`, with its runs and caps."""
    tasks = [task for task in wall.user_learner_tasks(False, wall.STUDENT) if task.family == "parity"]
    cells = Counter((task.params["dim"], task.params["heads"], float(task.budget["samples"])) for task in tasks)
    rng = np.random.default_rng(1)
    return [cell for (d, m, cap), runs in cells.items() for cell in measured(root, rng, [(d, m)], runs, cap=cap)]


def test_the_table_of_a_small_grid() -> None:
    """Error at most 5 % on every product law, on 400 data sets a truth; growth as N is seen, as a polynomial never.

    The error is 2.5 % at most by theory, so more than 20 of 400 come up in 0.2 % of tables a truth. For any other
    f(d) g(m) it is 5 % at most, and three deviations are allowed.
    """
    table = calibration(with_noise(0.35, 0.15))
    assert len(table) == sum(map(len, KINDS.values())) == 37
    assert max(false_alarms(table, "product law").values()) <= 0.05
    assert max(false_alarms(table, "other f(d) g(m)").values()) <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    growing = {row.name: row for row in table if row.kind == "growth with N"}
    assert growing["C(d−1, m)"].of(GROWS) >= 0.95
    assert all(row.of(FITS) == 0 for row in growing.values())
    assert all(abs(sum(row.shares) - 1) < 1e-9 and row.sets == 400 for row in table)
    assert lines(table)[0]["true cost"] == "d¹·m⁰"
    once, again = (calibration(with_noise(0.35, 0.15), 20, ["growth with N"]) for _ in range(2))
    assert once == again


@pytest.mark.parametrize(("sigma", "omega"), [(0.35, 0.15), (0.26, 0.55)])
def test_the_committed_grid_has_the_power(sigma: float, omega: float) -> None:
    """What the issue asks for: growth as the root of N is seen in at least 80 % of 400 data sets, also where the cells
    scatter by 0.55 in log cost, more than they do about c d^a m^b N^k."""
    found = replace(growth(committed()), sigma=sigma, omega=omega, refusal=None)
    power = {row.name: row.of(GROWS) for row in calibration(found, kinds=["growth with N"])}
    assert power["C(d−1, m)^0.5"] >= 0.8
    assert power["C(d−1, m)"] >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "omega"), [(0.05, 0.0), (0.26, 0.27), (0.26, 0.55)])
def test_the_error_is_held_on_the_committed_grid(sigma: float, omega: float) -> None:
    found = replace(growth(committed()), sigma=sigma, omega=omega, refusal=None)
    assert max(false_alarms(calibration(found, kinds=["product law"]), "product law").values()) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "omega"), [(0.05, 0.0), (0.35, 0.15), (0.5, 0.5)])
@pytest.mark.parametrize(("grid", "cap"), [(FULL, 5e7), (QUICK, 5e7), (FULL, 6e6), (QUICK, 3e6)])
def test_the_error_is_held(sigma: float, omega: float, grid: list[tuple[int, int]], cap: float) -> None:
    """On 1,000 sets a truth, other noise, the small grid, a cap that censors: at most 5 %, three deviations allowed."""
    table = calibration(with_noise(sigma, omega, grid, cap), 1000, ["product law", "other f(d) g(m)"])
    found = false_alarms(table, "product law") | false_alarms(table, "other f(d) g(m)")
    assert max(found.values()) <= 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5


def test_an_exponent_that_hardly_rises_is_not_called_growing() -> None:
    """A constant and a multiple of d m, with too little noise to hide that the exponent of d rises with m."""
    grid = [(cell.dim, cell.size) for cell in committed()]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        found = growth(measured(lambda d, m: 1e4 * (1 + d * m / 24), rng, grid, sigma=0.05, omega=0.0))
        assert found.slope is not None
        assert found.kappa is not None
        assert min(found.slope.low, found.kappa.low) > 0
        assert found.growth_p < 0.05
        assert found.word == INCONCLUSIVE


def test_a_bend_is_no_noise() -> None:
    """A bend in d that all m share widens the scatter about the growth law, and leaves that of the ratios alone."""

    def bent(d: int, m: int) -> float:
        return root(d, m) * (1 + (d / 16) ** 8)

    straight, curved = (
        growth(measured(cost, np.random.default_rng(3), omega=0.0, cap=np.inf)) for cost in (root, bent)
    )
    assert curved.tau == pytest.approx(straight.tau, rel=0.1)  # odd and even m may be one series here, two there
    assert curved.misfit > 2 * straight.misfit
    assert curved.growth_p < curved.wide_p


def test_polynomials_fit_where_the_noise_allows_it() -> None:
    table = calibration(with_noise(0.1, 0.0), 100, ["product law"])
    assert min(row.of(FITS) for row in table) >= 0.75


def test_elimination_does_not_grow() -> None:
    """Rows until elimination over GF(2) has full rank, in fact eliminated: a real cost, polynomial, hardly varying."""
    rng = np.random.default_rng(2)

    def rows(n: int) -> int:
        basis: list[int] = []
        count = 0
        while len(basis) < n:
            count += 1
            row = int(rng.integers(2**n))
            for b in basis:
                row = min(row, row ^ b)
            if row:
                basis.append(row)
        return count

    def cells() -> list[Cell]:
        return [Cell(d, m, np.array([rows(d - 1) for _ in range(10)]) * 1.0, np.ones(10, dtype=bool)) for d, m in FULL]

    words = [growth(cells(), replicates=100).word for _ in range(20)]
    assert GROWS not in words  # at an error of 2.5 % in 60 % of seeds
    assert words.count(FITS) >= 14


@pytest.mark.parametrize("runs", [1, 10])
def test_a_closed_form_is_refused(runs: int) -> None:
    """C(d-1, m) - 1 without an experiment, and exact costs declared an identity although their runs vary."""
    cells = [Cell(d, m, np.full(runs, comb(d - 1, m) - 1.0), np.ones(runs, dtype=bool)) for d, m in FULL]
    found = growth(cells)
    assert found.word == NONE
    assert "no spread" in found.sentence
    assert found.kappa is found.slope is found.degree is None
    assert calibration(found) == []
    assert growth(measured(root, np.random.default_rng(3)), identity=True).word == NONE


@pytest.mark.parametrize(
    ("keep", "reason"),
    [
        (lambda d, m: False, "no trial has been run"),
        (lambda d, m: d <= 16, "2 dimensions"),
        (lambda d, m: m <= 3, "2 sizes"),
        (lambda d, m: (d, m) == (16, 2), "1 cells are measured"),
        (lambda d, m: d == 4 * m, "cells are measured"),
    ],
)
def test_too_little_is_refused(keep: Callable[[int, int], bool], reason: str) -> None:
    found = growth([c for c in measured(root, np.random.default_rng(4)) if keep(c.dim, c.size)])
    assert (found.word, reason in str(found.refusal), found.kappa) == (NONE, True, None)


def test_only_lower_bounds_are_refused() -> None:
    cells = [replace(c, solved=np.zeros(10, dtype=bool)) for c in measured(root, np.random.default_rng(5))]
    assert "every cost is only a lower bound" in growth(cells).sentence


def test_the_words_are_made_of_the_numbers() -> None:
    found = growth(measured(root, np.random.default_rng(6)))
    assert found.word == GROWS
    assert found.kappa is not None
    assert found.slope is not None
    for part in (
        f"{found.kappa.value:.2f}",
        f"{found.slope.low:.2f}",
        f"{found.growth_p:.2g}",
        "c·dᵃ·mᵇ is rejected",
    ):
        assert part in found.sentence
    flat = growth(measured(lambda d, m: 1e4 * d, np.random.default_rng(7)))
    assert flat.sentence.startswith(INCONCLUSIVE)
    assert "is not rejected" in flat.sentence


def test_the_limits_cover() -> None:
    """Each limit of kappa and of d alpha/dm is missed in 5 % of 600 sets, at most 8 % here (P = 0.1 %)."""
    study = with_noise(0.35, 0.15)
    rng, cap = np.random.default_rng(8), 5e7
    study = replace(study, cells=tuple(replace(c, cap=cap) for c in study.cells))
    kappa = estimates(simulated(study, binomial(0.5), 600, rng), 200).kappa
    slope = estimates(simulated(study, lambda d, m: (0.5 + 0.5 * m) * np.log(d), 600, rng), 0).slope
    for found in (kappa, slope):
        assert np.mean(found[1] > 0.5) <= 0.08
        assert np.mean(found[2] < 0.5) <= 0.08
        assert np.mean(found[0]) == pytest.approx(0.5, abs=0.05)


def test_censoring_is_honest() -> None:
    """Costs cut at a cap that loses the dearest cells: no estimate is driven above the truth, and the degree is not."""
    study = with_noise(0.35, 0.15)
    rng = np.random.default_rng(9)
    cut = replace(study, cells=tuple(replace(c, cap=2.4e6) for c in study.cells))
    data = simulated(cut, binomial(0.5), 400, rng)
    lost = data.medians()[1].mean()
    assert 0.3 < lost < 0.7
    kappa = estimates(data, 0).kappa
    assert np.mean(kappa[0]) <= 0.52
    assert np.mean(kappa[1] > 0.5) <= 0.08
    whole = measured(root, rng, sigma=0.01, omega=0.0, cap=np.inf)
    caps = [replace(c, cost=np.minimum(c.cost, 3e6), solved=c.cost < 3e6, cap=3e6) for c in whole]
    assert any(c.censored for c in caps)
    free, held = degree(whole), degree(caps)
    assert free is not None
    assert held is not None
    assert held.exponent.low <= free.exponent.low


def test_a_run_stopped_early_adds_no_hardness() -> None:
    cells = measured(root, np.random.default_rng(10))
    stopped = Cell(24, 5, np.ones(10), np.zeros(10, dtype=bool), 5e7)
    one, other = growth(cells), growth([*cells, stopped])
    assert stopped.censored
    assert one.kappa is not None
    assert other.kappa is not None
    assert one.slope is not None
    assert other.slope is not None
    assert (one.kappa.value, one.slope.value) == pytest.approx((other.kappa.value, other.slope.value), abs=1e-3)


def test_odd_and_even_are_two_series_where_they_differ() -> None:
    """A factor of three at odd m is found, and changes no estimate; without it 5 % are called two, here at most 12."""
    rng = np.random.default_rng(12)
    apart = growth(measured(lambda d, m: root(d, m) * 3 ** (m % 2), rng))
    assert apart.split
    assert "two series" in apart.sentence
    assert apart.kappa is not None
    assert apart.kappa.low < 0.5 < apart.kappa.high
    study = with_noise(0.35, 0.15)
    split = estimates(simulated(study, binomial(0.5), 400, rng), 0).split
    assert np.mean(split) <= 0.05 + 4 * (0.05 * 0.95 / 400) ** 0.5
    assert np.mean(split) > 0  # a test of level 5 %: P(none of 400) = 1e-9


def test_the_same_rows_give_the_same_numbers() -> None:
    cells = measured(root, np.random.default_rng(16))
    a, b = growth(cells), growth(list(reversed(cells)))
    assert (a.sentence, a.kappa, a.slope, a.exponents) == (b.sentence, b.kappa, b.slope, b.exponents)


def test_calibration_has_the_noise_of_the_study() -> None:
    """What is simulated for a study scatters as the study does, cap and runs included."""
    rng = np.random.default_rng(18)
    study = with_noise(0.35, 0.15)
    data = simulated(study, binomial(0.5), 300, rng)
    found = estimates(data, 0)
    assert np.sqrt(np.mean(found.tau**2)) == pytest.approx(np.hypot(0.15, 0.35 * median_error(10)), rel=0.05)
    assert data.medians()[0].mean() == pytest.approx(draws(study.cells).medians()[0].mean(), abs=0.02)
    assert spread(measured(root, rng)) == pytest.approx(0.35, rel=0.15)
    assert set(WORDS) == {GROWS, FITS, INCONCLUSIVE, NONE}
