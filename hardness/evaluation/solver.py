"""Who solves, as plain data that a task holds and a worker process is handed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

from hardness import registry
from hardness.errors import InputError, unknown
from hardness.io.fields import fitting
from hardness.io.texts import sanitize

PLAIN = {int, float, str, bool, NoneType}


@dataclass(frozen=True)
class Solver:
    """A learner or an attack: a registered name, ``package.module:Name``, or in this process a class or an object.

    `options` are parameters of a learner's constructor; of an attack its `public` parameters and its `budget`. `heads`
    are those that a user asked for; `heads_known` those of the instance, which a learner that fits once is told where
    none were asked for.

    >>> Solver("learner", "student", {"rate": 0.03}).built_in, Solver("attack", "mine:pairs").built_in
    (True, False)
    """

    kind: Literal["learner", "attack"]
    name: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    heads: int | str | None = None
    heads_known: int | None = None

    @property
    def built_in(self) -> bool:
        """Whether it runs in the process that asks: the lab's own, and what has no name."""
        return not isinstance(self.name, str) or registry.is_builtin(self.kind, self.name)

    @property
    def thing(self) -> Any:
        """The class, function or object. Raises `InputError` for an unknown name and what cannot be loaded."""
        return registry.get(self.kind, self.name) if isinstance(self.name, str) else self.name

    @property
    def streamed(self) -> bool:
        """Whether it learns in pieces, by `partial_fit`.

        >>> Solver("learner", "student").streamed, Solver("learner", "direct").streamed
        (True, False)
        """
        return hasattr(self.thing, "partial_fit")


def make(solver: Solver, random_state: int) -> Any:
    """An instance of a learner's class, told heads and random state if it has such parameters.

    The heads of a class that has no `width` may be called that. Raises `InputError` for an option that it does not
    have, of another type than its annotation, or given twice; `unavailable` of the class says why there is none.
    """
    cls, heads = solver.thing, solver.heads
    parameters, given = signature(cls).parameters, dict[str, Any]()
    for name, value in solver.options.items():
        place = "heads" if name == "width" and name not in parameters and "heads" in parameters else name
        if place in ("random_state", "seed"):
            raise InputError(f"{name} is no option: it follows from the seed of the run")
        if place not in parameters:
            raise _no_option(cls, name, parameters.keys() - {"random_state", "seed"})
        if place in given or (place == "heads" and heads is not None):
            raise InputError(f"the {place} of {cls.__name__} are given twice; give them once")
        given[place] = _fitting(value, cls, place, f"option {name} of {cls.__name__}")
    # Heads of a layer are part of its promise to a solver that fits it; an online learner's width is its own choice.
    if heads is None and not solver.streamed:
        heads = solver.heads_known
    rest = {"heads": heads, "random_state": random_state, "seed": random_state}
    return cls(
        **{name: value for name, value in rest.items() if name in parameters and value is not None} | given
    )


def _no_option(cls: Any, name: str, known: Iterable[str]) -> InputError:
    """The error for an option that a learner does not have, with the reason that its class states."""
    reasons = getattr(cls, "unavailable", {})
    if name in reasons:
        return InputError(f"{cls.__name__} has no option {name}: {reasons[name]}")
    return unknown(f"option of {cls.__name__}", sanitize(name, 60), known)


def _fitting(value: Any, cls: Any, name: str, what: str) -> Any:
    """`value`, if it is of the type that the constructor is annotated with, where that is a plain one."""
    try:
        hint = get_type_hints(cls.__init__).get(name, Any)
    except (NameError, TypeError):  # annotations that only type checkers can read
        return value
    kinds = set(get_args(hint) or (hint,))
    return fitting(value, hint, what) if kinds <= PLAIN else value
