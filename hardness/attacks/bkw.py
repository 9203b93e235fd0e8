"""Integer BKW with a grid transform on rounding: steps of differences, the grid, and the way back (theory 4.3).

A public vector is a string of bits, so a difference of two rows cancels a coordinate at the price of one bit, not of
log2 q. Steps of differences cancel all but k coordinates; for those, a transform over the grid Z_g^k finds the angles
2π w_j/q at which the phases of the combined rows agree. The cancelled coordinates come back step by step.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, inf, log, log2, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import finish
from hardness.attacks.bkw_cost import (
    FINEST,
    LOG2_ROWS_HELD,
    Plan,
    bias_of,
    entropy,
    log_score,
    log_signal,
    plan,
)
from hardness.attacks.equations import Equations, on_equations, quiet
from hardness.attacks.streams import Stream
from hardness.gadgets.modular import preimages
from hardness.kernels import bkw as kernels_bkw

KNOWN = 60_000  # rows that the finish regresses on, at most
TRIES = 3  # plans, each for a signal twice as strong: few rows depend on one another
STREAMED = 70_000  # rows of a stream for the finish and the test
DRAWN = 2**18  # the examples that these are among
KEPT = 2**20  # rows of each stage that the way back uses
CAP = 4096  # partners before a row among those of equal key, at most
GRIDS, CELLS_TRIED = 6, 12  # grids, and cells of each
CLEAR = 9.0  # deviations: the score from which on a peak stands out
GROUP_CELLS = 2**19
WELL = 140.0  # deviations at which angles are sharp enough: more rows of a stage are not looked at
FULL_TURN = 2.0**32
# (count, vanish) -> count rows that vanish on this many of the last coordinates, and the examples read
Source = Callable[[int, int], tuple[Equations, int]]
Phases = NDArray[np.uint32]


@dataclass(frozen=True)
class Phased:
    """Equations of angles: each row v (N, n) int8 has a phase (N,) uint32, about Σ v_j θ_j; 2^32 is a full turn.

    An entry of v is distributed as a sum of 2^`level` independent ±1/2: at level 0 a bit (1/2 is added), at level 1 one
    of -1, 0, 1, in a dot row or a difference of two diag rows; each further difference adds 1 to the level.
    """

    v: NDArray[np.int8]
    phases: Phases
    level: int

    @classmethod
    def of(cls, equations: Equations, level: int, left: int) -> "Phased":
        """Return equations as rows cut to `left` entries, with phases 2π/q times the middle residue of their levels.
        `level` is 0 if entries are bits, 1 if they are -1, 0, 1."""
        turns = np.rint(preimages(equations.q, equations.p)[0] / equations.q * FULL_TURN).astype(np.uint32)
        return cls(np.ascontiguousarray(equations.a[:, :left]), turns[equations.level], level)

    def __len__(self) -> int:
        return len(self.phases)

    @property
    def low(self) -> int:
        """Return the largest -v_j that an entry of a row v may have: entries lie from -low to 2^`level` - low."""
        return 1 << self.level >> 1

    def where(self, keep: Any) -> "Phased":
        """Return the rows that `keep` (indices, a mask or a slice) selects."""
        return replace(self, v=self.v[keep], phases=self.phases[keep])


@on_equations
def bkw(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Recover the secret of rounded inner products by integer BKW: differences of rows that agree cancel coordinates.

    `budget` is the most rows held at a time (None: 2^24). The status is `refused` if that is too few for any plan.
    """
    held_out = min(len(equations) // 5, max(200, 40 * equations.q // equations.p))
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))

    def rows(count: int, vanish: int) -> tuple[Equations, int]:
        return known.rows(slice(0, count)), len(equations)

    return _attack(known, fresh, rows, len(known), budget, seed, progress)


def bkw_stream(stream: Stream, seed: int) -> Recovery:
    """Recover the secret of a `Stream` of rounded products by BKW, where differences of rows cancel coordinates.

    Rows may be 0 on the last few coordinates, where the secret is found at the end. `seed` is for random choices.
    """
    equations, _ = stream.equations(0, STREAMED)
    known, fresh = equations.rows(slice(STREAMED - KNOWN, None)), equations.rows(slice(0, STREAMED - KNOWN))

    def rows(count: int, vanish: int) -> tuple[Equations, int]:
        return stream.equations(DRAWN, count, vanish)

    return _attack(known, fresh, rows, inf, None, seed, quiet)


def _attack(
    known: Equations,
    fresh: Equations,
    rows: Source,
    available: float,
    budget: int | None,
    seed: int,
    progress: Progress,
) -> Recovery:
    """Run BKW on rows that the function `rows` reads; regress on `known` equations, test on `fresh` ones.

    `rows(count, vanish)` returns `count` equations that are 0 on the last `vanish` coordinates, and the number of
    examples read. There are `available` rows (inf: a stream), of which at most `budget` are held at a time.
    """
    n = known.n
    if known.are_parities:
        return Recovery.refused("parity has no rounding error to average out; try gaussian or search")
    if available < 2 * n + 64:
        return Recovery.refused(f"{available} informative rows; more than {2 * n + 64} are needed")
    held = LOG2_ROWS_HELD if budget is None else min(LOG2_ROWS_HELD, log2(max(budget, 1)))
    level, bias = int((known.a < 0).any()), bias_of(known.q, known.p, known.noise)
    at_hand = inf if available == inf else min(log2(available), held)
    rng, solution, detail, rows_used = np.random.default_rng(seed), None, dict[str, Any](), 0
    for attempt in range(TRIES):
        chosen = plan(n, bias, level, at_hand, held, margin=2.0**attempt)
        if chosen is None or solution is not None:
            break
        progress(f"plan: {chosen}")
        detail.setdefault("predicted_seconds", round(chosen.seconds, 1))
        detail |= {"plan": str(chosen), "steps": len(chosen.blocks), "vanish": chosen.vanish}
        detail["log2_rows"] = round(max(chosen.rows), 1)
        first, rows_used = rows(int(2 ** chosen.rows[0]), chosen.vanish)
        solution = angles(Phased.of(first, level, n - chosen.vanish), chosen, rng, progress)
        del first  # a gigabyte or two, and the way back reads rows again
        if solution is not None and chosen.vanish:
            solution = back(Phased.of(rows(KEPT, 0)[0], level, n), bias, solution, rng)
    if not detail:
        return Recovery.refused(
            f"out of reach: no plan for 2^{log2(available):.1f} informative rows, 2^{held:.0f} of them held at a time"
        )
    if solution is None:
        reason = {"reason": "no peak of the grid stood out"}
        return Recovery("budget", None, rows_used, detail=detail | reason)
    regressed = known.rows(slice(0, min(KNOWN, max(5000, 2 * n * (known.q // known.p) ** 2))))
    # Differences that match up to sign do not tell angles from their negatives.
    for sign in (1, -1):
        w = finish(regressed, fresh, sign * (solution / FULL_TURN * known.q))
        if w is not None:
            return Recovery("solved", known.secret(w), rows_used, detail=detail)
    reason = {"reason": "the estimate does not reproduce the labels"}
    return Recovery("budget", None, rows_used, detail=detail | reason)


def step(rows: Phased, block: int, limit: int) -> Phased:
    """Return at most `limit` differences of rows that agree on the last `block` coordinates, which these then lack.

    Unless entries are bits (`rows.level` 0), rows that agree there up to sign are added. Partners are shared evenly.
    """
    keys, minus = np.empty(len(rows), np.uint64), np.empty(len(rows), np.bool_)
    kernels_bkw.block_keys(rows.v, block, rows.level, keys, minus)
    # Sorted by the top bits of their mixed keys, then by place: one order on every machine.
    low = np.uint64((1 << len(rows).bit_length()) - 1)
    order = (np.sort(keys & ~low | np.arange(len(rows), dtype=np.uint64)) & low).astype(np.int64)
    ends = np.flatnonzero(np.diff(keys[order], append=~keys[order[-1:]]))
    runs = np.bincount(np.minimum(np.diff(ends, prepend=-1), 2 * CAP), minlength=2 * CAP + 1)
    cap, total = share(runs, limit)
    count = min(total, limit)
    v, phases = np.empty((count, rows.v.shape[1] - block), np.int8), np.empty(count, np.uint32)
    made = kernels_bkw.combine(rows.v, rows.phases, keys, minus, order, cap, v, phases)
    return Phased(v[:made], phases[:made], rows.level + 1)


def share(runs: NDArray[np.int64], pairs: int) -> tuple[int, int]:
    """Return the least cap, at most 4096, on a row's partners that gives `pairs` pairs, and how many it gives.
    Rows are paired within groups, of which runs[m] have m rows."""
    of_at_least = np.cumsum(runs[::-1])[::-1]  # runs of m rows or more
    at_distance = np.cumsum(of_at_least[::-1])[::-1][2:]  # pairs of rows that are 1, 2, … places apart
    total = np.cumsum(at_distance[:CAP])
    cap = min(int(np.searchsorted(total, pairs)), len(total) - 1)
    return cap + 1, int(total[cap])


def angles(first: Phased, plan: Plan, rng: np.random.Generator, say: Progress) -> Phases | None:
    """Return the secret's angles θ_j = 2π w_j/q (n,), as uint32 with 2^32 a full turn, from rows `first` by BKW.

    Steps of `plan` cancel coordinates, a grid search finds the other angles, then the cancelled ones follow, step by
    step. None if either search shows no clear peak. `say` gets lines on progress.
    """
    rows, stages = first, []
    for number, (block, size) in enumerate(zip(plan.blocks, plan.rows[1:], strict=True)):
        made = step(rows, block, int(2**size))
        say(f"step {number + 1}: {len(rows)} rows, {block} coordinates cancelled, {len(made)} rows made")
        stages.append(replace(rows, v=rows.v[:KEPT].copy(), phases=rows.phases[:KEPT].copy()))
        rows = made
    del first
    theta, score = on_grids(rows, np.zeros(plan.left, np.uint32), np.arange(plan.left), plan.g, CLEAR, rng)
    say(f"grid: best score {score:.1f} of {plan.signal:.1f} expected")
    solution = theta if score >= CLEAR else None
    del rows
    for number, stage in reversed(list(enumerate(stages))):
        if solution is not None:
            solution = back(stage, plan.bias ** (2**number), solution, rng)
    return solution


def sums(rows: Phased, theta: Phases) -> NDArray[np.complex128]:
    """Return, for each coordinate j and value x, Σ e^{i(phase - v·θ)} over rows v, phase with v_j = x: (n, values)."""
    out = np.zeros((rows.v.shape[1], (1 << rows.level) + 1, 2))
    kernels_bkw.sums_by_value(rows.v, rows.phases, theta, rows.low, out)
    return np.asarray(out[..., 0] + 1j * out[..., 1])


def ascend(rows: Phased, theta: Phases, columns: Any, rounds: int) -> tuple[Phases, float]:
    """Return the angles `theta` after up to `rounds` Newton steps in its entries `columns`, and the score they raise.

    The score is Σ cos(phase - v·θ) over the rows v and their phases, in standard deviations of a random sum. For rows
    of bits it is |Σ e^{i(phase - v·θ)}|: entries have mean 1/2, so an angle that is off by δ turns all terms by δ/2.
    """
    variance = 2.0**rows.level / 4  # of a coordinate, a sum of 2^level half signs
    values, columns = np.arange((1 << rows.level) + 1) - rows.low, np.asarray(columns)
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
    """Return angles in radians as uint32, 2^32 to the turn."""
    return np.asarray(
        np.rint(np.asarray(radians) / (2 * pi) * FULL_TURN).astype(np.int64) & 0xFFFFFFFF, dtype=np.uint32
    )


def peaks(rows: Phased, theta: Phases, columns: Any, g: int, shift: Phases, count: int) -> NDArray[np.uint32]:
    """Return the `count` points (count, k) of a grid of angles with the largest Σ cos(phase - v·θ), best first.

    The sum is over the rows v and their phases; for rows of bits |Σ e^{i(phase - v·θ)}| counts. The grid has g angles
    in each of the k `columns` of θ, moved by `shift` (k,), and elsewhere θ is `theta`; 2^32 is a full turn.
    """
    from scipy.fft import fftn

    k = len(columns)
    table = np.zeros(g**k, dtype=np.complex64)
    theta = theta.copy()
    theta[columns] = shift
    kernels_bkw.fold(rows.v, rows.phases, theta, np.asarray(columns, dtype=np.int64), g, table)
    table = fftn(table.reshape((g,) * k), overwrite_x=True).ravel()
    score = np.abs(table) if rows.level == 0 else table.real
    count = min(count, len(score))
    best = np.argpartition(score, -count)[-count:]
    best = best[np.argsort(-score[best])]
    cells = np.stack(np.unravel_index(best, (g,) * k), axis=-1)
    return np.asarray(turned_by(cells * (2 * pi / g)) + shift, dtype=np.uint32)


def on_grids(
    rows: Phased, theta: Phases, columns: Any, g: int, clear: float, rng: np.random.Generator
) -> tuple[Phases, float]:
    """Return `theta` with its entries `columns` at the best peak found on some grids of angles, and its score.

    A grid has g angles for each of these entries; grids after the first are moved at random. The score is the sum of
    cos(phase - v·θ) over the rows v and their phases, in standard deviations; the search ends once it reaches `clear`.
    """
    highest, best = 0.0, theta
    for attempt in range(GRIDS):
        turn = rng.integers(0, 2**32, len(columns), dtype=np.uint32) * np.uint32(attempt > 0)
        for cell in peaks(rows, theta, columns, g, turn, CELLS_TRIED):
            trial = theta.copy()
            trial[columns] = cell
            trial, score = ascend(rows, trial, columns, 2)
            if score > highest:
                highest, best = score, trial
            if score >= clear:
                return ascend(rows, best, columns, 4)
    return ascend(rows, best, columns, 4)


def _group(rows: Phased, unknown: int, bias: float) -> tuple[int, int]:
    """Return how many `unknown` angles to seek at once, and grid points for each; phase errors have mean cos `bias`."""
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


def back(rows: Phased, bias: float, known: Phases, rng: np.random.Generator) -> Phases | None:
    """Return all angles (n,) of the secret, given the first ones, `known`; None if the others show no clear peak.

    Angles are uint32, 2^32 to the turn. Rows v have phases near v·θ, whose errors have mean cosine `bias`.
    """
    enough = int((WELL / bias) ** 2 / 2)
    n = rows.v.shape[1]
    theta = np.concatenate((known, np.zeros(n - len(known), np.uint32)))
    unknown = list(range(len(known), n))
    while unknown:
        k, g = _group(rows, len(unknown), bias)
        columns, unknown = unknown[:k], unknown[k:]
        # Rows that vanish on the coordinates that are unknown yet
        zero = rows.where(~rows.v[:, unknown].any(axis=1)).where(slice(4 * enough))
        half = max(CLEAR, bias * sqrt(2 * len(zero)) / 2)  # of the score at the right angles
        theta, _ = on_grids(zero, theta, columns, g, half, rng)
    theta, score = ascend(rows.where(slice(enough)), theta, np.arange(n), 5)
    return theta if score > CLEAR else None
