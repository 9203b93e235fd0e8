"""From labels mod q to a real estimate of the secret: unwrap by the last estimate, regress, and again (theory 4.2)."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Of residuals (N,) at an estimate (n,): what of each is to be regressed on
Pull = Callable[[Floats, Floats], Floats]


def wrapped(x: NDArray[np.floating] | NDArray[np.integer], q: float) -> Floats:
    """x mod q in [-q/2, q/2).

    >>> wrapped(np.array([50.0, -1.0, 48.5]), 97).tolist()
    [-47.0, -1.0, -48.5]
    """
    return np.asarray((x + q / 2) % q - q / 2, dtype=np.float64)


def unwrap_and_regress(a: Floats, y: Floats, q: float, w: Floats, pulls: Iterable[Pull]) -> Floats:
    """The estimate w (n,) of the secret, improved once by each of `pulls`, from a·w = y + error mod q.

    The multiple of q that a label lost is the one that the estimate makes likely: then the residual (N,), and after
    it, what a pull leaves of it, is linear in w. a is (N, n), y (N,).

    >>> a, w = np.eye(3), np.array([5.0, 96.0, 40.0])
    >>> unwrap_and_regress(a, a @ w % 97, 97, w + 0.3, [lambda rest, at: rest]).round(6).tolist()
    [5.0, 96.0, 40.0]
    """
    inverse = np.linalg.pinv(a.T @ a)  # of all rows: which of them count changes, and it is only a step size
    for pull in pulls:
        w = w + inverse @ (a.T @ pull(wrapped(y - a @ w, q), w))
    return w
