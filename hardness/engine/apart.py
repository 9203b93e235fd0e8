"""Learners run apart, as studies know them: `hardness.apart` is where that is done."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.apart.child import die_with_parent as die_with_parent
from hardness.apart.child import source as source
from hardness.apart.lab import THREADS as THREADS
from hardness.apart.lab import Apart as Apart


class Constant:
    """The learner that predicts zero: the null control, and the shortest example of one."""

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Constant":
        """Learn nothing."""
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[Any]:
        """Zeros of the shape of X."""
        return np.zeros(X.shape)
