"""What pages that are still drawn by hand share: their lines for bounds."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardness.report.drawing import INK, MUTED

Table = Sequence[Mapping[str, Any]]
NOTHING = "no trial has been run."
FLOOR: dict[str, Any] = {"color": INK, "linestyle": (0, (5, 2)), "linewidth": 1.1}  # a proven lower bound
CEILING: dict[str, Any] = {"color": MUTED, "linestyle": (0, (1.2, 1.5)), "linewidth": 1.1}  # an upper bound
