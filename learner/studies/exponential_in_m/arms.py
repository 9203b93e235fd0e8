"""What is put to hidden sets and to controls: the learner `diagonal`, and variants of it that are other learners."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

HARD, TENT, MILD, STEEP = "hidden set", "tent", "random layers", "steep random layers"
WIDE, FLIPPED, COINS = "hidden set, 64 heads", "hidden set, labels flipped", "random labels"
LATER, POOLED, WIDEST = "hidden set, batch 1024", "pool of 4096", "256 heads"
CONTROLS = (TENT, MILD, STEEP)
OPTIONS = ("rate", "batch", "l1", "start")  # of the learner: what is tuned


@dataclass(frozen=True)
class Arm:
    """A family with its parameters beside dim and heads, what its trials say of themselves, the learner's heads.

    `options` are those of the learner that stand instead of the tuned ones or beside them; `rate` multiplies the rates
    of the menu.
    """

    family: str = "parity"
    params: Mapping[str, Any] = field(default_factory=dict)
    solver: Mapping[str, Any] = field(default_factory=dict)
    width: int = 16
    options: Mapping[str, Any] = field(default_factory=dict)
    rate: float = 1.0


PANEL = {
    "sign of the gradient": Arm(options={"optimizer": "sign"}, rate=0.3),
    "momentum": Arm(options={"optimizer": "momentum"}, rate=10.0),
    "no threshold": Arm(options={"l1": 0.0}),
    WIDEST: Arm(width=256),
    "ReLU network": Arm(options={"activation": "relu"}),
    "absolute loss": Arm(options={"loss": "absolute"}),
    POOLED: Arm(options={"pool": 4096}),
}
ARMS = {
    HARD: Arm(),
    TENT: Arm("tent"),
    MILD: Arm("random-diagonal", {"scale": 2.0}),
    STEEP: Arm("random-diagonal", {"scale": 6.0}),
    WIDE: Arm(width=64),
    FLIPPED: Arm(params={"flip": 0.1}),
    COINS: Arm(solver={"labels": "independent"}),
    LATER: Arm(),
    **PANEL,
}


class Problem(NamedTuple):
    """Hidden sets of s bits in dimension d, or a control with s heads."""

    arm: str
    d: int
    s: int

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of its family."""
        return {"dim": self.d, "heads": self.s, **ARMS[self.arm].params}


def has_tent(arm: str, s: int) -> bool:
    """Whether an arm is there with so many heads: a tent of the level is one for even s >= 4 alone."""
    return arm != TENT or (s >= 4 and s % 2 == 0)
