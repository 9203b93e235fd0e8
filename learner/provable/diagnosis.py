"""Which condition of the theorem a layer violates most, by the values at which the phases were seen to break."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.gadgets.conditions import conditions
from hardness.layer import MultiHeadAttention
from hardness.scores import EXACT, relative_error

Array = NDArray[np.float64]
# The value of a condition (`hardness.gadgets.conditions`) at which half of the layers are no longer certified by
# phases 1 to 6, by the study nice-layers; a layer is nice above the ones of LEAST and below the ones of MOST.
LEAST = {
    "stable rank of theta": 2.0,
    "distance of theta to a lattice": 0.02,
    "ratio of norms of theta": 0.1,
    "stable rank of w": 1.1,
    "ratio of norms of w": 0.05,
    "sum of w": 0.5,
    "stable rank of the sum of w": 1.001,
}
MOST = {
    "incoherence of theta": 0.7,
    "heaviest column of theta": 0.6,
    "score spread tau": 12.0,
    "incoherence of w": 0.95,
}


def worst(
    layer: MultiHeadAttention | None, sum_seen: dict[str, float], tokens: int, test: tuple[Array, Array]
) -> dict[str, Any] | None:
    """Return the condition that is farthest beyond its threshold, as {name, value, threshold}, or None.

    It is measured on `layer` if that is exact on the examples `test`. Otherwise only the sum of the W is known, as
    phase 1 has seen it (`sum_seen`).
    """
    if layer is not None and relative_error(layer(test[0]), test[1]) <= EXACT.threshold:
        values = {row.name: row.value for row in conditions(layer, tokens)}
    else:
        values = dict(sum_seen)
    beyond = {name: _ratio(values.get(name), bound, 1) for name, bound in LEAST.items()}
    beyond |= {name: _ratio(values.get(name), bound, -1) for name, bound in MOST.items()}
    name = max(beyond, key=lambda each: beyond[each])
    if beyond[name] <= 1:
        return None
    return {"name": name, "value": values[name], "threshold": (LEAST | MOST)[name]}


def _ratio(value: float | None, threshold: float, power: int) -> float:
    """Return how many times a value is beyond its threshold: at least 1 if it is, 0 where there is no value."""
    if value is None:
        return 0.0
    return float((threshold / max(value, 1e-12)) ** power)
