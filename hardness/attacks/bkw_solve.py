"""Integer BKW at work: steps of differences, the grid transform, and the way back to all coordinates (theory 4.3)."""

from dataclasses import dataclass, replace
from math import exp, log, log2, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress
from hardness.attacks.bkw_plan import FINEST, Plan, entropy, log_score, log_signal
from hardness.attacks.packed import Packed, Phases, words_for
from hardness.kernels import bkw as kernels_bkw

KEPT = 2**20  # rows of each stage that the way back uses
CAP = 4096  # partners of a row, at most
SHIFTS, CELLS_TRIED, CLEAR = 6, 12, 9.0
GROUP_CELLS = 2**19
WELL = 140.0  # standard deviations at which angles are sharp enough: more rows of a stage are not looked at
FULL_TURN = 2.0**32


@dataclass
class Angles:
    """θ (n,) as uint32 turns, the score of each stage from the last to the first, and the grid's shifts."""

    theta: Phases
    scores: list[float]
    shifts: int


def step(rows: Packed, block: int, limit: int) -> Packed:
    """Differences (sums, where laws are symmetric) of rows that agree on the last `block` coordinates, at most `limit`.

    Rows share partners as evenly as the number wanted allows: each is paired with at most `cap` others before it.
    """
    keys, minus = np.empty(len(rows), np.uint64), np.empty(len(rows), np.bool_)
    shape = (rows.left, rows.width, rows.centre)
    kernels_bkw.block_keys(rows.words, rows.left, block, rows.width, rows.centre, rows.level > 0, keys, minus)
    order = np.empty(len(rows), np.int32)
    runs = kernels_bkw.sort_keys(keys, max(1, len(rows).bit_length() - 2), order, 2 * CAP)
    cap, total = share(runs, limit)
    left, level = rows.left - block, rows.level + 1
    out = Packed(
        np.empty((min(total, limit), words_for(left, level)), np.uint64),
        np.empty(min(total, limit), np.uint32),
        left,
        level,
    )
    made = kernels_bkw.combine(
        rows.words, rows.phases, keys, minus, order, cap, left, *shape[1:], out.centre, out.words, out.phases
    )
    return out if made == len(out) else out.first(made)


def share(runs: NDArray[np.int64], pairs: int) -> tuple[int, int]:
    """The least cap that yields `pairs` pairs from runs[m] runs of m equal keys, or `CAP`; and how many it yields."""
    m = np.arange(len(runs))

    def total(cap: int) -> int:
        short = np.minimum(m, cap + 1)
        return int((runs * (short * (short - 1) // 2 + (m - short) * cap)).sum())

    low, high = 1, CAP
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if total(middle) >= pairs else (middle + 1, high)
    return low, total(low)


def angles(first: Packed, plan: Plan, rng: np.random.Generator, say: Progress) -> Angles | None:
    """θ (n,) of the secret from packed rows by `plan`, or None if no grid shows a peak or a stage back loses it."""
    rows, stages = first, []
    for number, (block, size) in enumerate(zip(plan.blocks, plan.rows[1:], strict=True)):
        made = step(rows, block, int(2**size))
        say(f"step {number + 1}: {len(rows)} rows, {block} coordinates cancelled, {len(made)} rows made")
        stages.append(rows.first(KEPT).copy())
        rows = made
    del first
    solution = _on_grid(rows, plan, rng, say)
    if solution is None:
        return None
    del rows
    for number, stage in reversed(list(enumerate(stages))):
        if not back(stage, plan.bias ** (2**number), solution, rng, say):
            return None
    return solution


def sums(rows: Packed, theta: Phases) -> NDArray[np.complex128]:
    """Σ e^{i(phase - v·θ)} by the value of each coordinate, (left, values)."""
    out = np.zeros((rows.left, (1 << rows.level) + 1, 2))
    kernels_bkw.sums_by_value(rows.words, rows.phases, rows.left, rows.width, rows.centre, theta, out)
    return np.asarray(out[..., 0] + 1j * out[..., 1])


def ascend(rows: Packed, theta: Phases, columns: Any, rounds: int) -> tuple[Phases, float]:
    """Newton's steps on the sum of cosines over `columns`; the angles and their score in standard deviations.

    The expected Hessian serves: every coordinate has one variance, and they are independent. Rows of level 0 have
    an offset free, for coordinates that are off by δ turn the sum by their mean.
    """
    variance = 2.0**rows.level / 4  # of a coordinate, a sum of 2^level half signs
    values, columns = np.arange((1 << rows.level) + 1) - rows.centre, np.asarray(columns)
    while True:
        S = sums(rows, theta)
        total = S[0].sum()
        size = abs(total) if rows.level == 0 else total.real
        if rounds == 0 or size <= 0:
            return theta, float(size / sqrt(max(len(rows), 1) / 2))
        turned = S * np.conj(total) / size if rows.level == 0 else S
        delta = (turned.imag @ values)[columns] / (size * variance)
        theta = theta.copy()
        theta[columns] += turned_by(np.clip(delta, -0.5, 0.5))
        rounds = rounds - 1 if np.abs(delta).max() > 1e-4 else 0


def turned_by(radians: Any) -> Phases:
    """Radians as uint32 turns."""
    return np.asarray(
        np.rint(np.asarray(radians) / (2 * pi) * FULL_TURN).astype(np.int64) & 0xFFFFFFFF, dtype=np.uint32
    )


def peaks(rows: Packed, theta: Phases, columns: Any, g: int, shift: Phases, count: int) -> NDArray[np.uint32]:
    """The `count` best cells, best first, as angles (count, k) of `columns` on the grid Z_g^k turned by `shift`."""
    from scipy.fft import fftn

    k = len(columns)
    table = np.zeros(g**k, dtype=np.complex64)
    theta = theta.copy()
    theta[columns] = shift
    where = np.asarray(columns, dtype=np.int64)
    kernels_bkw.fold(rows.words, rows.phases, rows.left, rows.width, rows.centre, theta, where, g, table)
    table = fftn(table.reshape((g,) * k), overwrite_x=True).ravel()
    score = np.abs(table) if rows.level == 0 else table.real
    count = min(count, len(score))
    best = np.argpartition(score, -count)[-count:]
    best = best[np.argsort(-score[best])]
    cells = np.stack(np.unravel_index(best, (g,) * k), axis=-1)
    return np.asarray(turned_by(cells * (2 * pi / g)) + shift, dtype=np.uint32)


def vanishing(rows: Packed, columns: Any) -> Packed:
    """The rows that are 0 on `columns`."""
    per = 64 // rows.width
    mask, zero = np.zeros(rows.words.shape[1], np.uint64), np.zeros(rows.words.shape[1], np.uint64)
    for c in columns:
        mask[c // per] |= np.uint64((1 << rows.width) - 1 << c % per * rows.width)
        zero[c // per] |= np.uint64(rows.centre << c % per * rows.width)
    keep = (rows.words & mask == zero).all(axis=1)
    return replace(rows, words=rows.words[keep], phases=rows.phases[keep])


def _shift(count: int, rng: np.random.Generator | None) -> Phases:
    """By how much a grid is turned, coordinate by coordinate: at random, or not at all."""
    return np.zeros(count, np.uint32) if rng is None else rng.integers(0, 2**32, count, dtype=np.uint32)


def _on_grid(rows: Packed, plan: Plan, rng: np.random.Generator, say: Progress) -> Angles | None:
    """The angles of the coordinates left, at the first peak that is clear; None if no grid shows one."""
    columns = np.arange(rows.left)
    best = Angles(np.zeros(rows.left, np.uint32), [0.0], 0)
    for shift in range(SHIFTS):
        turn = _shift(rows.left, rng if shift else None)
        for theta in peaks(rows, best.theta, columns, plan.g, turn, CELLS_TRIED):
            theta, score = ascend(rows, theta, columns, 2)
            if score > max(best.scores[0], CLEAR):
                theta, score = ascend(rows, theta, columns, 4)
            if score > best.scores[0]:
                best = Angles(theta, [score], shift + 1)
            if score >= CLEAR:
                break
        say(f"grid {shift + 1}: best score {best.scores[0]:.1f} of {plan.signal:.1f} expected")
        if best.scores[0] >= CLEAR:
            return best
    return None


def _group(rows: Packed, unknown: int, bias: float) -> tuple[int, int]:
    """(k, g): how many unknown coordinates to transform at once, on which grid, the others vanishing."""
    zero = 2.0 ** -entropy(rows.level - 1) if rows.level else 0.5  # P(v = 0) = Σ P(half = x)²
    best = (0.0, 1, 4)
    for k in range(1, unknown + 1):
        log2_rows = log2(max(len(rows), 1)) + (unknown - k) * log2(zero)
        for g in range(3, FINEST + 1):
            if g**k > GROUP_CELLS:
                break
            score = exp(log_score(log_signal(bias, 0, log2_rows), rows.level, k, g))
            # The highest of g^k cells of noise stands √(2 ln g^k) deviations out: the peak is to be above that.
            best = max(best, (score / sqrt(2 * k * log(g) + 1), k, g))
    return best[1:]


def back(rows: Packed, bias: float, solution: Angles, rng: np.random.Generator, say: Progress) -> bool:
    """Extend solution.theta to the coordinates that the step from `rows` cancelled; False if no peak stands out.

    `bias` is the mean cosine of these rows' errors.
    """
    known, enough = len(solution.theta), int((WELL / bias) ** 2 / 2)
    theta = np.concatenate((solution.theta, np.zeros(rows.left - known, np.uint32)))
    unknown = list(range(known, rows.left))
    while unknown:
        k, g = _group(rows, len(unknown), bias)
        columns, unknown = unknown[:k], unknown[k:]
        theta = _extended(vanishing(rows, unknown).first(4 * enough), theta, columns, g, rng)
    rows = rows.first(enough)
    theta, score = sweep(rows, *ascend(rows, theta, np.arange(rows.left), 5))
    solution.theta = theta
    solution.scores.append(score)
    say(f"back to {rows.left} coordinates: score {score:.1f} on {len(rows)} rows")
    return score > CLEAR


def _extended(rows: Packed, theta: Phases, columns: list[int], g: int, rng: np.random.Generator) -> Phases:
    """The angles with those of `columns` at the best of the grid's peaks, of rows that are 0 on what is unknown yet."""
    highest, angles_there = 0.0, theta
    for attempt in range(3):
        shift = _shift(len(columns), rng if attempt else None)
        for cell in peaks(rows, theta, columns, g, shift, 4):
            trial = theta.copy()
            trial[columns] = cell
            trial, score = ascend(rows, trial, columns, 3)
            if score > highest:
                highest, angles_there = score, trial
        if highest > CLEAR:
            break
    return angles_there


def sweep(rows: Packed, theta: Phases, score: float) -> tuple[Phases, float]:
    """Turn single coordinates round the whole circle while that raises the score: mends angles that are wrong."""
    values, circle = np.arange((1 << rows.level) + 1) - rows.centre, np.arange(256) * (2 * pi / 256)
    for _ in range(rows.left):
        S = sums(rows, theta)
        turned = S @ np.exp(-1j * np.outer(values, circle))
        scan = np.abs(turned) if rows.level == 0 else turned.real
        c, a = np.unravel_index(int(np.argmax(scan)), scan.shape)
        if scan[c, a] < 1.02 * scan[0, 0]:
            break
        theta = theta.copy()
        theta[c] += turned_by(circle[a : a + 1])[0]
        theta, score = ascend(rows, theta, np.arange(rows.left), 3)
    return theta, score
