"""The tolerance of an answer, STAT(tau), and which means an answer allows."""

import numpy as np
from numpy.typing import NDArray

from hardness.io.fields import number

SMALLEST_TOLERANCE = (
    1e-60  # its fourth power and one over it are floats; an answer as close takes 10^120 examples
)


def check_tolerance(tolerance: float) -> float:
    """Return a tolerance from `SMALLEST_TOLERANCE` to 1; raise `InputError` for another."""
    number("tolerance", tolerance, f"[{SMALLEST_TOLERANCE:g}, 1]")
    return tolerance


def within(means: NDArray[np.float64], reply: float, tolerance: float) -> NDArray[np.bool_]:
    """Say which means an answer at this tolerance allows; the slack is rounding of the last bits."""
    return np.asarray(np.abs(means - reply) <= tolerance * (1 + 1e-12) + 1e-15)
