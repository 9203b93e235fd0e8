"""What a child of the server does for the lab: it learns, attacks or is examined, and says no more than asked."""

from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry

VERDICTS = ("certified", "certified_error", "polished_error", "random_start_error")
LONGEST = 2000  # characters of one text of a report
MOST = 10_000  # entries of one list of a report


def make(cls: Any, heads: int | str | None, random_state: int) -> Any:
    """An instance of a learner class, told the heads (unless None) and the random state if it has such parameters."""
    from inspect import signature

    known = signature(cls).parameters
    offered = {"heads": heads, "random_state": random_state, "seed": random_state}
    return cls(**{name: value for name, value in offered.items() if name in known and value is not None})


def plain(value: Any) -> Any:
    """Dataclasses, arrays and numpy scalars as JSON types; what is not finite becomes None.

    >>> plain({"eta": np.float64("inf"), "kept": np.int64(3)})
    {'eta': None, 'kept': 3}
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


class Learner:
    """A learner of the registry or ``package.module:Class``, made with `params`; or told heads and random state.

    That is where `known` are the heads of the instance: a learner that fits once is told them unless `heads` are given.
    """

    def __init__(
        self, learner: str, params: dict[str, Any], seed: int, heads: int | str | None, known: int | None
    ) -> None:
        from inspect import signature

        kind = registry.get("learner", learner)
        self.streamed = hasattr(kind, "partial_fit")
        if known is not None:
            self.learner = make(kind, heads if self.streamed or heads is not None else known, seed)
        else:
            seeded = "random_state" in signature(kind).parameters
            self.learner = kind(**params, **({"random_state": seed} if seeded else {}))

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Learn from X and Y, (n, k, d)."""
        (self.learner.partial_fit if self.streamed else self.learner.fit)(X, Y)

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Predictions for X."""
        return np.asarray(self.learner.predict(X), dtype=np.float64)

    def report(self) -> dict[str, Any]:
        """What its `report_` says, as JSON."""
        found = getattr(self.learner, "report_", None)
        names = ("status", "reason", "phases", *VERDICTS)
        return {name: plain(getattr(found, name)) for name in names if hasattr(found, name)}


def attack(name: str, X: NDArray[np.int8], Y: NDArray[np.float64], **given: Any) -> dict[str, Any]:
    """How an attack ended, as JSON."""
    outcome = registry.get("attack", name)(X, Y, given["public"], budget=given["budget"], seed=given["seed"])
    return {
        field: plain(getattr(outcome, field)) for field in ("status", "secret", "samples_used", "seconds", "detail")
    }


def online(name: str, kind: str) -> bool:
    """Whether what is registered learns online, by `partial_fit`."""
    return hasattr(registry.get(kind, name), "partial_fit")


def price(name: str, options: dict[str, Any], heads: int, shapes: list[list[int]]) -> dict[str, Any]:
    """Whether a learner is online, and its own count of the multiply-adds of a fit to examples (n, k, d) of each shape.

    A learner that fits once is told the heads. None where it does not count.
    """
    kind = registry.get("learner", name)
    streamed = hasattr(kind, "partial_fit")
    if not hasattr(kind, "multiply_adds"):
        return {"online": streamed, "counts": [None] * len(shapes)}
    learner = make(kind, None if streamed else heads, 0)
    if options:
        learner.set_params(**options)
    return {"online": streamed, "counts": [learner.multiply_adds(*shape) for shape in shapes]}


def check(name: str) -> dict[str, Any]:
    """What `hardness.evaluation.conformance` says of a learner; it lies above this room, and is called by name."""
    from importlib import import_module

    found = import_module("hardness.evaluation.conformance").examine(registry.get("learner", name))
    return {"checks": [list(each) for each in found]}
