"""What the best window loses."""

import numpy as np
from numpy.typing import NDArray

from hardness.sq.bounds.floors import within
from hardness.sq.oracle import best_answer


def window_loss(means: NDArray[np.float64], tau: float) -> int:
    """How many of the concepts with these means the best answer at tolerance tau rules out."""
    return int(np.sum(~within(means, best_answer(means, tau), tau)))
