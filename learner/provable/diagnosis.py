"""Which condition of the theorem a layer violates most, by the values at which the phases were seen to break."""

from typing import Any

from hardness.gadgets.conditions import conditions
from hardness.layer import MultiHeadAttention
from hardness.scores import EXACT, relative_error
from learner.base import Array

# The mildest value of a condition (`hardness.gadgets.conditions`) at which most layers were missed by phases 1 to 6, or
# by phase 6b from a random start, in the study nice-layers; of conditions that broke neither there is none. A layer is
# nice above the values of LEAST and below those of MOST.
LEAST = {"ratio of norms of theta": 0.3, "sum of w": 0.1, "stable rank of the sum of w": 1.001}
MOST = {
    "incoherence of theta": 0.9,
    "diagonal of theta": 4.0,
    "score spread tau": 12.0,
    "incoherence of w": 0.99,
}


def worst(
    layer: MultiHeadAttention | None, sum_seen: dict[str, float], tokens: int, test: tuple[Array, Array]
) -> dict[str, Any]:
    """Return which condition of the learner's theorem is violated most or nearly, as {name, value, needs, threshold}.

    The conditions (`hardness.gadgets.conditions`) are measured on `layer`, at `tokens` tokens, if it fits the examples
    `test` exactly. Else only those in `sum_seen`, values by name, are compared. `needs` is "at least" or "at most".
    """
    if layer is not None and relative_error(layer(test[0]), test[1]) <= EXACT.threshold:
        values = {row.name: row.value for row in conditions(layer, tokens)}
    else:
        values = dict(sum_seen)
    beyond = {name: _ratio(values.get(name), bound, 1) for name, bound in LEAST.items()}
    beyond |= {name: _ratio(values.get(name), bound, -1) for name, bound in MOST.items()}
    name = max(beyond, key=lambda each: beyond[each])
    needs = "at least" if name in LEAST else "at most"
    return {"name": name, "value": values[name], "needs": needs, "threshold": (LEAST | MOST)[name]}


def _ratio(value: float | None, threshold: float, power: int) -> float:
    """Return threshold/value if `threshold` is a lower bound (`power` 1), its inverse if an upper (-1), 0 for None."""
    if value is None:
        return 0.0
    return float((threshold / max(value, 1e-12)) ** power)
