"""Costs of known growth on the grids of the studies, for the tests of the verdict."""

from collections.abc import Callable
from dataclasses import replace
from math import comb

import numpy as np

from hardness.statistics.cells import Cell
from hardness.statistics.verdict import Growth, growth

Cost = Callable[[int, int], float]
FULL = [(d, m) for m in (2, 3, 4) for d in (12, 16, 20, 24)] + [(12, 5), (16, 5), (12, 6), (16, 6), (32, 2)]
QUICK = [(d, m) for m in (2, 3, 4) for d in (12, 16, 20)]


def root(d: int, m: int) -> float:
    return 1e5 * comb(d - 1, m) ** 0.5


def measured(
    cost: Cost,
    rng: np.random.Generator,
    grid: list[tuple[int, int]] = FULL,
    runs: int = 10,
    sigma: float = 0.35,
    omega: float = 0.15,
    cap: float = 5e7,
) -> list[Cell]:
    """Log-normal costs: `sigma` between the runs of a cell, `omega` between cells."""
    cells = []
    for d, m in grid:
        spent = cost(d, m) * np.exp(omega * rng.standard_normal() + sigma * rng.standard_normal(runs))
        cells.append(Cell(d, m, np.minimum(spent, cap), spent < cap, cap))
    return cells


def with_noise(sigma: float, omega: float, grid: list[tuple[int, int]] = FULL, cap: float = 5e7) -> Growth:
    """A study of that noise, to calibrate: only its cells, sigma and omega matter."""
    found = growth(measured(root, np.random.default_rng(1), grid, cap=cap))
    return replace(found, sigma=sigma, omega=omega, refusal=None)
