"""Lower bounds for classes of one's own, by the largest eigenvalue of their Gram matrix (theory 2.8)."""

from functools import cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import LISTED, ListedConcepts
from hardness.sq.bounds.floors import check_tolerance

CHUNK = 2**22  # labels that are multiplied at once; products of this many are exact in single precision


@cache
def eigenvalue(concepts: ListedConcepts) -> tuple[float, float]:
    """Return an interval that holds lambda, the largest eigenvalue of a class's centred Gram matrix (theory 2.8).
    The decomposition errs by less than half the interval. Raises `InputError` beyond 2,048 concepts."""
    size = concepts.size
    if size > LISTED:
        raise InputError(f"the Gram matrix of {size} concepts is not decomposed; list at most {LISTED}")
    top, slack = float(np.linalg.eigvalsh(_centred(concepts.table))[-1]), 1e-10 * size
    return max(0.0, top - slack), top + slack


def _centred(table: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the Gram matrix of a table's rows, averaged over columns (inputs) and projected off the constants."""
    size, inputs = table.shape
    gram = np.zeros((size, size))
    width = max(1, min(inputs, CHUNK // size))
    for start in range(0, inputs, width):
        part = table[:, start : start + width].astype(np.float32)
        gram += part @ part.T
    gram /= inputs
    means = gram.mean(axis=0)
    return np.asarray(gram - means - means[:, None] + means.mean())


def gram_bounds(concepts: ListedConcepts, tolerance: float) -> dict[str, Any]:
    """Return lower bounds on the queries that surely identify one of N listed concepts, by name (theory 2.8).
    `eigenvalue` is an interval for the Gram matrix's largest eigenvalue lambda. `window`, against the oracle of that
    name, is 8 tau^2 (N - 1)/lambda, tau being the tolerance; `strict` is its sharper form in whole numbers. Where
    lambda proves that no query rules out any concept, `identifiable` is False in place of `strict`."""
    check_tolerance(tolerance)
    size, (low, top) = concepts.size, eigenvalue(concepts)
    proved: dict[str, Any] = {"eigenvalue": [low, top]}
    if size == 1 or top <= 0:
        return proved
    lost = ceil(top / (8 * tolerance**2)) - 1
    strict = {"strict": ceil((size - 1) / lost)} if lost else {"identifiable": False}
    return {**proved, "window": 8 * tolerance**2 * (size - 1) / top, **strict}
