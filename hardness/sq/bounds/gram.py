"""Lower bounds for classes of one's own, by the largest eigenvalue of their Gram matrix (theory 2.8)."""

from dataclasses import dataclass
from functools import cache
from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import LISTED, ListedConcepts
from hardness.sq.bounds.floors import check_tolerance

DOUBT = 1e-9  # probability with which either end of an interval from a sample is wrong
CHUNK = 2**22  # labels that are multiplied at once; products of so many are exact in single precision
POWERS = 50
SOURCES = {
    "window": "best-window adversary: 8 tau^2 (N - 1)/lambda of the Gram matrix of the class, theory 2.8, proved here",
    "strict": "the same in integers: ceil((N - 1)/(ceil(lambda/(8 tau^2)) - 1)), theory 2.8",
}


@dataclass(frozen=True)
class Eigenvalue:
    """The largest x' Gamma x over unit vectors x orthogonal to the constant one lies between `low` and `high`.

    `exact`: over all inputs, up to rounding. Else from a sample, each end wrong with probability at most `DOUBT`.
    """

    low: float
    high: float
    exact: bool


@cache
def eigenvalue(concepts: ListedConcepts) -> Eigenvalue:
    """Return lambda of a class, exact or from a sample (theory 2.8). Raises `InputError` beyond 2,048 concepts."""
    size, inputs = concepts.table.shape
    if size > LISTED:
        raise InputError(f"the Gram matrix of {size} concepts is not decomposed; list at most {LISTED}")
    top = float(np.linalg.eigvalsh(_centred(concepts.table))[-1])
    if concepts.exact:
        slack = 1e-10 * size  # what the decomposition may be wrong by
        return Eigenvalue(max(0.0, top - slack), top + slack, True)
    width = sqrt(2 * size * log(1 / DOUBT) / inputs)
    high = (width / 2 + sqrt(width**2 / 4 + top)) ** 2
    half = inputs // 2
    good = _direction(_centred(concepts.table[:, :half]))
    shown = float(good @ _centred(concepts.table[:, half:]) @ good)
    width = sqrt(2 * size * log(1 / DOUBT) / (inputs - half))
    excess = 2 * size * log(1 / DOUBT) / (3 * (inputs - half))
    low = max(0.0, (sqrt(width**2 + 4 * max(0.0, shown - excess)) - width) / 2) ** 2
    return Eigenvalue(low, min(high, float(size)), False)


def _centred(table: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the Gram matrix of the rows of a table, on the complement of the constant vector."""
    size, inputs = table.shape
    gram = np.zeros((size, size))
    width = max(1, min(inputs, CHUNK // size))
    for start in range(0, inputs, width):
        part = table[:, start : start + width].astype(np.float32)
        gram += part @ part.T
    gram /= inputs
    means = gram.mean(axis=0)
    return np.asarray(gram - means - means[:, None] + means.mean())


def _direction(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a unit vector near the top eigenvector, by a few powers of the matrix."""
    x = np.random.default_rng(0).standard_normal(len(gram))
    for _ in range(POWERS):
        x = gram @ x
        x /= np.linalg.norm(x)
    return np.asarray(x)


def gram_bounds(concepts: ListedConcepts, tolerance: float) -> dict[str, float]:
    """Return the queries that any strategy needs against the window, by name; absent where nothing is proved.

    `window`: 8 tau^2 (N - 1)/lambda, for certain identification; `strict`: in integers (theory 2.8).
    """
    check_tolerance(tolerance)
    size, top = concepts.size, eigenvalue(concepts).high
    if size == 1 or top <= 0:
        return {}
    lost = ceil(top / (8 * tolerance**2)) - 1
    strict = {"strict": ceil((size - 1) / lost)} if lost else {}
    return {"window": 8 * tolerance**2 * (size - 1) / top, **strict}


def identifiable(concepts: ListedConcepts, tolerance: float) -> bool | None:
    """Return False where lambda proves that no query loses any concept, None where that is not known."""
    return False if concepts.size > 1 and eigenvalue(concepts).high <= 8 * tolerance**2 else None
