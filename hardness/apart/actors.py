"""What a child of the server does for the lab: it learns, attacks or is examined, and says no more than asked."""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from inspect import signature
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError, unknown
from hardness.io.schemas import finite
from hardness.io.texts import shown

PLAIN = {int: "an integer", float: "a number", str: "text", bool: "true or false"}
VERDICTS = ("certified", "certified_error", "polished_error", "random_start_error")
LONGEST = 2000  # characters of one text of a report
MOST = 10_000  # entries of one list of a report


def make(
    cls: Any,
    heads: int | str | None,
    random_state: int,
    options: Mapping[str, Any] | None = None,
    known: int | None = None,
) -> Any:
    """An instance of a learner class, told the heads (unless None) and the random state if it has such parameters.

    A learner that fits once is told the `known` heads of the instance where none are given. `options` are more of its
    parameters; the heads of a class that has no `width` may be called that. Raises `InputError` for an option that it
    does not have, of another type than its annotation, or given twice.
    """
    parameters, given = signature(cls).parameters, dict[str, Any]()
    for name, value in (options or {}).items():
        place = "heads" if name == "width" and name not in parameters and "heads" in parameters else name
        if place in ("random_state", "seed"):
            raise InputError(f"{name} is no option: it follows from the seed of the run")
        if place not in parameters:
            raise unknown(f"option of {cls.__name__}", shown(name, 60), parameters.keys() - {"random_state", "seed"})
        if place in given or (place == "heads" and heads is not None):
            raise InputError(f"the {place} of {cls.__name__} are given twice; give them once")
        given[place] = _fitting(value, cls, place, f"option {name} of {cls.__name__}")
    told = known if heads is None and not hasattr(cls, "partial_fit") else heads
    rest = {"heads": told, "random_state": random_state, "seed": random_state}
    return cls(**{name: value for name, value in rest.items() if name in parameters and value is not None} | given)


def _fitting(value: Any, cls: Any, name: str, what: str) -> Any:
    """`value`, if it is of the type that the constructor is annotated with, where that is a plain one."""
    try:
        hint = get_type_hints(cls.__init__).get(name, Any)
    except (NameError, TypeError):  # annotations that only type checkers can read
        return value
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if not set(kinds) <= {int, float, str, bool, NoneType}:
        return value
    if type(value) in kinds or (type(value) is int and float in kinds):
        return value
    wanted = " or ".join("none" if kind is NoneType else PLAIN[kind] for kind in kinds)
    raise InputError(f"{what} must be {wanted}, got {shown(str(value), 60)}")


def plain(value: Any) -> Any:
    """Dataclasses, arrays and numpy scalars as JSON types; a number that no float holds becomes None.

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
    return None if isinstance(value, int | float) and not finite(value) else value


class Learner:
    """A learner of the registry or ``package.module:Class``, made with `params`; where `known` heads are given, by
    `make`, with `params` as options."""

    def __init__(
        self, learner: str, params: dict[str, Any], seed: int, heads: int | str | None, known: int | None
    ) -> None:
        kind = registry.get("learner", learner)
        self.streamed = hasattr(kind, "partial_fit")
        if known is not None:
            self.learner = make(kind, heads, seed, params, known)
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
