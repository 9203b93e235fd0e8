"""What statistical queries cannot do: attacks that look at single examples, and what they cost.

An attack is a function ``attack(X, Y, public, *, budget, seed) -> Outcome`` registered under the entry points
`hardness.attacks`. It is handed what an examples file holds and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.errors import unknown

Public = dict[str, Any]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """How an attack ended: one of the lab's statuses, the secret it names, what it used.

    `secret` is ``{"support": [...]}`` or ``{"w": [...]}`` as `generate` writes it, and present only if the
    answer reproduced rows that had no part in finding it. `detail` holds the attack's own figures.
    """

    status: str
    secret: dict[str, list[int]] | None
    samples_used: int
    seconds: float
    detail: dict[str, Any] = field(default_factory=dict)


class Attack(Protocol):
    """What is registered under `hardness.attacks`."""

    def __call__(
        self,
        X: NDArray[np.int8],
        Y: NDArray[np.float64],
        public: Public,
        *,
        budget: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Outcome: ...


def names() -> list[str]:
    """The registered attacks.

    >>> names()
    ['gaussian', 'lattice', 'search']
    """
    return sorted({entry.name for entry in entry_points(group="hardness.attacks")})


def get(name: str) -> Attack:
    """The attack registered under `name`; raises `InputError` with a suggestion if there is none."""
    for entry in entry_points(group="hardness.attacks"):
        if entry.name == name:
            attack: Attack = entry.load()
            return attack
    raise unknown("attack", name, names())
