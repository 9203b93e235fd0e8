"""What statistical queries cannot do: attacks that look at single examples, and what they cost.

An attack is a function ``attack(X, Y, public, *, budget, seed) -> Recovery`` registered under the entry points
`hardness.attacks`. It is handed what an examples file holds and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hardness.io.texts import table

Public = dict[str, Any]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Recovery:
    """How an attack ended: `status` (solved, wrong, budget or refused), the secret found if any, and examples used.

    `samples_used` counts only informative examples, those whose tokens differ in coordinate 0: half of all.
    `secret` is ``{"support": [...]}`` or ``{"w": [...]}`` as `generate` writes it, and present only if the answer
    reproduced rows that had no part in finding it. `detail` holds the attack's own figures.
    """

    status: str
    secret: dict[str, list[int]] | None
    samples_used: int
    seconds: float = 0.0
    detail: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def refused(cls, reason: str, **detail: Any) -> "Recovery":
        """Return the `Recovery` of an attack that was not run: status `refused`, the reason, other figures `detail`."""
        return cls("refused", None, 0, detail={"reason": reason, **detail})

    def _repr_html_(self) -> str:
        used = {"rows used": self.samples_used, "seconds": self.seconds}
        return table(f"Attack: {self.status}", {**(self.secret or {}), **used, **self.detail})


# attack(X (N, 2, d) int8, Y (N, 2, d), public, *, budget=None, seed=0, progress=None)
Attack = Callable[..., Recovery]
