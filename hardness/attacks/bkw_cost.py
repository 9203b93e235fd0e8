"""The price of integer BKW: signal, score and seconds of steps and grid (theory 4.3).

`plan` says what this machine will do: whole coordinates, rows at hand, a bound on rows held. `price` serves estimates
at any size: blocks of real length, memory free. Both price rows, steps and grid by the same three laws.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from math import ceil, comb, exp, floor, inf, log, log2, pi, sqrt
from typing import Any

import numpy as np

from hardness.attacks.cost import (
    EXAMPLE_SECONDS,
    LOG2_OPERATIONS_A_SECOND,
    UNREACHED,
    EstimateFailed,
    Log2Cost,
)
from hardness.gadgets.modular import preimages

# All laws hold for numbers and arrays alike.
Number = Any

LOG2_ROWS_HELD = 24.0  # log2 of the rows held at a time, about two gigabytes
LOG2_CELLS, FINEST = 24, 64  # log2 of the grid's cells, 128 MB; most angles of a coordinate
SIGNAL, SCORE = 20.0, 6.5  # standard deviations needed: at the right angles, and at the grid's nearest cell
STEPS = 8
MOST_VANISH = 10
# Seconds of one core, measured: a coordinate of a row packed or unpacked, a row sorted and paired, a cell transformed.
PER_FIELD, PER_ROW, PER_CELL = 3e-9, 2.5e-7, 1.2e-7
PASSES, TRANSFORMS = 12, 2  # of a row in the transform and the ascents after it; usually needed
# For estimates: log2 of rows, and coordinates on which rows are chosen to vanish. One list for all n: monotone in n.
ESTIMATED_ROWS = np.arange(8, 4000) / 4
ESTIMATED_VANISH = (0, 4, 8, 14, 20, 32, 48, 72, 108)


@dataclass(frozen=True)
class Plan:
    """A BKW plan: log2 of rows before each step and at the end, coordinates that each cancels, a grid for the rest.

    Rows used are 0 on the last `vanish` coordinates. `signal` is the expected sum of cosines at the right angles, in
    standard deviations, `score` that at the nearest point of a grid of g angles for each coordinate `left`.
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
        return (
            f"rows {rows} that vanish on {self.vanish} coordinates; steps cancel {list(self.blocks)}; grid of {self.g} "
            f"angles on {self.left}; expected score {self.score:.1f}, about {self.seconds:.0f} s"
        )


def bias_of(q: int, p: int, noise: float = 0.0) -> float:
    """Return the mean of cos 2π(x - c)/q over x mod q, c the centre of x's level (of p), lowered by Gaussian `noise`.

    >>> [round(bias_of(97, p), 3) for p in (2, 4, 8)]
    [0.637, 0.9, 0.975]
    """
    centre, width = preimages(q, p)
    r = float(np.cos(2 * np.pi * (np.arange(q) - np.repeat(centre, width)) / q).mean())
    return r * exp(-2 * (pi * noise / q) ** 2)


@cache
def entropy(level: int) -> float:
    """Return the collision entropy of a sum of 2^level independent ±1/2, in bits: -log2 P(two are equal)."""
    m = 2**level
    return float(2 * m - log2(comb(2 * m, m)))


def cancelled(before: Number, after: Number, level: int) -> Number:
    """Return on how many coordinates rows must agree so that 2^`before` rows make about 2^`after` matching pairs.

    A coordinate, a sum of 2^`level` independent ±1/2, costs `entropy(level)` bits. Above level 0 rows match up to sign.
    """
    return (2 * before - 1 + (level > 0) - after) / entropy(level)


def grid_loss(g: Number) -> Number:
    """Return the mean of -ln cos x over |x| < π/2g: the log loss, for each ±1/2 in a row, on a grid of g >= 3 angles.

    >>> x = (np.arange(10**5) + 0.5) / 10**5 * pi / 6
    >>> bool(abs(grid_loss(3) + np.log(np.cos(x)).mean()) < 1e-9)
    True
    """
    square = (pi / (2 * g)) ** 2
    terms = (1 / 6, 1 / 60, 1 / 315, 17 / 22680, 31 / 155925, 691 / 12162150, 10922 / 638512875)
    return sum(term * square**k for k, term in enumerate(terms, 1))


def log_signal(bias: float, steps: int, log2_rows: Number) -> Number:
    """Return ln of the expected sum of cosines of 2^`log2_rows` rows' errors, in standard deviations of a random sum.

    Errors have mean cosine `bias`; each of `steps` differences of rows squares it. A random cosine has variance 1/2.
    """
    return 2.0**steps * log(bias) + (log2_rows + 1) / 2 * log(2)


def log_score(signal: Number, level: int, left: Number, g: Number) -> Number:
    """Return `signal`, a log, less what grids of g angles lose on `left` coordinates, each a sum of 2^level ±1/2."""
    return signal - 2.0**level * grid_loss(g) * left


def log2_seconds(n: int, rows: Sequence[Number], blocks: Sequence[Number], g: Number) -> Number:
    """Return log2 of BKW's seconds: steps cancel `blocks` of n coordinates, a grid has g angles for each of the rest.

    `rows` holds log2 of the numbers of rows before each step and at the end.
    """
    parts, left = [0.0], n  # a second for what is done once
    for before, after, block in zip(rows[:-1], rows[1:], blocks, strict=True):
        parts.append(before + np.log2(PER_ROW / 2 + left * PER_FIELD))
        parts.append(after + np.log2(PER_ROW + 3 * left * PER_FIELD))
        left = left - block
    parts.append(rows[-1] + np.log2(PASSES * left * PER_FIELD))
    parts.append(left * np.log2(g) + log2(TRANSFORMS * PER_CELL))
    return reduce(np.logaddexp2, parts)


def plan(
    n: int, bias: float, level: int, available: float, held: float = LOG2_ROWS_HELD, margin: float = 1.0
) -> Plan | None:
    """Return the cheapest BKW plan for n coordinates from 2^`available` rows, at most 2^`held` of them held at a time.

    `level` is 0 for rows of bits (diag), 1 for entries -1, 0, 1 (dot); `bias` is the mean cosine of labels' errors.
    None if no number of steps leaves a signal `margin` times as strong as independent rows need. If `available` is
    infinite, rows come from a stream and may be chosen to be 0 on b coordinates, which takes 2^b times the draws.
    """
    cheapest: Plan | None = None
    stream = available == inf
    for b in range(min(MOST_VANISH, n - 1) + 1 if stream else 1):
        rest = _all_rows(n - b, bias, level, available, held, margin)
        if rest is None:
            continue
        drawing = 2 ** (rest.rows[0] + 1 + b) * EXAMPLE_SECONDS if stream else 0.0
        if cheapest is None or rest.seconds + drawing < cheapest.seconds:
            cheapest = replace(rest, vanish=b, seconds=rest.seconds + drawing)
    return cheapest


def _all_rows(n: int, bias: float, level: int, available: float, held: float, margin: float) -> Plan | None:
    """Return the cheapest BKW plan for n coordinates that takes rows as they come, or None if none leaves a signal.
    Of 2^`available` rows 2^`held` fit. Labels' errors have mean cosine `bias`; `level` is 0 for bits, 1 if ternary."""
    cheapest: Plan | None = None
    for steps in range(STEPS + 1):
        fewest = 2 * log2(margin * SIGNAL / bias ** (2**steps) / sqrt(2))
        for fifths in range(ceil(5 * max(fewest, 12.0)), int(5 * held) + 1):
            top = fifths / 5
            if cheapest is not None and 2**top * PER_ROW > cheapest.seconds:
                break  # more rows only cost more
            for rows, blocks in _steps(level, top, steps, [min(available, top)], [], n):
                left = n - sum(blocks)
                g = int(min(2 ** (LOG2_CELLS / left) + 1e-9, FINEST))
                signal = log_signal(bias, steps, rows[-1])
                score = log_score(signal, steps + level, left, max(g, 2))
                if g < 3 or signal < log(margin * SIGNAL) or score < log(margin * SCORE):
                    continue
                seconds = float(2 ** log2_seconds(n, rows, blocks, g))
                if cheapest is None or seconds < cheapest.seconds:
                    made = (tuple(rows), tuple(blocks), left, g)
                    cheapest = Plan(*made, exp(signal), exp(score), seconds, bias)
    return cheapest


def _steps(
    level: int, top: float, steps: int, rows: list[float], blocks: list[int], left: int
) -> Iterator[tuple[list[float], list[int]]]:
    """Yield all ways to add `steps` BKW steps to a plan, as lists: log2 of rows, coordinates that each step cancels.
    They extend `rows` and `blocks`. A step makes 2^(top - 1) to 2^top rows, with entries summed from 2^`level` signs
    ±1/2 before the first; `left` coordinates are not cancelled yet."""
    if steps == 0:
        yield rows, blocks
        return
    exact = cancelled(rows[-1], top, level)
    for block in {floor(exact), ceil(exact)}:
        block = min(block, left - 1, 64 // (level + 1))
        made = min(2 * rows[-1] - 1 + (level > 0) - block * entropy(level), top)
        if block > 0 and made >= top - 1:
            yield from _steps(level + 1, top, steps - 1, [*rows, made], [*blocks, block], left - block)


def price(n: int, bias: float, level: int) -> Log2Cost:
    """Return the least cost of integer BKW for n coordinates, with rows from a stream and any memory.

    `bias` is the mean cosine of label errors; `level` is 0 for rows of bits (diag), 1 for entries -1, 0, 1 (dot). A
    step makes as many rows as it was given. Raises `EstimateFailed` if no number of steps leaves a signal.
    """
    if bias <= 0:
        raise EstimateFailed("the noise leaves no bias that a float can hold")
    cheapest, T = UNREACHED, ESTIMATED_ROWS
    for vanish in ESTIMATED_VANISH:
        left, blocks = np.full(len(T), float(max(n - vanish, 1))), list[Number]()
        for steps in range(STEPS + 6):
            g = np.exp2(np.minimum(np.maximum(T, LOG2_CELLS) / left, log2(FINEST)))
            signal = log_signal(bias, steps, T)
            score = log_score(signal, steps + level, left, np.maximum(g, 2.0))
            fits = np.flatnonzero((g >= 3) & (signal >= log(SIGNAL)) & (score >= log(SCORE)))
            if len(fits):
                seconds = log2_seconds(max(n - vanish, 1), [T] * (steps + 1), blocks, g)
                seconds = np.logaddexp2(seconds, T + 1 + vanish + log2(EXAMPLE_SECONDS))
                i = fits[np.argmin(seconds[fits])]
                time = float(seconds[i]) + LOG2_OPERATIONS_A_SECOND
                if time < cheapest.time:
                    memory = max(T[i], left[i] * log2(g[i]))
                    cheapest = Log2Cost(time, float(memory), float(T[i] + 1 + vanish))
            blocks.append(np.minimum(cancelled(T, T, level + steps), left - 1))
            left = left - blocks[-1]
    if cheapest == UNREACHED:
        raise EstimateFailed(f"no number of steps leaves a signal within 2^{ceil(T[-1])} rows")
    return cheapest
