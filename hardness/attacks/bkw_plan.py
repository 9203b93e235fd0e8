"""What integer BKW will do before it does it: steps, blocks, grid, rows and seconds (theory 4.3)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import ceil, comb, exp, floor, log2, pi, sqrt

import numpy as np

from hardness.gadgets.modular import preimages

LOG2_ROWS_SEARCHED = 60.0  # log2 of rows, as far as one may look
LOG2_ROWS_HELD = 24.0  # log2 of the rows held at a time, about a gigabyte
CELLS = 2**24  # of the grid's table, 128 MB
SIGNAL, SCORE = 20.0, 6.5  # standard deviations: of the right angles, and of the grid's nearest cell
STEPS = 8
MOST_VANISH = 10
# Seconds of one core, measured: a coordinate of a row packed or unpacked, a row sorted and paired, a cell transformed,
# an example of a stream made and looked at.
PER_FIELD, PER_ROW, PER_CELL, PER_EXAMPLE = 3e-9, 2.5e-7, 1.2e-7, 2.5e-8


@dataclass(frozen=True)
class Plan:
    """log2 of the rows before each step and at the end, coordinates cancelled a step, and the grid for what is left.

    Rows are those of a stream whose last `vanish` coordinates are 0, where that is more than none.
    `signal` is the expected sum of cosines at the right angles in standard deviations, `score` the same at the
    nearest point of a random grid.
    """

    rows: tuple[float, ...]
    blocks: tuple[int, ...]
    left: int
    g: int
    signal: float
    score: float
    seconds: float
    bias: float
    vanish: int = 0

    def __str__(self) -> str:
        rows = " -> ".join(f"2^{x:.1f}" for x in self.rows)
        chosen = f"rows that vanish on {self.vanish} coordinates, " if self.vanish else ""
        return (
            f"{chosen}{len(self.blocks)} steps cancel {', '.join(map(str, self.blocks)) or 'no'} coordinates, "
            f"rows {rows}; "
            f"grid of {self.g} angles on {self.left}; expected score {self.score:.1f}, about {self.seconds:.0f} s"
        )


def bias_of(q: int, p: int, noise: float = 0.0) -> float:
    """r = E cos 2π(x - centre)/q over residues x, centre that of x's level; label noise multiplies it.

    >>> [round(bias_of(97, p), 3) for p in (2, 4, 8)]
    [0.637, 0.9, 0.975]
    """
    centre, width = preimages(q, p)
    x = np.arange(q)
    r = float(np.cos(2 * np.pi * (x - np.repeat(centre, width)) / q).mean())
    return r * exp(-2 * (pi * noise / q) ** 2)


@cache
def entropy(level: int) -> float:
    """Collision entropy in bits of a coordinate that is a sum of 2^level half signs.

    >>> [round(entropy(i), 3) for i in range(3)]
    [1.0, 1.415, 1.871]
    """
    m = 2**level
    return float(2 * m - log2(comb(2 * m, m)))


@cache
def grid_loss(g: int) -> float:
    """Mean of -ln cos(ε/2) over |ε| < π/g: what each half sign of a coordinate loses off a grid of g angles."""
    x = (np.arange(1000) + 0.5) / 1000 * pi / (2 * g)
    return float(-np.log(np.cos(x)).mean())


def plan(
    n: int,
    bias: float,
    level: int,
    available: float,
    most: float = LOG2_ROWS_HELD,
    cells: int = CELLS,
    margin: float = 1.0,
) -> Plan | None:
    """The cheapest plan for n coordinates of `level` from 2^`available` rows, never holding more than 2^`most`.

    None if no number of steps leaves a signal `margin` times as strong as is needed where all labels are right. More
    rows cancel more coordinates a step; a step squares the bias.
    """
    best: Plan | None = None
    for steps in range(STEPS + 1):
        least = 2 * log2(margin * SIGNAL / bias ** (2**steps) / sqrt(2))
        for fifths in range(ceil(5 * max(least, 12.0)), int(5 * most) + 1):
            top = fifths / 5
            if best is not None and 2**top * PER_ROW > best.seconds:
                break  # more rows only cost more
            for rows, blocks in _steps(level, top, steps, [min(available, top)], [], n):
                found = _grid(n, bias, level, rows, blocks, cells)
                if found is None or found.signal < margin * SIGNAL or found.score < margin * SCORE:
                    continue
                if best is None or found.seconds < best.seconds:
                    best = found
    return best


def streamed(
    n: int, bias: float, level: int, most: float = LOG2_ROWS_HELD, margin: float = 1.0
) -> Plan | None:
    """The cheapest plan where examples come from a stream: rows that vanish on b coordinates, one of 2^b, leave n - b.

    A row chosen so costs 2^b draws and no bias, where a difference would square it.

    >>> streamed(68, bias_of(97, 2), 0).vanish >= 3, plan(68, bias_of(97, 2), 0, 60.0)
    (True, None)
    """
    best: Plan | None = None
    for b in range(min(MOST_VANISH, n - 1) + 1):
        found = plan(n - b, bias, level, LOG2_ROWS_SEARCHED, most, margin=margin)
        if found is None:
            continue
        drawn = 2 ** (found.rows[0] + 1 + b) * PER_EXAMPLE
        if best is None or found.seconds + drawn < best.seconds:
            best = replace(found, vanish=b, seconds=found.seconds + drawn)
    return best


def _steps(
    level: int, top: float, steps: int, rows: list[float], blocks: list[int], left: int
) -> Iterator[tuple[list[float], list[int]]]:
    """All ways to round the blocks of `steps` steps so that no fewer than half of 2^top rows are left after any."""
    if steps == 0:
        yield rows, blocks
        return
    pairs = 2 * rows[-1] - 1 + (level > 0)  # laws that are symmetric match up to sign, too
    for block in {floor((pairs - top) / entropy(level)), ceil((pairs - top) / entropy(level))}:
        block = min(block, left - 1, 64 // (level + 1))
        made = min(pairs - block * entropy(level), top)
        if block > 0 and made >= top - 1:
            yield from _steps(level + 1, top, steps - 1, [*rows, made], [*blocks, block], left - block)


def _grid(n: int, bias: float, level: int, rows: list[float], blocks: list[int], cells: int) -> Plan | None:
    """The plan of these steps with the finest grid of `cells` on the coordinates left; None below three angles."""
    steps, left = len(blocks), n - sum(blocks)
    g = int(min(cells ** (1 / left) + 1e-9, 64))
    if g < 3:
        return None
    signal = bias ** (2**steps) * sqrt(2) * 2 ** (rows[-1] / 2)
    score = signal * exp(-(2.0 ** (steps + level)) * grid_loss(g) * left)
    return Plan(tuple(rows), tuple(blocks), left, g, signal, score, _seconds(n, rows, blocks, left, g), bias)


def _seconds(n: int, rows: list[float], blocks: list[int], left: int, g: int) -> float:
    total = 1.0
    for x, made, block in zip(rows[:-1], rows[1:], blocks, strict=True):
        total += 2**x * (PER_ROW / 2 + n * PER_FIELD) + 2**made * (PER_ROW + 3 * n * PER_FIELD)
        n -= block
    return float(total + 6 * (2 ** rows[-1] * left * PER_FIELD * 2) + 2 * g**left * PER_CELL)
