"""The library of templates: queries on whole layers that lose many sets, made once and kept with the package.

`python -m hardness.sq.strategies.templates` makes the file again; every template follows from its own line of `PLAN`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.io.files import write_text
from hardness.sq.strategies.layers import layer_signs
from hardness.sq.strategies.shaped import annealed, equalize_gaps

FILE = Path(__file__).with_name("templates.json")
# Window coordinates, how many a set holds, sets lost, and how often annealing starts afresh.
PLAN = (
    *((6, 3, e, 4) for e in range(2, 9)),
    *((8, 4, e, 150) for e in range(5, 25)),
    *((9, 4, e, 200) for e in range(12, 49)),
)
MOVES = 100_000
UNIT = 55_440  # values are kept as integers over this: 720 times 7 and 11, which T(7) and T(11) take


@dataclass(frozen=True)
class Template:
    """A query on a layer of `size` coordinates of which sets hold `held`: it loses `lost` sets below `reach`.

    `values` f in [-1, 1] (2^(m-1),) on the layer's states; `upper` and `lower` (e,) are indices of its sets, in pairs
    whose means are at least twice `reach` apart (exactly: values are multiples of 1/55,440).
    """

    size: int
    held: int
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    values: NDArray[np.float64]
    reach: Fraction

    @property
    def lost(self) -> int:
        return len(self.upper)

    @property
    def support(self) -> NDArray[np.int64]:
        return np.concatenate([self.upper, self.lower])


def make(size: int, held: int, lost: int, starts: int) -> Template:
    """Anneal a template from random starts and even out its gaps; the same every time."""
    signs = layer_signs(size, held)
    best: Template | None = None
    for start in range(starts):
        g, _ = annealed(signs, lost, MOVES, np.random.default_rng([size, held, lost, start]))
        found = equalize_gaps(signs, np.flatnonzero(g > 0), np.flatnonzero(g < 0))
        kept = _template(size, held, found.upper, found.lower, np.rint(found.values * UNIT).astype(np.int64))
        if best is None or kept.reach > best.reach:
            best = kept
    assert best is not None
    return best


def _template(
    size: int, held: int, upper: Sequence[int] | NDArray[Any], lower: Sequence[int] | NDArray[Any], whole: NDArray[Any]
) -> Template:
    """A template of integer values; its pairs and its reach are worked out from the means, exactly."""
    signs, up, down = layer_signs(size, held).astype(np.int64), np.asarray(upper), np.asarray(lower)
    sums = signs @ whole
    up, down = up[np.argsort(sums[up], kind="stable")], down[np.argsort(sums[down], kind="stable")]
    reach = Fraction(int(np.min(sums[up] - sums[down])), 4 * UNIT * signs.shape[1])
    return Template(size, held, up, down, whole / UNIT, reach)


@cache
def templates() -> tuple[Template, ...]:
    """All templates of the library."""
    return tuple(
        _template(t["size"], t["held"], t["upper"], t["lower"], np.array(t["values"]))
        for t in json.loads(FILE.read_text(encoding="utf-8"))
    )


def write() -> None:
    """Make the library's file: of each (size, lost) what `PLAN` says, if it reaches beyond independent sets."""
    lines = []
    for plan in PLAN:
        t = make(*plan)
        values = np.rint(t.values * UNIT).astype(int).tolist()
        lines.append(json.dumps({"size": t.size, "held": t.held, "upper": sorted(t.upper.tolist()),
                                 "lower": sorted(t.lower.tolist()), "values": values}))  # fmt: skip
    write_text(FILE, "[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    write()
