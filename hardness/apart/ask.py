"""What the lab must know of a learner or an attack before a trial; a stranger's is asked apart, as imports run code."""

import math
import time
from collections.abc import Mapping
from typing import Any

from hardness import registry
from hardness.apart import actors
from hardness.apart.lab import call, stranger
from hardness.errors import Ended, InputError

LOADING = 300.0  # seconds that the import of a stranger's module may take


def online(kind: str, name: str) -> bool:
    """Whether a learner learns online, by `partial_fit`; no attack does. Raises `InputError` if it cannot be loaded.

    >>> online("learner", "student"), online("learner", "direct"), online("attack", "gaussian")
    (True, False, False)
    """
    if not stranger(kind, name):
        return hasattr(registry.get(kind, name), "partial_fit")
    try:
        return call("online", name, {"kind": kind}, seconds=LOADING) is True
    except (Ended, TimeoutError) as error:
        why = error.reason if isinstance(error, Ended) else f"its import takes more than {LOADING:.0f} s"
        raise InputError(f"cannot load the {kind} {name}: {why}") from error


def multiply_adds(
    name: str, options: Mapping[str, Any], heads: int | None, shape: tuple[int, int, int], deadline: float
) -> float | None:
    """Multiply-adds of a fit to (n, k, d) examples by the learner's own count; None if it has none, or no figure.

    Raises `Ended` and `TimeoutError` as `Apart` does.

    >>> multiply_adds("student", {}, 2, (1, 2, 8), time.monotonic() + 60) > 0
    True
    """
    arguments = {"options": dict(options), "heads": heads, "shape": list(shape)}
    if not stranger("learner", name):
        return actors.multiply_adds(name, **arguments)
    found = call("multiply_adds", name, arguments, seconds=max(0.0, deadline - time.monotonic()))
    return float(found) if type(found) in (int, float) and math.isfinite(found) and found >= 0 else None
