"""Cells of a grid in (d, m): the runs of each, their median under censoring, and draws of them, many at a time.

The cost of a cell is the median over its runs. It needs no law of the spread, and censoring at a cap leaves it as it is
as long as half of the runs solved. With fewer the cell is censored: its cost is only known to exceed the lower median
of what was spent. A run that did not solve is ranked by what it spent: one that a clock stopped early adds no hardness.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """The runs at one (d, m): what each spent, whether it solved, and the cap on what it could spend.

    Runs that ended as `error` or `killed` are no data and do not belong here. Raises `InputError` on runs that do not
    fit together or on a cost that is not finite and positive.

    >>> cell = Cell(16, 2, np.array([400.0, 100.0, 900.0]), np.array([True, True, False]), cap=900)
    >>> cell.median, cell.censored, cell.limits
    (400.0, False, (100.0, inf))
    """

    dim: int
    size: int
    cost: Floats
    solved: Bools
    cap: float = np.inf

    def __post_init__(self) -> None:
        if self.cost.ndim != 1 or self.cost.shape != self.solved.shape:
            raise InputError(f"a cell needs one cost and one flag a run, got {self.cost.shape}, {self.solved.shape}")
        if not (np.isfinite(self.cost) & (self.cost > 0)).all():
            raise InputError("the cost of a run is finite and positive")

    @cached_property
    def _middle(self) -> tuple[float, bool]:
        y, censored = draws([self]).medians()
        return float(np.exp(y[0, 0]).round(9)), bool(censored[0, 0])

    @property
    def censored(self) -> bool:
        """Whether the median is only known to exceed `median`."""
        return self._middle[1]

    @property
    def median(self) -> float:
        """The median cost; where the cell is censored, what it is known to exceed."""
        return self._middle[0]

    @property
    def deterministic(self) -> bool:
        """Whether the runs show no spread: one run, or runs that all cost the same."""
        return bool(np.ptp(self.cost) == 0)

    @property
    def limits(self) -> tuple[float, float]:
        """The narrowest limits on the median by order statistics that hold it in 95 % of cells, else the widest there
        are; infinite above where that run did not solve."""
        from scipy.stats import binom

        runs = len(self.cost)
        k = max(int(binom.ppf(0.025, runs, 0.5)), 1)  # P(Bin(runs, 1/2) < k) <= 2.5 %
        cost = np.sort(np.where(self.solved, self.cost, np.inf))
        return float(np.sort(self.cost)[k - 1]), float(cost[runs - k])


@dataclass(frozen=True)
class Draws:
    """D data sets on one grid of n cells: logs of costs in ascending order and who is lost, (D, runs) for each cell."""

    d: Integers
    m: Integers
    logs: tuple[Floats, ...]
    lost: tuple[Bools, ...]

    def medians(self) -> tuple[Floats, Bools]:
        """log median cost (D, n), and whether the cell is censored there (D, n)."""
        middle = [np.array([[(x.shape[1] - 1) // 2, x.shape[1] // 2]]) for x in self.logs]
        y, censored = self._picked(middle)
        return y[:, 0], censored[:, 0]

    def resampled(self, replicates: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
        """As `medians` with the runs of each cell drawn again, (D, replicates, n): the same draw in every data set."""
        middle = []
        for x in self.logs:
            runs = x.shape[1]
            again = np.sort(rng.integers(runs, size=(replicates, runs)), axis=1)
            middle.append(again[:, [(runs - 1) // 2, runs // 2]])
        return self._picked(middle)

    def _picked(self, middle: Sequence[Integers]) -> tuple[Floats, Bools]:
        """Means of two ranks a cell; where already the lower is lost, the cell is censored there."""
        y, censored = [], []
        for logs, lost, pair in zip(self.logs, self.lost, middle, strict=True):
            low, high = pair.T
            gone = lost[:, low]
            y.append(np.where(gone, logs[:, low], (logs[:, low] + logs[:, high]) / 2))
            censored.append(gone)
        return np.stack(y, axis=-1), np.stack(censored, axis=-1)

    def sets(self, keep: Bools) -> "Draws":
        """Those of the data sets."""
        return Draws(self.d, self.m, tuple(x[keep] for x in self.logs), tuple(x[keep] for x in self.lost))


def draws(cells: Sequence[Cell]) -> Draws:
    """One data set: the cells."""
    runs = [ranked(np.log(cell.cost)[None], cell.solved[None]) for cell in cells]
    d, m = np.array([[cell.dim, cell.size] for cell in cells], dtype=np.int64).reshape(-1, 2).T
    return Draws(d, m, tuple(x for x, _ in runs), tuple(lost for _, lost in runs))


def ranked(logs: Floats, solved: Bools) -> tuple[Floats, Bools]:
    """Runs (D, runs) in ascending order, and which are lost: all of them where fewer than half solved.

    A run that did not solve comes after one of equal cost that did.
    """
    order = np.lexsort((~solved, logs), axis=-1)
    few = 2 * solved.sum(axis=-1, keepdims=True) < solved.shape[-1]
    return np.take_along_axis(logs, order, -1), np.take_along_axis(~solved, order, -1) | few


def spread(cells: Sequence[Cell]) -> float:
    """Standard deviation of log cost between the runs of a cell, pooled over the cells of which every run solved.

    Where there is none: over the cells that are not censored, an unsolved run counting what it spent.
    """
    whole = [c for c in cells if c.solved.all() and len(c.cost) > 1]
    whole = whole or [c for c in cells if not c.censored and len(c.cost) > 1]
    free = sum(len(c.cost) - 1 for c in whole)
    return float(np.sqrt(sum(np.log(c.cost).var() * len(c.cost) for c in whole) / free)) if free else 0.0


def median_error(runs: int) -> float:
    """Standard error of the median of `runs` normal draws of standard deviation 1, to 4 % (exact 0.536, 0.372).

    >>> round(median_error(1), 3), round(median_error(5), 3), round(median_error(10), 3)
    (1.0, 0.531, 0.372)
    """
    mean_of_two = 0 if runs % 2 else 0.8
    return float(np.sqrt(np.pi / 2 / (runs + np.pi / 2 - 1 + mean_of_two)))
