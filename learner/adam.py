"""Adam (Kingma & Ba, 2015) in place, compiled; how loops of students are compiled, and BLAS kept to one thread."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from threadpoolctl import ThreadpoolController

EPSILON = 1e-8
TINY = 1e-30  # means of gradients stay above: subnormal numbers are slow
# Multiply-adds may be fused, and no sum changes its order: with all of LLVM's fast-math flags the weights of a process
# that compiles and of one that loads the cache were seen to differ in their last bits.
compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg.cython_blas  # noqa: F401  # numba's own loading of it comes later

    return ThreadpoolController()


def one_thread() -> Any:
    """Return a context manager in which BLAS uses one thread, as is fastest for many small products."""
    return _blas().limit(limits=1, user_api="blas")


class Pace(NamedTuple):
    """Holds the numbers of Adam's rule; before each step `decay` shrinks parameters by the factor 1 - rate · decay."""

    rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    decay: float = 0.0


@compiled
def update(
    pace: Any, share: float, unseen: Any, parameter: Any, gradient: Any, mean: Any, square: Any
) -> Any:
    """Change `parameter` by one step of Adam with the constants `pace`, down `gradient` times `share`.

    All arrays are flat, of one float type and one size. `mean` and `square`, changed too, are the running means of
    gradients and of their squares, which start at 0. In step t `unseen` holds beta1^t and beta2^t, which correct them.
    """
    number = parameter.dtype.type
    root = np.sqrt(1 - unseen[1])
    part, tiny = number(share), number(TINY)
    slow, slower, kept = number(1 - pace.beta1), number(1 - pace.beta2), number(1 - pace.rate * pace.decay)
    factor, least = number(pace.rate * root / (1 - unseen[0])), number(EPSILON * root)
    if pace.beta1 == 0:  # the mean is the gradient
        for i in range(parameter.size):
            g = gradient[i] * part
            square[i] += slower * (g * g + tiny - square[i])
            parameter[i] = kept * parameter[i] - factor * g / (np.sqrt(square[i]) + least)
    else:
        for i in range(parameter.size):
            g = gradient[i] * part + tiny
            mean[i] += slow * (g - mean[i])
            square[i] += slower * (g * g + tiny - square[i])
            parameter[i] = kept * parameter[i] - factor * mean[i] / (np.sqrt(square[i]) + least)


class Adam:
    """Optimizes `parameters`, contiguous arrays of any shapes, in place by Adam."""

    def __init__(self, parameters: Sequence[Any]) -> None:
        self.flat = [parameter.reshape(-1) for parameter in parameters]
        self.means = [np.zeros_like(each) for each in self.flat]
        self.squares = [np.zeros_like(each) for each in self.flat]
        self.unseen = np.ones(2)

    def step(self, gradients: Sequence[Any], rate: float) -> None:
        """Take a step of size `rate` down the gradients, arrays of the parameters' shapes."""
        pace = Pace(float(rate))
        self.unseen *= pace.beta1, pace.beta2
        for *state, gradient in zip(self.flat, self.means, self.squares, gradients, strict=True):
            update(pace, 1.0, self.unseen, state[0], gradient.reshape(-1), *state[1:])
