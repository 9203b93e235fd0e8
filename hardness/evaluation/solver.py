"""Who solves, as plain data that a task holds and a worker process is handed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hardness import registry


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
