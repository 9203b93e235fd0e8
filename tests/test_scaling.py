"""The verdict on synthetic costs of known growth; its intervals, its power, its refusals."""

from collections.abc import Callable
from math import comb

import numpy as np
import pytest

from hardness.studies.catalog import cells as grid
from hardness.study.growth import fit as scaling
from hardness.study.growth import models
from hardness.study.growth.fit import Cell, growth

Cost = Callable[[int, int], float]


def measured(cost: Cost, rng: np.random.Generator, runs: int = 20, spread: float = 0.5) -> list[Cell]:
    """The study's grid with log-normal costs."""
    return [
        Cell(d, s, cost(d, s) * np.exp(spread * rng.standard_normal(runs)), np.ones(runs, dtype=bool))
        for d, s in grid(quick=False)
    ]


EXPONENTIAL: dict[str, Cost] = {
    "all concepts": lambda d, s: comb(d - 1, s),
    "the bound": lambda d, s: 0.02 * comb(d - 1, s) + 3,
    "a root of them": lambda d, s: 10 * comb(d - 1, s) ** 0.5,
}
POLYNOMIAL: dict[str, Cost] = {
    "constant": lambda d, s: 1000.0,
    "d^2 m^3": lambda d, s: d**2 * s**3,
    "d^6 m^8": lambda d, s: float(d) ** 6 * float(s) ** 8,
    "d m": lambda d, s: d * s,
    "(d + m)^4": lambda d, s: float(d + s) ** 4,
}


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_exponential_costs_are_found(name: str) -> None:
    found = growth(measured(EXPONENTIAL[name], np.random.default_rng(1)))
    assert found.verdict == "EXPONENTIAL"


@pytest.mark.parametrize("name", POLYNOMIAL)
def test_polynomial_costs_are_inconclusive(name: str) -> None:
    # 30 data sets a cost; at a false-alarm rate of 0.1 % a set this fails once in 7 runs over all seeds.
    rng = np.random.default_rng(2)
    assert [growth(measured(POLYNOMIAL[name], rng)).verdict for _ in range(30)] == ["INCONCLUSIVE"] * 30


def test_shuffled_heads_are_inconclusive() -> None:
    """Negative control: true exponential costs with m permuted at every d."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        shuffled = []
        for dim in {d for d, _ in grid(quick=False)}:
            row = [cell for cell in measured(EXPONENTIAL["all concepts"], rng) if cell.dim == dim]
            sizes = rng.permutation([cell.size for cell in row])
            shuffled += [Cell(dim, int(s), cell.cost, cell.solved) for s, cell in zip(sizes, row, strict=True)]
        assert growth(shuffled).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize("magnitude", [1e2, 1e5, 1e9])
def test_the_interval_of_the_slope_covers(magnitude: float) -> None:
    """log2 cost = a_s + 1.1 s log2 d, costs about `magnitude`: at least 90 % of the 95 % intervals hold 1.1."""
    rng, hits, sets = np.random.default_rng(4), 0, 100
    for _ in range(sets):
        slope = growth(measured(lambda d, s: magnitude * (d / 32) ** (1.1 * s), rng)).slope
        assert slope is not None
        hits += slope.low <= 1.1 <= slope.high
    assert hits >= 90  # P(fewer | coverage 0.95) = 1.1 %


@pytest.mark.slow
@pytest.mark.parametrize("censored", [False, True])
@pytest.mark.parametrize("magnitude", [1e2, 1e5, 1e9])
def test_the_interval_of_the_binomial_slope_covers(magnitude: float, censored: bool) -> None:
    """Exponential costs of mean `magnitude` C(d-1, s), cut or not at a budget that loses some cells: k = 1 is held."""
    rng, hits, sets = np.random.default_rng(13), 0, 40
    limit = magnitude * comb(47, 4) if censored else np.inf
    for _ in range(sets):
        costs = {(d, s): magnitude * comb(d - 1, s) * rng.exponential(1, 20) for d, s in grid(quick=False)}
        slope = growth([Cell(d, s, np.minimum(c, limit), c < limit) for (d, s), c in costs.items()]).binomial_slope
        assert slope is not None
        hits += slope.low <= 1 <= slope.high
    assert hits >= 34  # P(fewer | coverage 0.95) = 0.3 %


@pytest.mark.parametrize("runs", [5, 10, 20])
@pytest.mark.parametrize("magnitude", [1e2, 1e5, 1e9])
@pytest.mark.parametrize("law", ["uniform", "log-normal"])
def test_the_bar_of_a_mean_covers(law: str, magnitude: float, runs: int) -> None:
    """What the docstring says of the bars in the figures: 92 to 95 % at these laws, here within 4 sd of 20,000 sets."""
    rng = np.random.default_rng(14)
    draw = {"uniform": rng.uniform(0, 2, (20_000, runs)), "log-normal": rng.lognormal(-1 / 8, 0.5, (20_000, runs))}[law]
    cost = magnitude * draw  # of mean `magnitude`
    held = np.abs(cost.mean(axis=1) - magnitude) <= scaling.mean_half_width(cost)
    assert 0.92 - 0.008 <= held.mean() <= 0.95 + 0.008


def test_a_lost_run_counts_what_it_spent() -> None:
    cost, solved = np.array([100.0, 300.0, 800.0]), np.array([True, True, False])
    assert Cell(16, 2, cost, solved).log2_cost == pytest.approx(np.log2(600))
    none = Cell(16, 2, cost, np.zeros(3, dtype=bool))
    assert none.censored
    assert none.log2_cost == pytest.approx(np.log2(400))


def test_the_censored_mean_of_an_exponential_law_is_right() -> None:
    rng = np.random.default_rng(5)
    cost = rng.exponential(1000, 200_000)
    seen = np.minimum(cost, 700.0)
    assert 2 ** Cell(16, 2, seen, cost < 700).log2_cost == pytest.approx(1000, rel=0.02)


def test_a_crash_adds_no_hardness() -> None:
    rng = np.random.default_rng(6)
    sound = measured(POLYNOMIAL["d^2 m^3"], rng)
    crashed = [
        Cell(c.dim, c.size, np.append(c.cost, np.zeros(c.size)), np.append(c.solved, np.zeros(c.size, dtype=bool)))
        for c in sound
    ]
    a, b = growth(sound), growth(crashed)
    assert [c.log2_cost for c in a.cells] == pytest.approx([c.log2_cost for c in b.cells])
    assert b.verdict == "INCONCLUSIVE"


def test_censored_fit_recovers_the_line() -> None:
    rng = np.random.default_rng(7)
    x = np.linspace(0, 1, 4000)
    X, y = np.column_stack([np.ones_like(x), x]), 2 + 3 * x + 0.5 * rng.standard_normal(x.size)
    limit = np.full_like(y, 4.0)
    beta, sigma, _ = models.fit(X, np.minimum(y, limit)[None], (y > limit)[None])
    assert beta[0] == pytest.approx([2, 3], abs=0.1)
    assert sigma[0] == pytest.approx(0.5, abs=0.03)


def test_censoring_the_largest_cells_keeps_the_verdict() -> None:
    rng = np.random.default_rng(8)
    lost = [
        Cell(c.dim, c.size, np.minimum(c.cost, 1e6), c.cost < 1e6)
        for c in measured(EXPONENTIAL["all concepts"], rng, runs=10)
    ]
    assert any(cell.censored for cell in lost)
    assert growth(lost).verdict == "EXPONENTIAL"


@pytest.mark.parametrize(
    ("keep", "reason"),
    [
        (lambda d, s: False, "no trial"),
        (lambda d, s: d <= 32, "fewer than 4"),
        (lambda d, s: s <= 4, "fewer than 4"),
        (lambda d, s: (d, s) == (16, 2), "fewer than 4"),
    ],
)
def test_too_little_is_refused(keep: Callable[[int, int], bool], reason: str) -> None:
    rng = np.random.default_rng(9)
    found = growth([c for c in measured(EXPONENTIAL["all concepts"], rng) if keep(c.dim, c.size)])
    assert found.verdict == "INCONCLUSIVE"
    assert found.refusal is not None
    assert reason in found.refusal
    assert found.slope is None


def test_all_censored_is_refused() -> None:
    rng = np.random.default_rng(10)
    cells = [Cell(c.dim, c.size, c.cost, np.zeros_like(c.solved)) for c in measured(EXPONENTIAL["the bound"], rng)]
    assert growth(cells).refusal == "no trial solved its instance: every cost is only a lower bound"


def test_noiseless_exhaustive_search_has_slope_one() -> None:
    cells = [Cell(d, s, np.array([comb(d - 1, s) - 1.0]), np.array([True])) for d, s in grid(quick=False)]
    found = growth(cells)
    assert found.binomial_slope is not None
    assert found.binomial_slope.value == pytest.approx(1, abs=0.01)
    assert found.verdict == "EXPONENTIAL"
    assert min(found.models, key=lambda m: m.bic).name == "a + k log₂ C(d−1, m)"


def test_power_is_what_is_printed() -> None:
    """The whole rule, bootstrap included, finds the detectable slope in most data sets, and a third of it in few."""
    rng = np.random.default_rng(11)
    found = growth(measured(EXPONENTIAL["all concepts"], rng))
    assert found.detectable is not None
    assert found.slope is not None
    assert 0.05 < found.detectable < 0.4
    k = found.detectable / found.slope.value  # the slope is 1.2 k for a cost C(d-1, s)^k

    def rate(power: float) -> float:
        verdicts = [growth(measured(lambda d, s: 1e3 * comb(d - 1, s) ** power, rng)).exponential for _ in range(40)]
        return float(np.mean(verdicts))

    assert rate(k) > 0.55  # 0.8 claimed: P(fewer than 23 of 40) < 0.1 %
    assert rate(k / 3) < 0.4


def test_the_same_rows_give_the_same_numbers() -> None:
    cells = measured(EXPONENTIAL["all concepts"], np.random.default_rng(12))
    a, b = growth(cells), growth(list(reversed(cells)))
    assert (a.slope, a.exponents, a.models, a.detectable) == (b.slope, b.exponents, b.models, b.detectable)
