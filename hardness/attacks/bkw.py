"""Integer BKW with a grid transform on rounding: coarse labels and short public vectors are what it likes (theory 4.3).

A public vector is a string of bits, so a difference of two rows cancels a coordinate at the price of one bit, not of
log2 q. Steps of differences cancel all but k coordinates; for those, a transform over the grid Z_g^k finds the angles
2π w_j/q at which the phases of the combined rows agree. What was cancelled comes back step by step.
"""

from collections.abc import Callable
from math import ceil, inf, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.bkw_plan import (
    LOG2_CELLS_SEARCHED,
    LOG2_ROWS_HELD,
    LOG2_ROWS_SEARCHED,
    Plan,
    bias_of,
    plan,
    streamed,
)
from hardness.attacks.bkw_solve import FULL_TURN, KEPT, Angles, angles, back
from hardness.attacks.equations import Equations, on_equations, quiet
from hardness.attacks.finish import finish
from hardness.attacks.packed import Packed, Stream, pack

KNOWN = 60_000  # rows that the finish regresses on, at most
TRIES = 3  # plans, each for a signal twice as strong
STREAMED = 70_000  # rows of a stream for the finish and the test, before those that are only packed
DRAWN = 2**18  # the examples that these are among
# So many rows that vanish on so many coordinates, examples read
Source = Callable[[int, int], tuple[Packed, int]]


@on_equations
def bkw(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Recover the secret of a rounding instance from examples by differences of rows.

    `budget` bounds the rows held at a time (2^24 if None). `refused`, before the work and with its figure, where no
    plan fits that bound. Raises `InputError` where the examples are not a structured family's.
    """
    held_out = min(len(equations) // 5, max(200, 40 * equations.q // equations.p))
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))

    def rows(count: int, vanish: int) -> tuple[Packed, int]:
        return pack(known.rows(slice(0, count))), len(equations)

    return _attack(known, fresh, rows, len(known), budget, seed, progress)


def bkw_stream(stream: Stream, seed: int) -> Recovery:
    """The same attack on as many fresh examples as its plan wants: no file, no floating-point labels.

    Examples are free here but for the time they take, so rows may be chosen: those that vanish on some coordinates
    leave fewer to find, which come back last.
    """
    equations = stream.equations(0, STREAMED)
    held_out = len(equations) - KNOWN
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))
    return _attack(
        known, fresh, lambda count, vanish: stream.rows(DRAWN, count, vanish), inf, None, seed, quiet
    )


def _attack(
    known: Equations,
    fresh: Equations,
    rows: Source,
    available: float,
    budget: int | None,
    seed: int,
    progress: Progress,
) -> Recovery:
    n = known.n
    if known.are_parities:
        return Recovery.refused("parity has no rounding error to average out; try gaussian or search")
    if available < 2 * n + 64:
        return Recovery.refused(f"{available} informative rows; more than {2 * n + 64} are needed")
    held = LOG2_ROWS_HELD if budget is None else min(LOG2_ROWS_HELD, log2(max(budget, 1)))
    plans = _plans(known, available, held)
    if not plans:
        return Recovery.refused(_out_of_reach(known, log2(available), held))
    rng, rows_used, solution = np.random.default_rng(seed), len(known) + len(fresh), None
    detail: dict[str, Any] = {}
    for chosen in plans:
        progress(f"plan: {chosen}")
        detail = {"plan": str(chosen), "predicted_seconds": round(plans[0].seconds, 1)}
        detail |= {"steps": len(chosen.blocks), "log2_rows": round(max(chosen.rows), 1)}
        detail["vanish"] = chosen.vanish
        solution, rows_used = _angles(rows, chosen, bias_of(known.q, known.p, known.noise), rng, progress)
        if solution is not None:
            break
    if solution is None:
        return _gave_up(rows_used, detail, "no peak of the grid stood out")
    detail |= {"scores": [round(x, 1) for x in solution.scores], "shifts": solution.shifts}
    regressed = known.rows(slice(0, min(KNOWN, max(5000, 2 * n * (known.q // known.p) ** 2))))
    w = _finished(regressed, fresh, solution)
    if w is None:
        return _gave_up(rows_used, detail, "the estimate does not reproduce the labels")
    detail["agreement"] = regressed.agreement(w)
    return Recovery("solved", known.secret(w), rows_used, detail=detail)


def _finished(known: Equations, fresh: Equations, solution: Angles) -> NDArray[np.int64] | None:
    """The secret that the angles or their negatives lead to: differences that match up to sign tell them not apart."""
    for sign in (1, -1):
        w = finish(known, fresh, sign * (solution.theta / FULL_TURN * known.q))
        if w is not None:
            return w
    return None


def _gave_up(rows_used: int, detail: dict[str, Any], reason: str) -> Recovery:
    return Recovery("budget", None, rows_used, detail=detail | {"reason": reason})


def _plans(known: Equations, available: float, held: float) -> list[Plan]:
    """Plans to be made one after the other, each for a signal twice as strong; none where not even the first fits.

    Labels may be wrong for want of heads, which nobody tells: then more rows are needed.
    """
    n, bias, level = known.n, bias_of(known.q, known.p, known.noise), _level(known)
    plans: list[Plan] = []
    for margin in (2.0**i for i in range(TRIES)):
        if available == inf:
            fitting = streamed(n, bias, level, held, margin)
        else:
            fitting = plan(n, bias, level, min(log2(available), held), held, margin=margin)
        if fitting is None:
            break
        plans.append(fitting)
    return plans


def _level(known: Equations) -> int:
    """0 where public vectors are bits, 1 where they are ternary."""
    return int((known.a < 0).any())


def _angles(
    rows: Source, chosen: Plan, bias: float, rng: np.random.Generator, progress: Progress
) -> tuple[Angles | None, int]:
    """The secret's angles by this plan, or None, and the examples it read."""
    first, rows_used = rows(int(2 ** chosen.rows[0]), chosen.vanish)
    solution = angles(first, chosen, rng, progress)
    del first  # up to a gigabyte, and the way back reads rows again
    if solution is not None and chosen.vanish and not back(rows(KEPT, 0)[0], bias, solution, rng, progress):
        return None, rows_used
    return solution, rows_used


def _out_of_reach(known: Equations, available: float, held: float) -> str:
    """What it would take: more examples, or else more rows at a time than may be held."""
    n, bias, level = known.n, bias_of(known.q, known.p, known.noise), _level(known)
    for wanted in np.arange(ceil(2 * available) / 2, held + 0.5, 0.5) if available < held else ():
        if plan(n, bias, level, float(wanted), held) is not None:
            return f"out of reach: a plan needs 2^{wanted:.1f} informative rows, here are 2^{available:.1f}"
    searched = plan(n, bias, level, LOG2_ROWS_SEARCHED, LOG2_ROWS_SEARCHED, LOG2_CELLS_SEARCHED)
    figure = "no plan holds under 2^60 rows"
    if searched is not None:
        figure = f"the cheapest plan holds 2^{max(searched.rows):.0f} rows"
    return f"out of reach: {figure} at a time, 2^{held:.0f} may be held"
