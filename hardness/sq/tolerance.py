"""The tolerance of an answer: STAT(tau) or VSTAT(t), and which means an answer allows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError

SMALLEST_TOLERANCE = 1e-60  # its fourth power and one over it are floats; an answer as close takes 10^120 examples


def check_tolerance(tolerance: float) -> float:
    """A tolerance from `SMALLEST_TOLERANCE` to 1, or `InputError`."""
    if not SMALLEST_TOLERANCE <= tolerance <= 1:
        raise InputError(f"tolerance must be in (0, 1], and at least {SMALLEST_TOLERANCE:g}, got {tolerance}")
    return tolerance


@dataclass(frozen=True)
class Vstat:
    """The tolerance of VSTAT(t): max(1/t, sqrt(p(1-p)/t)) for queries in [0, 1], p their mean.

    A query here has values in [-1, 1]; it stands for (1 + phi)/2, so tolerances double. Definition: Feldman,
    Grigorescu, Reyzin, Vempala, Xiao, JACM 64(2), 2017.

    >>> [float(x) for x in Vstat(100).around(np.array([0.0, 1.0]))]
    [0.1, 0.02]
    """

    t: float

    def around(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        p = (1 + np.clip(means, -1, 1)) / 2
        return 2 * np.maximum(1 / self.t, np.sqrt(p * (1 - p) / self.t))


Tolerance = float | Vstat


def tolerances(tolerance: Tolerance, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far an answer may lie from each mean."""
    return tolerance.around(means) if isinstance(tolerance, Vstat) else np.full(len(means), tolerance)


def within(means: NDArray[np.float64], reply: float, tolerance: Tolerance) -> NDArray[np.bool_]:
    """Which means an answer at this tolerance allows; the slack is rounding of the last bits."""
    return np.asarray(np.abs(means - reply) <= tolerances(tolerance, means) * (1 + 1e-12) + 1e-15)
