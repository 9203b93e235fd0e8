"""What the lab must know of a learner or an attack before a trial; a stranger's is asked apart, as imports run code."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from hardness import registry
from hardness.apart import actors
from hardness.apart.lab import call, stranger
from hardness.errors import Ended, InputError
from hardness.io.schemas import finite

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


def price(
    name: str, options: Mapping[str, Any], heads: int, shapes: Sequence[tuple[int, int, int]], deadline: float
) -> tuple[bool, list[float | None]]:
    """Whether a learner is online, and the multiply-adds of a fit to examples (n, k, d) of each shape by its own count.

    None where it has no count, or says no figure. Raises `Ended` and `TimeoutError` as `Apart` does.

    >>> streamed, counts = price("student", {}, 2, [(1, 2, 8), (2, 2, 8)], time.monotonic() + 60)
    >>> streamed, counts[1] == 2 * counts[0]
    (True, True)
    """
    given: dict[str, Any] = {"options": dict(options), "heads": heads, "shapes": [list(shape) for shape in shapes]}
    if not stranger("learner", name):
        found = actors.price(name, **given)
        return found["online"], found["counts"]
    said = call("price", name, given, seconds=max(0.0, deadline - time.monotonic()))
    counts = said.get("counts") if isinstance(said, dict) else None
    if not isinstance(counts, list) or len(counts) != len(shapes):
        raise Ended("refused", f"expected {len(shapes)} counts of multiply-adds")
    figures = [float(n) if type(n) in (int, float) and finite(n) and n >= 0 else None for n in counts]
    return said.get("online") is True, figures
